/* SPDX-License-Identifier: GPL-2.0 */
/* Converts entries of the queue of unified memory to events. */
#ifndef GRTRACE_UVM_EVENTS_H
#define GRTRACE_UVM_EVENTS_H

#include <grtrace/grtrace.h>

#include "nv_uvm.h"

/* Device number of a processor that is not /dev/nvidiaN, an instance of a divided GPU: above all minors. */
#define UVM_OTHER_GPU 0x10000U

/**
 * struct uvm_place - the context of a program's entries
 * @pid: the program
 * @device: numbers of the processors' device files; 0: the CPU, UINT32_MAX: not requested yet
 * @time: converts a time stamp of the driver
 * @gpu_time: converts a time stamp of that device's clock; returns 0 if it is unknown
 */
struct uvm_place {
	uint32_t pid;
	uint32_t device[NV_UVM_PROCESSORS];
	uint64_t (*time)(void *arg, uint64_t raw);
	uint64_t (*gpu_time)(void *arg, uint32_t device, uint64_t gpu);
	void *arg;
};

/* Any of the events. */
union uvm_event {
	struct grt_event e;
	struct grt_ev_uvm_migration migration;
	struct grt_ev_uvm_fault fault;
	struct grt_ev_uvm_fatal fatal;
	struct grt_ev_uvm_replay replay;
	struct grt_ev_uvm_remote remote;
	struct grt_ev_uvm_pages pages;
};

/** uvm_event_make - makes an event. Return: false: the entry's type is unknown */
bool uvm_event_make(const struct uvm_place *p, const union nv_uvm_entry *entry, union uvm_event *out);

/**
 * uvm_entry_processors - the processors that an entry names. Return: how many @number got, at most 2; sets
 * of processors are not included
 */
unsigned int uvm_entry_processors(const union nv_uvm_entry *entry, uint16_t number[2]);

#endif /* GRTRACE_UVM_EVENTS_H */
