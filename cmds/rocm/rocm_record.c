// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace rocm record: `grtrace record -e ftrace,hostlog` with the raw texts
 * kept beside the recording, and a report of both at the end. All of it is in one
 * directory:
 *
 *	recording/		what grtrace record writes
 *	NAME_amd_log.txt	the runtime's log
 *	ftrace.txt		the kernel's functions and events
 *	kfd_*.before, .after	KFD's debugfs
 *	analyze.sh		makes the report again
 *	report.txt		it
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/privileges.h"
#include "sources/source.h"
#include "sources/rocm/textlog.h"
#include "cmds/outfile.h"
#include "rocm.h"
#include "stack/frames.h"

#define PATH_ROOM 3800
#define ARGS_MAX 4096
#define TRACE_NAME "ftrace.txt"

/** struct place - the paths of all files */
struct place {
	char dir[PATH_ROOM];
	char log[128];
	char recording[PATH_ROOM + 16];
};

/* log/NAME_ftrace_TIMESTAMP */
static void default_dir(char dir[PATH_ROOM], const char *name)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &tm);
	snprintf(dir, PATH_ROOM, "log/%.200s_ftrace_%s", name, stamp);
}

/* Under sudo, they belong to the calling user, like the recording. */
static int make_dirs(const char *path)
{
	char part[PATH_ROOM];
	size_t len = strlen(path);
	uid_t uid;
	gid_t gid;
	bool as_user, made;

	uid = (uid_t)-1;
	gid = (gid_t)-1;
	privileges_user(&uid, &gid);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] && path[i] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		as_user = as_user_begin_at(uid, gid, part);
		made = !mkdir(part, 0777);
		as_user_end();
		/* made by root, in a place where no other user can put anything */
		if (made && !as_user && uid != (uid_t)-1)
			made = !lchown(part, uid, gid);
		else if (!made)
			made = errno == EEXIST;
		if (!made)
			return -errno;
	}
	return 0;
}

/* The recorder stops being root before the last files are made. */
static bool user_may_write(const char *dir)
{
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	bool may;

	privileges_user(&uid, &gid);
	as_user_begin(uid, gid);
	may = !faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS);
	as_user_end();
	return may;
}

/*
 * Other programs use the same names of files, so a file that is not known to belong to a recording is kept.
 */
static int check_place(const char *dir)
{
	char metadata[PATH_ROOM + 32];
	DIR *d = opendir(dir);
	struct dirent *e;
	bool empty = true;

	if (!d)
		return cmd_fail(EXIT_FAILED, strerror(errno), "-o DIR, where you have write permission",
				"cannot read the directory %s", dir);
	while (empty && (e = readdir(d)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	closedir(d);
	if (!user_may_write(dir))
		return cmd_fail(EXIT_FAILED,
				"it does not belong to the user who called sudo, who gets the files",
				"-o DIR, a directory of your own or a new one", "cannot write into %s", dir);
	snprintf(metadata, sizeof(metadata), "%s/recording/metadata", dir);
	if (empty || !access(metadata, F_OK))
		return EXIT_DONE;
	return cmd_fail(EXIT_FAILED, "it is not empty, and no earlier rocm record made it",
			"another name with -o", "cannot write into %s", dir);
}

static int make_place(struct place *p, const struct rocm_options *opt, const char *prog)
{
	char asked[PATH_ROOM], *real;
	int ret;

	if (opt->output)
		snprintf(asked, sizeof(asked), "%s", opt->output);
	else
		default_dir(asked, grt_frame_base(prog));
	ret = make_dirs(asked);
	/* the program may change its working directory */
	real = ret ? NULL : realpath(asked, NULL);
	if (!real)
		return cmd_fail(EXIT_FAILED, strerror(ret ? -ret : errno), outfile_fix(ret ? -ret : errno),
				"cannot make the directory %s", asked);
	snprintf(p->dir, sizeof(p->dir), "%s", real);
	free(real);
	snprintf(p->log, sizeof(p->log), "%.100s_amd_log.txt", grt_frame_base(prog));
	snprintf(p->recording, sizeof(p->recording), "%s/recording", p->dir);
	return check_place(p->dir);
}

/* Without a recording, the texts are empty, and would prevent the next recording from using the directory. */
static void remove_texts(const struct place *p)
{
	char path[PATH_ROOM + 136];

	snprintf(path, sizeof(path), "%s/%s", p->dir, p->log);
	unlink(path);
	snprintf(path, sizeof(path), "%s/" TRACE_NAME, p->dir);
	unlink(path);
}

static int write_script(const struct place *p)
{
	struct grt_err err = {.what = ""};
	char path[PATH_ROOM + 32];
	struct outfile out;
	FILE *f;

	snprintf(path, sizeof(path), "%s/analyze.sh", p->dir);
	if (outfile_open(&out, path, &err))
		return cmd_error(EXIT_FAILED, &err);
	f = fdopen(dup(out.fd), "w");
	if (f) {
		fputs("#!/bin/sh\n# Makes the report again. The texts themselves: grtrace rocm report --amd-log NAME_amd_log.txt "
		      "--ftrace ftrace.txt\ncd \"$(dirname \"$0\")\" || exit\nexec \"${GRTRACE:-grtrace}\" rocm report -i . \"$@\"\n",
		      f);
		fchmod(out.fd, 0755);
	}
	if (!f || fclose(f) || outfile_keep(&out, &err)) {
		outfile_drop(&out);
		return cmd_fail(EXIT_FAILED, strerror(errno), NULL, "cannot write %s", path);
	}
	return EXIT_DONE;
}

static bool is_in_path(const char *name)
{
	const char *p = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	char path[PATH_ROOM];
	size_t len;

	for (; *p; p += len + (p[len] == ':')) {
		len = strcspn(p, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)len, p, name);
		if (len && !access(path, X_OK))
			return true;
	}
	return false;
}

/* A variable that only this recording's program has in its environment. */
static const char *container_mark(void)
{
	static char mark[64];
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	snprintf(mark, sizeof(mark), "GRTRACE_RECORDING=%ld-%lld-%09ld", (long)getpid(), (long long)t.tv_sec,
		 t.tv_nsec);
	return mark;
}

/*
 * Makes the command docker or podman exec NAME, with the variables; output inside comes through its standard
 * error. Return: words used
 */
static int container_words(const struct rocm_options *opt, char **words)
{
	static char level[40];
	int n = 0;

	snprintf(level, sizeof(level), "AMD_LOG_LEVEL=%llu", (unsigned long long)opt->level);
	words[n++] = is_in_path("podman") ? "podman" : "docker";
	words[n++] = "exec";
	words[n++] = "-e";
	words[n++] = level;
	words[n++] = "-e";
	words[n++] = (char *)textlog_settings.mark;
	words[n++] = (char *)opt->container;
	return n;
}

/* Leaves out sources that cannot work here, with the reason, unless functions were requested by name. */
static const char *choose_sources(const struct rocm_options *opt, int *status)
{
	struct grt_err err = {.what = ""};
	int ret = source_ftrace.probe(&err);

	*status = EXIT_DONE;
	if (!ret)
		return "ftrace,hostlog";
	if (opt->functions)
		*status = cmd_error(ret == -EINVAL ? EXIT_USAGE : EXIT_MISSING, &err);
	else
		cmd_fail(EXIT_DONE, err.why, err.fix, "without the kernel's side: %s", err.what);
	return "hostlog";
}

static int rocm_record_run_record(const struct rocm_options *opt, struct place *p, int argc, char **argv)
{
	int n = 0, status;
	const char *sources = choose_sources(opt, &status);
	char *words[ARGS_MAX + 16], buffer[32];
	bool help = false;

	if (status != EXIT_DONE)
		return status;
	if (argc >= ARGS_MAX)
		return cmd_usage_error("record: too many arguments for the program");
	words[n++] = "--output";
	words[n++] = p->recording;
	words[n++] = "--event";
	words[n++] = (char *)sources;
	if (opt->buffer) {
		snprintf(buffer, sizeof(buffer), "%llu", (unsigned long long)opt->buffer);
		words[n++] = "--buffer";
		words[n++] = buffer;
	}
	words[n++] = "--";
	if (opt->container)
		n += container_words(opt, words + n);
	for (int i = 0; i < argc; i++)
		words[n++] = argv[i];
	words[n] = NULL;
	status = cmd_parse(&cmd_record, &n, words, &help);
	return status == EXIT_DONE ? cmd_record.run(n, words) : status;
}

/* Writes the report. Return: EXIT_DONE, or the status of what failed */
static int rocm_record_write_report(const struct rocm_options *opt, const struct place *p)
{
	struct rocm_options of_report = {.recorded = true,
					 .input = p->dir,
					 .json = opt->json,
					 .verbose = opt->verbose,
					 .relative = opt->relative};
	char path[PATH_ROOM + 32];
	int status, keep, fd;

	snprintf(path, sizeof(path), "%s/report.%s", p->dir, opt->json ? "json" : "txt");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	fflush(stdout);
	keep = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0 || keep < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return cmd_fail(EXIT_FAILED, strerror(errno), NULL, "cannot write %s", path);
	status = rocm_report(&of_report);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	close(fd);
	return status;
}

int rocm_record(const struct rocm_options *opt, int argc, char **argv)
{
	struct place p;
	struct stat st;
	char path[PATH_ROOM + 32];
	int status, made;

	status = make_place(&p, opt, argv[0]);
	if (status != EXIT_DONE)
		return status;
	textlog_settings = (struct textlog_settings){
		.dir = p.dir,
		.log_name = p.log,
		.trace_name = TRACE_NAME,
		.level = (unsigned int)opt->level,
		.functions = opt->functions,
		.capture_stderr = opt->capture_stderr || opt->container,
		.mark = opt->container ? container_mark() : NULL,
	};
	cmd_set_name("rocm record");
	status = rocm_record_run_record(opt, &p, argc, argv);
	snprintf(path, sizeof(path), "%s/metadata", p.recording);
	if (stat(path, &st)) {
		/* the reason why no recording was made has been reported */
		made = EXIT_DONE;
		if (errno == ENOENT)
			remove_texts(&p);
		else
			made = cmd_fail(EXIT_FAILED, strerror(errno), "-o DIR, which you may enter yourself",
					"cannot report on %s", p.dir);
		return status ? status : made;
	}
	made = write_script(&p);
	if (made != EXIT_DONE)
		return status ? status : made;
	made = rocm_record_write_report(opt, &p);
	fprintf(stderr, "grtrace rocm record: everything is in ");
	cmd_put_text(stderr, p.dir);
	fputs("; its report is made again by analyze.sh in there\n", stderr);
	return status ? status : made;
}
