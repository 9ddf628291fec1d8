// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU's translator that watches the scheduler of the guest: which
 * lines of memory its code takes from other CPUs' caches (lines.h), how many
 * instructions it executes, how long interrupts are off in it, how long its
 * locks are held. scripts/benchmark/coherence.py writes the file that tells it
 * where the functions are, and reads what it writes when mark.c says end.
 *
 * For one thread of the emulator (thread=single) only, as nothing here is locked.
 *
 * Arguments: map=FILE,out=FILE
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

#include "lines.h"
#include "translator.h"

/* Kinds of functions, as the map has them */
enum kind {
	SCHED	= 's',	/* kernel/sched */
	VRQ	= 'v',	/* kernel/sched/vrq */
	HELPER	= 'h',	/* called from there: library and locks */
	LOCK	= 'l',	/* the same, which takes a spin lock */
	UNLOCK	= 'u',
	ENTRY	= 'e',	/* begins with interrupts off */
	SWITCH	= 'x',	/* __switch_to_asm() */
	CURRENT	= 'c',	/* __switch_to(), which writes who is current */
};

struct function {
	uint64_t	start;
	uint64_t	end;
	enum kind	kind;
	uint64_t	executed;	/* instructions */
	uint64_t	longest;	/* time with interrupts off, most of it here */
};

/* An open-addressing table of 64-bit keys; a key of 0 is none */
struct table {
	size_t		size;		/* of an entry, which begins with its key */
	size_t		room;		/* entries, a power of two */
	size_t		used;
	char		*entries;
};

/* Lines that moved, by who accessed what */
struct move {
	uint64_t	key;		/* function + 1, address in units of 8 */
	uint64_t	count[2][DISTANCES];	/* reads, writes */
};

struct spinlock {
	uint64_t	address;
	bool		held;
	bool		released;	/* by a function for that: it is a lock */
	bool		of_vrq;
	uint64_t	since;
	uint64_t	busy;		/* instructions of all CPUs while it was held */
	uint64_t	entries;
	uint64_t	by_vrq;		/* of these, from kernel/sched/vrq */
};

struct task {
	uint64_t	address;
	int		cpu;		/* + 1, where it ran last */
};

/* Interrupts off, on one CPU */
struct window {
	bool		off;
	bool		of_vrq;		/* code of VRQ was executed */
	uint64_t	number;
	uint64_t	start;
	uint64_t	executed;	/* in kernel/sched, and what is watched for it */
	struct {
		uint64_t	window;
		uint64_t	executed;
	} *function;			/* the same by function */
};

struct cpu {
	void		*emulated;	/* QEMU's own structure */
	int		number;
	int		function;	/* of kernel/sched, that was entered last; -1: another */
	uint64_t	executed;	/* instructions */
	uint64_t	variables;	/* where its per-CPU variables begin */
	struct window	window;
};

/* What a callback is told about a block or an instruction */
struct place {
	int		function;
	enum kind	kind;
	uint32_t	count;		/* instructions: of the block, or that follow */
	bool		atomic;		/* a read that takes the line as a write does */
};

#define HISTOGRAM	64
#define ADDRESS_BITS	45		/* of a kernel's address, without its lowest 3 */

EXPORT int qemu_plugin_version = PLUGIN_VERSION;

static const char *out_name;
static struct lines lines;
static int cpus;
static struct function *functions;
static int function_count;
static uint64_t current_offset;		/* of the per-CPU pointer to the running task */
static uint64_t wake_up;		/* the first instruction of try_to_wake_up() */
static struct cpu *cpu_table;
static struct cpu *here;		/* the CPU that runs, see find_here() */
static void **emulated_here;		/* QEMU's pointer to it */
static struct table moves, locks, tasks;
static bool counting;
static uint64_t switches, migrations[DISTANCES], began;
static uint64_t histogram[HISTOGRAM];	/* windows of VRQ by log2 of instructions */
static uint64_t longest;		/* of them, all other code included */

static void *zalloc(size_t count, size_t size)
{
	void *area = calloc(count, size);

	if (!area) {
		fprintf(stderr, "coherence: out of memory\n");
		exit(1);
	}
	return area;
}

static void table_init(struct table *table, size_t size)
{
	free(table->entries);
	*table = (struct table){ .size = size, .room = 1024 };
	table->entries = zalloc(table->room, size);
}

static uint64_t *table_slot(const struct table *table, uint64_t key)
{
	size_t i = key * 0x9e3779b97f4a7c15ULL >> 20;
	uint64_t *entry;

	for (;; i++) {
		entry = (uint64_t *)(table->entries +
				     (i & (table->room - 1)) * table->size);
		if (!*entry || *entry == key)
			return entry;
	}
}

static void table_grow(struct table *table)
{
	struct table old = *table;
	uint64_t *entry;
	size_t i;

	table->room *= 2;
	table->entries = zalloc(table->room, table->size);
	for (i = 0; i < old.room; i++) {
		entry = (uint64_t *)(old.entries + i * old.size);
		if (*entry)
			memcpy(table_slot(table, *entry), entry, old.size);
	}
	free(old.entries);
}

/* The entry of @key; a new one is zero but for its key */
static void *table_entry(struct table *table, uint64_t key)
{
	uint64_t *entry = table_slot(table, key);

	if (*entry)
		return entry;
	if (++table->used > table->room / 2) {
		table_grow(table);
		entry = table_slot(table, key);
	}
	*entry = key;
	return entry;
}

#define for_each_entry(entry, table)					\
	for (entry = (void *)(table)->entries;				\
	     (char *)entry < (table)->entries + (table)->room * (table)->size; \
	     entry++)							\
		if (*(uint64_t *)entry)

/*
 * With thread=single, QEMU 10 tells callbacks, and adds inline, a wrong number
 * of the CPU. So ask for QEMU's own variable, which Debian's QEMU shows to its
 * modules; it has one thread for all CPUs.
 */
static void find_cpus(void)
{
	void *(*get_cpu)(int number) = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
	int cpu;

	emulated_here = dlsym(RTLD_DEFAULT, "current_cpu");
	for (cpu = 0; cpu < cpus; cpu++)
		cpu_table[cpu].emulated = get_cpu(cpu);
}

static inline struct cpu *find_here(void)
{
	int cpu;

	if (here->emulated == *emulated_here)
		return here;
	for (cpu = 0; cpu < cpus; cpu++) {
		if (cpu_table[cpu].emulated == *emulated_here)
			here = cpu_table + cpu;
	}
	return here;
}

/* Instructions of all CPUs: the time, but for that when all were idle */
static uint64_t now(void)
{
	uint64_t sum = 0;
	int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		sum += cpu_table[cpu].executed;
	return sum;
}

/* Interrupts off */

static void on_irq_off(unsigned int unused, void *data)
{
	struct cpu *cpu = find_here();
	struct window *window = &cpu->window;
	const struct place *place = data;

	(void)unused;
	if (window->off)
		return;
	window->off = true;
	window->of_vrq = false;
	window->executed = 0;
	window->number++;
	window->start = cpu->executed - place->count;
}

/* The function that most of a window was spent in, of those that we know */
static int most_of(const struct window *window)
{
	uint64_t most = 0;
	int i, best = -1;

	for (i = 0; i < function_count; i++) {
		if (window->function[i].window == window->number &&
		    window->function[i].executed > most) {
			most = window->function[i].executed;
			best = i;
		}
	}
	return best;
}

/* A window, or a part of it, ends */
static void account_window(struct window *window)
{
	int best;

	if (!window->of_vrq || !counting)
		return;
	histogram[63 - __builtin_clzll(window->executed | 1)]++;
	/* most windows are short: look closer at the others */
	if (window->executed < 500)
		return;
	best = most_of(window);
	if (best >= 0 && window->executed > functions[best].longest)
		functions[best].longest = window->executed;
}

static void on_irq_on(unsigned int unused, void *data)
{
	struct cpu *cpu = find_here();
	const struct place *place = data;
	uint64_t length;

	(void)unused;
	if (!cpu->window.off)
		return;
	cpu->window.off = false;
	account_window(&cpu->window);
	length = cpu->executed - place->count - cpu->window.start;
	if (cpu->window.of_vrq && counting && length > longest)
		longest = length;
}

/*
 * Who wakes up all that wait for something may have interrupts off for as long
 * as they are many, which no scheduler can change: each counts for itself.
 */
static void on_wake_up(unsigned int unused, void *data)
{
	struct window *window = &find_here()->window;

	(void)unused;
	(void)data;
	if (!window->off)
		return;
	account_window(window);
	window->executed = 0;
	window->number++;
}

/* Code */

static void window_block(struct window *window, const struct place *place)
{
	int function = place->function;

	if (window->function[function].window != window->number) {
		window->function[function].window = window->number;
		window->function[function].executed = 0;
	}
	window->function[function].executed += place->count;
	window->executed += place->count;
	window->of_vrq = window->of_vrq || place->kind == VRQ;
}

/* A block of any other code */
static void on_other_block(unsigned int unused, void *data)
{
	struct cpu *cpu = find_here();

	(void)unused;
	cpu->executed += (uintptr_t)data;
	cpu->function = -1;
}

/* A block of kernel/sched, or of what is watched when it is called from there */
static void on_block(unsigned int unused, void *data)
{
	struct cpu *cpu = find_here();
	const struct place *place = data;

	(void)unused;
	cpu->executed += place->count;
	if (place->kind == SCHED || place->kind == VRQ) {
		cpu->function = place->function;
		functions[place->function].executed += place->count;
	}
	if (cpu->window.off && cpu->function >= 0)
		window_block(&cpu->window, place);
}

static void on_switch(unsigned int unused, void *data)
{
	(void)unused;
	(void)data;
	switches += counting;
}

/* Spin locks, as queued_spin_lock() has them: the lowest byte is 1 while held */

static void lock_taken(int function, uint64_t address, uint64_t value)
{
	struct spinlock *lock;
	bool vrq;

	if ((value & 0xff) != 1)
		return;
	lock = table_entry(&locks, address);
	if (lock->held)
		return;
	vrq = functions[function].kind == VRQ;
	lock->held = true;
	lock->of_vrq = lock->of_vrq || vrq;
	lock->since = now();
	lock->entries++;
	lock->by_vrq += vrq;
}

static void lock_released(uint64_t address)
{
	struct spinlock *lock = (void *)table_slot(&locks, address);

	if (!lock->address || !lock->held)
		return;
	lock->held = false;
	lock->released = true;
	lock->busy += now() - lock->since;
}

/* Memory */

static uint64_t kernel_address(uint64_t key)
{
	return key << 3 | 0xffffULL << 48;
}

static void count_move(int function, uint64_t address, bool write,
		       enum distance distance)
{
	uint64_t mask = (1ULL << ADDRESS_BITS) - 1;
	uint64_t key = (uint64_t)(function + 1) << ADDRESS_BITS | (address >> 3 & mask);
	struct move *move = table_entry(&moves, key);

	move->count[write][distance]++;
}

static void on_memory(unsigned int unused, qemu_plugin_meminfo_t info,
		      uint64_t address, void *data)
{
	const struct place *place = data;
	struct cpu *cpu = find_here();
	bool write = qemu_plugin_mem_is_store(info);
	struct qemu_plugin_hwaddr *memory;
	enum distance distance;

	(void)unused;
	if (place->kind == UNLOCK && write && counting)
		lock_released(address);
	/* a library function or a lock that is not called from kernel/sched */
	if (cpu->function < 0)
		return;
	if (place->kind == LOCK && write && counting)
		lock_taken(cpu->function, address, qemu_plugin_mem_get_value(info).data.u64);
	memory = qemu_plugin_get_hwaddr(info, address);
	if (!memory || qemu_plugin_hwaddr_is_io(memory))
		return;
	write = write || place->atomic;
	distance = lines_access(&lines, qemu_plugin_hwaddr_phys_addr(memory),
				cpu->number, write);
	if (distance != HERE && counting)
		count_move(cpu->function, address, write, distance);
}

/* __switch_to() tells which task runs, and with it where per-CPU variables are */
static void on_current(unsigned int unused, qemu_plugin_meminfo_t info,
		       uint64_t address, void *data)
{
	uint64_t value = qemu_plugin_mem_get_value(info).data.u64;
	struct cpu *cpu = find_here();
	struct task *task;

	(void)unused;
	(void)data;
	if (!qemu_plugin_mem_is_store(info) || (address - current_offset) & 0xfff ||
	    value >> 48 != 0xffff)
		return;
	cpu->variables = address - current_offset;
	task = table_entry(&tasks, value);
	if (counting && task->cpu && task->cpu != cpu->number + 1)
		migrations[cpu_distance(&lines, cpu->number, task->cpu - 1)]++;
	task->cpu = cpu->number + 1;
}

/* Results */

static void write_functions(FILE *out)
{
	int i;

	for (i = 0; i < function_count; i++) {
		if (functions[i].executed || functions[i].longest)
			fprintf(out, "function %d %" PRIu64 " %" PRIu64 "\n", i,
				functions[i].executed, functions[i].longest);
	}
}

static void write_moves(FILE *out)
{
	uint64_t mask = (1ULL << ADDRESS_BITS) - 1;
	struct move *move;
	int i;

	for_each_entry(move, &moves) {
		fprintf(out, "move %d %" PRIx64, (int)(move->key >> ADDRESS_BITS) - 1,
			kernel_address(move->key & mask));
		for (i = 0; i < 2 * DISTANCES; i++)
			fprintf(out, " %" PRIu64, move->count[i / DISTANCES][i % DISTANCES]);
		fputc('\n', out);
	}
}

static void write_others(FILE *out)
{
	struct spinlock *lock;
	struct task *task;
	int i;

	for_each_entry(lock, &locks) {
		if (lock->released && lock->of_vrq)
			fprintf(out, "lock %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				lock->address, lock->busy, lock->entries, lock->by_vrq);
	}
	for_each_entry(task, &tasks)
		fprintf(out, "task %" PRIx64 "\n", task->address);
	for (i = 0; i < cpus; i++)
		fprintf(out, "percpu %d %" PRIx64 "\n", i, cpu_table[i].variables);
	for (i = 0; i < HISTOGRAM; i++) {
		if (histogram[i])
			fprintf(out, "off %d %" PRIu64 "\n", i, histogram[i]);
	}
}

static void on_end(unsigned int unused, void *data)
{
	FILE *out = fopen(out_name, "a");

	(void)unused;
	(void)data;
	counting = false;
	if (!out) {
		perror(out_name);
		exit(1);
	}
	fprintf(out, "begin\nexecuted %" PRIu64 "\nswitches %" PRIu64 "\n",
		now() - began, switches);
	fprintf(out, "longest %" PRIu64 "\n", longest);
	fprintf(out, "migrations %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		migrations[SAME_LLC], migrations[SAME_NODE], migrations[OTHER_NODE]);
	write_functions(out);
	write_moves(out);
	write_others(out);
	fprintf(out, "end\n");
	if (fclose(out)) {
		perror(out_name);
		exit(1);
	}
}

static void on_begin(unsigned int unused, void *data)
{
	int i;

	(void)unused;
	(void)data;
	for (i = 0; i < function_count; i++)
		functions[i].executed = functions[i].longest = 0;
	table_init(&moves, sizeof(struct move));
	table_init(&locks, sizeof(struct spinlock));
	memset(migrations, 0, sizeof(migrations));
	memset(histogram, 0, sizeof(histogram));
	switches = longest = 0;
	began = now();
	counting = true;
}

/* Translation */

static int function_at(uint64_t address)
{
	int low = 0, high = function_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (functions[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < function_count && functions[low].start <= address)
		return low;
	return -1;
}

static struct place *new_place(int function, uint32_t count, bool atomic)
{
	struct place *place = zalloc(1, sizeof(*place));

	place->function = function;
	place->kind = function < 0 ? 0 : functions[function].kind;
	place->count = count;
	place->atomic = atomic;
	return place;
}

/* What an instruction is, as far as it matters here */

static bool is_prefix(uint8_t byte)
{
	return (byte & 0xf0) == 0x40 || byte == 0x66 || byte == 0xf2 ||
	       byte == 0xf3 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
	       byte == 0x26 || byte == 0x64 || byte == 0x65;
}

/* lock and xchg, which take the line to write it before they read */
static bool is_atomic(const uint8_t *code, size_t size)
{
	size_t i;

	for (i = 0; i < size && is_prefix(code[i]); i++)
		;
	if (i < size && code[i] == 0xf0)
		return true;
	return i + 1 < size && (code[i] & 0xfe) == 0x86 && code[i + 1] < 0xc0;
}

static bool is_irq_off(const uint8_t *code, size_t size)
{
	return size == 1 && code[0] == 0xfa;
}

/* sti, iretq, sysretq */
static bool is_irq_on(const uint8_t *code, size_t size)
{
	return (size == 1 && code[0] == 0xfb) ||
	       (size == 2 && code[0] == 0x48 && code[1] == 0xcf) ||
	       (size == 3 && code[0] == 0x48 && code[1] == 0x0f && code[2] == 0x07);
}

static uint32_t mark_of(const uint8_t *code, size_t size)
{
	static const uint8_t start[] = { 0x0f, 0x1f, 0x84, 0x00 };
	uint32_t mark;

	if (size != 8 || memcmp(code, start, sizeof(start)))
		return 0;
	memcpy(&mark, code + 4, sizeof(mark));
	return mark;
}

static void watch_instruction(struct qemu_plugin_insn *insn,
			      on_execution callback, struct place *place)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, callback,
					       QEMU_PLUGIN_CB_NO_REGS, place);
}

static void watch_user(struct qemu_plugin_insn *insn)
{
	uint8_t code[16];
	size_t size = qemu_plugin_insn_data(insn, code, sizeof(code));
	uint32_t mark = mark_of(code, size);

	if (mark == 0x76727101)
		watch_instruction(insn, on_begin, NULL);
	if (mark == 0x76727102)
		watch_instruction(insn, on_end, NULL);
}

/* @following: instructions of the block from this one on */
static void watch_kernel(struct qemu_plugin_insn *insn, uint32_t following)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	int function = function_at(address);
	uint8_t code[16];
	size_t size = qemu_plugin_insn_data(insn, code, sizeof(code));
	enum kind kind = function < 0 ? 0 : functions[function].kind;
	bool first = function >= 0 && address == functions[function].start;

	if (is_irq_off(code, size) || (kind == ENTRY && first))
		watch_instruction(insn, on_irq_off, new_place(-1, following, false));
	if (is_irq_on(code, size))
		watch_instruction(insn, on_irq_on, new_place(-1, following - 1, false));
	if (address == wake_up)
		watch_instruction(insn, on_wake_up, NULL);
	if (kind == SWITCH && first)
		watch_instruction(insn, on_switch, NULL);
	if (kind == CURRENT)
		qemu_plugin_register_vcpu_mem_cb(insn, on_current, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	if (kind == SCHED || kind == VRQ || kind == HELPER || kind == LOCK || kind == UNLOCK)
		qemu_plugin_register_vcpu_mem_cb(insn, on_memory, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 new_place(function, 0, is_atomic(code, size)));
}

static void watch_block(struct qemu_plugin_tb *block, uint64_t address, size_t count)
{
	int function = function_at(address);
	enum kind kind = function < 0 ? 0 : functions[function].kind;
	on_execution callback = on_other_block;
	void *data = (void *)count;

	switch (kind) {
	case SCHED: case VRQ: case HELPER: case LOCK: case UNLOCK:
		callback = on_block;
		data = new_place(function, count, false);
		break;
	default:
		break;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(block, callback, QEMU_PLUGIN_CB_NO_REGS, data);
}

static void on_block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t i, count = qemu_plugin_tb_n_insns(block);
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, 0);
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	bool kernel = address >> 63;

	(void)id;
	if (!emulated_here)
		find_cpus();
	watch_block(block, address, count);
	for (i = 0; i < count; i++) {
		insn = qemu_plugin_tb_get_insn(block, i);
		if (kernel)
			watch_kernel(insn, count - i);
		else
			watch_user(insn);
	}
}

/* The map: sorted functions, the CPUs' places, and where "current" is */

static bool read_map(const char *name)
{
	int llc[MAX_CPUS], node[MAX_CPUS], cpu, room = 0;
	uint64_t start, end;
	char line[256], kind;
	FILE *map = fopen(name, "r");

	if (!map) {
		perror(name);
		return false;
	}
	while (fgets(line, sizeof(line), map)) {
		if (sscanf(line, "function %" SCNx64 " %" SCNx64 " %c", &start, &end, &kind) == 3) {
			if (function_count == room) {
				room = room ? 2 * room : 1024;
				functions = realloc(functions, room * sizeof(*functions));
				if (!functions)
					return false;
			}
			functions[function_count++] =
				(struct function){ .start = start, .end = end, .kind = kind };
		} else if (sscanf(line, "wake_up %" SCNx64, &start) == 1) {
			wake_up = start;
		} else if (sscanf(line, "current %" SCNx64, &start) == 1) {
			current_offset = start;
		} else if (sscanf(line, "cpu %d", &cpu) == 1 && cpu == cpus && cpus < MAX_CPUS &&
			   sscanf(line, "cpu %*d %d %d", llc + cpu, node + cpu) == 2) {
			cpus++;
		} else {
			fprintf(stderr, "%s: wrong line: %s", name, line);
			return false;
		}
	}
	fclose(map);
	return lines_init(&lines, cpus, llc, node);
}

static const char *argument(const char *name, int argc, char **argv)
{
	size_t length = strlen(name);

	for (; argc; argc--, argv++) {
		if (!strncmp(*argv, name, length) && (*argv)[length] == '=')
			return *argv + length + 1;
	}
	fprintf(stderr, "coherence: %s= is missing\n", name);
	return NULL;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			       char **argv)
{
	const char *map = argument("map", argc, argv);
	int cpu;

	out_name = argument("out", argc, argv);
	if (!map || !out_name || !read_map(map))
		return 1;
	if (!info->system_emulation || info->system.max_vcpus > cpus) {
		fprintf(stderr, "coherence: %d CPUs, the map has %d\n",
			info->system.max_vcpus, cpus);
		return 1;
	}
	if (!dlsym(RTLD_DEFAULT, "qemu_get_cpu") || !dlsym(RTLD_DEFAULT, "current_cpu")) {
		fprintf(stderr, "coherence: this QEMU does not show which CPU runs\n");
		return 1;
	}
	cpu_table = zalloc(cpus, sizeof(*cpu_table));
	here = cpu_table;
	for (cpu = 0; cpu < cpus; cpu++) {
		cpu_table[cpu].number = cpu;
		cpu_table[cpu].function = -1;
		cpu_table[cpu].window.function =
			zalloc(function_count, sizeof(*cpu_table->window.function));
	}
	table_init(&moves, sizeof(struct move));
	table_init(&locks, sizeof(struct spinlock));
	table_init(&tasks, sizeof(struct task));
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block_translated);
	return 0;
}
