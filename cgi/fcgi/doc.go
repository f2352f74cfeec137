// Package fcgi speaks FastCGI 1.0 (FastCGI Specification, Open Market 1996),
// both sides of it: [Opening], [AppendStdin] and [Reply] are those of a
// gateway, on byte slices and without a connection, so that whoever owns the
// connection may read and write as it likes; [Serve] is that of an
// application, for programs of our own.
//
// Both sides keep to one request at a time on a connection. No application in
// wide use does more: libfcgi refuses a second request, php-fpm breaks the
// first.
package fcgi
