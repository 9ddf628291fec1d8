// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_ext and VRQ: a scheduler of the one and the other one keep each other out, and
 * where they follow each other nobody is lost. The scheduler that is loaded has no
 * functions, so no program is needed for it, and the kernel's own defaults do the work.
 *
 * Needs a kernel with BTF, see configs/ext.config.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <sys/syscall.h>

#include "workers.h"

/* 1 while a scheduler of sched_ext's has all normal tasks */
#define SWITCHED	"/sys/kernel/sched_ext/switch_all"
#define BTF	"/sys/kernel/btf/vmlinux"
#define ROUNDS	20
/* Not in the headers of older systems */
#define SCHED_EXT	7

/* The types of the kernel, as its file has them */
static struct btf_header *btf;

static bool read_btf(void)
{
	int fd = open(BTF, O_RDONLY);
	size_t size, at;
	ssize_t got;
	char *text;

	if (fd < 0)
		return false;
	size = lseek(fd, 0, SEEK_END);
	lseek(fd, 0, SEEK_SET);
	text = malloc(size);
	for (at = 0; text && at < size; at += got) {
		got = read(fd, text + at, size - at);
		if (got <= 0)
			return false;
	}
	close(fd);
	btf = (struct btf_header *)text;
	return btf && btf->magic == BTF_MAGIC;
}

static const char *name_at(uint32_t offset)
{
	return (char *)btf + btf->hdr_len + btf->str_off + offset;
}

/* What follows a type before the next one */
static size_t size_of_rest(const struct btf_type *type)
{
	unsigned int n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

/* A struct of the kernel's and its number, or NULL */
static const struct btf_type *struct_named(const char *name, uint32_t *id)
{
	char *at = (char *)btf + btf->hdr_len + btf->type_off, *end = at + btf->type_len;
	const struct btf_type *type;

	for (*id = 1; at < end; ++*id) {
		type = (struct btf_type *)at;
		if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT && !strcmp(name_at(type->name_off), name))
			return type;
		at += sizeof(*type) + size_of_rest(type);
	}
	return NULL;
}

/* Where a member of a struct is, bytes, or -1 */
static long offset_of(const struct btf_type *type, const char *name)
{
	const struct btf_member *member = (struct btf_member *)(type + 1);
	unsigned int i;

	for (i = 0; i < BTF_INFO_VLEN(type->info); i++, member++)
		if (!strcmp(name_at(member->name_off), name))
			return (BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(member->offset) :
							     member->offset) / 8;
	return -1;
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A map's types, those of what programs would see of it: one number is enough */
static int load_types(void)
{
	static const struct {
		struct btf_header header;
		struct btf_type type;
		uint32_t bits;
		char strings[8];
	} types = {
		.header = {
			.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(types.header),
			.type_len = sizeof(types.type) + sizeof(types.bits),
			.str_off = sizeof(types.type) + sizeof(types.bits), .str_len = sizeof(types.strings),
		},
		.type = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = sizeof(uint32_t) },
		.bits = 32,
		.strings = "\0int",
	};
	union bpf_attr attr = {};

	attr.btf = (uintptr_t)&types;
	attr.btf_size = sizeof(types);
	return bpf(BPF_BTF_LOAD, &attr);
}

/* A map whose only element is a scheduler */
static struct {
	int fd;
	char *value;	/* what makes it one */
} map;

static bool make_map(void)
{
	const struct btf_type *value, *ops;
	union bpf_attr attr = {};
	uint32_t id, ops_id;
	long data, name;
	int types;

	value = struct_named("bpf_struct_ops_sched_ext_ops", &id);
	ops = struct_named("sched_ext_ops", &ops_id);
	if (!value || !ops)
		return false;
	data = offset_of(value, "data");
	name = offset_of(ops, "name");
	if (data < 0 || name < 0)
		ksft_exit_fail_msg("a sched_ext_ops without data or name\n");

	types = load_types();
	if (types < 0)
		ksft_exit_fail_msg("no types for a map: %s\n", strerror(errno));
	attr.map_type = BPF_MAP_TYPE_STRUCT_OPS;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = value->size;
	attr.max_entries = 1;
	attr.btf_vmlinux_value_type_id = id;
	attr.btf_fd = types;
	map.fd = bpf(BPF_MAP_CREATE, &attr);
	if (map.fd < 0)
		ksft_exit_fail_msg("no map for a scheduler: %s\n", strerror(errno));
	close(types);
	map.value = calloc(1, value->size);
	strcpy(map.value + data + name, "nothing");
	return true;
}

static bool load(void)
{
	union bpf_attr attr = {};
	uint32_t key = 0;

	attr.map_fd = map.fd;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)map.value;
	return !bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

/* An element whose scheduler is gone stays until its last user is: the next one has another map */
static bool unload(void)
{
	union bpf_attr attr = {};
	uint32_t key = 0;
	bool good;

	attr.map_fd = map.fd;
	attr.key = (uintptr_t)&key;
	good = !bpf(BPF_MAP_DELETE_ELEM, &attr);
	close(map.fd);
	free(map.value);
	return make_map() && good;
}

static bool loaded(void)
{
	return number_after(SWITCHED, "") == 1;
}

static void napper(void *me)
{
	count_naps(me, MSEC);
}

static void ext_hog(void *me)
{
	set_policy(0, SCHED_EXT, 0);
	for (;;)
		((struct counter *)me)->count++;
}

static void keep_each_other_out(const struct counter *counters, int n)
{
	bool good;

	good = put(ACTIVE, "vrq") && !load() && errno == EOPNOTSUPP && !loaded() && under_vrq();
	ksft_test_result(good && !stuck(counters, n), "under VRQ a scheduler is refused: EOPNOTSUPP\n");

	good = put(ACTIVE, "fair") && load() && loaded();
	ksft_test_result(good && !stuck(counters, n), "under fair it is loaded, and works\n");

	good = !put(ACTIVE, "vrq") && errno == EBUSY && !under_vrq() && loaded();
	ksft_test_result(good && !stuck(counters, n), "VRQ is refused then: EBUSY\n");

	good = put(ACTIVE, "fair") && loaded();
	ksft_test_result(good, "fair is active already: the scheduler stays\n");

	good = unload() && !loaded() && put(ACTIVE, "vrq") && under_vrq();
	ksft_test_result(good && !stuck(counters, n), "once it is unloaded VRQ is taken\n");
}

static void in_turns(const struct counter *counters, int n)
{
	int i, good = 0;

	for (i = 0; i < ROUNDS; i++) {
		sleep_ns(10 * MSEC);
		good += put(ACTIVE, "fair") && load();
		sleep_ns(10 * MSEC);
		good += unload() && put(ACTIVE, "vrq");
	}
	ksft_test_result(good == 2 * ROUNDS && !stuck(counters, n),
			 "%d of %d times one after the other, and nobody is stuck\n", good, 2 * ROUNDS);
}

int main(void)
{
	int cpus = online_cpus(), n = 3 * cpus, i;
	bool vrq = under_vrq();
	struct counter *counters;
	pid_t pids[3 * MAX_CPUS];

	ksft_print_header();
	if (!read_btf() || !make_map())
		ksft_exit_skip("a kernel without sched_ext, or without its types\n");
	ksft_set_plan(7);
	be_supervisor();
	counters = shared(n * sizeof(*counters));
	for (i = 0; i < n; i++)
		pids[i] = spawn(i % 3 == 0 ? napper : i % 3 == 1 ? counting_hog : ext_hog, &counters[i]);
	sleep_ns(100 * MSEC);
	keep_each_other_out(counters, n);
	in_turns(counters, n);
	ksft_test_result(sched_getscheduler(pids[2]) == SCHED_EXT, "SCHED_EXT stays what was set\n");
	put(ACTIVE, vrq ? "vrq" : "fair");
	finish_all(pids, n);
	ksft_finished();
}
