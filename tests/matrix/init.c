// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first program of the guests of make matrix, linked statically: on another
 * architecture there are no programs of the host's to run. It runs all that is in
 * /tests, one after the other, and resets the machine.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program may take this long, s */
#define SECONDS	240

static void mount_at(const char *type, const char *where)
{
	mkdir(where, 0755);
	mount("none", where, type, 0, NULL);
}

/* What it says comes in one piece: the kernel's log goes to the same console */
static void show(const char *path)
{
	static char text[1 << 16];
	int file = open(path, O_RDONLY);
	ssize_t length = read(file, text, sizeof(text));

	close(file);
	if (length > 0)
		fwrite(text, 1, length, stdout);
	fflush(stdout);
}

static int run(const char *name)
{
	char path[300];
	int status, file;
	pid_t pid;

	snprintf(path, sizeof(path), "/tests/%s", name);
	pid = fork();
	if (!pid) {
		file = open("/dev/shm/said", O_RDWR | O_CREAT | O_TRUNC, 0600);
		dup2(file, 1);
		dup2(file, 2);
		alarm(SECONDS);
		execl(path, path, NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	show("/dev/shm/said");

	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
	struct dirent **programs;
	int n, i;

	mount_at("devtmpfs", "/dev");
	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("debugfs", "/sys/kernel/debug");
	mount_at("tmpfs", "/dev/shm");
	mount_at("tmpfs", "/tmp");
	n = scandir("/tests", &programs, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (programs[i]->d_name[0] == '.')
			continue;
		printf("# program %s\n", programs[i]->d_name);
		printf("# status %d\n", run(programs[i]->d_name));
	}
	show("/sys/kernel/sched/active");
	printf("# the end\n");
	fflush(stdout);
	sync();
	sleep(1);	/* the port is slower than the CPU */
	reboot(RB_AUTOBOOT);

	return 1;
}
