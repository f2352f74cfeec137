/* The floor: what answering costs when nothing is understood. One thread, one
 * epoll set, one read and one write a request: no parsing, no routing, no
 * timeouts. Every readable byte is taken for a whole request, so a client must
 * not pipeline. A real server can't be cheaper than this with the same calls.
 *
 *   floor [-c] PORT FILE    answer with FILE (-c: close after each reply);
 *                           port 0 picks a free one */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 512, BODY_MAX = 64 * 1024 };

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

static int listen_on(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
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

static void accept_all(int poll, int listener)
{
	int fd;
	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
		if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) < 0)
			close(fd);
	}
}

static void answer(int fd, int closing)
{
	char request[8192];
	ssize_t n = read(fd, request, sizeof request);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || write(fd, reply, reply_length) != (ssize_t)reply_length || closing)
		close(fd);
}

int main(int argc, char **argv)
{
	int closing = argc > 1 && strcmp(argv[1], "-c") == 0;
	if (argc != 3 + closing) {
		fprintf(stderr, "usage: floor [-c] PORT FILE\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	make_reply(argv[2 + closing], closing);
	int listener = listen_on(atoi(argv[1 + closing]));
	int poll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener}, ready[EVENTS];
	if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, listener, &e) < 0)
		die("epoll");
	for (;;) {
		int n = epoll_wait(poll, ready, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			if (ready[i].data.fd == listener)
				accept_all(poll, listener);
			else
				answer(ready[i].data.fd, closing);
		}
	}
}
