/* A sample program is a CGI program, unless its standard input is a listening
 * socket (FastCGI section 2.2): then it answers on its connections until it is
 * told to end, FastCGI or SCGI as the first byte of each says. */
#define _GNU_SOURCE
#include "protocol.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t resting, ending;

static void on_term(int number)
{
	(void)number;
	if (resting)
		_exit(0);
	ending = 1;
}

void set_idle(int idle)
{
	resting = idle;
	if (idle && ending)
		_exit(0);
}

static void serve_connection(int fd)
{
	input.fd = fd;
	input.start = input.end = 0;
	if (need(1) < 0)
		return;
	if (input.buf[0] == 1)
		serve_fastcgi();
	else if (input.buf[0] >= '0' && input.buf[0] <= '9')
		serve_scgi();
}

/* linger closes a connection once the gateway has read the reply: to close
 * while something of the request is unread would break the connection. */
static void linger(int fd)
{
	struct timeval patience = {.tv_sec = 2};
	char dropped[4096];

	shutdown(fd, SHUT_WR);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	while (read(fd, dropped, sizeof dropped) > 0)
		;
	close(fd);
}

static int serve(void)
{
	struct sigaction term = {.sa_handler = on_term}, ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	for (;;) {
		set_idle(1);
		int fd = accept(0, NULL, NULL);
		if (fd >= 0) {
			serve_connection(fd);
			linger(fd);
		} else if (errno == EAGAIN) { /* someone made the socket non-blocking */
			struct pollfd ready = {.fd = 0, .events = POLLIN};
			poll(&ready, 1, -1);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			perror("accept");
			return 1;
		}
	}
}

static long read_stdin(void *buf, size_t n)
{
	for (;;) {
		ssize_t k = read(0, buf, n);
		if (k >= 0 || errno != EINTR)
			return k;
	}
}

static int write_stdout(char *bytes, size_t n)
{
	return write_all(1, bytes, n);
}

int main(void)
{
	static const struct protocol cgi = {read_stdin, write_stdout};
	struct sockaddr_storage peer;
	socklen_t length = sizeof peer;

	if (getpeername(0, (struct sockaddr *)&peer, &length) < 0 && errno == ENOTCONN)
		return serve();
	return finish(respond(&cgi, environ));
}
