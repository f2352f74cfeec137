// Package gateway is what the gateways share, however they reach a program: a
// program's output becomes a reply, the request's body its input, its
// complaints lines of the log; limits and the client's leaving break it off;
// and a reply that is not whole never looks so.
package gateway
