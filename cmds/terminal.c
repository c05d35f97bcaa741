// SPDX-License-Identifier: GPL-2.0
/* The terminal and the pager, see terminal.h. */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

bool terminal_is(void)
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
