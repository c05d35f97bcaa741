// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of processes: what drivers write about their clients into /proc/PID/fdinfo/FD (drm-usage-stats).
 * A client is a DRM file. However many descriptors it has, in however many processes, it counts once, for
 * the process in which it is found first.
 *
 * Processes with such a file are read in every sample. To find them, /proc is searched, at most a few
 * thousand descriptors a second.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/containers.h"
#include "codes/engine.h"
#include "power.h"
#include "host/probe.h"
#include "sources/owners.h"

#define PROCESSES 256
#define CLIENTS 1024
#define FDS 64	   /* of a process */
#define TOTALS 48  /* counters of a process */
#define ENGINES 16 /* of a client */

/* Descriptors to look at in a sample, for one process, and before the first sample. */
#define LINKS_SAMPLE 1024
#define LINKS_PROCESS 4096
#define LINKS_FIRST 65536

#define WALK_NS 2000000000ULL
#define LIST_NS 1000000000ULL

#define TEXT_ROOM 8192

/* Most threads, of all processes, whose waits for a CPU are remembered. */
#define THREADS 16384U
/* A thread that was not seen in this many samples has ended. */
#define THREAD_ROUNDS 32U

/** struct engine - a client's use of an engine: @busy in ns, or @cycles of @all */
struct engine {
	uint32_t counter;
	uint8_t engine;
	bool has_busy;
	bool has_cycles;
	bool has_all;
	uint64_t busy;
	uint64_t cycles;
	uint64_t all;
};

/**
 * struct client - a DRM file
 * @where: hash of its device
 * @round: the last sample that counted it
 * @read: when that was, ns
 */
struct client {
	uint64_t id;
	uint64_t where;
	uint64_t round;
	uint64_t read;
	unsigned int engines;
	struct engine engine[ENGINES];
};

/**
 * struct total - a counter of a process, summed over its clients
 * @amount: busy time since the first sample, or memory in this round
 * @grows: @amount is the busy time
 * @round: the last sample that added to it
 */
struct total {
	struct power_series series;
	uint64_t amount;
	uint64_t round;
	bool grows;
};

/**
 * struct thread
 * @delay: how long it was ready to run without a CPU, ns
 * @round: when it was last read
 */
struct thread {
	uint64_t delay;
	uint64_t round;
};

/**
 * struct descriptor - of a DRM file
 * @device: the number of its card, 0: unknown
 */
struct descriptor {
	int fd;
	uint32_t device;
};

/**
 * struct process - a process that has a DRM file
 * @listed: when its descriptors were last searched, ns
 * @delay: how long its threads were ready to run without a CPU since they were first read; valid with @timed
 */
struct process {
	pid_t pid;
	char comm[16];
	uint64_t listed;
	unsigned int fds;
	unsigned int totals;
	bool timed;
	uint64_t delay;
	struct power_series runnable;
	struct descriptor fd[FDS];
	struct total total[TOTALS];
};

/**
 * struct fdinfo - the state of this part
 * @pid: pids of the processes, for searching; 0: an unused element
 * @clients: number of elements of @client that were ever used
 * @proc: descriptor of /proc
 * @walk: the position of the search in it; NULL: no search is running
 * @walked: when the last search began, ns
 * @round: number of the sample
 * @threads: struct thread by process and thread
 */
struct fdinfo {
	pid_t pid[PROCESSES];
	unsigned int clients;
	int proc;
	DIR *walk;
	uint64_t walked;
	uint64_t round;
	struct process process[PROCESSES];
	struct client client[CLIENTS];
	struct grt_keyed threads;
	struct owners owners;
};

/* The client of a process that is being read. */
struct reading {
	struct power *p;
	struct fdinfo *f;
	struct process *process;
	struct client *client;
	uint32_t device;
	uint64_t now;
};

/* ------------------------------------------------------------- tables */

static struct process *power_fdinfo_find_process(struct fdinfo *f, pid_t pid)
{
	unsigned int i = 0;

	while (i < PROCESSES && f->pid[i] != pid)
		i++;
	return i < PROCESSES ? &f->process[i] : NULL;
}

static void drop_process(struct power *p, struct fdinfo *f, struct process *process)
{
	unsigned int i;

	for (i = 0; i < process->totals; i++)
		power_end(p, &process->total[i].series);
	power_end(p, &process->runnable);
	f->pid[process - f->process] = 0;
}

/*
 * Finds or adds a client. A client that was not seen in the last sample is closed, and its element is free.
 */
static struct client *get_client(struct fdinfo *f, uint64_t where, uint64_t id)
{
	struct client *free = NULL, *c;

	for (c = f->client; c < f->client + f->clients; c++) {
		if (c->id == id && c->where == where)
			return c;
		if (!free && c->round + 1 < f->round)
			free = c;
	}
	if (!free && f->clients < CLIENTS)
		free = &f->client[f->clients++];
	if (free)
		*free = (struct client){.id = id, .where = where};
	return free;
}

static struct engine *power_fdinfo_get_engine(struct reading *r, const char *name)
{
	char text[32];
	struct engine *e = r->client->engine;
	uint32_t counter;

	snprintf(text, sizeof(text), "busy %s", name);
	counter = power_counter(r->p, text, "total ns");
	while (e < r->client->engine + r->client->engines && e->counter != counter)
		e++;
	if (e == r->client->engine + ENGINES)
		return NULL;
	if (e == r->client->engine + r->client->engines) {
		r->client->engines++;
		*e = (struct engine){.counter = counter};
		e->engine = (uint8_t)grt_engine_of_ring(name, strlen(name));
	}
	return e;
}

static struct total *get_total(struct reading *r, uint32_t counter, bool grows)
{
	struct process *process = r->process;
	struct total *t = process->total;

	while (t < process->total + process->totals &&
	       (t->series.counter != counter || t->series.device != r->device))
		t++;
	if (t == process->total + TOTALS || !counter) {
		r->p->count.dropped++;
		return NULL;
	}
	if (t == process->total + process->totals) {
		process->totals++;
		*t = (struct total){.grows = grows};
		t->series.counter = counter;
		t->series.device = r->device;
		t->series.pid = (uint32_t)process->pid;
		t->series.lazy = true;
	}
	if (t->round != r->f->round && !grows)
		t->amount = 0;
	t->round = r->f->round;
	return t;
}

/* ------------------------------------------------------------ the text */

/* Return: the value of a line "KEY: value", NULL: it is another line. */
static const char *power_fdinfo_value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0 || line[n] != ':')
		return NULL;
	line += n + 1;
	return line + strspn(line, " \t");
}

static const char *find_value(const char *text, const char *key)
{
	const char *line = text, *value = NULL;

	while (line && !(value = power_fdinfo_value_of(line, key))) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return value;
}

/* "123 KiB"; a number without a unit is in bytes. */
static bool power_fdinfo_parse_size(const char *text, uint64_t *bytes)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = {{"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30}, {"", 1}};
	size_t i = 0, n;
	int64_t number;

	text = power_number(text, &number);
	if (!text || number < 0)
		return false;
	text += strspn(text, " \t");
	n = strcspn(text, " \t\n");
	while (i < 4 && (strlen(units[i].name) != n || strncmp(text, units[i].name, n) != 0))
		i++;
	return i < 4 && !__builtin_mul_overflow((uint64_t)number, units[i].bytes, bytes);
}

static bool parse_count(const char *text, const char *unit, uint64_t *count)
{
	int64_t number;

	text = power_number(text, &number);
	if (!text || number < 0)
		return false;
	*count = (uint64_t)number;
	text += strspn(text, " \t");
	return !*text || *text == '\n' || !strncmp(text, unit, strlen(unit));
}

/*
 * Adds the growth of the client's numbers to the process; when the amount before its first sample was used
 * is unknown.
 */
static void add_growth(struct reading *r, const struct engine *e, uint64_t busy, bool inferred)
{
	struct total *t = get_total(r, e->counter, true);

	if (!t)
		return;
	t->amount += busy;
	t->series.engine = e->engine;
	t->series.inferred |= inferred;
}

static void take_busy(struct reading *r, struct engine *e, uint64_t busy)
{
	add_growth(r, e, e->has_busy && busy > e->busy ? busy - e->busy : 0, false);
	e->busy = busy;
	e->has_busy = true;
}

/* xe counts cycles of the GPU's clock: their share of all cycles is the share of the time. */
static void take_cycles(struct reading *r, struct engine *e, uint64_t cycles, uint64_t all)
{
	uint64_t ns = 0;

	if (e->has_all && cycles > e->cycles && all > e->all && cycles - e->cycles <= all - e->all)
		ns = (uint64_t)((unsigned __int128)(cycles - e->cycles) * (r->now - r->client->read) /
				(all - e->all));
	add_growth(r, e, ns, true);
	e->cycles = cycles;
	e->all = all;
	e->has_all = true;
}

static void power_fdinfo_take_engine(struct reading *r, const char *text, const char *key, const char *name)
{
	char other[64];
	const char *value = find_value(text, key), *of;
	uint64_t count, all;
	struct engine *e;

	if (!strncmp(key, "drm-engine-capacity-", 20))
		return;
	snprintf(other, sizeof(other), "drm-engine-%s", name);
	if (!strncmp(key, "drm-cycles-", 11) && find_value(text, other))
		return;
	snprintf(other, sizeof(other), "drm-total-cycles-%s", name);
	of = !strncmp(key, "drm-cycles-", 11) ? find_value(text, other) : NULL;
	if (of ? !parse_count(value, "", &count) || !parse_count(of, "", &all)
	       : strncmp(key, "drm-engine-", 11) != 0 || !parse_count(value, "ns", &count))
		return;
	e = power_fdinfo_get_engine(r, name);
	if (!e)
		r->p->count.dropped++;
	else if (of)
		take_cycles(r, e, count, all);
	else
		take_busy(r, e, count);
}

static void power_fdinfo_take_memory(struct reading *r, const char *text, const char *key, const char *name)
{
	const char *kind = strncmp(key, "drm-total-", 10) ? "resident" : "total";
	struct total *t;
	char other[64];
	uint64_t bytes;

	/* the old name of resident, which a driver may write beside the new one */
	snprintf(other, sizeof(other), "drm-resident-%s", name);
	if (!strncmp(key, "drm-memory-", 11) && find_value(text, other))
		return;
	if (!power_fdinfo_parse_size(find_value(text, key), &bytes))
		return;
	snprintf(other, sizeof(other), "%s %s", kind, name);
	t = get_total(r, power_counter(r->p, other, "B"), false);
	if (t && __builtin_add_overflow(t->amount, bytes, &t->amount))
		t->amount = INT64_MAX;
}

/** struct key - the beginning of the lines that are used, after which a name follows */
static const struct key {
	const char *begin;
	void (*take)(struct reading *r, const char *text, const char *key, const char *name);
} keys[] = {
	{"drm-engine-", power_fdinfo_take_engine},
	{"drm-cycles-", power_fdinfo_take_engine},
	{"drm-total-cycles-", NULL},
	{"drm-total-", power_fdinfo_take_memory},
	{"drm-resident-", power_fdinfo_take_memory},
	{"drm-memory-", power_fdinfo_take_memory},
};

static void power_fdinfo_take_line(struct reading *r, const char *text, const char *line)
{
	char key[64];
	size_t n = strcspn(line, ":\n"), i;

	if (line[n] != ':' || n >= sizeof(key))
		return;
	snprintf(key, sizeof(key), "%.*s", (int)n, line);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strncmp(key, keys[i].begin, strlen(keys[i].begin)) != 0)
			continue;
		if (keys[i].take && key[strlen(keys[i].begin)])
			keys[i].take(r, text, key, key + strlen(keys[i].begin));
		return;
	}
}

/* The PCI device if it has one, otherwise the card. */
static uint64_t hash_device(const char *pdev, uint32_t device)
{
	return pdev ? grt_fnv(GRT_FNV_START, pdev, strcspn(pdev, "\n")) : device;
}

/* Return: whether it is a client's text */
static bool take_text(struct reading *r, const char *text)
{
	const char *id = find_value(text, "drm-client-id"), *line;
	uint64_t number;

	if (!id || !parse_count(id, "", &number))
		return false;
	r->client = get_client(r->f, hash_device(find_value(text, "drm-pdev"), r->device), number);
	if (!r->client)
		r->p->count.dropped++;
	if (!r->client || r->client->round == r->f->round)
		return true;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		power_fdinfo_take_line(r, text, line);
	}
	r->client->round = r->f->round;
	r->client->read = r->now;
	return true;
}

/* ----------------------------------------------------------- processes */

/* Return: bytes in @text, which is NUL terminated, or -errno */
static ssize_t power_fdinfo_read_at(int dir, const char *path, char *text, size_t room)
{
	int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = fd < 0 ? -errno : 0;

	while (fd >= 0 && used + 1 < room && (n = read(fd, text + used, room - used - 1)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[used] = '\0';
	return n < 0 ? -ESRCH : (ssize_t)used;
}

static void power_fdinfo_read_comm(struct fdinfo *f, struct process *process)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "%d/comm", process->pid);
	if (power_fdinfo_read_at(f->proc, path, text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(process->comm, sizeof(process->comm), "%.15s", text);
}

/* A DRM file's node, by the name of the link. */
static const char *node_of(const char *target)
{
	const char *dri = strstr(target, "/dri/"), *accel = strstr(target, "/accel/");

	return dri ? dri + 5 : accel ? accel + 7 : NULL;
}

static void add_descriptor(struct power *p, struct process *process, int fd, const char *node)
{
	const struct power_card *card = power_card_of(p, node);
	uint32_t device = card ? card->device : 0;

	if (!power_wanted(p, device))
		return;
	if (process->fds == FDS)
		p->count.dropped++;
	else
		process->fd[process->fds++] = (struct descriptor){fd, device};
}

/* Searches the descriptors of a process. Return: number of descriptors */
static unsigned int list_descriptors(struct power *p, struct fdinfo *f, struct process *process)
{
	char path[64], target[256];
	const char *node;
	struct dirent *e;
	unsigned int links = 0;
	ssize_t n;
	DIR *d;
	int fd;

	process->fds = 0;
	snprintf(path, sizeof(path), "%d/fd", process->pid);
	fd = openat(f->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	while (d && links < LINKS_PROCESS && (e = readdir(d))) {
		n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		links++;
		target[n > 0 ? n : 0] = '\0';
		node = node_of(target);
		if (node && isdigit((unsigned char)e->d_name[0]))
			add_descriptor(p, process, atoi(e->d_name), node);
	}
	if (process->fds)
		power_fdinfo_read_comm(f, process);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	process->listed = grt_now();
	return links + 1;
}

/* -------------------------------------------------------------- threads */

/* Reads the kernel's count for a thread: "running waiting-for-a-CPU times". */
static bool thread_delay(struct fdinfo *f, pid_t pid, const char *tid, uint64_t *delay)
{
	char path[64], text[96];
	unsigned long long ran, waited;

	snprintf(path, sizeof(path), "%d/task/%.20s/schedstat", pid, tid);
	if (power_fdinfo_read_at(f->proc, path, text, sizeof(text)) <= 0 ||
	    sscanf(text, "%llu %llu", &ran, &waited) != 2)
		return false;
	*delay = waited;
	return true;
}

/*
 * The time that a thread waited before its first reading counts if the thread began during the recording.
 * The time between the last reading and the thread's end is in no sum.
 */
static bool thread_read(struct power *p, struct fdinfo *f, struct process *process, const char *tid)
{
	const struct grt_key key = {{(uint64_t)process->pid, (uint64_t)atoi(tid)}};
	struct thread *t = NULL;
	uint64_t delay;

	if (!thread_delay(f, process->pid, tid, &delay))
		return false;
	if (grt_keyed_get_or_count(&f->threads, &key, &p->count.dropped, (void **)&t) || !t)
		return false;
	if ((t->round || process->timed) && delay > t->delay)
		process->delay += delay - t->delay;
	t->delay = delay;
	t->round = f->round;
	return true;
}

/*
 * Forgets threads that did not exist when their process was last read; all processes are read equally often.
 */
static void threads_forget(struct fdinfo *f)
{
	struct thread *next;

	for (struct thread *t = grt_keyed_oldest(&f->threads); t && f->round % THREAD_ROUNDS == 0; t = next) {
		next = grt_keyed_next(&f->threads, t);
		if (t->round + THREAD_ROUNDS < f->round)
			grt_keyed_remove(&f->threads, t);
	}
}

/* Reads the threads of a process whenever its descriptors are read. */
static void threads_read(struct power *p, struct fdinfo *f, struct process *process)
{
	bool any = false;
	char path[64];
	struct dirent *e;
	int fd;
	DIR *d;

	snprintf(path, sizeof(path), "%d/task", process->pid);
	fd = openat(f->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			any |= thread_read(p, f, process, e->d_name);
	process->timed |= any;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static void threads_put(struct power *p, struct fdinfo *f, struct process *process)
{
	struct power_series *runnable = &process->runnable;

	if (p->looking || !process->fds)
		return;
	threads_read(p, f, process);
	if (!process->timed || process->delay > INT64_MAX)
		return;
	runnable->counter = runnable->counter ?: power_counter(p, "runnable", "total ns");
	runnable->pid = (uint32_t)process->pid;
	runnable->eager = true;
	power_put(p, runnable, grt_now(), (int64_t)process->delay);
}

static void power_fdinfo_add_process(struct power *p, struct fdinfo *f, const struct process *found)
{
	struct process *place = power_fdinfo_find_process(f, 0);

	if (!place) {
		p->count.dropped++;
		return;
	}
	*place = *found;
	f->pid[place - f->process] = found->pid;
	if (!p->looking)
		threads_read(p, f, place);
}

/* Finds out whether a process has DRM files. Return: number of descriptors that were looked at */
static unsigned int power_fdinfo_look_at(struct power *p, struct fdinfo *f, pid_t pid)
{
	struct process found = {.pid = pid};
	unsigned int links;

	if (power_fdinfo_find_process(f, pid))
		return 1;
	if (p->comm[0]) {
		power_fdinfo_read_comm(f, &found);
		if (strcmp(p->comm, found.comm) != 0)
			return 1;
	}
	links = list_descriptors(p, f, &found);
	if (found.fds)
		power_fdinfo_add_process(p, f, &found);
	return links;
}

static DIR *begin_walk(struct fdinfo *f)
{
	int fd = openat(f->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	f->walked = grt_now();
	return d;
}

/* Continues the search, or begins the next one when it is time. */
static void power_fdinfo_walk(struct power *p, struct fdinfo *f, unsigned int budget)
{
	unsigned int links = 0;
	struct dirent *e = NULL;

	if (p->pid) {
		power_fdinfo_look_at(p, f, p->pid);
		return;
	}
	if (!f->walk && f->walked && grt_now() - f->walked < WALK_NS)
		return;
	if (!f->walk)
		f->walk = begin_walk(f);
	while (f->walk && links < budget) {
		e = readdir(f->walk);
		if (!e)
			break;
		if (isdigit((unsigned char)e->d_name[0]))
			links += power_fdinfo_look_at(p, f, atoi(e->d_name));
	}
	if (f->walk && !e) {
		closedir(f->walk);
		f->walk = NULL;
	}
}

/* -------------------------------------------------------------- samples */

/* Reading would wake a suspended card. */
static bool sleeps(struct power *p, uint32_t device)
{
	const struct power_card *card = device ? power_card_at(p, device) : NULL;

	return card && card->asleep;
}

/* Forgets files that are closed, or that are not clients. */
static void power_fdinfo_read_process(struct power *p, struct fdinfo *f, struct process *process)
{
	struct reading r = {.p = p, .f = f, .process = process};
	char path[64], text[TEXT_ROOM];
	unsigned int i, kept = 0;
	bool keep;

	if (grt_now() - process->listed > LIST_NS) {
		list_descriptors(p, f, process);
		threads_put(p, f, process);
	}
	for (i = 0; i < process->fds; i++) {
		keep = sleeps(p, process->fd[i].device);
		if (!keep) {
			snprintf(path, sizeof(path), "%d/fdinfo/%d", process->pid, process->fd[i].fd);
			r.device = process->fd[i].device;
			keep = power_fdinfo_read_at(f->proc, path, text, sizeof(text)) >= 0;
			r.now = grt_now();
			keep = keep && take_text(&r, text);
		}
		if (keep)
			process->fd[kept++] = process->fd[i];
	}
	process->fds = kept;
}

static void put_totals(struct power *p, struct fdinfo *f, struct process *process)
{
	struct total *t;

	if (!p->looking && process->totals && process->comm[0] &&
	    grt_packer_name(p->packer, 0, grt_now(), GRT_NAME_THREAD, (uint32_t)process->pid, process->comm,
			    process->comm))
		p->failed = -ENOMEM;
	if (!p->looking && process->totals &&
	    owners_add(&f->owners, p->packer, 0, grt_now(), (uint32_t)process->pid))
		p->failed = -ENOMEM;
	for (t = process->total; t < process->total + process->totals; t++) {
		if (t->round == f->round && t->amount <= INT64_MAX)
			power_put(p, &t->series, grt_now(), (int64_t)t->amount);
		else
			power_end(p, &t->series);
	}
}

static void fdinfo_sample(void *state, struct power *p)
{
	struct fdinfo *f = state;
	struct process *process;

	f->round++;
	for (process = f->process; process < f->process + PROCESSES; process++) {
		if (!f->pid[process - f->process])
			continue;
		power_fdinfo_read_process(p, f, process);
		put_totals(p, f, process);
		if (!process->fds)
			drop_process(p, f, process);
	}
	threads_forget(f);
	power_fdinfo_walk(p, f, LINKS_SAMPLE);
}

/* ----------------------------------------------------------------- part */

/* A first reading gets the initial values of what grows, and shows whether there is anything to read. */
static int read_first(struct power *p, struct fdinfo *f)
{
	unsigned int i;
	int n = 0;

	/* elements of older rounds are free */
	f->round = 2;
	power_fdinfo_walk(p, f, LINKS_FIRST);
	for (i = 0; i < PROCESSES; i++) {
		if (!f->pid[i])
			continue;
		power_fdinfo_read_process(p, f, &f->process[i]);
		n += (int)f->process[i].totals;
	}
	return n;
}

static int fdinfo_open(void **state, struct power *p, struct grt_err *err)
{
	struct fdinfo *f = calloc(1, sizeof(*f));
	char path[PROBE_PATH];

	*state = f;
	if (!f)
		return -ENOMEM;
	grt_keyed_init(&f->threads, sizeof(struct thread), THREADS);
	f->proc = open(probe_path(path, "/proc"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->proc < 0 || (!p->cards && !probe_exists("/sys/class/accel")))
		return -ENODEV;
	return read_first(p, f);
}

static void fdinfo_close(void *state)
{
	struct fdinfo *f = state;

	if (!f)
		return;
	if (f->walk)
		closedir(f->walk);
	if (f->proc >= 0)
		close(f->proc);
	grt_keyed_free(&f->threads);
	free(f);
}

const struct power_part power_fdinfo = {
	.name = "fdinfo",
	.open = fdinfo_open,
	.sample = fdinfo_sample,
	.close = fdinfo_close,
};
