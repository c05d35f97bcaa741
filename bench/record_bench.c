// SPDX-License-Identifier: GPL-2.0
/*
 * How fast `grtrace record` moves packets: `record_bench GRTRACE DIR [MIB]`.
 * DIR (in memory, like /dev/shm) gets a stand-in for the module's files whose
 * streams are MIB of packets, copied out of the page cache by read(2) as
 * relay's are out of its buffer. `cat` of the same streams is the measure,
 * appending, since it would let the kernel copy from file to file otherwise,
 * which no module's file can do. Both run in turns; the best of five counts.
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

#define CPUS 2
#define RUNS 5
#define PACKET (256 * 1024)
#define RECORDS ((PACKET - sizeof(struct grt_packet)) / sizeof(struct grt_ev_submit))
#define NS_PER_S 1e9

struct cost {
	double wall;
	double cpu;
	long rss_kib;
};

static void put_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", name);
	close(fd);
}

static void fill_packet(char *packet, unsigned int cpu)
{
	struct grt_packet *p = (struct grt_packet *)packet;
	struct grt_ev_submit *e = (struct grt_ev_submit *)(packet + sizeof(*p));
	size_t i;

	*p = (struct grt_packet){.magic = GRT_PACKET_MAGIC,
				 .format = GRT_FORMAT,
				 .header_size = sizeof(*p),
				 .cpu_id = cpu,
				 .packet_size = PACKET * 8ULL,
				 .content_size = 8 * (sizeof(*p) + RECORDS * sizeof(*e))};
	for (i = 0; i < RECORDS; i++)
		e[i] = (struct grt_ev_submit){
			.e = {.type = GRT_EV_SUBMIT, .size = sizeof(*e), .ctx = 1, .seqno = i}};
}

static void next_packet(struct grt_packet *p, uint64_t number)
{
	struct grt_ev_submit *e = (struct grt_ev_submit *)(p + 1);
	size_t i;

	p->packet_seq_num = number;
	p->begin = p->end;
	p->end.emitted += RECORDS;
	p->end.fate[GRT_FATE_DELIVERED] += RECORDS;
	for (i = 0; i < RECORDS; i++)
		e[i].e.time = number * RECORDS + i;
	p->timestamp_begin = e[0].e.time;
	p->timestamp_end = e[RECORDS - 1].e.time;
}

static void make_stream(unsigned int cpu, uint64_t packets)
{
	char name[32], *packet = calloc(1, PACKET);
	uint64_t i;
	int fd;

	snprintf(name, sizeof(name), "events%u", cpu);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || !packet)
		err(1, "%s", name);
	fill_packet(packet, cpu);
	for (i = 0; i < packets; i++) {
		next_packet((struct grt_packet *)packet, i);
		if (write(fd, packet, PACKET) != PACKET)
			err(1, "%s", name);
	}
	close(fd);
	free(packet);
}

static void make_module(uint64_t packets)
{
	char version[64];
	unsigned int cpu;

	snprintf(version, sizeof(version), "grtrace " GRT_VERSION " format %d\n", GRT_FORMAT);
	put_file("version", version);
	put_file("control", "stopped\n");
	put_file("config", "buffer_size=4194304\n");
	put_file("adapters", "");
	put_file("stats", "reader_pid 0\n");
	for (cpu = 0; cpu < CPUS; cpu++)
		make_stream(cpu, packets / CPUS);
}

static struct cost run(char *const argv[])
{
	struct timespec a, b;
	struct rusage use;
	int status = 0;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &a);
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid || status)
		errx(1, "%s failed (%d)", argv[0], status);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (struct cost){
		.wall = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / NS_PER_S,
		.cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6,
		.rss_kib = use.ru_maxrss,
	};
}

static void keep_best(struct cost *best, struct cost now)
{
	if (now.rss_kib > best->rss_kib)
		best->rss_kib = now.rss_kib;
	if (!best->wall || now.wall < best->wall)
		best->wall = now.wall;
	if (!best->cpu || now.cpu < best->cpu)
		best->cpu = now.cpu;
}

static void reset(void)
{
	/* As the stand-in does not act, what record wrote is undone here. */
	put_file("control", "stopped\n");
	if (system("rm -rf out.grt out.grt.old copy"))
		errx(1, "cannot remove what was recorded");
}

/* Bytes that record wrote, or the run meant nothing. */
static uint64_t recorded(void)
{
	struct stat st;
	uint64_t bytes = 0;
	char name[32];
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		snprintf(name, sizeof(name), "out.grt/kmod_%d", cpu);
		if (stat(name, &st))
			err(1, "%s", name);
		bytes += (uint64_t)st.st_size;
	}
	return bytes;
}

int main(int argc, char **argv)
{
	char *const record[] = {argc > 1 ? argv[1] : NULL, "record", "-e", "kmod", "-o", "out.grt", NULL};
	char *const cat[] = {"sh", "-c", "mkdir copy; cat events0 >>copy/0; cat events1 >>copy/1", NULL};
	uint64_t mib = argc > 3 ? strtoull(argv[3], NULL, 10) : 1024, bytes;
	struct cost ours = {0}, theirs = {0};
	double events;
	int i;

	if (argc < 3 || !mib)
		errx(2, "usage: record_bench GRTRACE DIR [MIB]");
	if (mkdir(argv[2], 0700) || chdir(argv[2]))
		err(1, "%s", argv[2]);
	make_module(mib * 1048576 / PACKET);
	setenv("GRTRACE_DEBUGFS", argv[2], 1);
	for (i = 0; i < RUNS; i++) {
		reset();
		keep_best(&ours, run(record));
		bytes = recorded();
		if (bytes != mib * 1048576 / PACKET * PACKET)
			errx(1, "recorded %llu bytes", (unsigned long long)bytes);
		reset();
		keep_best(&theirs, run(cat));
	}
	reset();
	events = (double)(bytes / PACKET * RECORDS);
	printf("record   %5.2f GB/s  %5.2f ns CPU per event (64 bytes)  %ld KiB of memory\n",
	       (double)bytes / 1e9 / ours.wall, ours.cpu * NS_PER_S / events, ours.rss_kib);
	printf("cat      %5.2f GB/s  %5.2f ns CPU per event\n", (double)bytes / 1e9 / theirs.wall,
	       theirs.cpu * NS_PER_S / events);
	printf("ratio    %5.2f of cat's time, %.2f of its CPU time\n", ours.wall / theirs.wall,
	       ours.cpu / theirs.cpu);
	return 0;
}
