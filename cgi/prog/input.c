/* Reading a connection, and the memory for a request's variables. */
#define _GNU_SOURCE
#include "protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct input input;

int fill(void)
{
	if (input.start == input.end)
		input.start = input.end = 0;
	if (input.end == sizeof input.buf) {
		memmove(input.buf, input.buf + input.start, input.end - input.start);
		input.end -= input.start;
		input.start = 0;
	}
	for (;;) {
		ssize_t n = read(input.fd, input.buf + input.end, sizeof input.buf - input.end);
		if (n > 0) {
			input.end += (size_t)n;
			return 0;
		}
		if (n == 0 || errno != EINTR)
			return -1;
	}
}

int need(size_t n)
{
	while (input.end - input.start < n)
		if (fill() < 0)
			return -1;
	return 0;
}

long take(void *buf, size_t n)
{
	size_t there = input.end - input.start;

	if (there == 0) {
		if (fill() < 0)
			return -1;
		there = input.end - input.start;
	}
	if (n > there)
		n = there;
	if (buf)
		memcpy(buf, input.buf + input.start, n);
	input.start += n;
	return (long)n;
}

int write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, bytes, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		bytes += k;
		n -= (size_t)k;
	}
	return 0;
}

static void *more(void *old, size_t n)
{
	void *p = realloc(old, n);

	if (!p) {
		fputs("no memory for the variables of a request\n", stderr);
		exit(1);
	}
	return p;
}

int append(struct growing *g, const void *bytes, size_t n)
{
	if (n > MOST_VARIABLES - g->length)
		return -1;
	if (g->length + n > g->room) {
		g->room = 2 * (g->length + n);
		g->bytes = more(g->bytes, g->room);
	}
	memcpy(g->bytes + g->length, bytes, n);
	g->length += n;
	return 0;
}

int add_variable(struct growing *g, const char *name, size_t name_length, const char *value, size_t value_length)
{
	if (memchr(name, '\0', name_length) || memchr(value, '\0', value_length))
		return 0; /* no string can hold it */
	if (append(g, name, name_length) < 0 || append(g, "=", 1) < 0 ||
	    append(g, value, value_length) < 0 || append(g, "", 1) < 0)
		return -1;
	return 0;
}

char **list_variables(const struct growing *g)
{
	static char **list;
	static size_t room;
	size_t n = 0;

	for (size_t at = 0; at < g->length; at += strlen(g->bytes + at) + 1) {
		if (n + 1 >= room) {
			room = 2 * room + 64;
			list = more(list, room * sizeof *list);
		}
		list[n++] = g->bytes + at;
	}
	if (!list)
		list = more(NULL, (room = 64) * sizeof *list);
	list[n] = NULL;
	return list;
}
