// SPDX-License-Identifier: GPL-2.0
/*
 * records DIR [--no-stamps]: prints the launches of a recording and what the GPU
 * did for them as the mock driver tells of them (MOCK_LOG), a line each, with
 * the names that they refer to; then lines beginning with # with what else is in
 * it. What refers to something that was not defined before it ends it.
 */
#include <stdlib.h>
#include <string.h>

#include <grtrace/grtrace.h>

#include "codes/cuda_codes.h"
#include "stack/images.h"

#define PIDS 64
#define STRINGS (1 << 20)
#define NODES 65536
/* From here on strings are the recorder's, which are kept behind those of the process. */
#define RECORDER 0x80000000U

/* struct image - a process: what it has defined so far */
struct image {
	uint32_t pid;
	char *string[2 * STRINGS];
	bool node[NODES];
	uint64_t hash[4096];
	struct grt_ev_range_node *chain;
	uint32_t chains;
	uint32_t nodes;
	uint32_t deepest;
	uint32_t depth[NODES];
};

struct print {
	struct grt_consumer c;
	struct image *image[PIDS];
	unsigned int images;
	bool stamps;
	uint64_t undefined;
	uint64_t clocks;
	uint64_t mappings;
	uint64_t stacks;
};

static struct image *image_of(struct print *p, uint32_t pid)
{
	unsigned int i;

	for (i = 0; i < p->images; i++)
		if (p->image[i]->pid == pid)
			return p->image[i];
	if (p->images == PIDS)
		abort();
	p->image[p->images] = calloc(1, sizeof(**p->image));
	if (!p->image[p->images])
		abort();
	p->image[p->images]->pid = pid;
	return p->image[p->images++];
}

static void forget(struct image *m)
{
	uint32_t pid = m->pid;
	unsigned int i;

	for (i = 0; i < 2 * STRINGS; i++)
		free(m->string[i]);
	free(m->chain);
	memset(m, 0, sizeof(*m));
	m->pid = pid;
}

static uint32_t place_of(uint32_t number)
{
	if (number < RECORDER)
		return number < STRINGS ? number : UINT32_MAX;
	return number - RECORDER < STRINGS ? STRINGS + number - RECORDER : UINT32_MAX;
}

static const char *text_of(struct print *p, uint32_t pid, uint32_t number)
{
	struct image *m = image_of(p, pid);

	if (!number)
		return "";
	number = place_of(number);
	if (number < 2 * STRINGS && m->string[number])
		return m->string[number];
	p->undefined++;
	return "[undefined]";
}

/* Of the recorder's texts those of CODE records say which image they are of; they are not printed. */
static bool is_of_code(const struct grt_ev_string *s)
{
	return s->number > GRT_IMAGE_RECORDER && s->e.ctx;
}

static void take_string(struct print *p, const struct grt_ev_string *s)
{
	struct image *m = image_of(p, s->e.pid);
	uint32_t number = place_of(s->number);

	if (is_of_code(s))
		return;
	if (number == UINT32_MAX || s->part > sizeof(s->text) || s->offset + s->part > s->length)
		abort();
	if (!m->string[number])
		m->string[number] = calloc(1, s->length + 1);
	memcpy(m->string[number] + s->offset, s->text, s->part);
}

static void take_node(struct print *p, const struct grt_ev_node *n)
{
	struct image *m = image_of(p, n->e.pid);

	if (n->node >= NODES || n->caller >= n->node)
		abort();
	if (n->caller && !m->node[n->caller])
		p->undefined++;
	m->node[n->node] = true;
	m->depth[n->node] = m->depth[n->caller] + 1;
	if (m->depth[n->node] > m->deepest)
		m->deepest = m->depth[n->node];
	m->nodes += !n->e.seqno;
	p->stacks += n->e.seqno != 0;
}

/* Bytes that would not be one word of a line, as mock/ranges.c writes them. */
static void print_word(const char *text)
{
	printf("%s", *text ? "" : "-");
	for (unsigned int n = 0; *text && n < 500; text++, n++)
		if (*text > ' ' && *text < 0x7f && *text != '%' && *text != '/')
			putchar(*text);
		else
			printf("%%%02x", (unsigned char)*text), n += 2;
}

static void take_chain(struct print *p, const struct grt_ev_range_node *n)
{
	struct image *m = image_of(p, n->e.pid);

	if (n->outer >= n->node || n->node > 1U << 20)
		abort();
	if (n->node > m->chains) {
		m->chain = realloc(m->chain, 2 * n->node * sizeof(*m->chain));
		memset(m->chain + m->chains, 0, (2 * n->node - m->chains) * sizeof(*m->chain));
		m->chains = 2 * n->node;
	}
	p->undefined += n->outer && !m->chain[n->outer - 1].node;
	m->chain[n->node - 1] = *n;
}

/* Return: how many ranges it is */
static unsigned int print_chain(struct print *p, uint32_t pid, uint32_t node)
{
	struct image *m = image_of(p, pid);
	unsigned int n;

	if (!node)
		return 0;
	if (node > m->chains || !m->chain[node - 1].node) {
		p->undefined++;
		return 0;
	}
	n = print_chain(p, pid, m->chain[node - 1].outer);
	putchar('/');
	print_word(text_of(p, pid, m->chain[node - 1].domain));
	putchar(':');
	print_word(text_of(p, pid, m->chain[node - 1].name));
	return n + 1;
}

static void print_name(struct print *p, uint32_t pid, uint32_t domain, uint32_t name)
{
	print_word(text_of(p, pid, domain));
	putchar(' ');
	print_word(text_of(p, pid, name));
}

static void print_range(struct print *p, const struct grt_ev_range *r)
{
	if (r->begin > r->e.time || (r->end && r->end != r->e.time))
		abort();
	printf("%c %u %u %u ", r->end ? 'R' : 'O', r->e.pid, r->e.tid, r->kind);
	print_name(p, r->e.pid, r->domain, r->name);
	printf(" %u ", r->depth);
	if (!print_chain(p, r->e.pid, r->node))
		putchar('-');
	printf(" %u:", r->category);
	print_word(text_of(p, r->e.pid, r->category_name));
	printf(" %x %u:%llx\n", r->colour, r->payload_type, (unsigned long long)r->payload);
}

static void print_mark(struct print *p, const struct grt_ev_mark *m)
{
	printf("M %u %u ", m->e.pid, m->e.tid);
	print_name(p, m->e.pid, m->domain, m->name);
	putchar(' ');
	if (!print_chain(p, m->e.pid, m->node))
		putchar('-');
	putchar('\n');
}

static void print_payload(struct print *p, const struct grt_ev_payload *v)
{
	if (v->begin > v->e.time)
		abort();
	printf("P %u %u %u ", v->e.pid, v->e.tid, v->index);
	print_name(p, v->e.pid, v->schema, v->name);
	printf(" %u:%llx:", v->value_type, (unsigned long long)v->value);
	print_word(text_of(p, v->e.pid, v->whole));
	putchar(':');
	print_word(v->text);
	printf(" %u\n", v->at_end);
}

static int on_range(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct print *p = (struct print *)c;

	(void)cpu;
	if (e->type == GRT_EV_RANGE)
		print_range(p, (const void *)e);
	else if (e->type == GRT_EV_PAYLOAD)
		print_payload(p, (const void *)e);
	else
		print_mark(p, (const void *)e);
	return 0;
}

static void take_process(struct print *p, const struct grt_ev_process *r)
{
	if (r->what == 1)
		forget(image_of(p, r->e.pid));
	printf("# process %u what=%u launches=%llu launches_lost=%llu gpu=%llu gpu_lost=%llu unknown=%llu no_stamps=%llu version=%u clock=%u age=%u ranges=%llu ranges_lost=%llu cut=%llu stray=%llu fields=%llu fields_lost=%llu unread=%llu %s\n",
	       r->e.pid, r->what, (unsigned long long)r->launches, (unsigned long long)r->launches_lost,
	       (unsigned long long)r->gpu_records, (unsigned long long)r->gpu_lost,
	       (unsigned long long)r->gpu_unknown, (unsigned long long)r->no_stamps, r->version, r->gpu_clock,
	       r->age, (unsigned long long)r->ranges, (unsigned long long)r->ranges_lost,
	       (unsigned long long)r->ranges_cut, (unsigned long long)r->ranges_stray,
	       (unsigned long long)r->fields, (unsigned long long)r->fields_lost,
	       (unsigned long long)r->fields_unread, r->what == 1 ? "" : text_of(p, r->e.pid, r->text));
}

/* As mock/nccl.h writes it. */
static void print_communicator(struct print *p, const struct grt_ev_communicator *c)
{
	if (c->number && c->number < 4096)
		image_of(p, c->e.pid)->hash[c->number] = c->hash;
	printf("C %u %016llx %d %d %u %u ", c->e.pid, (unsigned long long)c->hash, (int)c->rank,
	       (int)c->ranks, c->nodes, c->version);
	print_word(text_of(p, c->e.pid, c->name));
	putchar('\n');
}

static void print_collective(struct print *p, const struct grt_ev_collective *c)
{
	uint64_t hash = c->communicator < 4096 ? image_of(p, c->e.pid)->hash[c->communicator] : 0;
	const uint32_t words[] = {c->datatype, c->algorithm, c->protocol};

	p->undefined += !hash;
	if (c->begin > c->e.time)
		abort();
	printf("K %u %u %016llx ", c->e.pid, c->e.tid, (unsigned long long)hash);
	print_word(text_of(p, c->e.pid, c->function));
	printf(" %llu %llu ", (unsigned long long)c->sequence, (unsigned long long)c->elements);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		print_word(text_of(p, c->e.pid, words[i]));
		putchar(' ');
	}
	printf("%u %u %u %llu %d\n", c->peer, c->channels, c->kind, (unsigned long long)c->correlation,
	       (c->e.flags & GRT_FLAG_CAPTURED) != 0);
}

static int on_image(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct print *p = (struct print *)c;

	(void)cpu;
	if (e->type == GRT_EV_STRING)
		take_string(p, (const struct grt_ev_string *)e);
	else if (e->type == GRT_EV_NODE)
		take_node(p, (const struct grt_ev_node *)e);
	else if (e->type == GRT_EV_PROCESS)
		take_process(p, (const struct grt_ev_process *)e);
	else if (e->type == GRT_EV_CLOCK)
		p->clocks++;
	else if (e->type == GRT_EV_RANGE_NODE)
		take_chain(p, (const struct grt_ev_range_node *)e);
	else if (e->type == GRT_EV_COMMUNICATOR)
		print_communicator(p, (const void *)e);
	else
		p->mappings++;
	return 0;
}

static void print_gpu(const struct print *p, uint32_t pid, const char *what, uint64_t correlation,
		      uint64_t start, uint64_t end, const char *name, uint64_t more)
{
	printf("G %u %s %llu %llu %llu %s %llu\n", pid, what, (unsigned long long)correlation,
	       p->stamps ? (unsigned long long)start : 0, p->stamps ? (unsigned long long)end : 0, name,
	       (unsigned long long)more);
}

/* Its stamps are the call's. */
static void print_sync(const struct print *p, const struct grt_ev_gpu_sync *s)
{
	char stream[32] = "-";

	if (s->start > s->end || s->end != s->e.time || s->event_id != UINT32_MAX)
		abort();
	if (s->cuda_stream != UINT32_MAX)
		snprintf(stream, sizeof(stream), "stream%u", s->cuda_stream);
	print_gpu(p, s->e.pid, "sync", s->correlation, 0, 0, stream, s->kind);
}

static void print_launch(struct print *p, const struct grt_ev_launch *l)
{
	struct image *m = image_of(p, l->e.pid);

	if (l->node && (l->node >= NODES || !m->node[l->node]))
		p->undefined++;
	if (l->begin > l->e.time || !grt_cuda_call(l->call))
		abort();
	printf("L %u %u %u %llu\n", l->e.pid, l->e.tid, l->call, (unsigned long long)l->correlation);
	if (!l->range)
		return;
	printf("X %u %u ", l->e.pid, l->e.tid);
	print_chain(p, l->e.pid, l->range);
	printf(" %u\n", l->ranges);
}

static int on_launch(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	const struct grt_ev_gpu_kernel *k = (const void *)e;
	const struct grt_ev_gpu_copy *m = (const void *)e;
	const struct grt_ev_gpu_sync *s = (const void *)e;
	const struct grt_ev_gpu_overhead *o = (const void *)e;
	struct print *p = (struct print *)c;

	(void)cpu;
	if (e->type == GRT_EV_LAUNCH)
		print_launch(p, (const void *)e);
	else if (e->type == GRT_EV_GPU_KERNEL)
		print_gpu(p, e->pid, "kernel", k->correlation, k->start, k->end, text_of(p, e->pid, k->name),
			  k->graph_node);
	else if (e->type == GRT_EV_GPU_COPY)
		print_gpu(p, e->pid, grt_cuda_copy_name(m->kind), m->correlation, m->start, m->end, "-",
			  m->bytes);
	else if (e->type == GRT_EV_GPU_SYNC)
		print_sync(p, s);
	else if (e->type == GRT_EV_COLLECTIVE)
		print_collective(p, (const void *)e);
	else
		print_gpu(p, e->pid, "overhead", o->correlation, o->start, o->end, "-", o->kind);
	return 0;
}

static void print_health(const struct grt_health *h)
{
	uint64_t faults = 0, sum = 0;
	int i;

	for (i = 0; i < GRT_FAULTS; i++)
		faults += h->fault[i];
	for (i = 0; i < GRT_FATES; i++)
		sum += h->balance.fate[i];
	printf("# faults=%llu missing=%llu finished=%d balance=%s lost=%llu\n", (unsigned long long)faults,
	       (unsigned long long)h->missing_events, h->finished,
	       sum == h->balance.emitted && h->events == h->balance.fate[GRT_FATE_DELIVERED] ? "ok" : "OPEN",
	       (unsigned long long)h->balance.fate[GRT_FATE_LOST]);
	if (faults)
		printf("# %s: %s\n", h->first.what, h->first.why);
}

int main(int argc, char **argv)
{
	struct print p = {.c = {.image = on_image, .launch = on_launch, .range = on_range},
			  .stamps = argc < 3};
	struct grt_session *s;
	struct grt_err err = {0};
	unsigned int i;

	if (argc < 2)
		return 2;
	if (grt_session_open(&s, argv[1], &err) || grt_session_run(s, &p.c, 0, UINT64_MAX, &err)) {
		printf("# %s: %s\n", err.what, err.why);
		return 1;
	}
	print_health(grt_session_health(s));
	printf("# undefined=%llu clocks=%llu mappings=%llu stacks=%llu\n", (unsigned long long)p.undefined,
	       (unsigned long long)p.clocks, (unsigned long long)p.mappings, (unsigned long long)p.stacks);
	for (i = 0; i < p.images; i++) {
		printf("# image %u nodes=%u deepest=%u\n", p.image[i]->pid, p.image[i]->nodes,
		       p.image[i]->deepest);
		forget(p.image[i]);
		free(p.image[i]);
	}
	grt_session_close(s);
	return 0;
}
