// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of nv_codes.h, and how they are searched. */
#include "nv_codes.h"

#include <stdio.h>
#include <string.h>

#include <grtrace/event.h>

#include "nv_abi.h"

static const struct engine_row {
	uint32_t first;
	uint32_t count;
	const char *name;
	uint32_t number;
	uint32_t engine;
} engines[] = {
#define GRT_NV_ENGINE(first, count, name, number, ENGINE) {first, count, name, number, GRT_ENGINE_##ENGINE},
#include "nv_engines.def"
#undef GRT_NV_ENGINE
};
#define ENGINES (sizeof(engines) / sizeof(engines[0]))

struct code_name {
	uint32_t number;
	const char *name;
};

static const struct code_name statuses[] = {
#define GRT_NV_STATUS(number, name) {number, #name},
#include "nv_status.def"
#undef GRT_NV_STATUS
	{0, NULL},
};

static const struct code_name escapes[] = {
#define GRT_NV_ESCAPE(number, name) {number, #name},
#include "nv_escapes.def"
#undef GRT_NV_ESCAPE
	{0, NULL},
};

static const struct code_name uvm_calls[] = {
#define GRT_NV_UVM(number, name, answer) {number, #name},
#include "nv_uvm.def"
#undef GRT_NV_UVM
	{0, NULL},
};

static const struct code_name classes[] = {
#define GRT_NV_CLASS(number, name) {number, #name},
#include "nv_classes.def"
#undef GRT_NV_CLASS
	{0, NULL},
};

static const struct code_name controls[] = {
#define GRT_NV_CONTROL(number, name) {number, #name},
#include "nv_controls.def"
#undef GRT_NV_CONTROL
	{0, NULL},
};

static const char *code_name(const struct code_name *row, uint32_t number)
{
	while (row->name && row->number != number)
		row++;
	return row->name;
}

static const struct engine_row *engine_row(uint32_t nv_engine)
{
	for (const struct engine_row *r = engines; r < engines + ENGINES; r++)
		if (nv_engine >= r->first && nv_engine - r->first < r->count)
			return r;
	return NULL;
}

uint32_t grt_nv_engine_of(uint32_t nv_engine)
{
	const struct engine_row *r = engine_row(nv_engine);

	return r ? r->engine : GRT_ENGINE_UNKNOWN;
}

const char *grt_nv_engine_name(char text[GRT_NV_ENGINE_MAX], uint32_t nv_engine)
{
	const struct engine_row *r = engine_row(nv_engine);

	if (!nv_engine)
		return "?";
	if (!r)
		snprintf(text, GRT_NV_ENGINE_MAX, "0x%x", nv_engine);
	else if (r->count == 1)
		snprintf(text, GRT_NV_ENGINE_MAX, "%s", r->name);
	else
		snprintf(text, GRT_NV_ENGINE_MAX, "%s%u", r->name, nv_engine - r->first + r->number);
	return text;
}

uint32_t grt_nv_engine_number(const char *name, size_t len)
{
	char text[GRT_NV_ENGINE_MAX];

	for (const struct engine_row *r = engines; r < engines + ENGINES; r++)
		for (uint32_t nv = r->first; nv < r->first + r->count; nv++) {
			grt_nv_engine_name(text, nv);
			if (strlen(text) == len && !memcmp(text, name, len))
				return nv;
		}
	return 0;
}

const char *grt_nv_status_name(uint32_t status)
{
	return code_name(statuses, status);
}

static bool nv_codes_is_name(const char *name, const char *text, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, text, len);
}

bool grt_nv_status_number(const char *name, size_t len, uint32_t *status)
{
	for (const struct code_name *row = statuses; row->name; row++)
		if (nv_codes_is_name(row->name, name, len)) {
			*status = row->number;
			return true;
		}
	for (int code = 1; len && name[0] == '-' && code < 256; code++)
		if (nv_codes_is_name(strerrorname_np(code), name + 1, len - 1)) {
			*status = (uint32_t)-code;
			return true;
		}
	return false;
}

const char *grt_nv_interleave_name(uint32_t level)
{
	static const char *const names[] = {"LOW", "MEDIUM", "HIGH"};

	return level < sizeof(names) / sizeof(names[0]) ? names[level] : NULL;
}

bool grt_nv_is_uvm(const char *device)
{
	return device && (!strcmp(device, "nvidia-uvm") || !strcmp(device, "nvidia-uvm-tools"));
}

const char *grt_nv_ioctl_name(const char *device, uint32_t cmd)
{
	if (grt_nv_is_uvm(device))
		return code_name(uvm_calls, cmd);
	return (cmd >> 8 & 0xff) == 'F' ? code_name(escapes, cmd & 0xff) : NULL;
}

const char *grt_nv_class_name(uint32_t class)
{
	return code_name(classes, class);
}

const char *grt_nv_control_name(uint32_t control)
{
	return code_name(controls, control);
}

/* Their type is 'F', their number the low byte. */
#define IS_ESCAPE(cmd, number) (((cmd)&0xffff) == ('F' << 8 | (number)))

enum grt_nv_about grt_nv_about(uint32_t cmd)
{
	if (IS_ESCAPE(cmd, NV_ESC_RM_CONTROL))
		return GRT_NV_ABOUT_CONTROL;
	if (IS_ESCAPE(cmd, NV_ESC_RM_ALLOC) || IS_ESCAPE(cmd, NV_ESC_RM_ALLOC_MEMORY))
		return GRT_NV_ABOUT_CLASS;
	return IS_ESCAPE(cmd, NV_ESC_XFER_CMD) ? GRT_NV_ABOUT_EITHER : GRT_NV_ABOUT_NOTHING;
}

const char *grt_nv_about_name(enum grt_nv_about kind, uint32_t about)
{
	return kind == GRT_NV_ABOUT_CLASS     ? grt_nv_class_name(about)
	       : kind == GRT_NV_ABOUT_CONTROL ? grt_nv_control_name(about)
					      : NULL;
}
