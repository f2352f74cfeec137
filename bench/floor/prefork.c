/* The floor of processes: 64 of them, forked before the first connection, block
 * in accept on one socket, and each answers one connection at a time, by one
 * blocking read and one write a request. Nothing is understood, as in floor.c.
 *
 *   prefork PORT FILE    answer with FILE; port 0 picks a free one */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reply.h"

enum { PROCESSES = 64 };

/* serve is the life of a process. */
static void serve(int listener)
{
	char request[8192];
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
		while (read(fd, request, sizeof request) > 0 && write(fd, reply, reply_length) == (ssize_t)reply_length)
			;
		close(fd);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: prefork PORT FILE\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	make_reply(argv[2], 0);
	int listener = listen_on(atoi(argv[1]), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();
		if (pid < 0)
			die("fork");
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve(listener);
		}
	}
	for (;;)
		pause();
}
