// Package scgi speaks SCGI ("SCGI: A Simple Common Gateway Interface
// alternative", Neil Schemenauer, 2008), both sides of it: an [Opening] is how
// a gateway begins a request, and [Serve] is an application's side, for
// programs of our own. A reply is what a CGI program would print, and ends
// with the connection: each carries one request.
package scgi
