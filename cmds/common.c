// SPDX-License-Identifier: GPL-2.0
/*
 * Code that all commands share: messages, signals, safe printing of text from traces. Code that only some
 * commands need has a file of its own.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/known_gpus.h"
#include "host/tempdir.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/say.h"
#include "cmd.h"
#include "outfile.h"
#include "terminal.h"

volatile int cmd_signal;
volatile int cmd_signal_sent;

static const char *cmd_name;

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
#define STOP_SIGNALS (sizeof(stop_signals) / sizeof(stop_signals[0]))
static struct sigaction signals_before[STOP_SIGNALS];
static bool signals_caught;
/* When the first signal arrived, ns of CLOCK_MONOTONIC. */
static volatile uint64_t signal_time;

/* Two signals by kill(2) within this time are one request. */
#define MOMENT_NS (NS_PER_S / 20)
#define LEADER_NS NS_PER_S

void cmd_set_name(const char *name)
{
	cmd_name = name;
}

static void put_prefix(void)
{
	fprintf(stderr, "grtrace%s%s: ", cmd_name ? " " : "", cmd_name ? cmd_name : "");
}

int cmd_error(int status, const struct grt_err *err)
{
	/* Output so far comes before the message if both go to the same terminal. */
	fflush(stdout);
	put_prefix();
	cmd_put_text(stderr, err->what);
	if (err->why[0]) {
		fputs(": ", stderr);
		cmd_put_text(stderr, err->why);
	}
	fputc('\n', stderr);
	if (err->fix[0]) {
		fputs("  try: ", stderr);
		cmd_put_text(stderr, err->fix);
		fputc('\n', stderr);
	}
	return status;
}

int cmd_fail(int status, const char *why, const char *fix, const char *fmt, ...)
{
	struct grt_err err = {0};
	va_list ap;

	va_start(ap, fmt);
	grt_say_text_va(err.what, sizeof(err.what), fmt, ap);
	va_end(ap);
	snprintf(err.why, sizeof(err.why), "%s", why ? why : "");
	snprintf(err.fix, sizeof(err.fix), "%s", fix ? fix : "");
	return cmd_error(status, &err);
}

int cmd_open_status(int code)
{
	return code == -EACCES || code == -EPERM ? EXIT_MISSING : EXIT_FAILED;
}

int cmd_no_input(const char *path, int live)
{
	bool denied = live == -EACCES || live == -EPERM;
	char fix[128];

	snprintf(fix, sizeof(fix), "grtrace record -- PROGRAM, or grtrace %s PATH", cmd_name);
	return cmd_fail(
		EXIT_MISSING,
		denied ? "nothing was recorded here, and only root may read the kernel module live"
		       : "nothing was recorded here, and the kernel module, which grtrace could read live, is not loaded",
		fix, "there is no ./%s", path);
}

int cmd_usage_error(const char *fmt, ...)
{
	struct grt_err err = {0};
	va_list ap;

	va_start(ap, fmt);
	grt_say_text_va(err.what, sizeof(err.what), fmt, ap);
	va_end(ap);
	snprintf(err.fix, sizeof(err.fix), "grtrace%s%s --help", cmd_name ? " " : "",
		 cmd_name ? cmd_name : "");
	return cmd_error(EXIT_USAGE, &err);
}

/* A signal by kill(2), not from a terminal. */
static bool is_sent(const siginfo_t *info)
{
	return info->si_code <= 0;
}

/*
 * timeout(1) sends a signal to its child and then to the process group that it leads: two signals for one
 * request. If the sender may be timeout, which is the parent, more time is allowed between the two on a busy
 * machine.
 */
static bool is_same_request(const siginfo_t *info)
{
	uint64_t passed = grt_now() - signal_time;
	bool by_leader = info->si_pid == getppid() && info->si_pid == getpgrp();

	return cmd_signal_sent && is_sent(info) && passed < (by_leader ? LEADER_NS : MOMENT_NS);
}

static void common_on_signal(int number, siginfo_t *info, void *context)
{
	if (!cmd_signal) {
		signal_time = grt_now();
		cmd_signal_sent = is_sent(info);
		cmd_signal = number;
	} else if (!is_same_request(info)) {
		outfile_drop_all();
		tempdir_remove_all();
		_exit(128 + number);
	}
}

void cmd_catch_signals(void)
{
	struct sigaction act = {.sa_sigaction = common_on_signal, .sa_flags = SA_SIGINFO};
	unsigned int i;

	if (signals_caught)
		return;
	sigemptyset(&act.sa_mask);
	for (i = 0; i < STOP_SIGNALS; i++) {
		sigaction(stop_signals[i], &act, &signals_before[i]);
		/* nohup is respected; an ignored SIGINT only means "started by a script with &". */
		if (stop_signals[i] == SIGHUP && signals_before[i].sa_handler == SIG_IGN)
			sigaction(SIGHUP, &signals_before[i], NULL);
	}
	signals_caught = true;
}

int cmd_poll(struct pollfd *fds, unsigned int n, int timeout)
{
	struct timespec limit = {timeout / 1000, timeout % 1000 * 1000000L}, now = {0};
	sigset_t stop, before;
	unsigned int i;
	int ready;

	sigemptyset(&stop);
	for (i = 0; i < STOP_SIGNALS; i++)
		sigaddset(&stop, stop_signals[i]);
	sigprocmask(SIG_BLOCK, &stop, &before);
	ready = ppoll(fds, n, cmd_signal ? &now : timeout < 0 ? NULL : &limit, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready;
}

void cmd_restore_signals(void)
{
	unsigned int i;

	for (i = 0; signals_caught && i < STOP_SIGNALS; i++)
		sigaction(stop_signals[i], &signals_before[i], NULL);
}

void cmd_put_text(FILE *f, const char *text)
{
	grt_escape_print(GRT_ESCAPE_TERM, f, text, strlen(text));
}

void cmd_tell_gpus(void)
{
	struct known_gpu all[KNOWN_GPUS];
	unsigned int n = known_gpus(all);
	char text[256];

	fputs(n ? "  try: a word of one of these lines, each of which is a GPU of this system\n"
		: "  try: grtrace doctor, which shows why this system has no GPU\n",
	      stderr);
	for (unsigned int i = 0; i < n; i++) {
		fputs("    ", stderr);
		cmd_put_text(stderr, known_gpu_text(&all[i], text, sizeof(text)));
		fputc('\n', stderr);
	}
}

void cmd_tell(const char *command, const char *text)
{
	fprintf(stderr, "grtrace %s: ", command);
	cmd_put_text(stderr, text);
	fputc('\n', stderr);
}

void cmd_put_one_line(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		fwrite(text, 1, len, stdout);
		text += len;
		text += strspn(text, "\n ");
	}
	putchar('\n');
}

bool cmd_colour(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return terminal_is() && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

static int output_failed(const char *why, int code)
{
	return cmd_fail(EXIT_FAILED, why,
			code == EBADF ? "the same command with its standard output open, without >&-"
				      : outfile_fix(code),
			"cannot write to standard output");
}

int cmd_flush(void)
{
	errno = 0;
	if (!fflush(stdout))
		return 0;
	return errno ? errno : EIO;
}

int cmd_write_failed(int code)
{
	return code == EPIPE ? EXIT_DONE : output_failed(strerror(code), code);
}

int cmd_close_stdout(void)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed && !close(STDOUT_FILENO))
		return EXIT_DONE;
	return output_failed(errno ? strerror(errno) : "an earlier write failed", errno);
}
