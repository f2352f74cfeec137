// Package specweb is the client of the SPECweb99-style workload: virtual
// clients whose sessions have the structure of SPECweb99's, a check of every
// byte that they are answered, the judgement whether their connections conform,
// and the comparison of the server's log with what was sent.
//
// It knows the server by its address and by the rules of fixtures/specweb. A
// result is never a SPECweb99 result.
package specweb
