//go:build !race

package tests

// buildFlags make the program that is tested.
var buildFlags []string
