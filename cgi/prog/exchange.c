/* One request and its reply, whatever the protocol. */
#include "gateway.h"
#include "protocol.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char **variables;

static const struct protocol *protocol;
static int broken; /* nobody takes the reply any more */

/* The reply is gathered, so that a short one leaves in one write. */
static char out[BEFORE + 65528 + AFTER];
static size_t gathered;

int respond(const struct protocol *p, char **vars)
{
	protocol = p;
	variables = vars;
	gathered = 0;
	broken = 0;
	return answer();
}

char *rest(size_t *n)
{
	*n = broken ? 0 : gathered;
	gathered = 0;
	return out + BEFORE;
}

static int flush(void)
{
	if (!broken && gathered > 0 && protocol->write_some(out + BEFORE, gathered) < 0)
		broken = 1;
	gathered = 0;
	return broken ? -1 : 0;
}

int finish(int status)
{
	return flush() < 0 ? 1 : status;
}

const char *variable(const char *name)
{
	size_t n = strlen(name);

	for (char **v = variables; *v; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			return *v + n + 1;
	return NULL;
}

size_t read_body(void *buf, size_t n)
{
	size_t got = 0;

	while (got < n) {
		long k = protocol->read_some((char *)buf + got, n - got);
		if (k <= 0)
			break;
		got += (size_t)k;
	}
	return got;
}

int put(const void *bytes, size_t n)
{
	const char *from = bytes;

	while (n > 0 && !broken) {
		size_t k = sizeof out - BEFORE - AFTER - gathered;
		if (k > n)
			k = n;
		memcpy(out + BEFORE + gathered, from, k);
		gathered += k;
		from += k;
		n -= k;
		if (n > 0)
			flush();
	}
	return broken ? -1 : 0;
}

int say(const char *format, ...)
{
	char line[1024];
	va_list args;

	if (!strchr(format, '%'))
		return put(format, strlen(format));
	va_start(args, format);
	int n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	return put(line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}
