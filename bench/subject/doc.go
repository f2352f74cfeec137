// Package subject starts servers under test and watches what they use: ours,
// and real ones of the same machine with a minimal configuration, all in the
// same way. A server is a program with arguments and a document root; nothing
// here knows which package it was built from, so nobody plays at home.
package subject
