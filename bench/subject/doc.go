// Package subject starts servers under test and watches what they use: ours,
// and the real ones of the machine, all in the same way. A server is a program
// with arguments and a configuration made for it; nothing here knows which
// package it was built from, so nobody plays at home.
//
// How an experiment uses it:
//
//	peer, err := subject.FindPeer("apache-event") // or all of subject.Peers()
//	recipe, err := peer.Find(subject.Setup{Root: dir, CGI: programs})
//	if errors.Is(err, subject.ErrMissing) ...     // say so in the report, with the package
//	if errors.Is(err, subject.ErrUnable) ...      // it has no such mechanism
//	s := subject.New(recipe, options)             // as for subject.Weighstone(...)
//	base, err := s.Start(ctx)
//
// A [Setup] is the same for all: files at /, programs at /cgi-bin/, applications
// and scripts at the paths where ours has them. Before anything is timed
// [Look] shows that a server answers as ours does: status, bytes, framing,
// connection. What could not be made equal the recipe says, in sentences.
package subject
