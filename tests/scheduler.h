/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which scheduler this kernel runs: for the guest tests and the benchmarks.
 */
#ifndef _SCHEDULER_H
#define _SCHEDULER_H

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Its name; another one written here takes over */
#define ACTIVE	"/sys/kernel/sched/active"

static inline bool under_vrq(void)
{
	char name[8] = "";
	int fd = open(ACTIVE, O_RDONLY);

	if (fd >= 0) {
		if (read(fd, name, sizeof(name) - 1) < 0)
			name[0] = 0;
		close(fd);
	}
	return !strncmp(name, "vrq", 3);
}

#endif /* _SCHEDULER_H */
