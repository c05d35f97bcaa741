// SPDX-License-Identifier: GPL-2.0
/*
 * See known_gpus.h. DRM's devices are in sysfs, those of NVIDIA's driver in /proc/driver/nvidia. A GPU in
 * both has the same address there. A virtio GPU is a virtio device on a PCI device; its address is that of
 * the PCI device.
 */
#include "known_gpus.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/bus.h"
#include "nvidia_devices.h"
#include "probe.h"

/** struct list - the GPUs found so far */
struct list {
	struct known_gpu *gpu;
	unsigned int n;
};

/* The last part of the link's target or, for a virtio device, the part before it: 0000:00:02.0/virtio0 */
static void known_gpus_bus(const char *node, char *bus, size_t room)
{
	char link[PROBE_PATH], path[PROBE_PATH], *end;

	*bus = 0;
	if (!realpath(probe_path(link, "/sys/class/drm/%s/device", node), path))
		return;
	end = strrchr(path, '/');
	if (!strncmp(end, "/virtio", strlen("/virtio"))) {
		*end = 0;
		end = strrchr(path, '/');
	}
	/* a directory that is not a link has no address */
	if (end && strcmp(end, "/device"))
		snprintf(bus, room, "%.31s", end + 1);
}

static uint32_t number_of_node(const char *node)
{
	unsigned int major, minor;
	char text[32];

	if (probe_read(text, sizeof(text), "/sys/class/drm/%s/dev", node) <= 0 ||
	    sscanf(text, "%u:%u", &major, &minor) != 2 || major > 0xfff || minor > 0xfffff)
		return 0;
	return major << 20 | minor;
}

/* Return: the GPU at this address, which is added if it is new; NULL: there is no room. */
static struct known_gpu *list_get(struct list *l, const char *bus)
{
	for (unsigned int i = 0; *bus && i < l->n; i++)
		if (!strcmp(l->gpu[i].bus, bus))
			return &l->gpu[i];
	if (l->n == KNOWN_GPUS)
		return NULL;
	l->gpu[l->n] = (struct known_gpu){.uuid = ""};
	snprintf(l->gpu[l->n].bus, sizeof(l->gpu[l->n].bus), "%s", bus);
	return &l->gpu[l->n++];
}

/* The directory also has connectors, such as card0-DP-1 */
static int is_node(const char *name, const char *kind)
{
	size_t len = strlen(kind);

	return !strncmp(name, kind, len) && name[len] && !name[len + strspn(name + len, "0123456789")] &&
	       strlen(name) < sizeof(((struct known_gpu *)0)->file[0].name);
}

static int known_gpus_is_card(const struct dirent *e)
{
	return is_node(e->d_name, "card");
}

static int known_gpus_is_render(const struct dirent *e)
{
	return is_node(e->d_name, "renderD");
}

static void add_nodes(struct list *l, enum known_gpu_file kind, int (*is_one)(const struct dirent *))
{
	char path[PROBE_PATH], bus[32];
	struct dirent **found = NULL;
	struct known_gpu *g;
	int n = scandir(probe_path(path, "/sys/class/drm"), &found, is_one, versionsort);

	for (int i = 0; i < n; i++) {
		known_gpus_bus(found[i]->d_name, bus, sizeof(bus));
		g = list_get(l, bus);
		if (g && !g->file[kind].name[0]) {
			snprintf(g->file[kind].name, sizeof(g->file[kind].name), "%.31s", found[i]->d_name);
			g->file[kind].number = number_of_node(found[i]->d_name);
		}
		free(found[i]);
	}
	free(found);
}

static int is_address(const struct dirent *e)
{
	return grt_bus_number(e->d_name) != UINT32_MAX;
}

/* A line "KEY: VALUE" in the driver's file about a GPU. */
static bool nvidia_value(const char *text, const char *key, char *value, size_t room)
{
	const char *at = strstr(text, key);

	*value = '\0';
	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t");
	snprintf(value, room, "%.*s", (int)strcspn(at, "\n \t"), at);
	return *value;
}

static void add_nvidia_gpu(struct list *l, const char *address)
{
	struct known_gpu *g = list_get(l, address);
	char text[2048], minor[16];

	if (!g || probe_read(text, sizeof(text), "/proc/driver/nvidia/gpus/%s/information", address) <= 0)
		return;
	nvidia_value(text, "GPU UUID:", g->uuid, sizeof(g->uuid));
	if (!nvidia_value(text, "Device Minor:", minor, sizeof(minor)) || minor[strspn(minor, "0123456789")])
		return;
	snprintf(g->file[KNOWN_GPU_NVIDIA].name, sizeof(g->file[0].name), "nvidia%s", minor);
	g->file[KNOWN_GPU_NVIDIA].number = NVIDIA_MAJOR << 20 | (strtoul(minor, NULL, 10) & 0xfffff);
}

static void add_nvidia(struct list *l)
{
	struct dirent **found = NULL;
	char path[PROBE_PATH];
	int n = scandir(probe_path(path, "/proc/driver/nvidia/gpus"), &found, is_address, versionsort);

	for (int i = 0; i < n; i++) {
		add_nvidia_gpu(l, found[i]->d_name);
		free(found[i]);
	}
	free(found);
}

unsigned int known_gpus(struct known_gpu gpu[KNOWN_GPUS])
{
	struct list l = {.gpu = gpu};

	add_nodes(&l, KNOWN_GPU_CARD, known_gpus_is_card);
	add_nodes(&l, KNOWN_GPU_RENDER, known_gpus_is_render);
	add_nvidia(&l);
	return l.n;
}

void known_gpu_card(const char *bus, char *card, size_t room)
{
	struct known_gpu all[KNOWN_GPUS];
	unsigned int n = known_gpus(all), i = 0;

	while (i < n && strcmp(all[i].bus, bus))
		i++;
	snprintf(card, room, "%.15s", i < n ? all[i].file[KNOWN_GPU_CARD].name : "");
}

bool known_gpu_has(const struct known_gpu *gpu, uint32_t number)
{
	if (!gpu)
		return true;
	for (int i = 0; i < KNOWN_GPU_FILES; i++)
		if (number && gpu->file[i].number == number)
			return true;
	return false;
}

bool known_gpu_is_at(const struct known_gpu *gpu, uint32_t bus)
{
	return gpu->bus[0] && grt_bus_number(gpu->bus) == bus;
}

const char *known_gpu_text(const struct known_gpu *gpu, char *text, size_t room)
{
	const char *const word[] = {gpu->file[KNOWN_GPU_CARD].name, gpu->file[KNOWN_GPU_RENDER].name,
				    gpu->file[KNOWN_GPU_NVIDIA].name, gpu->bus, gpu->uuid};
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]) && used < room; i++)
		if (word[i][0])
			used += (size_t)snprintf(text + used, room - used, "%s%s", used ? " " : "", word[i]);
	return text;
}

/* ------------------------------------------------------------- find one */

/* How a word identifies a GPU. */
typedef bool (*match)(const struct known_gpu *gpu, const char *word);

static bool has_name(const struct known_gpu *gpu, const char *word)
{
	for (int i = 0; i < KNOWN_GPU_FILES; i++)
		if (!strcmp(gpu->file[i].name, word))
			return true;
	return !strcmp(gpu->bus, word);
}

static bool has_address(const struct known_gpu *gpu, const char *word)
{
	return known_gpu_is_at(gpu, grt_bus_parse(word));
}

static bool has_uuid(const struct known_gpu *gpu, const char *word)
{
	return !strncasecmp(gpu->uuid, word, strlen(word));
}

static bool known_gpus_has_number(const struct known_gpu *gpu, const char *word)
{
	const char *card = gpu->file[KNOWN_GPU_CARD].name, *nvidia = gpu->file[KNOWN_GPU_NVIDIA].name;

	return (*card && !strcmp(card + strlen("card"), word)) ||
	       (*nvidia && !strcmp(nvidia + strlen("nvidia"), word));
}

static bool has_file(const struct known_gpu *gpu, const char *word)
{
	struct stat st;

	return !stat(word, &st) && S_ISCHR(st.st_mode) &&
	       known_gpu_has(gpu, (uint32_t)(major(st.st_rdev) << 20 | minor(st.st_rdev)));
}

/* "/dev/dri/card0" and "card0" mean the same, even if the file is missing, as in a container. */
static const char *without_dir(const char *typed)
{
	static const char *const dirs[] = {"/dev/dri/", "/dev/"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (!strncmp(typed, dirs[i], strlen(dirs[i])) && !strchr(typed + strlen(dirs[i]), '/'))
			return typed + strlen(dirs[i]);
	return typed;
}

static match match_of(const char *word)
{
	if (strchr(word, '/'))
		return has_file;
	if (*word && !word[strspn(word, "0123456789")])
		return known_gpus_has_number;
	if (!strncasecmp(word, "GPU-", 4))
		return has_uuid;
	return grt_bus_parse(word) == UINT32_MAX ? has_name : has_address;
}

/* A word that identifies no other GPU. */
static const char *own_word(const struct known_gpu *gpu)
{
	for (int i = 0; !gpu->bus[0] && i < KNOWN_GPU_FILES; i++)
		if (gpu->file[i].name[0])
			return gpu->file[i].name;
	return gpu->bus;
}

static int two_gpus(const char *typed, const struct known_gpu *a, const struct known_gpu *b,
		    struct grt_err *err)
{
	char one[192], other[192], fix[96];

	snprintf(fix, sizeof(fix), "--device %s, or --device %s", own_word(a), own_word(b));
	return grt_err_set(err, -EINVAL, "two GPUs of this system match", fix,
			   "the GPU '%s' may be %s, or %s", typed, known_gpu_text(a, one, sizeof(one)),
			   known_gpu_text(b, other, sizeof(other)));
}

/* A device file about which only its number is known. */
static int unlisted_file(const char *typed, struct known_gpu *gpu, struct grt_err *err)
{
	struct stat st;

	if (stat(typed, &st))
		return grt_err_set(err, -ENODEV, strerror(errno), NULL, "cannot find the device file %s",
				   typed);
	if (!S_ISCHR(st.st_mode))
		return grt_err_set(err, -ENODEV, "it is not a character device", NULL,
				   "%s is not the device file of a GPU", typed);
	*gpu = (struct known_gpu){.bus = ""};
	snprintf(gpu->file[0].name, sizeof(gpu->file[0].name), "%.31s", strrchr(typed, '/') + 1);
	gpu->file[0].number = (uint32_t)(major(st.st_rdev) << 20 | minor(st.st_rdev));
	return 0;
}

static int not_known(const char *typed, struct grt_err *err)
{
	const char *why = "no GPU of this system has this name";

	if (!strncasecmp(typed, "MIG-", 4))
		why = "an instance is a part of a GPU: type the name of the whole one";
	return grt_err_set(err, -ENODEV, why, NULL, "cannot find the GPU '%s'", typed);
}

int known_gpu_find(const char *typed, struct known_gpu *gpu, struct grt_err *err)
{
	struct known_gpu all[KNOWN_GPUS];
	const struct known_gpu *found = NULL;
	const char *word = without_dir(typed);
	match is_it = match_of(word);
	unsigned int n = known_gpus(all);
	char path[PROBE_PATH];

	for (unsigned int i = 0; *word && i < n; i++) {
		if (!is_it(&all[i], word))
			continue;
		if (found)
			return two_gpus(typed, found, &all[i], err);
		found = &all[i];
	}
	if (found)
		*gpu = *found;
	else if (strchr(typed, '/'))
		return unlisted_file(typed, gpu, err);
	else if (is_it == has_name && is_node(word, "nvidia") && probe_exists("/dev/%s", word))
		return unlisted_file(probe_path(path, "/dev/%s", word), gpu, err);
	return found ? 0 : not_known(typed, err);
}

/* ----------------------------------------------------- in the recording */

static void put_word(char *text, size_t room, const char *word, const char *bus)
{
	size_t used = strlen(text);
	char key[64];

	snprintf(key, sizeof(key), "%s=", word);
	if (*word && *bus && !strstr(text, key) && used + strlen(key) + strlen(bus) + 2 < room)
		snprintf(text + used, room - used, "%s%s%s", used ? " " : "", key, bus);
}

void known_gpus_env(char *text, size_t room)
{
	struct known_gpu all[KNOWN_GPUS];
	unsigned int n = known_gpus(all);

	for (unsigned int i = 0; i < n; i++) {
		for (int k = 0; k < KNOWN_GPU_FILES; k++)
			put_word(text, room, all[i].file[k].name, all[i].bus);
		put_word(text, room, all[i].uuid, all[i].bus);
	}
}
