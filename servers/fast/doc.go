// Package fast is the engine fasthttp: github.com/valyala/fasthttp, which uses
// its request and response objects again and again, and allocates nothing on a
// warm connection.
//
// [Engine] is the part that the engine fiber shares, since fiber's server is a
// fasthttp.Server too.
package fast
