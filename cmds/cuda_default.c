// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace start --cuda, grtrace stop --cuda: a file that systemd reads, which gives the library to CUDA's
 * driver, to NVTX and to NCCL.
 */
#include "cuda_default.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "host/privileges.h"
#include "sources/cuda_ask.h"

#define MARK "# grtrace start --cuda made this file, grtrace stop --cuda removes it."
#define NAME "50-grtrace.conf"

static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
					"NCCL_PROFILER_PLUGIN"};

static int default_service_usage(const char *service)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.@-\\";

	if (!service || (*service && *service != '.' && !service[strspn(service, good)]))
		return EXIT_DONE;
	return cmd_usage_error("--service='%s': not the name of a service", service);
}

/* Return: an exit status */
static int default_dir(const char *service, char *dir)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	size_t length = service ? strlen(service) : 0;
	int n;

	if (length > 8 && !strcmp(service + length - 8, ".service"))
		length -= 8;
	if (service)
		n = snprintf(dir, PATH_MAX, "/etc/systemd/system/%.*s.service.d", (int)length, service);
	else if (config && *config == '/')
		n = snprintf(dir, PATH_MAX, "%s/environment.d", config);
	else if (home && *home == '/')
		n = snprintf(dir, PATH_MAX, "%s/.config/environment.d", home);
	else
		return cmd_fail(EXIT_FAILED, "HOME is not set", "HOME=... grtrace start --cuda",
				"cannot find this user's environment.d");
	return n < PATH_MAX - 32
		       ? EXIT_DONE
		       : cmd_fail(EXIT_FAILED, "its path is too long", NULL, "cannot use %.60s...", dir);
}

/*
 * sudo may keep HOME: the files there are the user's, and so is where links in it lead. Until as_user_end().
 */
static void default_begin(const char *service)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char inside[PATH_MAX + 2];
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;

	if (service)
		return;
	privileges_user(&uid, &gid);
	snprintf(inside, sizeof(inside), "%s/.", config && *config == '/' ? config : home);
	as_user_begin_at(uid, gid, inside);
}

static int default_make_dirs(char *dir)
{
	for (char *at = strchr(dir + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(dir, 0755) && errno != EEXIST) {
			*at = '/';
			return -errno;
		}
		*at = '/';
	}
	return mkdir(dir, 0755) && errno != EEXIST ? -errno : 0;
}

/* Return: whether there is a file that grtrace has not made. */
static bool default_is_foreign(const char *path)
{
	char line[sizeof(MARK)] = "";
	FILE *f = fopen(path, "re");
	bool foreign = f && (!fgets(line, sizeof(line), f) || strcmp(line, MARK) != 0);

	if (f)
		fclose(f);
	return foreign;
}

static int default_refuse(const char *path)
{
	return cmd_fail(EXIT_FAILED, "grtrace start --cuda did not write it", "move it away",
			"%s stays as it is", path);
}

static int default_write(const char *path, const char *library, bool service)
{
	char other[PATH_MAX + 48];
	int fd, ret = 0;
	FILE *f;

	snprintf(other, sizeof(other), "%s.XXXXXX", path);
	fd = mkostemp(other, O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return -errno;
	fprintf(f, "%s\n%s", MARK, service ? "[Service]\n" : "");
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		fprintf(f, service ? "Environment=\"%s=%s\"\n" : "%s=\"%s\"\n", variables[i], library);
	if (fchmod(fd, 0644) || ferror(f))
		ret = -errno;
	if (fclose(f) || ret || rename(other, path))
		ret = ret ?: -errno;
	if (ret)
		unlink(other);
	return ret;
}

static void default_show(const char *service, const char *path, const char *library)
{
	cmd_put_text(stdout, path);
	puts(" is written: CUDA programs that start from now on can be recorded while they run, and cost nothing until then");
	if (service) {
		printf("  next: systemctl daemon-reload && systemctl restart %s\n", service);
		return;
	}
	fputs("  next: log in again, or in this shell: export", stdout);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		printf(" %s='%s'", variables[i], library);
	putchar('\n');
}

int cuda_default_set(const char *service)
{
	char dir[PATH_MAX], path[PATH_MAX + 32], library[PATH_MAX];
	int ret = default_service_usage(service);
	bool foreign;

	if (ret == EXIT_DONE)
		ret = default_dir(service, dir);
	if (ret != EXIT_DONE)
		return ret;
	if (!cuda_ask_library(library))
		return cmd_fail(EXIT_MISSING, "it is neither beside this program nor in ../lib/grtrace",
				"make install, or make all in the source tree", "cannot find %s",
				GRT_CUDA_LIBRARY);
	if (strpbrk(library, "\"'\\$%\n"))
		return cmd_fail(EXIT_FAILED,
				"its path has characters that have a special meaning for systemd",
				"make install", "cannot name %s", library);
	snprintf(path, sizeof(path), "%s/" NAME, dir);
	default_begin(service);
	foreign = default_is_foreign(path);
	ret = foreign ? 0 : default_make_dirs(dir) ?: default_write(path, library, service);
	as_user_end();
	if (foreign)
		return default_refuse(path);
	if (ret)
		return cmd_fail(EXIT_FAILED, strerror(-ret), service ? "sudo grtrace start --cuda ..." : NULL,
				"cannot write %s", path);
	default_show(service, path, library);
	return cmd_close_stdout();
}

int cuda_default_unset(const char *service)
{
	char dir[PATH_MAX], path[PATH_MAX + 32];
	int ret = default_service_usage(service), code = 0;
	bool foreign;

	if (ret == EXIT_DONE)
		ret = default_dir(service, dir);
	if (ret != EXIT_DONE)
		return ret;
	snprintf(path, sizeof(path), "%s/" NAME, dir);
	default_begin(service);
	foreign = default_is_foreign(path);
	if (!foreign && unlink(path))
		code = errno;
	/* removes the directory if it contained only this file */
	if (!foreign && (!code || code == ENOENT) && rmdir(dir))
		errno = 0;
	as_user_end();
	if (foreign)
		return default_refuse(path);
	if (code && code != ENOENT)
		return cmd_fail(EXIT_FAILED, strerror(code), "sudo grtrace stop --cuda ...",
				"cannot remove %s", path);
	cmd_put_text(stdout, path);
	puts(!code ? " is deleted: programs that start from now on run without the library"
		   : ": there is no such file, so programs begin without the library already");
	return cmd_close_stdout();
}
