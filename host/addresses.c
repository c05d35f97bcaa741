// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of addresses.h, and the messages between this process and the separate one. The separate process
 * has a copy of the tables, so no requests need to be sent. It works through the files by number, so it is at
 * the first file that has an address without an answer.
 */
#include "addresses.h"

/* ----------------------------------------------------- debug information */

/* Files with the debug info of object files that have none, found by build id. */

#ifdef GRT_HAVE_BPF

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "elf_file.h"
#include "stack/debug_file.h"

/* Weak, because these functions are missing if libc has no dlopen() of its own (glibc before 2.34). */
#pragma weak dlopen
#pragma weak dlsym

#define DEBUG_FILE_MAX (64ULL << 20)
/* How many seconds to wait for an answer; the client's own limit is a minute and a half. */
#define PATIENCE "10"

/**
 * struct client - elfutils' library, loaded when it is first needed; @tried: loading was tried
 */
struct client {
	bool tried;
	void *handle;
	int (*find)(void *handle, const unsigned char *build_id, int length, char **path);
};

static struct client client;

static bool is_wanted(void)
{
	const char *wanted = getenv("GRTRACE_DEBUGINFOD"), *urls = getenv("DEBUGINFOD_URLS");

	return wanted && !strcmp(wanted, "1") && urls && *urls;
}

static void load_client(void)
{
	void *library, *(*begin)(void);

	client.tried = true;
	/* this program was not started by a dynamic linker, so it cannot load libraries */
	if (!dlopen || !dlsym || !getauxval(AT_BASE))
		return;
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	begin = (void *(*)(void))(uintptr_t)dlsym(library, "debuginfod_begin");
	client.find = (int (*)(void *, const unsigned char *, int, char **))(uintptr_t)dlsym(
		library, "debuginfod_find_debuginfo");
	setenv("DEBUGINFOD_TIMEOUT", PATIENCE, 0);
	client.handle = begin && client.find ? begin() : NULL;
}

static int ask_servers(const char *build_id)
{
	int fd;

	if (!is_wanted())
		return -ENOENT;
	if (!client.tried)
		load_client();
	if (!client.handle)
		return -ENOENT;
	/* length 0 means: the build id is hexadecimal text */
	fd = client.find(client.handle, (const unsigned char *)build_id, 0, NULL);
	return fd < 0 ? -ENOENT : fd;
}

/**
 * debug_info_open - opens the debug info of an object file: the file that the distribution installed (only
 * root can create it); if there is none and the environment variable GRTRACE_DEBUGINFOD is 1, the file from a
 * server of DEBUGINFOD_URLS, which then learns the build id
 * Return: a descriptor, or -ENOENT
 */
static int debug_info_open(int object)
{
	char build_id[2 * ELF_BUILD_ID_MAX + 1], path[2 * ELF_BUILD_ID_MAX + 64];
	uint64_t address;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", object);
	elf_describe(path, 0, &address, build_id);
	if (strlen(build_id) < 3)
		return -ENOENT;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	fd = grt_open_regular(path, DEBUG_FILE_MAX);
	return fd < 0 ? ask_servers(build_id) : fd;
}

#endif /* GRT_HAVE_BPF */

/* ------------------------------------------------------------- addresses */

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apart.h"
#include "base/clock.h"
#include "base/containers.h"

#define OBJECTS_MAX 65536U
#define ADDRESSES_MAX 1048576U
/* Most descriptors of all sources together; half of what the process may have at most. */
#define OPEN_MAX 768U
/* Most names, each stored once, and most bytes of them. */
#define NAMES_MAX 4194304U
#define NAME_BYTES_MAX ((size_t)128 << 20)
#define NAME_MAX_BYTES 4096U
/* Most bytes of DWARF that are read; for files with more, symbol tables are used. */
#define DEBUG_MAX (8U << 20)

/* Memory that the separate process may use. */
#define MEMORY_MAX (1ULL << 30)
#define CPU_SECONDS 60
#define SILENCE_NS 10000000000ULL
#define ALL_NS 60000000000ULL
#define PROCESSES_MAX 16U

/**
 * struct object - a file
 * @name: NULL for a map
 * @first: number of the first of its addresses
 * @wants: number of its addresses without an answer
 * @asked: the separate process was asked for it and has not answered
 * @refused: there was no room for it
 * @debug_tried: its DWARF was looked for in other places
 */
struct object {
	char *name;
	int fd;
	int debug_fd;
	bool debug_tried;
	uint32_t first;
	uint32_t wants;
	uint32_t asked;
	bool bad;
	bool refused;
	bool by_address;
};

/**
 * struct address
 * @next: the next address in the same file
 * @name: index in addresses.name of the first of its @names names
 * @nameless: the answer is that it has no name
 */
struct address {
	uint64_t at;
	uint32_t object;
	uint32_t next;
	uint32_t name;
	uint32_t names;
	bool nameless;
};

/** struct name - a function at an address: numbers of texts */
struct name {
	uint32_t function;
	uint32_t file;
	uint32_t line;
};

/**
 * struct answer - the answer of the separate process for an address; @size bytes of texts follow it, each
 * with its NUL: name and file of each function
 */
struct answer {
	uint32_t address;
	uint32_t size;
	uint32_t nameless;
	uint32_t line[GRT_SYMBOLS_FRAMES_MAX];
};

#define ANSWER_MAX (sizeof(struct answer) + 2 * GRT_SYMBOLS_FRAMES_MAX * NAME_MAX_BYTES)

/**
 * struct addresses - see addresses.h
 * @object, @address: by number, from 1 on
 * @known: numbers of addresses by (file, offset)
 * @name: functions at addresses
 * @current: the file that the separate process is reading
 * @heard: when its last message came
 * @in: @used bytes of its messages that are not processed yet
 */
struct addresses {
	struct object *object;
	uint32_t objects, object_room;
	struct address *address;
	uint32_t n, room;
	struct grt_keyed known;
	struct name *name;
	uint32_t names, name_room;
	struct grt_texts texts;
	struct addresses_unnamed unnamed;
	struct apart apart;
	unsigned int processes;
	uint32_t current;
	uint64_t begun;
	uint64_t heard;
	bool done;
	size_t used;
	char *in;
	char text[512];
};

/* Descriptors of all sources. */
static unsigned int open_now;

static unsigned int open_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > OPEN_MAX)
		return OPEN_MAX;
	return (unsigned int)limit.rlim_cur / 2;
}

struct addresses *addresses_new(void)
{
	struct addresses *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->apart.in = -1;
	a->objects = a->n = 1;
	grt_keyed_init(&a->known, sizeof(uint32_t), ADDRESSES_MAX);
	grt_texts_init(&a->texts, NAMES_MAX);
	return a;
}

static void addresses_close(int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	open_now--;
}

void addresses_free(struct addresses *a)
{
	if (!a)
		return;
	apart_end(&a->apart);
	for (uint32_t i = 1; i < a->objects; i++) {
		addresses_close(&a->object[i].fd);
		addresses_close(&a->object[i].debug_fd);
		free(a->object[i].name);
	}
	grt_keyed_free(&a->known);
	grt_texts_free(&a->texts);
	free(a->object);
	free(a->address);
	free(a->name);
	free(a->in);
	free(a);
}

/* ---------------------------------------------------------------- taking in */

int addresses_object(struct addresses *a, const char *name, uint32_t *object)
{
	char *copy;

	*object = GRT_SYMBOLS_NO_OBJECT;
	if (a->objects == OBJECTS_MAX)
		return 0;
	copy = name ? strdup(name) : NULL;
	if ((name && !copy) || grt_grow(&a->object, &a->object_room, a->objects + 1, 64)) {
		free(copy);
		return -ENOMEM;
	}
	a->object[a->objects] = (struct object){.name = copy, .fd = -1, .debug_fd = -1};
	*object = a->objects++;
	return 0;
}

void addresses_by_address(struct addresses *a, uint32_t object)
{
	a->object[object].by_address = true;
}

bool addresses_open(struct addresses *a, uint32_t object, int fd)
{
	struct object *o = &a->object[object];

	o->refused = open_now >= open_most();
	if (o->refused || o->fd >= 0) {
		close(fd);
		return !o->refused;
	}
	o->fd = fd;
	open_now++;
	return true;
}

bool addresses_is_open(const struct addresses *a, uint32_t object)
{
	return a->object[object].fd >= 0 || a->object[object].refused;
}

static int new_address(struct addresses *a, uint32_t object, uint64_t at, uint32_t *number)
{
	struct object *o = &a->object[object];

	if (grt_grow(&a->address, &a->room, a->n + 1, 1024))
		return -ENOMEM;
	a->address[a->n] = (struct address){.at = at, .object = object, .next = o->first};
	o->first = *number = a->n++;
	o->wants++;
	return 0;
}

int addresses_get(struct addresses *a, uint32_t object, uint64_t at, uint32_t *number)
{
	void *found;
	int ret = grt_keyed_get_or_count(&a->known, &(struct grt_key){{object, at}}, NULL, &found);

	*number = ADDRESS_NONE;
	if (!found)
		return ret;
	if (!*(uint32_t *)found)
		ret = new_address(a, object, at, found);
	*number = *(uint32_t *)found;
	return ret;
}

/* -------------------------------------------------------- the process apart */

/** struct job - the work of the separate process: the tables, and the file with which it begins */
struct job {
	const struct addresses *a;
	uint32_t first;
};

static void addresses_write_all(int out, const char *bytes, size_t size)
{
	ssize_t n;

	for (; size; bytes += n, size -= (size_t)n) {
		n = write(out, bytes, size);
		if (n <= 0)
			_exit(EPIPE);
	}
}

static size_t addresses_put_text(char *to, const char *text)
{
	size_t length = strnlen(text, NAME_MAX_BYTES - 1);

	memcpy(to, text, length);
	to[length] = '\0';
	return length + 1;
}

static void addresses_write_answer(int out, uint32_t address, const struct grt_symbols_found *found)
{
	static _Alignas(struct answer) char bytes[ANSWER_MAX];
	struct answer *answer = (struct answer *)bytes;
	size_t used = sizeof(*answer);

	*answer = (struct answer){.address = address, .nameless = found->how == GRT_SYMBOLS_NOWHERE};
	for (unsigned int i = 0; i < found->frames; i++) {
		used += addresses_put_text(bytes + used, found->frame[i].function);
		used += addresses_put_text(bytes + used, found->frame[i].file);
		answer->line[i] = found->frame[i].line;
	}
	answer->size = (uint32_t)(used - sizeof(*answer));
	addresses_write_all(out, bytes, used);
}

static int addresses_open_file(struct grt_symbols *s, const struct object *o, uint32_t *number)
{
	/* to have no names is also an answer, for a file that cannot be read */
	if (!o->name)
		grt_symbols_perf_map_fd(s, 1, o->fd);
	return o->name ? grt_symbols_object_fd(s, o->name, o->fd, number) : 0;
}

/* Names the addresses of a file; one file at a time is in memory. */
static void name_object(int out, const struct addresses *a, const struct object *o)
{
	const struct grt_symbols_options options = {.debug_max = DEBUG_MAX,
						    .no_separate = true,
						    .debug_fd = o->debug_fd > 0 ? o->debug_fd : 0,
						    .linkage = true};
	struct grt_symbols_found found;
	struct grt_symbols *s;
	uint32_t number = 0;
	int ret = grt_symbols_new(&s, &options);

	if (!ret)
		ret = addresses_open_file(s, o, &number);
	for (uint32_t i = o->first; i && !ret; i = a->address[i].next) {
		if (a->address[i].names)
			continue;
		ret = !o->name	      ? grt_symbols_in_process(s, 1, a->address[i].at, &found)
		      : o->by_address ? grt_symbols_at(s, number, a->address[i].at, &found)
				      : grt_symbols_at_offset(s, number, a->address[i].at, &found);
		if (!ret)
			addresses_write_answer(out, i, &found);
	}
	/* without an answer, the file is bad */
	if (ret)
		_exit(-ret);
	grt_symbols_free(s);
}

static bool has_work(const struct object *o)
{
	return o->asked && o->fd >= 0 && !o->bad;
}

static void name_objects(int out, const void *arg)
{
	const struct job *job = arg;

	for (uint32_t i = job->first; i < job->a->objects; i++)
		if (has_work(&job->a->object[i]))
			name_object(out, job->a, &job->a->object[i]);
}

/* ------------------------------------------------------------- its answers */

static void find_current(struct addresses *a)
{
	while (a->current < a->objects && !has_work(&a->object[a->current]))
		a->current++;
}

/* The file that has the DWARF, if the object file itself has none. */
static void find_debug(struct object *o)
{
	int fd;

	if (o->debug_tried || !o->name || open_now >= open_most())
		return;
	o->debug_tried = true;
	fd = debug_info_open(o->fd);
	if (fd < 0)
		return;
	o->debug_fd = fd;
	open_now++;
}

static int addresses_begin_process(struct addresses *a)
{
	const struct job job = {a, a->current};
	struct apart_work work = {
		.fn = name_objects, .arg = &job, .memory = MEMORY_MAX, .cpu_seconds = CPU_SECONDS};
	int ret;

	work.keep = calloc(2 * a->objects, sizeof(*work.keep));
	if (!work.keep)
		return -ENOMEM;
	for (uint32_t i = a->current; i < a->objects; i++)
		if (has_work(&a->object[i])) {
			find_debug(&a->object[i]);
			work.keep[work.n++] = a->object[i].fd;
			if (a->object[i].debug_fd >= 0)
				work.keep[work.n++] = a->object[i].debug_fd;
		}
	work.n++;
	ret = apart_begin(&a->apart, &work);
	free(work.keep);
	a->processes++;
	a->used = 0;
	a->heard = grt_now();
	return ret;
}

static int add_names(struct addresses *a, const struct answer *answer, const char *names)
{
	struct address *at = &a->address[answer->address];
	const char *end = names + answer->size, *file;
	uint32_t n = 0;

	if (grt_grow(&a->name, &a->name_room, a->names + GRT_SYMBOLS_FRAMES_MAX, 4096))
		return -ENOMEM;
	for (; names < end; names = file + strlen(file) + 1, n++) {
		struct name *name = &a->name[a->names + n];

		file = names + strlen(names) + 1;
		name->line = answer->line[n];
		if (grt_texts_add(&a->texts, names, NAME_MAX_BYTES, &name->function) ||
		    grt_texts_add(&a->texts, file, NAME_MAX_BYTES, &name->file))
			return -ENOMEM;
	}
	at->name = a->names;
	at->names = n;
	at->nameless = answer->nameless;
	a->names += n;
	return 0;
}

static bool is_sound(const struct addresses *a, const struct answer *answer, const char *names)
{
	unsigned int n = 0;

	if (!answer->address || answer->address >= a->n || a->address[answer->address].object != a->current ||
	    a->address[answer->address].names || names[answer->size - 1])
		return false;
	for (uint32_t i = 0; i < answer->size; i++)
		n += !names[i];
	return n <= 2 * GRT_SYMBOLS_FRAMES_MAX && !(n % 2);
}

/* Takes a complete answer. Return: its size in bytes, 0: there is none, or -errno if it is invalid */
static ssize_t take_answer(struct addresses *a, const char *bytes, size_t size)
{
	const char *names = bytes + sizeof(struct answer);
	struct answer answer;
	int ret = 0;

	if (size < sizeof(answer))
		return 0;
	memcpy(&answer, bytes, sizeof(answer));
	if (!answer.size || answer.size > ANSWER_MAX - sizeof(answer))
		return -EPROTO;
	if (size < sizeof(answer) + answer.size)
		return 0;
	find_current(a);
	if (!is_sound(a, &answer, names))
		return -EPROTO;
	a->object[a->current].wants--;
	a->object[a->current].asked--;
	if (a->texts.arena_used < NAME_BYTES_MAX)
		ret = add_names(a, &answer, names);
	else
		a->address[answer.address].object = GRT_SYMBOLS_NO_OBJECT;
	return ret ?: (ssize_t)(sizeof(answer) + answer.size);
}

/* Return: 1: there may be more answers, 0: there are no more, or -errno */
static int take_answers(struct addresses *a)
{
	ssize_t got = read(a->apart.in, a->in + a->used, 2 * ANSWER_MAX - a->used), n = 1;
	size_t at = 0;

	if (got <= 0)
		return got < 0 && errno == EINTR ? 1 : 0;
	a->used += (size_t)got;
	a->heard = grt_now();
	while (n > 0) {
		n = take_answer(a, a->in + at, a->used - at);
		at += n > 0 ? (size_t)n : 0;
	}
	memmove(a->in, a->in + at, a->used - at);
	a->used -= at;
	return n < 0 ? (int)n : 1;
}

/* Return: 1: the process goes on, 0: it has ended, or -errno */
static int addresses_listen(struct addresses *a, int ms)
{
	struct pollfd ready = {.fd = a->apart.in, .events = POLLIN};

	if (poll(&ready, 1, ms) > 0)
		return take_answers(a);
	return grt_now() - a->heard > SILENCE_NS ? -ETIMEDOUT : 1;
}

/* Return: whether a process was started: there is work for it */
static bool has_process(struct addresses *a)
{
	find_current(a);
	if (a->current == a->objects || grt_now() - a->begun > ALL_NS)
		return false;
	if (a->apart.pid)
		return true;
	return a->processes < PROCESSES_MAX && !addresses_begin_process(a);
}

/* From now on, the process sends its answers without further requests. */
static void addresses_begin(struct addresses *a)
{
	a->begun = grt_now();
	a->current = 1;
	a->in = a->in ?: malloc(2 * ANSWER_MAX);
	for (uint32_t i = 1; i < a->objects; i++)
		a->object[i].asked = a->object[i].wants;
}

void addresses_again(struct addresses *a)
{
	a->begun = 0;
	a->processes = 0;
	a->done = false;
}

int addresses_name(struct addresses *a, int ms)
{
	if (!a->begun)
		addresses_begin(a);
	a->done |= !a->in || !has_process(a);
	if (!a->done && addresses_listen(a, ms) <= 0) {
		find_current(a);
		if (apart_end(&a->apart) == -ENOSYS)
			a->done = true;
		else if (a->current < a->objects)
			a->object[a->current].bad = true;
	}
	if (a->done)
		apart_end(&a->apart);
	return a->done;
}

/* ---------------------------------------------------------------- names */

void addresses_count(struct addresses *a, uint32_t number)
{
	const struct address *at = number ? &a->address[number] : NULL;
	const struct object *o = at && at->object ? &a->object[at->object] : NULL;

	if (at && at->names)
		return;
	if (!o || o->refused)
		a->unnamed.over++;
	else if (o->bad)
		a->unnamed.bad++;
	else if (o->fd >= 0)
		a->unnamed.late++;
}

static const char *addresses_base_of(const struct object *o)
{
	const char *slash = strrchr(o->name, '/');

	return slash && slash[1] ? slash + 1 : o->name;
}

static void without_name(struct addresses *a, const struct address *at, const struct object *o, uint64_t ip)
{
	if (o && o->name)
		snprintf(a->text, sizeof(a->text), "%.255s+0x%llx", addresses_base_of(o),
			 (unsigned long long)at->at);
	else
		snprintf(a->text, sizeof(a->text), "0x%llx", (unsigned long long)ip);
}

void addresses_found(struct addresses *a, uint32_t number, uint64_t ip, struct grt_symbols_found *found)
{
	const struct address *at = &a->address[number];
	const struct object *o = number && at->object ? &a->object[at->object] : NULL;

	*found = (struct grt_symbols_found){.frames = number && at->names ? at->names : 1,
					    .object = o && o->name ? o->name : ""};
	if (!number || !at->names) {
		without_name(a, at, o, ip);
		found->frame[0] = (struct grt_symbol){.function = a->text, .file = ""};
		return;
	}
	for (uint32_t i = 0; i < at->names; i++) {
		const struct name *n = &a->name[at->name + i];

		found->frame[i] =
			(struct grt_symbol){grt_texts_get(&a->texts, n->function),
					    grt_texts_get(&a->texts, n->file), n->line, i + 1 < at->names};
	}
}

bool addresses_has_name(const struct addresses *a, uint32_t number)
{
	return number && a->address[number].names && !a->address[number].nameless;
}

const struct addresses_unnamed *addresses_unnamed(const struct addresses *a)
{
	return &a->unnamed;
}

#endif /* GRT_HAVE_BPF */
