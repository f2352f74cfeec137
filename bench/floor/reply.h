/* What the floors share: one reply, made once, and a listening socket. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BODY_MAX = 64 * 1024 };

static char reply[BODY_MAX + 1024];
static size_t reply_length;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The reply is made once, its Date stays what it was: the head is as long as
 * that of the other servers. */
static void make_reply(const char *file, int closing)
{
	static char body[BODY_MAX];
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, body, sizeof body);
	if (n < 0)
		die(file);
	close(fd);

	char date[64];
	time_t now = time(NULL);
	strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&now));
	int head = snprintf(reply, sizeof reply,
		"HTTP/1.1 200 OK\r\nServer: floor\r\nDate: %s\r\n"
		"Content-Type: text/html; charset=utf-8\r\nContent-Length: %zd\r\n"
		"Last-Modified: %s\r\nETag: \"0123456789abcdef\"\r\nAccept-Ranges: bytes\r\n%s\r\n",
		date, n, date, closing ? "Connection: close\r\n" : "");
	memcpy(reply + head, body, (size_t)n);
	reply_length = (size_t)head + (size_t)n;
}

/* Flags are those of socket(2). */
static int listen_on(int port, int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof at;
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) < 0)
		die("socket");
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 4096) < 0)
		die("listen");
	if (getsockname(fd, (struct sockaddr *)&at, &length) < 0)
		die("getsockname");
	printf("floor ready http://127.0.0.1:%d pid %d\n", ntohs(at.sin_port), (int)getpid());
	fflush(stdout);
	return fd;
}
