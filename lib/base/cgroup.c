// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Parts of paths of control groups, see cgroup.h. */
#include "cgroup.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/**
 * struct cgroup_form - the form of a part's name
 * @front: the text before the id, with a '/' if the name begins with it
 * @least: least number of characters of the id; @digits: these are decimal digits, otherwise hexadecimal
 *	digits, '-' and '_'; @any: any characters
 */
struct cgroup_form {
	const char *front;
	size_t least;
	bool digits;
	bool any;
};

/* The last form is that of Kubernetes without systemd: an id alone is a container's. */
static const struct cgroup_form pods[] = {
	{"-pod", 32, false, false}, {"/pod", 32, false, false}, {.front = NULL}};
static const struct cgroup_form containers[] = {
	{"cri-containerd-", 32, false, false},
	{"/crio-", 32, false, false},
	{"docker-", 32, false, false},
	{"/docker/", 32, false, false},
	{"libpod-", 32, false, false},
	{"/lxc.payload.", 1, false, true},
	{"/machine.slice/machine-", 1, false, true},
	{"/", 64, false, false},
	{.front = NULL},
};
static const struct cgroup_form jobs[] = {{"/job_", 1, true, false}, {.front = NULL}};
static const struct cgroup_form *const forms[] = {
	[GRT_CGROUP_POD] = pods, [GRT_CGROUP_CONTAINER] = containers, [GRT_CGROUP_SLURM] = jobs};

/* Return: the length of the part at @at; 0: there is none */
static size_t cgroup_length(const struct cgroup_form *form, const char *at)
{
	size_t n = strcspn(at, form->any ? "/" : "./"), i;

	if (form->any && n > strlen(".scope") &&
	    !strncmp(at + n - strlen(".scope"), ".scope", strlen(".scope")))
		n -= strlen(".scope");
	for (i = 0; i < n && !form->any; i++)
		if (form->digits ? !isdigit((unsigned char)at[i])
				 : !isxdigit((unsigned char)at[i]) && at[i] != '-' && at[i] != '_')
			return 0;
	return n >= form->least && n < GRT_CGROUP_PART ? n : 0;
}

static bool cgroup_find(const char *path, const struct cgroup_form *form, char out[GRT_CGROUP_PART])
{
	size_t n;

	for (const char *at = strstr(path, form->front); at; at = strstr(at + 1, form->front)) {
		n = cgroup_length(form, at + strlen(form->front));
		if (!n)
			continue;
		snprintf(out, GRT_CGROUP_PART, "%.*s", (int)n, at + strlen(form->front));
		/* systemd allows no '-' in the name of a slice */
		for (char *c = form == pods ? out : ""; *c; c++)
			*c = *c == '_' ? '-' : *c;
		return true;
	}
	return false;
}

bool grt_cgroup_part(const char *path, enum grt_cgroup_part part, char out[GRT_CGROUP_PART])
{
	out[0] = '\0';
	for (const struct cgroup_form *form = forms[part]; form->front; form++)
		if (cgroup_find(path, form, out))
			return true;
	return false;
}

char *grt_cgroup_path(char *text)
{
	char *path, *found = NULL;
	bool is_best;

	for (char *line; (line = strsep(&text, "\n"));) {
		path = strstr(line, ":/");
		is_best = path && !strncmp(line, "0::", 3) && path[2];
		if (!path || (found && !is_best && (found[1] || !path[2])))
			continue;
		found = path + 1;
		if (is_best)
			break;
	}
	return found;
}
