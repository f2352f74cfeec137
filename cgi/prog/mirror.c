/* mirror answers with the request's body, of the request's type. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	const char *type = getenv("CONTENT_TYPE");
	const char *length = getenv("CONTENT_LENGTH");
	long long left = length ? atoll(length) : 0;
	static char buf[65536];

	printf("Content-type: %s\r\n", type && *type ? type : "application/octet-stream");
	printf("Content-Length: %lld\r\n\r\n", left);
	while (left > 0) {
		size_t want = left < (long long)sizeof buf ? (size_t)left : sizeof buf;
		size_t n = fread(buf, 1, want, stdin);
		if (n == 0 || fwrite(buf, 1, n, stdout) < n)
			return 1; /* fewer bytes than announced: the gateway marks it */
		left -= (long long)n;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
