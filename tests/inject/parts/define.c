// SPDX-License-Identifier: GPL-2.0
/*
 * define: nodes that a thread is still making when the writer comes. Prints TAP.
 */
#include "../../../inject/define.c"

#define NODES 200U

struct inject inject = {.stack = STACK_INPROC};
static bool ready[NODES + 1];
static uint32_t taken, written[NODES], n_written;

bool dormant_cgroup(char *path, size_t room)
{
	(void)path;
	(void)room;
	return false;
}

uint32_t duty_parts(void)
{
	return 0;
}

uint32_t grt_unwind_nodes(void)
{
	return taken;
}

bool grt_unwind_node(uint32_t id, struct grt_unode *node)
{
	*node = (struct grt_unode){.id = id, .parent = id - 1};
	return id <= taken && ready[id];
}

bool grt_unwind_module(unsigned int number, struct grt_umodule *module)
{
	(void)number;
	(void)module;
	return false;
}

void grt_unwind_stats(struct grt_unwind_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
}

const char *grt_root_name(uint32_t id)
{
	(void)id;
	return NULL;
}

bool grt_python_text(uint32_t number, struct grt_pytext *text)
{
	(void)number;
	(void)text;
	return false;
}

void event_init(struct grt_event *e, uint16_t type, uint16_t size, uint64_t time)
{
	memset(e, 0, size);
	e->time = time;
	e->type = type;
	e->size = size;
}

void packets_put(struct packets *p, struct grt_event *e)
{
	(void)p;
	if (e->type == GRT_EV_NODE && n_written < NODES)
		written[n_written++] = ((struct grt_ev_node *)e)->node;
}

void packets_flush(struct packets *p)
{
	(void)p;
}

bool packets_close(struct packets *p)
{
	(void)p;
	return true;
}

uint64_t nvtx_cut(void)
{
	return 0;
}

uint64_t nvtx_stray(void)
{
	return 0;
}

uint64_t nvtx_payload_unread(void)
{
	return 0;
}

const char *packets_unwritten(void)
{
	return NULL;
}

void packets_give_up(struct packets *p)
{
	(void)p;
}

static void must(bool condition, const char *what)
{
	printf("%s - %s\n", condition ? "ok" : "not ok", what);
	if (!condition)
		exit(1);
}

/* Whether a round writes the nodes from @first to @last, but for @but, and before them @before; 0: none. */
static bool writes(uint32_t before, uint32_t first, uint32_t last, uint32_t but)
{
	uint32_t at = 0;

	n_written = 0;
	define_nodes();
	if (before && written[at++] != before)
		return false;
	for (; first <= last; first++)
		if (first != but && written[at++] != first)
			return false;
	return n_written == at;
}

int main(void)
{
	uint32_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 1; i <= 10; i++)
		ready[i] = i != 4;
	taken = 10;
	must(writes(0, 1, 10, 4), "those behind one that is being made are written");
	ready[11] = true;
	taken = 11;
	must(writes(0, 11, 11, 0), "those of the next round, too");
	ready[4] = ready[12] = true;
	taken = 12;
	must(writes(4, 12, 12, 0), "it is written before what comes later, and may be its child");
	must(writes(0, 1, 0, 0), "and once");
	/* more than are waited for */
	taken = NODES;
	must(writes(0, 1, 0, 0), "none of many is there");
	memset(ready, true, sizeof(ready));
	must(writes(0, 13, NODES, 0), "then all are written, in order");
	return 0;
}
