/* specweb answers with a page that tells a few facts of the request and holds
 * the file that ?file=dirNNNNN/classC_I names: the SPECweb99-style workload's
 * page by a process of its own, the same bytes as from within the server. */
#include "gateway.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *status)
{
	return say("Status: %s\r\nContent-type: text/plain; charset=utf-8\r\n\r\n%s\n", status, status) < 0;
}

/* is_path says whether p is the path of a file of the set: nothing else may
 * be opened, or told in a page. A digit of the pattern stands for itself and
 * those below. */
static int is_path(const char *p)
{
	const char *pattern = "dir99999/class3_8";

	for (; *pattern; pattern++, p++)
		if (isdigit((unsigned char)*pattern) ? *p < '0' || *p > *pattern : *p != *pattern)
			return 0;
	return *p == '\0';
}

/* open_file opens a file of the set below the document root, -1 if there is
 * none. */
static int open_file(const char *path, struct stat *about)
{
	const char *root = variable("DOCUMENT_ROOT");
	char name[4096];
	int n = snprintf(name, sizeof name, "%s/specweb/%s", root ? root : "", path);

	if (n < 0 || (size_t)n >= sizeof name)
		return -1;
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, about) < 0 || !S_ISREG(about->st_mode)) {
		close(fd);
		return -1;
	}
	return fd;
}

static const char *known(const char *name)
{
	const char *value = variable(name);

	return value ? value : "";
}

static int put_file(int fd, long long left)
{
	static char buf[65536];

	while (left > 0) {
		ssize_t n = read(fd, buf, left < (long long)sizeof buf ? (size_t)left : sizeof buf);
		if (n <= 0 || put(buf, (size_t)n) < 0)
			return -1;
		left -= n;
	}
	return 0;
}

int answer(void)
{
	static const char end[] = "</pre>\n</body></html>\n";
	const char *query = known("QUERY_STRING");
	struct stat about;
	char head[1024];

	if (strncmp(query, "file=", 5) != 0 || !is_path(query + 5))
		return refuse("400 Bad Request");
	int fd = open_file(query + 5, &about);
	if (fd < 0)
		return refuse("404 Not Found");
	int n = snprintf(head, sizeof head,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><title>SPECweb99-style</title></head><body><pre>\n"
		"SERVER_SOFTWARE %.100s\nREMOTE_ADDR %.100s\nSCRIPT_NAME %.200s\nQUERY_STRING %s\n</pre>\n<pre>\n",
		known("SERVER_SOFTWARE"), known("REMOTE_ADDR"), known("SCRIPT_NAME"), query);
	say("Content-type: text/html\r\nContent-Length: %lld\r\n\r\n", n + (long long)about.st_size + (long long)sizeof end - 1);
	int failed = put(head, (size_t)n) < 0 || put_file(fd, about.st_size) < 0 || put(end, sizeof end - 1) < 0;
	close(fd);
	return failed;
}
