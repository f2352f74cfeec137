/* The floor of CGI: how fast one process can run a program N times in turn and
 * read what it prints to the end. No server, no request, no reply.
 *
 *   spawn N PROGRAM [ARG...]
 *
 * prints   runs N seconds S runs_per_s R user_s U system_s Y bytes B
 * where user and system count this process and its children. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void die(const char *what, int code)
{
	fprintf(stderr, "spawn: %s: %s\n", what, strerror(code));
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

/* run_once returns how many bytes the program printed. */
static size_t run_once(char **argv)
{
	int out[2], status, code;
	char buffer[65536];
	size_t total = 0;
	ssize_t n;
	pid_t pid;
	posix_spawn_file_actions_t actions;

	if (pipe2(out, O_CLOEXEC) < 0)
		die("pipe", errno);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	code = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	if (code != 0)
		die(argv[0], code);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	while ((n = read(out[0], buffer, sizeof buffer)) > 0)
		total += (size_t)n;
	close(out[0]);
	if (waitpid(pid, &status, 0) < 0)
		die("wait", errno);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "spawn: %s failed\n", argv[0]);
		exit(1);
	}
	return total;
}

int main(int argc, char **argv)
{
	long runs = argc > 2 ? atol(argv[1]) : 0;
	if (runs <= 0) {
		fprintf(stderr, "usage: spawn N PROGRAM [ARG...]\n");
		return 2;
	}
	size_t bytes = 0;
	double start = now();
	for (long i = 0; i < runs; i++)
		bytes += run_once(argv + 2);
	double took = now() - start;

	struct rusage own, children;
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("runs %ld seconds %.6f runs_per_s %.3f user_s %.6f system_s %.6f bytes %zu\n",
		runs, took, (double)runs / took,
		seconds(own.ru_utime) + seconds(children.ru_utime),
		seconds(own.ru_stime) + seconds(children.ru_stime), bytes);
	return 0;
}
