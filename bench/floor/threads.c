/* The floor of threads: what answering costs when nothing is understood and
 * each connection has a thread. The main thread accepts; a thread reads, writes
 * and waits for the next, all in blocking calls: no parsing, no routing, no
 * time limits. Every read is taken for a whole request, as in floor.c, whose
 * reply this is.
 *
 *   threads [-c] PORT FILE  answer with FILE (-c: close after each reply);
 *                           port 0 picks a free one */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reply.h"

enum { STACK = 64 * 1024 };

static int closing;

static void *converse(void *connection)
{
	int fd = (int)(intptr_t)connection;
	char request[8192];
	while (read(fd, request, sizeof request) > 0)
		if (write(fd, reply, reply_length) != (ssize_t)reply_length || closing)
			break;
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	closing = argc > 1 && strcmp(argv[1], "-c") == 0;
	if (argc != 3 + closing) {
		fprintf(stderr, "usage: threads [-c] PORT FILE\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	make_reply(argv[2 + closing], closing);
	int listener = listen_on(atoi(argv[1 + closing]), 0);
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	for (;;) {
		pthread_t thread;
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
		if (pthread_create(&thread, &small, converse, (void *)(intptr_t)fd) != 0)
			close(fd);
	}
}
