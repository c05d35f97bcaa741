/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An NCCL without a network: it loads a profiler plugin as NCCL does, and calls it in
 * the order in which NCCL does, for the version of its interface that a program chooses.
 * Each collective is a line of the file of NCCL_LOG:
 *	C PID HASH RANK RANKS NODES VERSION NAME
 *	K PID TID HASH FUNCTION SEQUENCE COUNT DATATYPE ALGORITHM PROTOCOL PEER CHANNELS KIND CORRELATION
 *	FLAGS
 */
#ifndef TESTS_INJECT_MOCK_NCCL_H
#define TESTS_INJECT_MOCK_NCCL_H

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mock.h"

enum {
	NCCL_GROUP = 1,
	NCCL_COLL = 2,
	NCCL_P2P = 4,
	NCCL_GROUP_API = 256,
	NCCL_COLL_API = 512,
	NCCL_P2P_API = 1024,
	NCCL_LAUNCH = 2048,
	NCCL_CE_COLL = 4096,
};

/* Of v4, v5 and v6, as their headers have them; v4 has neither of the last members and one byte of type. */
struct nccl_coll {
	uint64_t seq;
	const char *func;
	const void *send;
	void *receive;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels;
	uint8_t warps;
	const char *algo;
	const char *proto;
	void *group;
};

struct nccl_p2p {
	const char *func;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
	void *group;
};

struct nccl_api {
	const char *func;
	size_t count;
	const char *datatype;
	int root;
	void *stream;
	bool captured;
};

struct nccl_descr {
	union {
		uint64_t type;
		uint8_t type_v4;
	};
	void *parent;
	int rank;
	union {
		struct nccl_coll coll;
		struct nccl_p2p p2p;
		struct nccl_api api;
		void *stream;
		char most[96];
	};
};

struct nccl_plugin {
	const char *name;
	union {
		int (*init_v4)(void **, int *, const char *, uint64_t, int, int, int, void *);
		int (*init)(void **, uint64_t, int *, const char *, int, int, int, void *);
	};
	int (*start)(void *context, void **handle, struct nccl_descr *d);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, void *args);
	int (*finalize)(void *context);
};

struct nccl_comm {
	void *context;
	uint64_t hash;
	const char *name;
	int rank;
	int ranks;
	uint64_t seq[8];
};

/* What a collective is. */
struct nccl_call {
	const char *func;
	size_t count;
	const char *datatype;
	int root;
	const char *algo;
	const char *proto;
	uint8_t channels;
	uint64_t seq;
	void *api;
	bool p2p;
};

static const struct nccl_plugin *nccl_plugin;
static int nccl_version, nccl_mask;

static void __attribute__((format(printf, 1, 2))) nccl_tell(const char *fmt, ...)
{
	const char *path = getenv("NCCL_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	va_list args;

	if (fd < 0)
		return;
	va_start(args, fmt);
	vdprintf(fd, fmt, args);
	va_end(args);
	close(fd);
}

/* Return: whether there is a plugin of this version */
static bool nccl_load(int version)
{
	const char *path = getenv("NCCL_PROFILER_PLUGIN");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	char symbol[32];

	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", version);
	nccl_plugin = library ? dlsym(library, symbol) : NULL;
	nccl_version = version;
	return nccl_plugin;
}

static void nccl_init(struct nccl_comm *c)
{
	int ret = !nccl_plugin	      ? 0
		  : nccl_version == 4 ? nccl_plugin->init_v4(&c->context, &nccl_mask, c->name, c->hash, 1,
							     c->ranks, c->rank, NULL)
				      : nccl_plugin->init(&c->context, c->hash, &nccl_mask, c->name, 1,
							  c->ranks, c->rank, NULL);

	if (ret)
		abort();
	nccl_tell("C %d %016" PRIx64 " %d %d 1 %d %s\n", getpid(), c->hash, c->rank, c->ranks, nccl_version,
		  c->name ?: "-");
}

static void nccl_finalize(struct nccl_comm *c)
{
	if (nccl_plugin && c->context)
		nccl_plugin->finalize(c->context);
}

static void *nccl_start(struct nccl_comm *c, struct nccl_descr *d, unsigned int type)
{
	void *handle = NULL;

	if (nccl_version == 4)
		d->type_v4 = (uint8_t)type;
	else
		d->type = type;
	if (nccl_plugin && nccl_mask)
		nccl_plugin->start(c->context, &handle, d);
	return handle;
}

static void nccl_stop(void *handle)
{
	if (nccl_plugin && handle)
		nccl_plugin->stop(handle);
}

/* The program's call, in a group: nothing runs yet. */
static void nccl_enqueue(struct nccl_comm *c, struct nccl_call *k, void *group_api, bool captured)
{
	struct nccl_descr d = {.parent = group_api, .rank = 0};

	k->api = NULL;
	if (!(nccl_mask & (k->p2p ? NCCL_P2P_API : NCCL_COLL_API)))
		return;
	d.api = (struct nccl_api){k->func, k->count, k->datatype, k->root, NULL, captured};
	k->api = nccl_start(c, &d, k->p2p ? NCCL_P2P_API : NCCL_COLL_API);
	nccl_stop(k->api);
}

static void nccl_tell_call(const struct nccl_comm *c, const struct nccl_call *k, uint64_t correlation,
			   bool captured)
{
	nccl_tell("K %d %ld %016" PRIx64 " %s %" PRIu64 " %zu %s %s %s %u %u %d %" PRIu64 " %d\n", getpid(),
		  syscall(SYS_gettid), c->hash, k->func, k->p2p ? 0 : k->seq, k->count, k->datatype,
		  k->p2p ? "-" : k->algo, k->p2p ? "-" : k->proto, (unsigned int)k->root, k->channels,
		  k->p2p ? 2 : 1, captured ? 0 : correlation, captured);
}

/* Behind the launch: sequence numbers are given here. */
static void nccl_tasks(struct nccl_comm *c, struct nccl_call *k, unsigned int n, uint64_t correlation,
		       bool captured)
{
	struct nccl_descr d = {.rank = 0};
	void *group = nccl_start(c, &d, NCCL_GROUP), *task;

	for (unsigned int i = 0; i < n; i++) {
		memset(&d, 0, sizeof(d));
		d.parent = nccl_version == 4 ? group : k[i].api;
		d.rank = c->rank;
		if (k[i].p2p) {
			d.p2p = (struct nccl_p2p){.func = k[i].func,
						  .datatype = k[i].datatype,
						  .count = k[i].count,
						  .peer = k[i].root,
						  .channels = k[i].channels};
			if (nccl_version > 4)
				d.p2p.group = group;
		} else {
			k[i].seq = c->seq[k[i].func[3] % 8];
			c->seq[k[i].func[3] % 8] += !captured;
			d.coll = (struct nccl_coll){k[i].seq,	k[i].func, NULL,	  NULL,
						    k[i].count, k[i].root, k[i].datatype, k[i].channels,
						    8,		k[i].algo, k[i].proto,	  NULL};
			if (nccl_version > 4)
				d.coll.group = group;
		}
		nccl_tell_call(c, &k[i], correlation, captured);
		task = nccl_start(c, &d, k[i].p2p ? NCCL_P2P : NCCL_COLL);
		nccl_stop(task);
	}
	nccl_stop(group);
}

/* A group of calls that one kernel does. @launch: makes it; @captured: into a graph */
static void nccl_group(struct nccl_comm *c, struct nccl_call *k, unsigned int n, void (*launch)(void),
		       bool captured)
{
	struct nccl_descr d = {.rank = 0};
	void *api = nccl_mask > 7 ? nccl_start(c, &d, NCCL_GROUP_API) : NULL, *kernel;
	uint64_t correlation;

	for (unsigned int i = 0; i < n; i++)
		nccl_enqueue(c, &k[i], api, captured);
	d = (struct nccl_descr){.parent = api};
	kernel = nccl_mask & NCCL_LAUNCH ? nccl_start(c, &d, NCCL_LAUNCH) : NULL;
	correlation = mock.next;
	launch();
	nccl_stop(kernel);
	nccl_tasks(c, k, n, correlation, captured);
	nccl_stop(api);
}

#endif /* TESTS_INJECT_MOCK_NCCL_H */
