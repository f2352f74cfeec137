// Package stat holds the statistics of a comparison: what several runs of one
// cell say together, and what a pair of cells says about the difference.
//
// Nothing here assumes a distribution. Rates of a server are not normal:
// neighbours on the machine make a long tail on one side. So a cell's figure
// is the median with its order-statistics interval, and a comparison is the
// median of the ratios of paired runs with the same kind of interval.
// Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems",
// SC 2015, rules 5 to 9, give the reasons.
package stat
