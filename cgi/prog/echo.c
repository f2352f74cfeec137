/* echo prints the CGI variables, one NAME=value a line, sorted; then for a
 * POST a blank line and the body, read by CONTENT_LENGTH. */
#include "gateway.h"

#include <stdlib.h>
#include <string.h>

/* What a gateway sets; of the rest of an environment nothing is printed.
 * A name that ends in an underscore stands for all that begin so. */
static const char *const known[] = {
	"AUTH_TYPE", "CONTENT_", "DOCUMENT_ROOT", "GATEWAY_INTERFACE", "HTTP_",
	"PATH_INFO", "PATH_TRANSLATED", "QUERY_STRING", "REDIRECT_STATUS",
	"REMOTE_", "REQUEST_", "SCRIPT_", "SERVER_",
};

static int is_known(const char *variable)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t n = strlen(known[i]);
		if (strncmp(variable, known[i], n) == 0 && (known[i][n - 1] == '_' || variable[n] == '='))
			return 1;
	}
	return 0;
}

/* by_name compares up to the equals sign, which sorts below every character
 * of a name. */
static int by_name(const void *a, const void *b)
{
	const unsigned char *p = *(unsigned char *const *)a, *q = *(unsigned char *const *)b;

	while (*p == *q && *p != '=' && *p)
		p++, q++;
	return (*p == '=' ? 0 : *p) - (*q == '=' ? 0 : *q);
}

static int print_variables(void)
{
	size_t n = 0, kept = 0;

	while (variables[n])
		n++;
	char **list = malloc((n + 1) * sizeof *list);
	if (!list)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (is_known(variables[i]))
			list[kept++] = variables[i];
	qsort(list, kept, sizeof *list, by_name);
	for (size_t i = 0; i < kept; i++) {
		put(list[i], strlen(list[i]));
		put("\n", 1);
	}
	free(list);
	return 0;
}

static int copy_body(void)
{
	const char *length = variable("CONTENT_LENGTH");
	long long left = length ? atoll(length) : 0;
	char buf[65536];

	while (left > 0) {
		size_t want = left < (long long)sizeof buf ? (size_t)left : sizeof buf;
		size_t n = read_body(buf, want);
		left -= (long long)n;
		if (put(buf, n) < 0)
			return -1;
		if (n < want)
			return say("\n[body ends %lld bytes short]\n", left);
	}
	return 0;
}

int answer(void)
{
	const char *method = variable("REQUEST_METHOD");

	say("Content-type: text/plain\r\n\r\n");
	if (print_variables() < 0)
		return 1;
	if (method && strcmp(method, "POST") == 0) {
		put("\n", 1);
		return copy_body() < 0;
	}
	return 0;
}
