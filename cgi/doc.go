// Package cgi holds what the gateway protocols share, knowing no engine and
// no process: the variables of a request (RFC 3875 section 4.1), produced once
// and handed to a sink that spells them as environment, FastCGI or SCGI; the
// header that a script sends before its body (section 6); and the spooling of
// a request body whose length is not announced (section 4.2).
package cgi
