/* What a sample program sees of the server that asks it. The same program is
 * a CGI program, or answers FastCGI and SCGI requests for as long as it lives:
 * see main.c. */
#ifndef GATEWAY_H
#define GATEWAY_H

#include <stddef.h>

/* answer replies to one request: a header as of RFC 3875 section 6, a blank
 * line and a body. Each program has its own. It returns the exit status, or
 * what FastCGI calls the application status. */
int answer(void);

/* The variables of the request, NAME=value, ended by NULL. As a CGI program
 * these are the whole environment. */
extern char **variables;

/* variable returns the value of one, NULL if there is none. */
const char *variable(const char *name);

/* read_body reads up to n bytes of the request's body, fewer only at its end. */
size_t read_body(void *buf, size_t n);

/* put sends n bytes; say sends formatted text of at most 1,023 bytes or, when
 * that is all there is to it, any string. When nobody listens any more they
 * return -1, else 0. */
int put(const void *bytes, size_t n);
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
