/* mirror answers with the request's body, of the request's type. */
#include "gateway.h"

#include <stdlib.h>
#include <string.h>

int answer(void)
{
	const char *type = variable("CONTENT_TYPE");
	const char *length = variable("CONTENT_LENGTH");
	long long left = length ? atoll(length) : 0;
	static char buf[65536];

	say("Content-type: ");
	if (!type || !*type)
		type = "application/octet-stream";
	put(type, strlen(type));
	say("\r\nContent-Length: %lld\r\n\r\n", left);
	while (left > 0) {
		size_t want = left < (long long)sizeof buf ? (size_t)left : sizeof buf;
		size_t n = read_body(buf, want);
		if (n == 0 || put(buf, n) < 0)
			return 1; /* fewer bytes than announced: the gateway marks it */
		left -= (long long)n;
	}
	return 0;
}
