// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for the kernel module: `fake_module DIR CPUS PACKETS [EVENTS]`
 * makes the control files in DIR, ordinary files and FIFOs, and acts on what
 * is written to `control` and `config` until its standard input ends. Once
 * started it gives PACKETS packets per CPU of EVENTS records each, a round
 * every few ms; what is left then comes with the stop.
 *
 * With FAKE_GAP there are only CPUs of even numbers. With FAKE_UNREAD=N a CPU without a
 * stream delivers N events each time, one in a round.
 *
 * Events happen when a reader is seen to read: what it has begun with is an empty packet of the
 * first CPU. Those that come after a flush have happened by then.
 *
 * Once it has given away what it has, and that was read, there is a file "all_read", until the next start.
 *
 * Between a write and its effect a moment passes here, unlike in the kernel.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../unit/trace_maker.h"

#define CPUS_MAX 16
#define PIPE_SIZE (1 << 20)
#define ROUND_MS 5
/* A stop comes about 1 ms behind a flush, a start right behind a clear. */
#define STANDS_NS 50000000ULL
#define LOST 3

/* A CPU's stream: all of its packets, and how far they were given away; @opened: empty ones before these. */
struct stream {
	unsigned int opened;
	int fifo;
	char *data;
	size_t size;
	size_t at;
	struct grt_balance balance;
};

static struct stream streams[CPUS_MAX];
static unsigned int cpus;
static unsigned long unread;
static unsigned long unread_until;
static unsigned long unread_each;
static bool gap;
static bool running;
static bool ran;
/* When what is given now has happened; 0: no reader was seen yet. A flush fixes it up to the next one: a
 * recorder takes what comes later for events after its end. */
static uint64_t happened;
static bool flushed;
/* "control" was written since it was looked at. */
static bool ordered;
/* Since when a flush or a clear stands in it, CLOCK_MONOTONIC ns; 0: none does. */
static uint64_t stands_since;
static char config[4096];

static unsigned int number_of(unsigned int cpu)
{
	return gap ? 2 * cpu : cpu;
}

static void put_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	/* in this order, no moment is long in which another's write would be lost */
	if (n < 0 || ftruncate(fd, n))
		err(1, "%s", name);
	close(fd);
}

static void get_file(const char *name, char *text, size_t room)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, room - 1) : -1;

	if (n < 0)
		err(1, "%s", name);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	close(fd);
}

/* A new FIFO of the old one's name: who reads the old one comes to its end, who opens from now on waits. */
static void new_fifo(unsigned int cpu)
{
	char name[32];

	snprintf(name, sizeof(name), "events%u", number_of(cpu));
	unlink(name);
	if (streams[cpu].fifo > 0)
		close(streams[cpu].fifo);
	if (mkfifo(name, 0600))
		err(1, "%s", name);
	streams[cpu].fifo = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (streams[cpu].fifo < 0 || fcntl(streams[cpu].fifo, F_SETPIPE_SZ, PIPE_SIZE) < 0)
		err(1, "%s", name);
}

static void make_events(struct trace_maker *tm, unsigned int cpu, unsigned int packets, unsigned int events)
{
	uint64_t time = 1000;
	unsigned int i, k;

	for (i = 0; i < packets; i++) {
		for (k = 0; k < events; k++, time += 10)
			tm_emit(tm, cpu, submit, .e.time = time, .e.ctx = 7, .e.seqno = i * events + k,
				.e.tid = 42, .e.ring = 1);
		if (!i)
			tm_fate(tm, cpu, GRT_FATE_LOST, LOST);
		tm_flush(tm, cpu, time);
	}
}

static void load_stream(const char *dir, unsigned int cpu)
{
	struct stream *s = &streams[cpu];
	struct grt_packet *p;
	struct stat st;
	char *name;
	int fd;

	if (asprintf(&name, "%s/kmod_%u", dir, cpu) < 0)
		err(1, "memory");
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", name);
	s->size = (size_t)st.st_size;
	s->data = malloc(s->size + 1);
	if (!s->data || read(fd, s->data, s->size) != (ssize_t)s->size)
		err(1, "%s", name);
	close(fd);
	free(name);
	for (size_t at = 0; at < s->size; at += p->packet_size / 8) {
		p = (struct grt_packet *)(s->data + at);
		p->cpu_id = number_of(cpu);
	}
}

static void make_streams(unsigned int packets, unsigned int events)
{
	char *dir = tm_tmpdir(), *path;
	struct trace_maker *tm;
	unsigned int cpu;

	if (asprintf(&path, "%s/t", dir) < 0)
		err(1, "memory");
	tm = tm_dir(path, cpus);
	tm_packet_bytes(tm, 1 << 20);
	for (cpu = 0; cpu < cpus; cpu++)
		make_events(tm, cpu, packets, events);
	tm_close(tm);
	for (cpu = 0; cpu < cpus; cpu++)
		load_stream(path, cpu);
	tm_remove(dir);
	free(path);
	free(dir);
}

static uint64_t fake_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* Its events happen now. */
static void stamp_packet(struct stream *s, struct grt_packet *p)
{
	char *at = (char *)p + p->header_size, *end = (char *)p + p->content_size / 8;

	p->timestamp_begin = p->timestamp_end = happened ? happened : fake_now();
	p->packet_seq_num += s->opened;
	for (; at < end; at += ((struct grt_event *)at)->size)
		((struct grt_event *)at)->time = p->timestamp_begin;
}

static void open_stream(struct stream *s)
{
	const struct grt_packet p = {.magic = GRT_PACKET_MAGIC,
				     .stream_id = GRT_STREAM_CPU,
				     .format = GRT_FORMAT,
				     .header_size = sizeof(p),
				     .cpu_id = number_of(0),
				     .timestamp_begin = fake_now(),
				     .timestamp_end = fake_now(),
				     .content_size = sizeof(p) * 8,
				     .packet_size = sizeof(p) * 8};

	s->opened = 1;
	if (write(s->fifo, &p, sizeof(p)) != sizeof(p))
		err(1, "a packet");
}

/* Whether somebody has read what was there. */
static bool is_read(const struct stream *s)
{
	int waiting = 1;

	return !ioctl(s->fifo, FIONREAD, &waiting) && !waiting;
}

/* Has everything of every CPU been given away and read? */
static bool all_read(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		if (streams[cpu].at < streams[cpu].size || !is_read(&streams[cpu]))
			return false;
	return true;
}

/* The next packet of a CPU, where the pipe has room for all of it. */
static bool give_packet(struct stream *s)
{
	struct grt_packet p;
	int waiting = 0;
	size_t size;
	char *data;

	if (s->at + sizeof(p) > s->size)
		return false;
	memcpy(&p, s->data + s->at, sizeof(p));
	size = p.packet_size / 8;
	if (ioctl(s->fifo, FIONREAD, &waiting) || waiting + size > PIPE_SIZE / 2)
		return false;
	data = malloc(size);
	if (!data)
		err(1, "memory");
	memcpy(data, s->data + s->at, size);
	stamp_packet(s, (struct grt_packet *)data);
	if (write(s->fifo, data, size) != (ssize_t)size)
		err(1, "a packet");
	free(data);
	s->at += size;
	s->balance = p.end;
	return true;
}

static void put_balance(FILE *f, const char *name, const struct grt_balance *b)
{
	fprintf(f, "%s emitted=%llu delivered=%llu filtered=0 lost=%llu", name,
		(unsigned long long)b->emitted, (unsigned long long)b->fate[GRT_FATE_DELIVERED],
		(unsigned long long)b->fate[GRT_FATE_LOST]);
}

static void put_stats(void)
{
	struct grt_balance sum = {0};
	char *text = NULL, name[32];
	unsigned int cpu, i;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	for (cpu = 0; cpu < cpus; cpu++) {
		sum.emitted += streams[cpu].balance.emitted;
		for (i = 0; i < GRT_FATES; i++)
			sum.fate[i] += streams[cpu].balance.fate[i];
	}
	fprintf(f, "enabled %d\nreader_pid 0\noverruns 0\nlost_events %llu\n", running,
		(unsigned long long)sum.fate[GRT_FATE_LOST]);
	put_balance(f, "total", &sum);
	for (cpu = 0; cpu < cpus; cpu++) {
		snprintf(name, sizeof(name), "\ncpu%u", number_of(cpu));
		put_balance(f, name, &streams[cpu].balance);
		fprintf(f, " used=%u size=4194304", cpu * 1048576);
	}
	if (unread)
		fprintf(f, "\ncpu%u emitted=%lu delivered=%lu filtered=0 lost=0", CPUS_MAX, unread, unread);
	fputc('\n', f);
	fclose(f);
	put_file("stats.new", text);
	if (rename("stats.new", "stats"))
		err(1, "stats");
	free(text);
}

static void stop(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		while (give_packet(&streams[cpu]))
			;
	running = false;
	unread = unread_until;
	/* Who has come to the end reads the balance next. */
	put_stats();
	for (cpu = 0; cpu < cpus; cpu++)
		new_fifo(cpu);
}

static void clear(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		streams[cpu].at = streams[cpu].opened = 0;
		streams[cpu].balance = (struct grt_balance){0};
	}
}

static void obey(void)
{
	char order[64], now[64];
	bool start, flush, stands;

	get_file("control", order, sizeof(order));
	if (!*order || !strcmp(order, "running") || !strcmp(order, "stopped"))
		return;
	flush = !strncmp(order, "flush", 5);
	stands = flush || !strncmp(order, "clear", 5);
	if (stands && !ordered && fake_now() < stands_since + STANDS_NS)
		return;
	stands &= ordered;
	stands_since = stands ? fake_now() : 0;
	/*
	 * The clear before a start may have been overwritten by it, and what
	 * follows an order be the end of an older text.
	 */
	start = !strncmp(order, "start", 5) || !strncmp(order, "record", 6);
	/* a flush may have overwritten the first start */
	start |= flush && !ran;
	ran |= start;
	if (start && !running)
		clear();
	if (start && !running)
		unread_until = unread + unread_each;
	if (start && !running)
		open_stream(&streams[0]);
	if (start && !running) {
		happened = flushed = false;
		unlink("all_read");
	}
	if (flush && ordered) {
		flushed = true;
		happened = fake_now();
	}
	if (start)
		running = true;
	else if (!strncmp(order, "stop", 4))
		stop();
	else if (!strncmp(order, "clear", 5) && ordered)
		clear();
	put_stats();
	/* The next order may be there already, or come between a look and a write here: it must not be
	 * overwritten. */
	if (stands)
		return;
	get_file("control", now, sizeof(now));
	if (!strcmp(now, order))
		put_file("control", running ? "running\n" : "stopped\n");
}

/* One key=value replaces that line of all of them. */
static void set_key(void)
{
	char raw[256], line[256], now[256], key[64], rest[sizeof(config)], *at;

	get_file("config", raw, sizeof(raw));
	memcpy(line, raw, sizeof(line));
	for (at = line + strlen(line); at > line && at[-1] == ' '; at--)
		at[-1] = '\0';
	snprintf(key, sizeof(key), "%.*s=", (int)strcspn(line, "="), line);
	at = strstr(config, key);
	if (!at || !strncmp(config, line, strlen(line)) || !strchr(line, '='))
		return;
	snprintf(rest, sizeof(rest), "%s", at + strcspn(at, "\n"));
	snprintf(at, sizeof(config) - (size_t)(at - config), "%s%s", line, rest);
	/* The next setting may be there already: it must not be overwritten. */
	get_file("config", now, sizeof(now));
	if (!strcmp(now, raw))
		put_file("config", config);
}

/* A key of words is printed as one. */
static void put_word(const char *line, const char *word)
{
	char rest[sizeof(config)], *at = strstr(config, line);

	at += strlen(line) - 1;
	snprintf(rest, sizeof(rest), "%s", at + 1);
	snprintf(at, sizeof(config) - (size_t)(at - config), "%s%s", word, rest);
}

static void make_config(void)
{
	/*
	 * One who sets a key empties the file and then writes: between the two it may have got its text
	 * again, and then blanks follow what was written.
	 */
	snprintf(config, sizeof(config), "#%250s\n"
#define GRT_KEY(name, KIND, min, max, def, unit, FLAGS, help) #name "=" #def "\n"
#include <grtrace/control.def>
		 ,
		 "");
	/* An empty list is printed as nothing, and a level by name. */
	char *at = strstr(config, "watchlist=0");

	memmove(at + 10, at + 11, strlen(at + 11) + 1);
	put_word("sampling_mode=0", "static");
	put_word("rate_limit_mode=0", "window");
	put_file("config", config);
}

static void serve(void)
{
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event)))), byte;
	const struct inotify_event *e;
	unsigned int cpu;
	ssize_t n, at;
	int control;

	fds[1].fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	/* who has given up privileges writes into files that stay open */
	control = inotify_add_watch(fds[1].fd, "control", IN_CLOSE_WRITE | IN_MODIFY);
	inotify_add_watch(fds[1].fd, "config", IN_CLOSE_WRITE | IN_MODIFY);
	puts("ready");
	fflush(stdout);
	while (poll(fds, 2, running || stands_since ? ROUND_MS : -1) >= 0) {
		if (fds[0].revents && read(STDIN_FILENO, &byte, 1) <= 0)
			return;
		while ((n = read(fds[1].fd, events, sizeof(events))) > 0)
			for (at = 0; at < n; at += (ssize_t)sizeof(*e) + e->len) {
				e = (const struct inotify_event *)(events + at);
				ordered |= e->wd == control;
			}
		obey();
		ordered = false;
		set_key();
		if (running && !flushed && (happened || is_read(&streams[0])))
			happened = fake_now();
		for (cpu = 0; running && happened && cpu < cpus; cpu++)
			give_packet(&streams[cpu]);
		unread += running && unread < unread_until;
		if (running)
			put_stats();
		if (running && all_read())
			put_file("all_read", "");
	}
}

int main(int argc, char **argv)
{
	unsigned int cpu;

	if (argc < 4)
		errx(2, "usage: fake_module DIR CPUS PACKETS [EVENTS]");
	cpus = (unsigned int)atoi(argv[2]);
	if (!cpus || cpus > CPUS_MAX)
		errx(2, "CPUS: 1..%d", CPUS_MAX);
	gap = getenv("FAKE_GAP");
	unread_each = getenv("FAKE_UNREAD") ? strtoul(getenv("FAKE_UNREAD"), NULL, 10) : 0;
	make_streams((unsigned int)atoi(argv[3]), argc > 4 ? (unsigned int)atoi(argv[4]) : 100);
	if (mkdir(argv[1], 0700) && errno != EEXIST)
		err(1, "%s", argv[1]);
	if (chdir(argv[1]))
		err(1, "%s", argv[1]);
	for (cpu = 0; cpu < cpus; cpu++)
		new_fifo(cpu);
	put_file("version", "grtrace " GRT_VERSION " format 5\n");
	put_file("control", "stopped\n");
	put_file("adapters",
		 "virtio_gpu driver=virtio_gpu bound=1 unmatched=0 tracepoints=virtio_gpu_cmd_queue:1\n");
	make_config();
	put_stats();
	serve();
	return 0;
}
