# SPDX-License-Identifier: GPL-2.0-only
# VRQ: from a clean clone to a booted kernel. "make help" lists the targets.

# An empty one would have "make clean" look in the root directory
override BUILD := $(abspath $(or $(BUILD),build))
PYTHON := python3
VENV := $(BUILD)/venv/bin
export BUILD KSRC CONFIG JOBS MODE CPUS SCHED PLANS MATRIX SEED BENCH KERNELS PASSES BOOTS OUT DOMAINS SWITCH CALLS WORKERS \
	KCONFIG DEFAULT MINUTES VIRTUAL_MINUTES ROUNDS SECONDS PARTS STORMS

help:
	@sed -n 's/^## *//p' $(MAKEFILE_LIST)

## make setup     install what is missing (Debian; root or sudo)
setup:
	@scripts/setup.sh

## make setup-matrix  what all rows of make matrix need, too: clang, compilers and QEMU for arm64, riscv64 and s390x
setup-matrix:
	@scripts/setup.sh matrix

## make tree      fetch a 6.12 source, push the series (KSRC=directory or tarball)
tree: setup
	@$(PYTHON) scripts/tree.py

## make kernel    build the guest kernel (CONFIG=debug, JOBS=)
kernel: tree
	@$(PYTHON) scripts/kernel.py

## make run       boot it; the same load under vrq and under fair, in a table
run: kernel
	@$(PYTHON) scripts/demo.py

## make shell     an interactive shell in the guest (SCHED=vrq|fair MODE=parallel|virtual CPUS=)
shell: kernel
	@$(PYTHON) scripts/guest.py

## make test      all tests (PLANS="name ..." for some of them, SEED= for another chance in virtual time)
test: kernel
	@$(PYTHON) scripts/run_tests.py

## make test-many  guests of 64 and 128 CPUs, on a kernel of their own (configs/many.config)
test-many:
	@$(MAKE) --no-print-directory test CONFIG=many

## make test-ext  sched_ext and VRQ keep each other out, on a kernel of its own (configs/ext.config)
test-ext:
	@$(MAKE) --no-print-directory test CONFIG=ext

## make model     memory ordering: what place.h claims, with herd7 and the kernel's memory model
model: tree
	@scripts/herd.sh
	@$(PYTHON) tests/model/run.py

## make matrix    other configurations and machines, tests/matrix/rows.toml (MATRIX="row ..." for some of them)
matrix: tree
	@$(PYTHON) scripts/matrix.py

## make check     series in sync, checkpatch, W=1, sparse, linters
check: tree
	@scripts/check.sh

## make bench     fair against vrq: tables and plots (MODE=virtual|parallel|coherence CPUS=
##                PASSES= BOOTS=1 BENCH="workload ..." KERNELS="name=bzImage[:cmdline] ...")
bench: kernel
	@$(VENV)/python scripts/bench.py

## make bench-quick  a first answer in 5 minutes
bench-quick: kernel
	@$(VENV)/python scripts/bench.py --quick

## make bench-here   the same workloads on this machine, as it runs
bench-here: setup
	@$(VENV)/python scripts/bench.py --here

## make bench-compare A= B=  two reports (directories or report.json), with verdicts
bench-compare: setup
	@$(VENV)/python scripts/bench.py --compare "$(A)" "$(B)"

## make soak      stress-ng, hackbench and a compile together, then tasks that wait for long; 45 minutes
##                (CONFIG=debug|kcsan|sanitizers DOMAINS= SWITCH=ms)
soak: kernel
	@$(PYTHON) scripts/soak.py

## make fuzz      system calls and files by chance (SEED= CALLS= WORKERS= FUZZER=own|trinity
##                MODE=parallel|virtual CONFIG=debug|debug,kasan)
fuzz:
	@$(MAKE) --no-print-directory kernel CONFIG=$(or $(CONFIG),debug)
	@CONFIG=$(or $(CONFIG),debug) $(PYTHON) scripts/fuzz.py

## make torture   an hour of rounds, each with a seed: rcutorture, locktorture, storms, rt-tests (MINUTES= SEED=
##                ROUNDS= SECONDS= PARTS="storms ..." STORMS="hotplug ..." MODE=parallel|virtual CONFIG=debug,torture)
torture:
	@$(MAKE) --no-print-directory kernel CONFIG=$(or $(CONFIG),torture)
	@CONFIG=$(or $(CONFIG),torture) $(PYTHON) scripts/torture.py

## make cost      bench-quick of sched=fair, against the same source without our series
cost: kernel
	@$(VENV)/python scripts/cost.py

## make series    write the patches that add our own files
series:
	@$(PYTHON) scripts/series.py

## make patch     write build/vrq.patch, all patches in one
patch: tree
	@$(PYTHON) scripts/series.py --patch $(BUILD)/vrq.patch

## make dist      a release in build/dist: series, mailbox, one patch, notes, checksums, tarball
dist: tree
	@$(PYTHON) scripts/dist.py

## make deb       Debian packages of the kernel in build/deb (KCONFIG=file|debian DEFAULT=vrq|fair)
deb: tree
	@$(PYTHON) scripts/deb.py

## make test-deb  install them into a Debian root and boot that in QEMU
test-deb:
	@$(PYTHON) scripts/deb_guest.py

## make stats     lines added to the kernel's files, size of our own
stats:
	@$(PYTHON) scripts/series.py --stats

## make check-versions  does the series apply to every 6.12.y that the archives deliver, does kernel/sched/ build?
check-versions: setup
	@$(PYTHON) scripts/check_versions.py

## make clean     delete the builds, keep what was downloaded
clean:
	rm -rf $(addprefix $(BUILD)/,kernel* linux-* linux.part tree vanilla.part tests run deb dist matrix torture versions)

.PHONY: help setup setup-matrix tree kernel run shell test test-many test-ext model matrix check bench bench-quick \
	bench-here bench-compare soak fuzz torture cost series patch dist deb test-deb stats check-versions clean
