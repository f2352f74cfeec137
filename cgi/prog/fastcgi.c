/* FastCGI 1.0, the responder's side: one request at a time on a connection. */
#include "protocol.h"

#include <string.h>

enum { HEADER = 8 };

enum { BEGIN = 1, ABORT, END, PARAMS, STDIN, STDOUT, GET_VALUES = 9, GET_VALUES_RESULT, UNKNOWN_TYPE };
enum { COMPLETE, CANT_MPX, UNKNOWN_ROLE = 3 };

struct record {
	int type;
	unsigned id, length, padding;
};

static unsigned current;       /* request at work, 0 for none */
static int keep;               /* the connection outlives it */
static unsigned left, padding; /* of the STDIN record being read */
static int ended;              /* STDIN has, or the request was aborted */
static struct growing params, vars;

static char *header(char *at, int type, unsigned id, size_t length)
{
	char h[HEADER] = {1, (char)type, (char)(id >> 8), (char)id, (char)(length >> 8), (char)length, (char)(-length & 7), 0};

	memcpy(at, h, HEADER);
	return at + HEADER;
}

/* send_short sends a record of eight bytes. */
static int send_short(int type, unsigned id, const char body[8])
{
	char b[HEADER + 8];

	memcpy(header(b, type, id, 8), body, 8);
	return write_all(input.fd, b, sizeof b);
}

static int skip(unsigned n)
{
	while (n > 0) {
		long k = take(NULL, n);
		if (k < 0)
			return -1;
		n -= (unsigned)k;
	}
	return 0;
}

/* get_values answers what is known: one connection, one request. */
static int get_values(struct record r)
{
	static const char *const known[] = {"FCGI_MAX_CONNS", "1", "FCGI_MAX_REQS", "1", "FCGI_MPXS_CONNS", "0"};
	unsigned char asked[1024];
	char reply[HEADER + 128];
	size_t n = 0;

	if (r.length > sizeof asked || need(r.length) < 0)
		return -1;
	take(asked, r.length);
	for (unsigned at = 0; at + 2 <= r.length && asked[at] < 128 && asked[at + 1] < 128;) {
		size_t length = asked[at], next = at + 2u + length + asked[at + 1];
		if (next > r.length)
			break;
		for (int i = 0; i < 6; i += 2)
			if (strlen(known[i]) == length && memcmp(known[i], asked + at + 2, length) == 0 && n + length + 3 < 120) {
				reply[HEADER + n++] = (char)length;
				reply[HEADER + n++] = 1;
				memcpy(reply + HEADER + n, known[i], length);
				n += length;
				reply[HEADER + n++] = *known[i + 1];
			}
		at = (unsigned)next;
	}
	header(reply, GET_VALUES_RESULT, 0, n);
	memset(reply + HEADER + n, 0, 8);
	return skip(r.padding) < 0 ? -1 : write_all(input.fd, reply, HEADER + ((n + 7) & ~(size_t)7));
}

static int manage(struct record r)
{
	char unknown[8] = {(char)r.type};

	if (r.type == GET_VALUES)
		return get_values(r);
	if (skip(r.length + r.padding) < 0)
		return -1;
	return send_short(UNKNOWN_TYPE, 0, unknown);
}

/* next reads a record's header, and settles what does not concern the request
 * at work. */
static int next(struct record *r)
{
	for (;;) {
		if (need(HEADER) < 0)
			return -1;
		unsigned char *h = input.buf + input.start;
		if (h[0] != 1)
			return -1;
		*r = (struct record){h[1], h[2] << 8u | h[3], h[4] << 8u | h[5], h[6]};
		input.start += HEADER;
		if (r->id == 0) {
			if (manage(*r) < 0)
				return -1;
		} else if (r->type == BEGIN && current) {
			char refused[8] = {0, 0, 0, 0, CANT_MPX};
			if (skip(r->length + r->padding) < 0 || send_short(END, r->id, refused) < 0)
				return -1;
		} else if (r->type == BEGIN || r->id == current) {
			return 0;
		} else if (skip(r->length + r->padding) < 0) {
			return -1; /* of a request that has ended */
		}
	}
}

/* begin awaits a request. */
static int begin(void)
{
	struct record r;
	unsigned char body[8];

	for (current = 0; !current;) {
		if (next(&r) < 0 || r.length != sizeof body || need(sizeof body) < 0)
			return -1;
		set_idle(0);
		take(body, sizeof body);
		keep = body[2] & 1;
		if (skip(r.padding) < 0)
			return -1;
		if (body[0] == 0 && body[1] == 1) {
			current = r.id;
		} else {
			char refused[8] = {0, 0, 0, 0, UNKNOWN_ROLE};
			if (send_short(END, r.id, refused) < 0 || !keep)
				return -1;
		}
	}
	left = padding = 0;
	ended = 0;
	return 0;
}

/* size reads the length of a name or value at *at. */
static int size(const unsigned char **at, const unsigned char *end, size_t *n)
{
	const unsigned char *p = *at;

	if (p < end && *p < 128) {
		*n = *p;
		*at = p + 1;
		return 0;
	}
	if (end - p < 4)
		return -1;
	*n = (size_t)(p[0] & 127) << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	*at = p + 4;
	return 0;
}

/* read_params reads the variables. A request that is aborted meanwhile has ended. */
static int read_params(void)
{
	struct record r;

	for (params.length = vars.length = 0;;) {
		if (next(&r) < 0)
			return -1;
		if (r.type == ABORT) {
			ended = 1;
			return skip(r.length + r.padding);
		}
		if (r.type != PARAMS)
			return -1;
		if (r.length == 0)
			break;
		while (r.length > 0) {
			char part[4096];
			long k = take(part, r.length < sizeof part ? r.length : sizeof part);
			if (k < 0 || append(&params, part, (size_t)k) < 0)
				return -1;
			r.length -= (unsigned)k;
		}
		if (skip(r.padding) < 0)
			return -1;
	}
	const unsigned char *at = (unsigned char *)params.bytes, *end = at + params.length;
	while (at < end) {
		size_t name, value;
		if (size(&at, end, &name) < 0 || size(&at, end, &value) < 0 || name + value > (size_t)(end - at) ||
		    add_variable(&vars, (char *)at, name, (char *)at + name, value) < 0)
			return -1;
		at += name + value;
	}
	return skip(r.padding);
}

static long read_stdin(void *buf, size_t n)
{
	struct record r;

	while (left == 0) {
		if (ended)
			return 0;
		if (skip(padding) < 0 || next(&r) < 0)
			return -1;
		if (r.type != STDIN && r.type != ABORT)
			return -1;
		left = r.type == STDIN ? r.length : 0;
		padding = r.type == STDIN ? r.padding : r.length + r.padding;
		ended = r.type == ABORT || r.length == 0;
	}
	long k = take(buf, n < left ? n : left);
	if (k > 0)
		left -= (unsigned)k;
	return k;
}

static int write_stdout(char *bytes, size_t n)
{
	header(bytes - HEADER, STDOUT, current, n);
	memset(bytes + n, 0, AFTER);
	return write_all(input.fd, bytes - HEADER, HEADER + ((n + 7) & ~(size_t)7));
}

/* end sends what is left of the reply, the end of STDOUT and of the request. */
static int end(int status)
{
	char *bytes, last[HEADER + HEADER + 8] = {0};
	static char all[HEADER + 4096 + AFTER + sizeof last];
	size_t n, used = 0;

	bytes = rest(&n);
	if (n > 4096) {
		if (write_stdout(bytes, n) < 0)
			return -1;
	} else if (n > 0) {
		memcpy(header(all, STDOUT, current, n), bytes, n);
		used = HEADER + ((n + 7) & ~(size_t)7);
	}
	header(header(last, STDOUT, current, 0), END, current, 8);
	last[HEADER + HEADER + 3] = (char)status;
	memcpy(all + used, last, sizeof last);
	return write_all(input.fd, all, used + sizeof last);
}

void serve_fastcgi(void)
{
	static const struct protocol fastcgi = {read_stdin, write_stdout};

	current = 0;
	do {
		int status = 1;
		if (begin() < 0 || read_params() < 0)
			return;
		if (!ended) /* else aborted before it was known what was asked */
			status = respond(&fastcgi, list_variables(&vars));
		if (skip(left + padding) < 0 || end(status) < 0)
			return;
		set_idle(1);
	} while (keep);
}
