// Package experiment holds the comparisons that weighstone makes by itself.
//
// An experiment is one file: prose on what is held equal and what of an older
// study cannot be repeated, then the design (subjects, handlers, load, runs),
// then the published figures to show beside. Everything else is the same for
// all: subjects are processes on a core of their own, started afresh in each
// round; the client has another core; the cells of a comparison run right
// after each other, in seeded, shuffled order that is turned round every
// second time; before any timing every side shows that it answers with the
// same bytes.
//
// What comes out is a bench.Document, also when something failed or the user
// lost patience: then it holds what was measured and says what is missing.
package experiment
