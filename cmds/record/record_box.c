// SPDX-License-Identifier: GPL-2.0
/* Messages about a black box, see record_box.h. */
#include "record_box.h"
#include "base/say.h"
#include "host/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t record_box_asked;

static void record_box_on_signal(int number)
{
	record_box_asked = 1;
}

void record_box_catch(void)
{
	struct sigaction act = {.sa_handler = record_box_on_signal, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &act, NULL);
	/* the name by which `grtrace snapshot` finds this process */
	prctl(PR_SET_NAME, RECORD_BOX_COMM);
}

bool record_box_signalled(uint64_t now, struct incident *i)
{
	if (!record_box_asked)
		return false;
	record_box_asked = 0;
	*i = (struct incident){.trigger = TRIGGER_signal, .time = now, .ring = GRT_RING_NONE};
	snprintf(i->text, sizeof(i->text), "a snapshot was requested");
	return true;
}

/* Most bytes of a dump. */
#define DUMP_MAX ((size_t)256 << 20)

static int record_box_copy(int from, int to)
{
	size_t done = 0;
	char buf[65536];
	ssize_t n = 0;

	while (done < DUMP_MAX && (n = read(from, buf, sizeof(buf))) > 0) {
		if (write(to, buf, (size_t)n) != n)
			return errno ? -errno : -ENOSPC;
		done += (size_t)n;
	}
	return n < 0 ? -errno : 0;
}

int record_box_keep_dump(const struct box *b)
{
	char from[128], to[sizeof(b->path) + 16];
	int in, out, ret;

	if (!b->incident.dump[0])
		return 0;
	snprintf(from, sizeof(from), "/sys/class/devcoredump/%s/data", b->incident.dump);
	snprintf(to, sizeof(to), "%s.devcoredump", b->path);
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ret = in < 0 || out < 0 ? -errno : record_box_copy(in, out);
	if (ret)
		fprintf(stderr, "grtrace record: cannot copy %s: %s\n", from, strerror(-ret));
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ret;
}

bool record_box_died(const struct child *c, const struct triggers *t, struct incident *i)
{
	int number = c->status - 128;

	if (!t->limit[TRIGGER_exit_by_signal].on || !c->pid || !c->ended || number <= 0)
		return false;
	*i = (struct incident){.trigger = TRIGGER_exit_by_signal,
			       .time = grt_now(),
			       .pid = (uint32_t)c->pid,
			       .tid = (uint32_t)c->pid,
			       .ring = GRT_RING_NONE};
	snprintf(i->text, sizeof(i->text), "the program was ended by signal %d (%s)", number,
		 strsignal(number));
	return true;
}

int record_box_describe(struct record_box_texts *t, const struct box *b, const struct incident *i,
			struct grt_env *env)
{
	snprintf(t->job, sizeof(t->job), "time=%llu pid=%u tid=%u ctx=%llu seqno=%llu ring=%u began=%llu",
		 (unsigned long long)i->time, i->pid, i->tid, (unsigned long long)i->ctx,
		 (unsigned long long)i->seqno, i->ring, (unsigned long long)i->began);
	snprintf(t->dropped, sizeof(t->dropped), "packets=%llu events=%llu carried_lost=%llu",
		 (unsigned long long)b->dropped, (unsigned long long)b->gone,
		 (unsigned long long)b->carried.lost);
	env[0] = (struct grt_env){"incident", trigger_name(i->trigger)};
	env[1] = (struct grt_env){"incident_text", i->text};
	env[2] = (struct grt_env){"incident_of", t->job};
	env[3] = (struct grt_env){"incident_dump", i->dump};
	env[4] = (struct grt_env){"dropped_oldest", t->dropped};
	return 5;
}

int record_box_describe_box(struct record_box_texts *t, struct grt_env *env)
{
	snprintf(t->pid, sizeof(t->pid), "%d", (int)getpid());
	env[0] = (struct grt_env){"black_box", t->pid};
	return 1;
}

void record_box_print(const struct box *b)
{
	const struct incident *i = &b->incident;
	char comm[32];

	fprintf(stderr, "grtrace record: %s: ", trigger_name(i->trigger));
	cmd_put_text(stderr, i->text);
	/* it may end soon */
	read_comm((pid_t)i->pid, comm, sizeof(comm));
	if (i->pid)
		fprintf(stderr, ", process %u%s", i->pid, comm[0] ? " " : "");
	cmd_put_text(stderr, comm);
	if (i->ctx)
		fprintf(stderr, ", job %llu:%llu", (unsigned long long)i->ctx, (unsigned long long)i->seqno);
	fputs("\n  writes ", stderr);
	cmd_put_text(stderr, b->path);
	fputc('\n', stderr);
}

void record_box_print_end(const struct box *b, uint64_t events)
{
	fputs("grtrace record: ", stderr);
	cmd_put_text(stderr, b->path);
	grt_say(stderr, " is complete: %llu {event|events}\n  next: grtrace report --incident ",
		(unsigned long long)events);
	cmd_put_text(stderr, b->path);
	fputc('\n', stderr);
}

void record_box_print_all(const struct box *b, const char *path)
{
	grt_say(stderr, "grtrace record: %lu {snapshot|snapshots} in ", b->written);
	cmd_put_text(stderr, path);
	if (b->quiet)
		grt_say(stderr, "; %llu {more incident|more incidents} within a pause {has|have} none",
			(unsigned long long)b->quiet);
	else if (!b->written)
		fputs(": there was no incident", stderr);
	if (b->triggers.doubted + b->triggers.forgotten)
		grt_say(stderr,
			"; jobs were not watched: %llu that {was|were} too many, %llu {time|times} all, since events were lost",
			(unsigned long long)b->triggers.forgotten, (unsigned long long)b->triggers.doubted);
	fputc('\n', stderr);
}
