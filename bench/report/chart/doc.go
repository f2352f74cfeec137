// Package chart draws as SVG to stand inside an HTML page: it has no colours,
// fonts or scripts of its own, only classes for the page's style to dress.
// Marks can so follow the page from light to dark and to paper, and be counted
// by tests:
//
//	band   an interval, as an area or a box
//	line   a line through values, or a thin one of a single run
//	mark   a value
//	other  a value of somebody else's, published
//	grid, axis, tick, label, unity   what marks are read by
//
// The i-th series of a chart has the class s0 to s7 beside, and its marks a
// shape and its line a dash that tell it where there is no colour.
package chart
