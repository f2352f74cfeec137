/* send answers with exactly ?size=N bytes, A to Z again and again; 10,240
 * without a size, at most 16 MiB. */
#include "gateway.h"

#include <string.h>

enum { USUAL = 10240, MOST = 16 << 20 };

/* size_asked returns the first size in a query, or -1 for a bad one. */
static long size_asked(const char *query)
{
	while (query && strncmp(query, "size=", 5) != 0) {
		query = strchr(query, '&');
		if (query)
			query++;
	}
	if (!query)
		return USUAL;
	query += 5;
	if (*query == '\0' || *query == '&')
		return -1;
	long n = 0;
	for (; *query && *query != '&'; query++) {
		if (*query < '0' || *query > '9')
			return -1;
		n = n * 10 + (*query - '0');
		if (n > MOST)
			return -1;
	}
	return n;
}

int answer(void)
{
	static char pattern[26 * 2520]; /* nearly what a pipe holds */
	long left = size_asked(variable("QUERY_STRING"));

	if (left < 0)
		return say("Status: 400 Bad Request\r\nContent-type: text/plain; charset=utf-8\r\n\r\n400 Bad Request\n") < 0;
	for (size_t i = 0; i < sizeof pattern; i++)
		pattern[i] = (char)('A' + i % 26);
	say("Content-type: text/plain\r\nContent-Length: %ld\r\n\r\n", left);
	while (left > 0) {
		size_t n = left < (long)sizeof pattern ? (size_t)left : sizeof pattern;
		if (put(pattern, n) < 0)
			return 1;
		left -= (long)n;
	}
	return 0;
}
