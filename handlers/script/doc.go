// Package script is what the mechanisms that run code within the process have
// in common: where programs are found and when they are compiled ([Library]),
// and where their output goes ([Output]).
package script
