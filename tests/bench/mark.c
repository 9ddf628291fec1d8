// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tell coherence.c, if it watches, that what is measured begins or ends here:
 * by an instruction that does nothing, and that nobody else has.
 */
#include "bench.h"

const char usage[] = "begin|end";

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "begin"))
		__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00; .long 0x76727101");
	else if (argc == 2 && !strcmp(argv[1], "end"))
		__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00; .long 0x76727102");
	else
		bad_usage();
	return 0;
}
