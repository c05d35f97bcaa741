// SPDX-License-Identifier: GPL-2.0
/* Threads at an incident, see record_threads.h. */
#include "record_threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/demangle.h"
#include "base/containers.h"
#include "host/apart.h"
#include "host/privileges.h"
#include "host/leaks.h"
#include "cmds/cmd.h"
#include "host/maps.h"
#include "sources/bpf/bpf_threads.h"

/* ---------------------------------------------------------------- stacks */

/*
 * Stacks in user space of a process's threads, without stopping them. For threads that wait in the kernel,
 * the registers and the innermost part of the stack are copied, and a separate process (apart.h) walks the
 * copies with the unwind tables of the mapped files.
 */

/* Most threads whose stacks are walked, and bytes of each. */
#define RECORD_STACKS_THREADS 256U
#define RECORD_STACKS_BYTES ((size_t)64 << 10)
/* Most bytes of text about a thread. */
#define RECORD_STACKS_TEXT 4096U

struct record_stacks;

#if defined(GRT_HAVE_DW) && (defined(__x86_64__) || defined(__aarch64__))

#include <elfutils/libdwfl.h>

#define OBJECTS_MAX 512U
#define FRAMES_MAX 64U
#define REGISTERS_MAX 4096U
/* Numbers of registers in DWARF. */
#ifdef __x86_64__
#define REGISTER_FP 6
#define REGISTER_SP 7
#define REGISTER_PC 16
#else
#define REGISTER_FP 29
#define REGISTER_LINK 30
#define REGISTER_SP 31
#endif
#define WALK_MEMORY ((uint64_t)16 << 30)
#define WALK_SECONDS 2

/**
 * struct object - a file with code
 * @base: the address at which its first byte is mapped
 */
struct object {
	uint64_t base;
	unsigned int major, minor;
	uint64_t inode;
	bool code;
	int fd;
	char name[64];
};

/**
 * struct copy - the copy of a thread
 * @whole: its frame pointer and link register are known, too
 */
struct copy {
	uint32_t tid;
	bool whole;
	uint64_t pc, sp, fp, link;
	size_t bytes;
	char *memory;
	char text[RECORD_STACKS_TEXT];
};

struct record_stacks {
	struct grt_bpf_threads *bpf;
	pid_t pid;
	int memory;
	struct grt_bpf_registers registers[REGISTERS_MAX];
	unsigned int known;
	struct object object[OBJECTS_MAX];
	unsigned int objects;
	struct copy copy[RECORD_STACKS_THREADS];
	unsigned int copies;
	const struct copy *walked;
};

/** struct answer - the separate process writes one for each thread, with a text after it */
struct answer {
	uint32_t number;
	uint32_t length;
};

/** record_stacks_new - prepares, while there are privileges for it; NULL: no memory */
static struct record_stacks *record_stacks_new(void)
{
	struct record_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->memory = -1;
	s->bpf = grt_bpf_threads_open();
	return s;
}

/* --------------------------------------------------------------- copying */

static void stacks_forget(struct record_stacks *s)
{
	for (unsigned int i = 0; i < s->objects; i++)
		close(s->object[i].fd);
	for (unsigned int i = 0; i < s->copies; i++)
		free(s->copy[i].memory);
	if (s->memory >= 0)
		close(s->memory);
	s->memory = -1;
	s->objects = s->copies = s->known = 0;
}

/** record_stacks_begin - begins with a process, whose registers are read now */
static void record_stacks_begin(struct record_stacks *s, pid_t pid)
{
	char path[64];

	stacks_forget(s);
	s->pid = pid;
	if (s->bpf)
		s->known = grt_bpf_threads_read(s->bpf, pid, s->registers, REGISTERS_MAX);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	s->memory = open(path, O_RDONLY | O_CLOEXEC);
}

/* "CALL ARGUMENTS... SP PC" of a waiting thread. */
static bool stacks_where(int thread, char text[256])
{
	int fd = openat(thread, "syscall", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, 255);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 && strncmp(text, "running", 7) != 0;
}

static bool stacks_parse(const char *text, struct copy *c)
{
	unsigned long long word[2] = {0};

	/* the last two */
	for (const char *at = strchr(text, ' '); at; at = strchr(at + 1, ' ')) {
		word[0] = word[1];
		word[1] = strtoull(at + 1, NULL, 16);
	}
	c->sp = word[0];
	c->pc = word[1];
	return c->sp && c->pc;
}

static void stacks_add_registers(const struct record_stacks *s, struct copy *c)
{
	for (unsigned int i = 0; i < s->known; i++)
		if (s->registers[i].tid == c->tid && s->registers[i].sp == c->sp &&
		    s->registers[i].pc == c->pc) {
			c->whole = true;
			c->fp = s->registers[i].fp;
			c->link = s->registers[i].link;
		}
}

/** record_stacks_copy - copies one of its threads; @thread: the thread's directory in /proc */
static void record_stacks_copy(struct record_stacks *s, uint32_t tid, int thread)
{
	struct copy *c = &s->copy[s->copies];
	char before[256], after[256];
	ssize_t n;

	if (s->memory < 0 || s->copies == RECORD_STACKS_THREADS)
		return;
	*c = (struct copy){.tid = tid};
	if (!stacks_where(thread, before) || !stacks_parse(before, c))
		return;
	stacks_add_registers(s, c);
	c->memory = malloc(RECORD_STACKS_BYTES);
	n = c->memory ? pread(s->memory, c->memory, RECORD_STACKS_BYTES, (off_t)c->sp) : -1;
	c->bytes = n > 0 ? (size_t)n : 0;
	/* a thread that continued meanwhile has another stack */
	if (c->bytes && stacks_where(thread, after) && !strcmp(before, after)) {
		s->copies++;
		return;
	}
	free(c->memory);
}

static struct object *stacks_object(struct record_stacks *s, const struct maps_row *row)
{
	const char *name = strrchr(row->path, '/');
	struct object *o;

	for (unsigned int i = 0; i < s->objects; i++)
		if (s->object[i].inode == row->inode && s->object[i].major == row->major &&
		    s->object[i].minor == row->minor)
			return &s->object[i];
	if (s->objects == OBJECTS_MAX || row->offset || !name)
		return NULL;
	o = &s->object[s->objects];
	*o = (struct object){
		.base = row->start, .major = row->major, .minor = row->minor, .inode = row->inode};
	o->fd = maps_file(s->pid, row->start, row->end, row);
	if (o->fd < 0)
		return NULL;
	snprintf(o->name, sizeof(o->name), "%s", name + 1);
	s->objects++;
	return o;
}

static void stacks_open_objects(struct record_stacks *s)
{
	struct maps maps = {.from = maps_open(s->pid)};
	struct maps_row row;
	struct object *o;

	while (maps_next(&maps, &row)) {
		o = row.inode && row.path[0] == '/' ? stacks_object(s, &row) : NULL;
		if (o)
			o->code |= row.code;
	}
	maps_close(&maps);
}

/* ------------------------------------------------------ the process apart */

static pid_t walk_next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	/* each thread is requested by its number */
	(void)dwfl, (void)arg, (void)thread;
	return 0;
}

static bool walk_get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	struct record_stacks *s = arg;

	(void)dwfl, (void)tid;
	*thread = (void *)(uintptr_t)s->walked;
	return true;
}

static bool walk_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *out, void *arg)
{
	const struct copy *c = ((struct record_stacks *)arg)->walked;

	if (at < c->sp || at - c->sp > c->bytes || c->bytes - (at - c->sp) < sizeof(*out))
		return false;
	memcpy(out, c->memory + (at - c->sp), sizeof(*out));
	return true;
}

static bool walk_registers(Dwfl_Thread *thread, void *arg)
{
	const struct copy *c = arg;
	Dwarf_Word word = c->sp;
	bool good = dwfl_thread_state_registers(thread, REGISTER_SP, 1, &word);

	word = c->fp;
	good = good && (!c->whole || dwfl_thread_state_registers(thread, REGISTER_FP, 1, &word));
#ifdef REGISTER_LINK
	word = c->link;
	good = good && (!c->whole || dwfl_thread_state_registers(thread, REGISTER_LINK, 1, &word));
	dwfl_thread_state_register_pc(thread, c->pc);
#else
	word = c->pc;
	good = good && dwfl_thread_state_registers(thread, REGISTER_PC, 1, &word);
#endif
	return good;
}

#define WALK_ENDS "    -- further out it is unknown\n"

/**
 * struct walk
 * @text: @used bytes of text
 * @cut: there is no room for more
 */
struct walk {
	Dwfl *dwfl;
	bool cut;
	unsigned int frames;
	size_t used;
	char text[RECORD_STACKS_TEXT];
};

/* @into: the function; without one, the object */
static void walk_put(struct walk *w, const char *function, uint64_t into, const char *object)
{
	char line[512];
	int n = function ? snprintf(line, sizeof(line), "    %2u %.300s+0x%llx (%s)\n", w->frames, function,
				    (unsigned long long)into, object)
			 : snprintf(line, sizeof(line), "    %2u %s+0x%llx\n", w->frames, object,
				    (unsigned long long)into);

	w->cut |= w->used + (size_t)n > sizeof(w->text) - sizeof(WALK_ENDS);
	if (w->cut)
		return;
	w->frames++;
	memcpy(w->text + w->used, line, (size_t)n);
	w->used += (size_t)n;
}

/* Marks a stack that continues beyond the walked part. */
static void walk_put_end(struct walk *w)
{
	memcpy(w->text + w->used, WALK_ENDS, strlen(WALK_ENDS));
	w->used += strlen(WALK_ENDS);
}

/* A return address is after its call, and so may be in another function. */
static int walk_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *w = arg;
	Dwarf_Addr pc;
	bool activation;
	Dwfl_Module *module;
	const char *name = NULL, *object = "";
	char *plain = NULL;
	Dwarf_Addr start = 0;
	GElf_Off into = 0;
	GElf_Sym sym;

	if (!dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	pc -= !activation;
	module = dwfl_addrmodule(w->dwfl, pc);
	if (module) {
		object = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
		name = dwfl_module_addrinfo(module, pc, &into, &sym, NULL, NULL, NULL);
	}
	if (name)
		plain = grt_demangle(name);
	walk_put(w, plain ?: name, name ? into : pc - start, object);
	free(plain);
	return w->frames < FRAMES_MAX && !w->cut ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static int walk_no_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **file,
			Elf **elf)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static int walk_no_debug(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **out)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)out;
	return -1;
}

static void walk_thread(struct record_stacks *s, Dwfl *dwfl, unsigned int number, int out)
{
	struct {
		struct answer a;
		char text[RECORD_STACKS_TEXT];
	} bytes = {.a.number = number};
	struct walk w = {.dwfl = dwfl};

	s->walked = &s->copy[number];
	if (dwfl_getthread_frames(dwfl, (pid_t)s->walked->tid, walk_frame, &w))
		walk_put_end(&w);
	bytes.a.length = (uint32_t)w.used;
	memcpy(bytes.text, w.text, w.used);
	if (write(out, &bytes, sizeof(bytes.a) + w.used) < 0)
		s->walked = NULL;
}

static void walk_all(int out, const void *arg)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = walk_no_file, .find_debuginfo = walk_no_debug};
	static const Dwfl_Thread_Callbacks threads = {.next_thread = walk_next_thread,
						      .get_thread = walk_get_thread,
						      .memory_read = walk_memory,
						      .set_initial_registers = walk_registers};
	/* the separate process's own copy */
	struct record_stacks *s = (struct record_stacks *)(uintptr_t)arg;
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return;
	for (unsigned int i = 0; i < s->objects; i++)
		if (s->object[i].code)
			dwfl_report_elf(dwfl, s->object[i].name, s->object[i].name, s->object[i].fd,
					s->object[i].base, false);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!dwfl_attach_state(dwfl, NULL, s->pid, &threads, s))
		return;
	for (unsigned int i = 0; i < s->copies; i++)
		walk_thread(s, dwfl, i, out);
}

/* ------------------------------------------------------------ its answers */

static bool stacks_read(int in, void *to, size_t n, uint64_t until)
{
	struct pollfd ready = {.fd = in, .events = POLLIN};
	uint64_t now;
	ssize_t got;

	for (; n; n -= (size_t)got, to = (char *)to + got) {
		now = grt_now();
		if (now >= until || poll(&ready, 1, (int)((until - now) / 1000000) + 1) <= 0)
			return false;
		got = read(in, to, n);
		if (got <= 0)
			return false;
	}
	return true;
}

static bool stacks_take(struct record_stacks *s, int in, uint64_t until)
{
	struct answer a;
	struct copy *c;

	if (!stacks_read(in, &a, sizeof(a), until) || a.number >= s->copies || a.length >= RECORD_STACKS_TEXT)
		return false;
	c = &s->copy[a.number];
	if (!stacks_read(in, c->text, a.length, until))
		a.length = 0;
	c->text[a.length] = '\0';
	return a.length;
}

/** record_stacks_walk - walks the copied stacks, at most until @until, ns */
static void record_stacks_walk(struct record_stacks *s, uint64_t until)
{
	int keep[OBJECTS_MAX + 1];
	struct apart apart;
	struct apart_work work = {
		.fn = walk_all, .arg = s, .keep = keep, .memory = WALK_MEMORY, .cpu_seconds = WALK_SECONDS};

	if (!s->copies)
		return;
	stacks_open_objects(s);
	for (unsigned int i = 0; i < s->objects; i++)
		keep[i] = s->object[i].fd;
	work.n = s->objects + 1;
	if (apart_begin(&apart, &work))
		return;
	while (stacks_take(s, apart.in, until))
		;
	apart_end(&apart);
}

/** record_stacks_text - a line for each frame of a thread, each with its newline; "": nothing is known */
static const char *record_stacks_text(const struct record_stacks *s, uint32_t tid)
{
	for (unsigned int i = 0; s && i < s->copies; i++)
		if (s->copy[i].tid == tid)
			return s->copy[i].text;
	return "";
}

/** record_stacks_free - frees it; NULL is allowed */
static void record_stacks_free(struct record_stacks *s)
{
	if (!s)
		return;
	stacks_forget(s);
	grt_bpf_threads_close(s->bpf);
	free(s);
}

#else

static struct record_stacks *record_stacks_new(void)
{
	return NULL;
}

static void record_stacks_begin(struct record_stacks *s, pid_t pid)
{
}

static void record_stacks_copy(struct record_stacks *s, uint32_t tid, int thread)
{
}

static void record_stacks_walk(struct record_stacks *s, uint64_t until)
{
}

static const char *record_stacks_text(const struct record_stacks *s, uint32_t tid)
{
	return "";
}

static void record_stacks_free(struct record_stacks *s)
{
}

#endif

/* --------------------------------------------------------------- threads */

#define COMM "grtrace-threads"
/* Limits: threads of a process, and bytes of the texts about one. */
#define THREADS_MAX 4096U
#define THREAD_BYTES 8192U
#define SAID_BYTES (THREAD_BYTES + RECORD_STACKS_TEXT + 64)
#define IN_USER_SPACE "    in user space\n"
/* Limit for the time of walking stacks in user space. */
#define WALK_NS (600 * 1000000ULL)
#define TEXT_MAX ((size_t)4 << 20)
#define LOOK_NS NS_PER_S
#define KEPT (1ULL << CAP_SYS_ADMIN | 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH)

/* ------------------------------------------------------- the process that reads */

/* Reads a file of a thread, without its last newline. Return: number of bytes */
static size_t threads_read(int thread, const char *name, char *text, size_t room)
{
	int fd = openat(thread, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	n = n < 0 ? 0 : n;
	n -= n && text[n - 1] == '\n';
	text[n] = '\0';
	return (size_t)n;
}

/* "S (sleeping)" of its status. */
static void threads_state(int thread, char state[32])
{
	char text[512];
	const char *at;

	threads_read(thread, "status", text, sizeof(text));
	at = strstr(text, "\nState:\t");
	snprintf(state, 32, "%.*s", at ? (int)strcspn(at + 8, "\n") : 1, at ? at + 8 : "-");
}

/* A line about the thread, and one for each frame of its stack in the kernel. Return: number of bytes */
static size_t threads_describe(int thread, const char *tid, char *text)
{
	char comm[64], state[32], wchan[128], call[32], stack[4096];
	size_t used;

	threads_read(thread, "comm", comm, sizeof(comm));
	threads_state(thread, state);
	threads_read(thread, "wchan", wchan, sizeof(wchan));
	threads_read(thread, "syscall", call, sizeof(call));
	/* a running thread is in no call */
	call[isdigit((unsigned char)call[0]) ? strcspn(call, " ") : 0] = '\0';
	for (char *c = comm; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	used = (size_t)snprintf(text, THREAD_BYTES, "%s %s: %s, system call %s, in %s\n", tid, comm, state,
				call[0] ? call : "-", wchan[0] && strcmp(wchan, "0") ? wchan : "-");
	threads_read(thread, "stack", stack, sizeof(stack));
	for (char *next = stack, *line; (line = strsep(&next, "\n")) && *line;) {
		line += strncmp(line, "[<0>] ", 6) ? 0 : 6;
		if (used + strlen(line) + 6 < THREAD_BYTES)
			used += (size_t)snprintf(text + used, THREAD_BYTES - used, "    %s\n", line);
	}
	return used;
}

/**
 * struct threads_said - texts about the threads of a process
 * @text: @used bytes of texts
 * @end: end of the text about each of the @n threads
 */
struct threads_said {
	char *text;
	size_t used;
	size_t room;
	unsigned int n;
	uint32_t tid[THREADS_MAX];
	size_t end[THREADS_MAX];
};

/* Return: whether there is room for more */
static bool threads_describe_one(struct threads_said *said, struct record_stacks *stacks, int task,
				 const char *tid)
{
	int thread = openat(task, tid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (thread < 0)
		return true;
	if (said->used + THREAD_BYTES > TEXT_MAX ||
	    grt_grow(&said->text, &said->room, said->used + THREAD_BYTES, (size_t)64 << 10)) {
		close(thread);
		return false;
	}
	said->used += threads_describe(thread, tid, said->text + said->used);
	said->tid[said->n] = (uint32_t)strtoul(tid, NULL, 10);
	said->end[said->n] = said->used;
	if (stacks)
		record_stacks_copy(stacks, said->tid[said->n], thread);
	close(thread);
	return ++said->n < THREADS_MAX;
}

static void threads_describe_all(struct threads_said *said, struct record_stacks *stacks, uint32_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    !threads_describe_one(said, stacks, dirfd(d), e->d_name))
			break;
	if (d)
		closedir(d);
}

/* Sends the text about a thread, and after it its stack in user space. */
static bool threads_send(int to, const struct threads_said *said, unsigned int i,
			 const struct record_stacks *stacks)
{
	size_t begin = i ? said->end[i - 1] : 0, n = said->end[i] - begin;
	const char *user = record_stacks_text(stacks, said->tid[i]);
	char text[SAID_BYTES];

	memcpy(text, said->text + begin, n);
	if (*user)
		n += (size_t)snprintf(text + n, sizeof(text) - n, IN_USER_SPACE "%s", user);
	return send(to, text, n, MSG_NOSIGNAL) >= 0;
}

static void threads_send_all(int to, struct record_stacks *stacks, uint32_t pid)
{
	uint64_t until = grt_now() + WALK_NS;
	struct threads_said *said = calloc(1, sizeof(*said));

	if (said && stacks)
		record_stacks_begin(stacks, (pid_t)pid);
	if (said)
		threads_describe_all(said, stacks, pid);
	if (said && stacks)
		record_stacks_walk(stacks, until);
	for (unsigned int i = 0; said && i < said->n && threads_send(to, said, i, stacks); i++)
		;
	/* an empty text is the end: a text about a thread is longer */
	send(to, "", 1, MSG_NOSIGNAL);
	if (said)
		free(said->text);
	free(said);
}

/* The process keeps nothing of the recorder except the socket. */
static void __attribute__((noreturn)) threads_serve(int fd)
{
	struct record_stacks *stacks;
	sigset_t all;
	uint32_t pid;

	/* signals of the terminal are for the recorder; when that has ended, this process ends, too */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, COMM);
	if (dup2(fd, STDIN_FILENO) != STDIN_FILENO || syscall(SYS_close_range, 1, ~0U, 0))
		_exit(1);
	stacks = record_stacks_new();
	capabilities_drop(KEPT);
	while (recv(STDIN_FILENO, &pid, sizeof(pid), 0) == sizeof(pid))
		threads_send_all(STDIN_FILENO, stacks, pid);
	record_stacks_free(stacks);
	leaks_check();
	_exit(0);
}

/* ------------------------------------------------------------------ the recorder */

void record_threads_begin(struct record_threads *t)
{
	int ends[2];

	*t = (struct record_threads){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	t->pid = fork();
	if (!t->pid)
		threads_serve(ends[1]);
	close(ends[1]);
	t->fd = ends[0];
	if (t->pid < 0)
		record_threads_end(t);
}

/* Return: whether there is more */
static bool threads_take(struct record_threads *t, uint64_t until)
{
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	uint64_t now = grt_now();
	ssize_t n;

	if (now >= until || poll(&p, 1, (int)((until - now) / 1000000) + 1) <= 0 ||
	    t->used + SAID_BYTES > TEXT_MAX ||
	    grt_grow(&t->text, &t->room, t->used + SAID_BYTES, (size_t)64 << 10))
		return false;
	n = recv(t->fd, t->text + t->used, SAID_BYTES, MSG_DONTWAIT);
	t->used += n > 1 ? (size_t)n : 0;
	return n > 1;
}

void record_threads_look(struct record_threads *t, pid_t pid)
{
	uint64_t until = grt_now() + LOOK_NS;
	uint32_t number = (uint32_t)pid;
	char rest[SAID_BYTES];

	t->used = 0;
	if (t->fd < 0 || !pid)
		return;
	/* an answer that came too late for the previous request */
	while (recv(t->fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
	if (send(t->fd, &number, sizeof(number), MSG_NOSIGNAL) == sizeof(number))
		while (threads_take(t, until))
			;
}

int record_threads_write(const struct record_threads *t, const char *path)
{
	char name[4200];
	int fd, ret;

	if (!t->used)
		return 0;
	snprintf(name, sizeof(name), "%.4100s" RECORD_THREADS_SUFFIX, path);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ret = fd < 0 ? -errno : write(fd, t->text, t->used) == (ssize_t)t->used ? 0 : -(errno ?: ENOSPC);
	if (fd >= 0)
		close(fd);
	if (ret)
		fprintf(stderr, "grtrace record: cannot write %s: %s\n", name, strerror(-ret));
	return ret;
}

void record_threads_end(struct record_threads *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->pid > 0)
		waitpid(t->pid, NULL, 0);
	free(t->text);
	*t = (struct record_threads){.fd = -1};
}
