// SPDX-License-Identifier: GPL-2.0
/*
 * Code that all commands share: messages, signals, safe printing of text from traces. Code that only some
 * commands need has a file of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/known_gpus.h"
#include "host/tempdir.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/say.h"
#include "cmd.h"
#include "outfile.h"

/* -------------------------------------------------------------- terminal */

#define WIDTH_MIN 20
#define WIDTH_MAX 1000

/* Signals that must not end this program while the user looks at the pager. */
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

static struct {
	bool off;
	pid_t pid;	    /* 0: there is none */
	unsigned int width; /* of the terminal that it has */
} pager;

/* Whether standard output is a terminal, or a pager that shows it on one */
static bool terminal_is(void)
{
	return pager.pid || isatty(STDOUT_FILENO);
}

static unsigned int width_of_terminal(void)
{
	struct winsize size;

	if (pager.pid)
		return pager.width;
	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* Shells do not export COLUMNS, so if it is set, somebody wants it. */
static unsigned int width_of_columns(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long width;

	if (!columns || !*columns || strlen(columns) > 4 || columns[strspn(columns, "0123456789")])
		return 0;
	width = strtoul(columns, NULL, 10);
	return width >= WIDTH_MIN && width <= WIDTH_MAX ? (unsigned int)width : 0;
}

unsigned int terminal_width(void)
{
	unsigned int width = width_of_terminal();

	if (!width)
		return width_of_columns();
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/*
 * Only the locale's character set is asked for: the program's own locale stays "C", so that nothing else
 * depends on it.
 */
bool terminal_utf8(void)
{
	locale_t here = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!here)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, here), "UTF-8");
	freelocale(here);
	return utf8;
}

void terminal_fit(struct grt_writer_options *o, bool wide)
{
	o->width = wide ? 0 : terminal_width();
	o->wide = wide;
	o->utf8 = terminal_utf8();
	/* in a file or pipe, a sentence is one line */
	o->wrap = terminal_is() ? terminal_width() : 0;
}

/* --------------------------------------------------------------- pager */

void terminal_no_pager(void)
{
	pager.off = true;
}

/*
 * A user who may run this program as root may not run programs of his own as root, so under sudo no pager of
 * the user is run.
 */
static bool is_for_other(void)
{
	return getuid() != geteuid() || (!geteuid() && getenv("SUDO_UID"));
}

static bool has_less(void)
{
	return !access("/usr/bin/less", X_OK) || !access("/bin/less", X_OK) ||
	       !access("/usr/local/bin/less", X_OK);
}

static const char *chosen(void)
{
	const char *name = is_for_other() ? NULL : getenv("GRTRACE_PAGER") ?: getenv("PAGER");

	if (!name)
		return has_less() ? "less" : NULL;
	return *name && strcmp(name, "cat") ? name : NULL;
}

/* Waits for the pager, which reads until both descriptors are closed. */
static void wait_for_pager(void)
{
	int status;

	if (!pager.pid)
		return;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager.pid, &status, 0) < 0 && errno == EINTR)
		;
	pager.pid = 0;
}

static void at_exit(void)
{
	fflush(stdout);
	wait_for_pager();
}

static void on_end(int number)
{
	wait_for_pager();
	/* the default action applies again */
	raise(number);
}

static void run_pager(const char *command, const int in[2])
{
	dup2(in[0], STDIN_FILENO);
	close(in[0]);
	close(in[1]);
	/* as git sets it: less ends if everything fits, shows colours, and leaves its output on the screen */
	setenv("LESS", "FRX", 0);
	if (is_for_other())
		setenv("LESSSECURE", "1", 1);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void terminal_page(void)
{
	struct sigaction act = {.sa_handler = on_end, .sa_flags = SA_RESETHAND | SA_NODEFER}, now;
	const char *command = chosen(), *term = getenv("TERM");
	unsigned int width = width_of_terminal();
	int in[2];
	pid_t pid;

	if (pager.off || pager.pid || !command || !isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb") ||
	    pipe2(in, O_CLOEXEC))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		run_pager(command, in);
	if (pid > 0) {
		if (isatty(STDERR_FILENO))
			dup2(in[1], STDERR_FILENO);
		dup2(in[1], STDOUT_FILENO);
		pager.pid = pid;
		pager.width = width;
		atexit(at_exit);
		sigemptyset(&act.sa_mask);
		for (size_t i = 0; i < ENDS; i++)
			if (!sigaction(ends[i], NULL, &now) && now.sa_handler == SIG_DFL)
				sigaction(ends[i], &act, NULL);
	}
	close(in[0]);
	close(in[1]);
}

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
