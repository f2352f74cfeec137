// Package study holds published comparisons of web servers as data: what was
// run, what stands for which server here, the published figures, and what the
// study concluded, as statements that measured figures can meet or miss. Each
// study is one declarative file.
//
// The package runs nothing. Package experiment makes the runs of a study and
// package report writes what came of it; [Study.Judge] says which conclusions
// hold.
package study
