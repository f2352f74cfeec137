/* The floor: what answering costs when nothing is understood. One thread, one
 * epoll set, one read and one write a request: no parsing, no routing, no
 * timeouts. Every readable byte is taken for a whole request, so a client must
 * not pipeline. A real server can't be cheaper than this with the same calls.
 *
 *   floor [-c] PORT FILE    answer with FILE (-c: close after each reply);
 *                           port 0 picks a free one */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reply.h"

enum { EVENTS = 512 };

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
	int listener = listen_on(atoi(argv[1 + closing]), SOCK_NONBLOCK);
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
