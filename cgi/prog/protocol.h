/* How the protocols are told apart, for the files that speak them. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stddef.h>

/* A protocol says how a body comes and a reply goes. */
struct protocol {
	/* read_some returns how many bytes it read, 0 at the end, -1 when the
	 * connection is broken. */
	long (*read_some)(void *buf, size_t n);
	/* write_some sends n bytes, of which BEFORE bytes before the first and
	 * AFTER bytes behind the last are free for framing. */
	int (*write_some)(char *bytes, size_t n);
};

enum { BEFORE = 8, AFTER = 8 };

/* respond has the program answer a request, and returns its status. The last
 * of the reply has not been sent then: rest says where it is and how much, for
 * a protocol that sends its end with it; others have finish send it, which
 * returns the status, or 1 if the reply did not leave whole. */
int respond(const struct protocol *p, char **vars);
char *rest(size_t *n);
int finish(int status);

/* Input is a connection with what was read of it and not used. */
extern struct input {
	int fd;
	size_t start, end;
	unsigned char buf[16384];
} input;

/* fill reads more; need reads until n bytes are there, at most 1,024; take
 * copies up to n bytes, at least one, or drops them without a place, and
 * returns how many. All return -1 at the end of the connection. */
int fill(void);
int need(size_t n);
long take(void *buf, size_t n);

/* write_all writes all, or returns -1. */
int write_all(int fd, const char *bytes, size_t n);

/* A growing is memory that grows as needed and is used again. */
struct growing {
	char *bytes;
	size_t length, room;
};

enum { MOST_VARIABLES = 2 << 20 };

/* append adds n bytes. It returns -1 beyond MOST_VARIABLES, and ends the program
 * when there is no memory. */
int append(struct growing *g, const void *bytes, size_t n);

/* add_variable appends NAME=value with its NUL; list_variables makes an
 * environment of what was appended. */
int add_variable(struct growing *g, const char *name, size_t name_length, const char *value, size_t value_length);
char **list_variables(const struct growing *g);

/* idle is set while no request is at work: SIGTERM then ends the program at
 * once, else when the reply is out. */
void set_idle(int idle);

/* The two protocols of a connection whose first bytes are in input. They
 * return when it is to be closed. */
void serve_fastcgi(void);
void serve_scgi(void);

#endif
