/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults that are made on purpose, for tests.
 */
#ifndef _KERNEL_SCHED_VRQ_FAULT_H
#define _KERNEL_SCHED_VRQ_FAULT_H

#include <linux/jump_label.h>

#include "core.h"

/**
 * enum vrq_fault - a fault that is injected once, for one task
 * @VRQ_LOSE_TASK: the task is put into no queue when it begins to wait
 * @VRQ_LOSE_SLOT: the task is put into no queue when it should go into a preempt slot
 * @VRQ_LOSE_KICK: the idle CPU that is claimed for the task is not kicked
 * @VRQ_FAULTS: number of faults
 */
enum vrq_fault {
	VRQ_LOSE_TASK,
	VRQ_LOSE_SLOT,
	VRQ_LOSE_KICK,
	VRQ_FAULTS,
};

#ifdef CONFIG_SCHED_VRQ_FAULT_INJECTION
DECLARE_STATIC_KEY_FALSE(vrq_faults_asked_for);

bool __vrq_fault(enum vrq_fault fault, const struct task_struct *p);
bool __vrq_fault_lock(void);
void vrq_create_faults(void);

/* Is @fault to be injected now, for @p? Any context */
static inline bool vrq_fault(enum vrq_fault fault, const struct task_struct *p)
{
	return static_branch_unlikely(&vrq_faults_asked_for) && __vrq_fault(fault, p);
}

/* Is the lock of another CPU's run queue to seem taken? With interrupts off */
static inline bool vrq_fault_lock(void)
{
	return static_branch_unlikely(&vrq_faults_asked_for) && __vrq_fault_lock();
}
#else
static inline bool vrq_fault(enum vrq_fault fault, const struct task_struct *p)
{
	return false;
}

static inline bool vrq_fault_lock(void)
{
	return false;
}

static inline void vrq_create_faults(void) { }
#endif

#endif /* _KERNEL_SCHED_VRQ_FAULT_H */
