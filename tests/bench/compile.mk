# SPDX-License-Identifier: GPL-2.0-only
# The compile workload: the same source, UNITS times, where make is started
OBJECTS := $(foreach unit,$(shell seq $(UNITS)),unit$(unit).o)

all: $(OBJECTS)

unit%.o: $(SOURCE)
	gcc -O0 -DUNIT=$* -c -o $@ $<

.PHONY: all
