/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What coherence.c calls of QEMU's translator. Debian has no package with the
 * header of this interface, so these are declarations of our own of the part
 * that we use, of its version 4 (QEMU 10).
 */
#ifndef _TRANSLATOR_H
#define _TRANSLATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_VERSION	4
#define EXPORT		__attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };

typedef struct {
	int type;	/* 0: 8 bits, 1: 16 bits... */
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
		uint64_t u128[2];
	} data;
} qemu_plugin_mem_value;

typedef void (*on_translation)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*on_execution)(unsigned int cpu, void *data);
typedef void (*on_access)(unsigned int cpu, qemu_plugin_meminfo_t info,
			  uint64_t address, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   on_translation callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  on_execution callback,
					  enum qemu_plugin_cb_flags flags,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    on_execution callback,
					    enum qemu_plugin_cb_flags flags,
					    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      on_access callback,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw which,
				      void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to,
			     size_t size);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info,
						  uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *address);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *address);

#endif /* _TRANSLATOR_H */
