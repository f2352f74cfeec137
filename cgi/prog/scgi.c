/* SCGI, the application's side: one request a connection. */
#include "protocol.h"

#include <string.h>

static struct growing headers, vars;

/* read_length reads the length before a netstring. */
static long read_length(void)
{
	long n = 0;

	for (int i = 0; i < 9; i++) {
		unsigned char c;
		if (take(&c, 1) < 0)
			return -1;
		if (c == ':' && i > 0)
			return n;
		if (c < '0' || c > '9')
			return -1;
		n = n * 10 + (c - '0');
	}
	return -1;
}

/* read_headers reads the netstring of headers. */
static int read_headers(void)
{
	long left = read_length();
	char comma;

	if (left < 0)
		return -1;
	for (headers.length = vars.length = 0; left > 0;) {
		char part[4096];
		long k = take(part, (size_t)left < sizeof part ? (size_t)left : sizeof part);
		if (k < 0 || append(&headers, part, (size_t)k) < 0)
			return -1;
		left -= k;
	}
	if (take(&comma, 1) < 0 || comma != ',' || headers.length == 0 || headers.bytes[headers.length - 1] != '\0')
		return -1;
	for (size_t at = 0; at < headers.length;) {
		const char *name = headers.bytes + at, *value = name + strlen(name) + 1;
		if (value >= headers.bytes + headers.length)
			return -1;
		/* SCGI has a length without a body too; CGI has none. */
		int none = strcmp(name, "CONTENT_LENGTH") == 0 && strcmp(value, "0") == 0;
		if (!none && add_variable(&vars, name, strlen(name), value, strlen(value)) < 0)
			return -1;
		at = (size_t)(value + strlen(value) + 1 - headers.bytes);
	}
	return 0;
}

static long read_rest(void *buf, size_t n)
{
	return take(buf, n);
}

static int write_plain(char *bytes, size_t n)
{
	return write_all(input.fd, bytes, n);
}

void serve_scgi(void)
{
	static const struct protocol scgi = {read_rest, write_plain};

	set_idle(0);
	if (read_headers() < 0)
		return;
	finish(respond(&scgi, list_variables(&vars)));
}
