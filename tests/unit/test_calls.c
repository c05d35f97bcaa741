// SPDX-License-Identifier: GPL-2.0
/*
 * Calls on device files, Xids, and what drivers' numbers mean: with events
 * made by hand, and their bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "drm/calls.h"
#include "nvidia/xid.h"
#include "codes/codes.h"

enum {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) type_##name = (id),
#include <grtrace/events.def>
#undef GRT_EVENT
};

#define EVENT(evt, at, ...)                                             \
	(&((struct grt_ev_##evt){.e.type = type_##evt,                  \
				 .e.time = (at),                        \
				 .e.size = sizeof(struct grt_ev_##evt), \
				 ##__VA_ARGS__})                        \
		  .e)
#define GIVE(evt, at, ...) assert_int_equal(grt_calls_event(c, EVENT(evt, at, ##__VA_ARGS__), &end), 0)
#define WHO .e.pid = 70, .e.tid = 71

static struct grt_calls *begin(void)
{
	struct grt_calls *c;

	assert_int_equal(grt_calls_new(&c), 0);
	return c;
}

static struct grt_call_process process(const struct grt_calls *c, uint32_t pid)
{
	const struct grt_call_process **row;
	struct grt_call_process found = {.pid = 0};
	uint32_t n;

	assert_int_equal(grt_calls_processes(c, &row, &n), 0);
	for (uint32_t i = 0; i < n; i++)
		if (row[i]->pid == pid)
			found = *row[i];
	free(row);
	assert_int_equal(found.pid, pid);
	return found;
}

static void files(void **state)
{
	struct grt_calls *c = begin();
	struct grt_call_end end;

	(void)state;
	GIVE(open, 1, WHO, .fd = 5);
	GIVE(open, 2, WHO, .fd = 6);
	GIVE(open, 3, WHO, .fd = -13);
	GIVE(open, 4, .e.pid = 80, .e.tid = 80, .fd = 5);
	GIVE(close, 5, WHO, .fd = 6);
	/* opened before the trace */
	GIVE(close, 6, WHO, .fd = 9);
	/* its close was not seen: still one file */
	GIVE(open, 7, WHO, .fd = 5);
	GIVE(mmap, 8, WHO);
	GIVE(poll, 9, WHO);
	assert_int_equal(process(c, 70).opens, 4);
	assert_int_equal(process(c, 70).open_errors, 1);
	assert_int_equal(process(c, 70).closes, 2);
	assert_int_equal(process(c, 70).open, 1);
	assert_int_equal(process(c, 70).mmaps, 1);
	assert_int_equal(process(c, 70).polls, 1);
	assert_int_equal(process(c, 80).open, 1);
	grt_calls_free(c);
}

static void ioctls(void **state)
{
	struct grt_calls *c = begin();
	struct grt_call_end end;

	(void)state;
	GIVE(ioctl_enter, 100, WHO, .cmd = 1, .fd = 5);
	assert_false(end.known);
	/* another thread's, within it */
	GIVE(ioctl_enter, 110, .e.pid = 70, .e.tid = 72, .cmd = 1, .fd = 6);
	GIVE(ioctl_exit, 150, .e.pid = 70, .e.tid = 72, .cmd = 1, .ret = -22);
	assert_true(end.known);
	assert_int_equal(end.ns, 40);
	assert_int_equal(end.fd, 6);
	GIVE(ioctl_exit, 300, WHO, .cmd = 1);
	assert_int_equal(end.ns, 200);
	assert_int_equal(process(c, 70).ioctls, 2);
	assert_int_equal(process(c, 70).timed, 2);
	assert_int_equal(process(c, 70).ioctl_errors, 1);
	assert_int_equal(process(c, 70).ioctl_ns, 240);
	assert_int_equal(grt_calls_count(c).half, 0);
	grt_calls_free(c);
}

static void half_ioctls(void **state)
{
	struct grt_calls *c = begin();
	struct grt_call_end end;

	(void)state;
	/* entered before the trace; left with an entry lost; entered with an exit lost */
	GIVE(ioctl_exit, 10, WHO, .cmd = 1);
	assert_false(end.known);
	GIVE(ioctl_enter, 20, WHO, .cmd = 2);
	GIVE(ioctl_exit, 30, WHO, .cmd = 3);
	assert_false(end.known);
	GIVE(ioctl_enter, 40, WHO, .cmd = 4);
	GIVE(ioctl_exit, 50, WHO, .cmd = 4);
	assert_true(end.known);
	assert_int_equal(end.ns, 10);
	assert_int_equal(process(c, 70).ioctls, 4);
	assert_int_equal(process(c, 70).timed, 1);
	assert_int_equal(grt_calls_count(c).ioctls, 4);
	assert_int_equal(grt_calls_count(c).half, 3);
	/* has not returned, and then has */
	GIVE(ioctl_enter, 60, WHO, .cmd = 5);
	assert_int_equal(grt_calls_count(c).half, 4);
	GIVE(ioctl_exit, 70, WHO, .cmd = 5);
	assert_int_equal(grt_calls_count(c).half, 3);
	grt_calls_free(c);
}

static void bounds(void **state)
{
	struct grt_calls *c = begin();
	struct grt_call_end end;

	(void)state;
	for (int32_t fd = 0; fd < (int32_t)GRT_CALLS_FILES_MAX + 4; fd++)
		GIVE(open, 1, WHO, .fd = fd);
	assert_int_equal(grt_calls_count(c).forgotten, 4);
	assert_int_equal(process(c, 70).open, GRT_CALLS_FILES_MAX);
	assert_int_equal(process(c, 70).opens, GRT_CALLS_FILES_MAX + 4);
	for (uint32_t pid = 1000; pid < 1000 + GRT_CALLS_PROCESSES_MAX; pid++)
		GIVE(poll, 2, .e.pid = pid);
	assert_int_equal(grt_calls_count(c).over, 1);
	for (uint32_t tid = 1; tid <= GRT_CALLS_INSIDE_MAX + 3; tid++)
		GIVE(ioctl_enter, 3, .e.pid = 70, .e.tid = tid, .cmd = 1);
	assert_int_equal(grt_calls_count(c).half, 3 + GRT_CALLS_INSIDE_MAX);
	GIVE(ioctl_exit, 4, .e.pid = 70, .e.tid = 3, .cmd = 1);
	assert_false(end.known);
	GIVE(ioctl_exit, 4, .e.pid = 70, .e.tid = 4, .cmd = 1);
	assert_true(end.known);
	grt_calls_free(c);
}

static void xids(void **state)
{
	const struct grt_xid_row **row;
	struct grt_xids x;

	(void)state;
	grt_xids_init(&x);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(grt_xids_event(&x, EVENT(xid, 10 + i, .code = i == 3 ? 31 : 79, .bus = 0x100,
							  .e.pid = (uint32_t)i, .text = "abc")),
				 0);
	assert_int_equal(grt_xids_event(&x, EVENT(xid, 20, .code = 31, .bus = 0x200)), 0);
	assert_int_equal(grt_xids_event(&x, EVENT(poll, 20)), 0);
	assert_int_equal(x.rows.used, 3);
	assert_int_equal(grt_xids_list(&x, &row), 0);
	assert_int_equal(row[0]->code, 31);
	assert_int_equal(row[0]->bus, 0x100);
	assert_int_equal(row[1]->bus, 0x200);
	assert_string_equal(row[1]->text, "");
	assert_int_equal(row[2]->count, 4);
	assert_int_equal(row[2]->first, 10);
	assert_int_equal(row[2]->last, 14);
	assert_int_equal(row[2]->pid, 4);
	assert_string_equal(row[2]->text, "abc");
	free(row);
	for (uint32_t i = 0; i < GRT_XIDS_MAX; i++)
		assert_int_equal(grt_xids_event(&x, EVENT(xid, 30, .code = 1000 + i)), 0);
	assert_int_equal(x.over, 3);
	grt_xids_free(&x);
}

static void numbers(void **state)
{
	uint32_t before = 0;

	(void)state;
	assert_string_equal(grt_xid_info(31)->name, "FIFO_ERROR_MMU_ERR_FLT");
	assert_ptr_equal(grt_xid_info(126), grt_xid_info(135));
	assert_null(grt_xid_info(0));
	assert_null(grt_xid_info(UINT32_MAX));
	/* rows are in order, and do not overlap */
	for (uint32_t code = 1; code < 1000; code++) {
		const struct grt_xid_info *info = grt_xid_info(code);

		if (!info || info->first == before)
			continue;
		assert_true(info->first == code && info->last >= code);
		assert_true(info->meaning[0] && info->todo[0]);
		before = info->first;
	}
	assert_string_equal(grt_virtio_gpu_name(0x207), "SUBMIT_3D");
	assert_string_equal(grt_virtio_gpu_name(0x1205), "ERR_INVALID_PARAMETER");
	assert_null(grt_virtio_gpu_name(0));
	assert_string_equal(grt_amdgpu_memory_name(0), "system");
	assert_string_equal(grt_amdgpu_memory_name(UINT32_MAX), "none");
	assert_null(grt_amdgpu_memory_name(9));
	assert_string_equal(grt_amdgpu_client_name(0x14), "GRBM_CP");
	assert_null(grt_amdgpu_client_name(0x77));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),  cmocka_unit_test(ioctls), cmocka_unit_test(half_ioctls),
		cmocka_unit_test(bounds), cmocka_unit_test(xids),   cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
