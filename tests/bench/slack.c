// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command with a timer slack of NS, which its threads and children
 * inherit: by default a sleep may end 50 us late, which would be most of what
 * a benchmark of wake-ups measures.
 */
#include "bench.h"

const char usage[] = "NS COMMAND...";

static void run(void *command)
{
	char **argv = command;

	execvp(argv[0], argv);
	fprintf(stderr, "slack: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int main(int argc, char **argv)
{
	unsigned long ns;
	int status;
	pid_t pid;

	if (argc < 3)
		bad_usage();
	ns = number("NS", argv[1], 1, LONG_MAX);
	if (prctl(PR_SET_TIMERSLACK, ns, 0UL, 0UL, 0UL))
		die("prctl(PR_SET_TIMERSLACK)");
	/* fork() makes it the default, which a change of policy goes back to */
	pid = spawn(run, argv + 2);
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
