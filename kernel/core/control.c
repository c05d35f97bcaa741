// SPDX-License-Identifier: GPL-2.0
/*
 * The control files and the keys of `config`, from the rows of control.def. A
 * write that is refused has changed nothing.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define GRT_CONTROL_TABLE
#include "core.h"

/* Room for any value as text; a full watch list of 64 entries is the longest. */
#define VALUE_MAX 2048

static const char *const level_names[] = { "off", "normal", "verbose", "debug" };

/* Numbers first; a key of kind MASK or LEVEL also takes names. */
static int parse_level(const char *text, u64 *value)
{
	int level = match_string(level_names, ARRAY_SIZE(level_names), text);

	if (level < 0)
		return kstrtou64(text, 0, value);
	*value = level;
	return 0;
}

static int parse_mask(enum grt_key key, char *text, u64 *value)
{
	char *word;
	int bit;

	if (!kstrtou64(text, 0, value))
		return 0;
	*value = 0;
	while ((word = strsep(&text, ","))) {
		bit = key == GRT_CONFIG_filter_type_mask ? grtrace_event_by_name(word) :
							   grtrace_engine_by_name(word);
		if (bit < 0)
			return kstrtou64(word, 0, value) == -ERANGE ? -ERANGE : -EINVAL;
		*value |= 1ULL << bit;
	}
	return 0;
}

static int parse_value(enum grt_key key, char *text, u64 *value)
{
	const struct grt_key_desc *d = &grt_key_table[key];
	s64 sv;
	int err;

	switch (d->kind) {
	case GRT_KEY_LEVEL:
		err = parse_level(text, value);
		break;
	case GRT_KEY_MASK:
		err = parse_mask(key, text, value);
		break;
	case GRT_KEY_S64:
		err = kstrtos64(text, 0, &sv);
		if (!err && (sv < (s64)d->min || sv > (s64)d->max))
			return -ERANGE;
		*value = sv;
		return err;
	default:
		err = kstrtou64(text, 0, value);
	}
	if (!err && (*value < d->min || *value > d->max))
		return -ERANGE;
	return err;
}

static int set_enable(u64 value)
{
	if (value)
		return grtrace_start_tracing();
	grtrace_stop_tracing();
	return 0;
}

static int set_watch_count(u64 value)
{
	return grtrace_watch_drop(false);
}

static int set_watch_ring_count(u64 value)
{
	return grtrace_watch_drop(true);
}

/* Keys whose setting is more than storing a number. */
static int (*const setters[GRT_CONFIG_KEYS])(u64 value) = {
	[GRT_CONFIG_enable] = set_enable,
	[GRT_CONFIG_buffer_size] = grtrace_buffer_resize,
	[GRT_CONFIG_watch_count] = set_watch_count,
	[GRT_CONFIG_watch_ring_count] = set_watch_ring_count,
};

static int key_set_locked(enum grt_key key, char *text)
{
	u64 value;
	int err;

	if (grt_key_table[key].flags & GRT_KEY_WHEN_STOPPED && grtrace_running())
		return -EBUSY;
	if (grt_key_table[key].kind == GRT_KEY_LIST)
		return grtrace_watch_set(text);
	err = parse_value(key, text, &value);
	if (err)
		return err;
	if (setters[key])
		return setters[key](value);
	WRITE_ONCE(grtrace_config[key], value);
	grtrace_limits_update();
	if (key == GRT_CONFIG_flush_ms)
		grtrace_flush_schedule();
	pr_debug("%s=%llu\n", grt_key_table[key].name, value);
	return 0;
}

static int key_set(enum grt_key key, char *text)
{
	int err;

	mutex_lock(&grtrace_lock);
	err = key_set_locked(key, text);
	mutex_unlock(&grtrace_lock);
	return err;
}

/* The value as it can be written back, without newline; grtrace_lock held. */
static int key_print(enum grt_key key, char *buf, size_t size)
{
	u64 value = grtrace_config[key];

	if (key == GRT_CONFIG_watch_count || key == GRT_CONFIG_watch_ring_count)
		value = grtrace_watch_count(key == GRT_CONFIG_watch_ring_count);
	switch (grt_key_table[key].kind) {
	case GRT_KEY_LIST:
		return grtrace_watch_print(buf, size);
	case GRT_KEY_LEVEL:
		return scnprintf(buf, size, "%s", level_names[value]);
	case GRT_KEY_MASK:
		return scnprintf(buf, size, "0x%llx", value);
	case GRT_KEY_S64:
		return scnprintf(buf, size, "%lld", (s64)value);
	default:
		return scnprintf(buf, size, "%llu", value);
	}
}

static int key_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < GRT_CONFIG_KEYS; i++)
		if (!strcmp(name, grt_key_table[i].name))
			return i;
	for (i = 0; i < ARRAY_SIZE(grt_key_aliases); i++)
		if (!strcmp(name, grt_key_aliases[i].name))
			return grt_key_aliases[i].key;
	return -EINVAL;
}

static char *text_from_user(const char __user *from, size_t count)
{
	return count >= VALUE_MAX ? ERR_PTR(-E2BIG) : memdup_user_nul(from, count);
}

/* A key's own file. */
static ssize_t key_read(struct file *file, char __user *to, size_t count, loff_t *ppos)
{
	char *buf = kmalloc(VALUE_MAX, GFP_KERNEL);
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	mutex_lock(&grtrace_lock);
	n = key_print((unsigned long)file_inode(file)->i_private, buf, VALUE_MAX - 1);
	mutex_unlock(&grtrace_lock);
	buf[n++] = '\n';
	n = simple_read_from_buffer(to, count, ppos, buf, n);
	kfree(buf);
	return n;
}

static ssize_t key_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text = text_from_user(from, count);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = key_set((unsigned long)file_inode(file)->i_private, strim(text));
	kfree(text);
	return err ?: count;
}

static const struct file_operations key_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = key_read,
	.write = key_write,
	.llseek = default_llseek,
};

static int config_show(struct seq_file *m, void *unused)
{
	char *buf = kmalloc(VALUE_MAX, GFP_KERNEL);
	int key, n;

	if (!buf)
		return -ENOMEM;
	mutex_lock(&grtrace_lock);
	for (key = 0; key < GRT_CONFIG_KEYS; key++) {
		n = key_print(key, buf, VALUE_MAX);
		seq_printf(m, "%s=%.*s\n", grt_key_table[key].name, n, buf);
	}
	mutex_unlock(&grtrace_lock);
	kfree(buf);
	return 0;
}

static int config_open(struct inode *inode, struct file *file)
{
	return single_open(file, config_show, NULL);
}

/* One key=value. */
static ssize_t config_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text = text_from_user(from, count), *value, *name;
	int key, err = -EINVAL;

	if (IS_ERR(text))
		return PTR_ERR(text);
	value = strim(text);
	name = strsep(&value, "=");
	key = value ? key_by_name(strim(name)) : -EINVAL;
	if (key >= 0)
		err = key_set(key, strim(value));
	kfree(text);
	return err ?: count;
}

const struct file_operations grtrace_config_fops = {
	.owner = THIS_MODULE,
	.open = config_open,
	.read = seq_read,
	.write = config_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int do_start(void)
{
	return grtrace_start_tracing();
}

static int do_stop(void)
{
	grtrace_stop_tracing();
	return 0;
}

static int do_flush(void)
{
	grtrace_flush();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} orders[] = {
	{ "start", do_start },
	{ "stop", do_stop },
	{ "clear", grtrace_clear },
	{ "flush", do_flush },
};

static int obey(const char *order)
{
	unsigned int i;
	int err = -EINVAL;

	mutex_lock(&grtrace_lock);
	for (i = 0; i < ARRAY_SIZE(orders); i++)
		if (!strcmp(order, orders[i].name))
			err = orders[i].run();
	mutex_unlock(&grtrace_lock);
	return err;
}

static ssize_t control_read(struct file *file, char __user *to, size_t count, loff_t *ppos)
{
	const char *state = grtrace_running() ? "running\n" : "stopped\n";

	return simple_read_from_buffer(to, count, ppos, state, strlen(state));
}

static ssize_t control_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text = text_from_user(from, count);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = obey(strim(text));
	kfree(text);
	return err ?: count;
}

const struct file_operations grtrace_control_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = control_read,
	.write = control_write,
	.llseek = default_llseek,
};

static const struct {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
} files[] = {
#define GRT_FILE(fname, fmode, help) { #fname, fmode, &grtrace_##fname##_fops },
#include <grtrace/control.def>
};

/** grtrace_control_init - makes the files in grtrace_dir */
void grtrace_control_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, files[i].mode, grtrace_dir, NULL, files[i].fops);
	for (i = 0; i < GRT_CONFIG_KEYS; i++)
		if (grt_key_table[i].flags & GRT_KEY_AS_FILE)
			debugfs_create_file(grt_key_table[i].name, 0600, grtrace_dir,
					    (void *)(unsigned long)i, &key_fops);
	for (i = 0; i < ARRAY_SIZE(grt_key_aliases); i++)
		if (grt_key_table[grt_key_aliases[i].key].flags & GRT_KEY_AS_FILE)
			debugfs_create_file(grt_key_aliases[i].name, 0600, grtrace_dir,
					    (void *)(unsigned long)grt_key_aliases[i].key, &key_fops);
}

/**
 * grtrace_config_init - sets every key to its default and makes the buffer, grtrace_lock held
 * @buffer_size: bytes per CPU, 0: the default
 * Return: 0, -ERANGE or -ENOMEM
 */
int grtrace_config_init(u64 buffer_size)
{
	const struct grt_key_desc *d = &grt_key_table[GRT_CONFIG_buffer_size];
	int key;

	for (key = 0; key < GRT_CONFIG_KEYS; key++)
		grtrace_config[key] = grt_key_table[key].def;
	grtrace_limits_update();
	if (!buffer_size)
		buffer_size = d->def;
	if (buffer_size < d->min || buffer_size > d->max)
		return -ERANGE;
	return grtrace_buffer_open(buffer_size);
}
