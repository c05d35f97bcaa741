// SPDX-License-Identifier: GPL-2.0
/*
 * The control files and the keys of `config`, from the rows of control.def. A write that is
 * refused changes nothing.
 */
#define pr_fmt(fmt) "grtrace: " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define GRT_CONTROL_TABLE
#include "core.h"

/* Room for any value as text; a full watch list of 64 entries is the longest. */
#define VALUE_MAX 2048
/* Room for the text of a key's file: the table of events follows filter_events. */
#define KEY_FILE_MAX (VALUE_MAX + GRT_EVENTS * 64)

static const char *const level_names[] = {"off", "normal", "verbose", "debug"};

/* Tries numbers first; a key of kind MASK or LEVEL also accepts names. */
static int control_parse_level(const char *text, u64 *value)
{
	int level = match_string(level_names, ARRAY_SIZE(level_names), text);

	if (level < 0)
		return kstrtou64(text, 0, value);
	*value = level;
	return 0;
}

static int control_parse_mask(char *text, u64 *value)
{
	char *word;
	int bit;

	if (!kstrtou64(text, 0, value))
		return 0;
	*value = 0;
	while ((word = strsep(&text, ","))) {
		bit = grtrace_engine_by_name(word);
		if (bit < 0)
			return kstrtou64(word, 0, value) == -ERANGE ? -ERANGE : -EINVAL;
		*value |= BIT_ULL(bit);
	}
	return 0;
}

/*
 * Gets the n-th word of a key of kind WORD, whose words are in the unit column. Return: its length,
 * 0: there are fewer
 */
static int control_nth_word(enum grt_key key, u64 n, const char **word)
{
	*word = grt_key_table[key].unit;
	while (n-- && *word) {
		*word = strchr(*word, '|');
		*word += !!*word;
	}
	return *word ? strcspn(*word, "|") : 0;
}

static int control_parse_word_of(enum grt_key key, const char *text, u64 *value)
{
	const char *word;
	int len;

	for (*value = 0; (len = control_nth_word(key, *value, &word)); (*value)++)
		if (len == strlen(text) && !strncmp(word, text, len))
			return 0;
	return kstrtou64(text, 0, value);
}

static int control_parse_value(enum grt_key key, char *text, u64 *value)
{
	const struct grt_key_desc *d = &grt_key_table[key];
	s64 sv;
	int err;

	switch (d->kind) {
	case GRT_KEY_LEVEL:
		err = control_parse_level(text, value);
		break;
	case GRT_KEY_MASK:
		err = control_parse_mask(text, value);
		break;
	case GRT_KEY_WORD:
		err = control_parse_word_of(key, text, value);
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

struct grt_type_set grtrace_wanted_types = {.word = {[0 ... GRT_TYPE_WORDS - 1] = U64_MAX}};
EXPORT_SYMBOL_GPL(grtrace_wanted_types);

/*
 * A mask of the first 64 types; all bits: all types. There is no event 0. So a mask with bit 0 and
 * without some other bits comes from a tool that counts events from 0, and means the events of the
 * next higher bits.
 */
static int control_types_from_mask(struct grt_type_set *set, u64 mask)
{
	if (mask & 1 && mask != U64_MAX) {
		pr_notice_ratelimited(
			"filter_events: bit 0 is no event; bit 1 is %s, the file lists the others\n",
			grtrace_event_name(1));
		return -EINVAL;
	}
	grt_types_fill(set, mask == U64_MAX);
	set->word[0] = mask;
	return 0;
}

static int control_types_from_names(struct grt_type_set *set, char *text)
{
	bool others = *text == '-';
	u64 number;
	char *word;
	int type;

	grt_types_fill(set, 0);
	while ((word = strsep(&text, ","))) {
		type = grtrace_event_by_name(word + (others && *word == '-'));
		if (type < 0)
			return kstrtou64(word, 0, &number) == -ERANGE ? -ERANGE : -EINVAL;
		grt_types_add(set, type);
	}
	if (others)
		grt_types_invert(set);
	return 0;
}

static int control_parse_types(char *text, struct grt_type_set *set)
{
	u64 mask;

	if (!strcmp(text, "all") || !strcmp(text, "none")) {
		grt_types_fill(set, *text == 'a');
		return 0;
	}
	return kstrtou64(text, 0, &mask) ? control_types_from_names(set, text)
					 : control_types_from_mask(set, mask);
}

static int control_set_types(char *text)
{
	struct grt_type_set set;
	unsigned int i;
	int err = control_parse_types(text, &set);

	if (err)
		return err;
	for (i = 0; i < GRT_TYPE_WORDS; i++)
		WRITE_ONCE(grtrace_wanted_types.word[i], set.word[i]);
	return 0;
}

/* Prints the events that are in the set, or those that are not. Return: their number */
static int control_count_types(bool in)
{
	int type, n = 0;

	for (type = 0; type < GRT_EV_MAX; type++)
		n += grtrace_event_name(type) && grt_types_has(&grtrace_wanted_types, type) == in;
	return n;
}

/* Prints the shorter of two lists: the events that are in the set, or those that are not. */
static int control_print_types(char *buf, size_t size)
{
	int wanted = control_count_types(true), others = control_count_types(false), type, n = 0;
	bool in = wanted <= others;

	if (!wanted || !others)
		return scnprintf(buf, size, wanted ? "all" : "none");
	for (type = 0; type < GRT_EV_MAX; type++)
		if (grtrace_event_name(type) && grt_types_has(&grtrace_wanted_types, type) == in)
			n += scnprintf(buf + n, size - n, "%s%s",
				       n    ? ","
				       : in ? ""
					    : "-",
				       grtrace_event_name(type));
	return n;
}

/*
 * The open `control` file whose closing ends tracing; NULL: tracing continues until a user stops
 * it. The kernel also closes the files of a recorder that was killed. Protected by grtrace_lock.
 */
static const struct file *recorder;

static int control_set_enable(u64 value)
{
	if (value)
		return grtrace_start_tracing();
	grtrace_stop_tracing();
	recorder = NULL;
	return 0;
}

static int control_set_watch_count(u64 value)
{
	return grtrace_watch_drop(false);
}

static int control_set_watch_ring_count(u64 value)
{
	return grtrace_watch_drop(true);
}

/* Keys for which storing a number is not enough. */
static int (*const setters[GRT_CONFIG_KEYS])(u64 value) = {
	[GRT_CONFIG_enable] = control_set_enable,
	[GRT_CONFIG_buffer_size] = grtrace_buffer_resize,
	[GRT_CONFIG_watch_count] = control_set_watch_count,
	[GRT_CONFIG_watch_ring_count] = control_set_watch_ring_count,
};

/* Whether the key exists. */
static bool control_key_present(enum grt_key key)
{
	return grt_key_table[key].stage == GRT_STAGE_CORE || grtrace_stage_get(grt_key_table[key].stage);
}

static int control_key_set_number(enum grt_key key, char *text)
{
	u64 value;
	int err = control_parse_value(key, text, &value);

	if (err)
		return err;
	if (setters[key])
		return setters[key](value);
	WRITE_ONCE(grtrace_config[key], value);
	pr_debug("%s=%llu\n", grt_key_table[key].name, value);
	return 0;
}

static int control_key_set_locked(enum grt_key key, char *text)
{
	const struct grt_key_desc *d = &grt_key_table[key];
	int err;

	if (!control_key_present(key))
		return -ENODEV;
	if (d->flags & GRT_KEY_WHEN_STOPPED && grtrace_running())
		return -EBUSY;
	if (d->kind == GRT_KEY_LIST)
		return grtrace_watch_set(text);
	if (d->kind == GRT_KEY_TYPES)
		err = control_set_types(text);
	else if (d->kind == GRT_KEY_IDS)
		err = grtrace_stage_get(d->stage)->set(key, text);
	else
		err = control_key_set_number(key, text);
	if (err)
		return err;
	grtrace_stages_update();
	if (key == GRT_CONFIG_flush_ms)
		grtrace_flush_schedule();
	return 0;
}

static int control_key_set(enum grt_key key, char *text)
{
	int err = grtrace_lock_for_file(grt_key_table[key].stage);

	if (err)
		return err;
	err = control_key_set_locked(key, text);
	grtrace_unlock();
	return err;
}

/* The value as it can be written back, without newline; grtrace_lock held. */
static int control_key_print(enum grt_key key, char *buf, size_t size)
{
	const struct grt_key_desc *d = &grt_key_table[key];
	u64 value = grtrace_config[key];
	const char *word;
	int len;

	if (key == GRT_CONFIG_watch_count || key == GRT_CONFIG_watch_ring_count)
		value = grtrace_watch_count(key == GRT_CONFIG_watch_ring_count);
	switch (d->kind) {
	case GRT_KEY_LIST:
		return grtrace_watch_print(buf, size);
	case GRT_KEY_IDS:
		return grtrace_stage_get(d->stage)->print(key, buf, size);
	case GRT_KEY_TYPES:
		return control_print_types(buf, size);
	case GRT_KEY_WORD:
		len = control_nth_word(key, value, &word);
		return scnprintf(buf, size, "%.*s", len, word);
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

static int control_key_by_name(const char *name)
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

static char *control_text_from_user(const char __user *from, size_t count)
{
	return count >= VALUE_MAX ? ERR_PTR(-E2BIG) : memdup_user_nul(from, count);
}

/* Prints the names of the events after a set of events. */
static int control_print_events(char *buf, size_t size)
{
	int type, n = 0;

	for (type = 0; type < GRT_EV_MAX; type++)
		if (grtrace_event_name(type))
			n += scnprintf(buf + n, size - n, "%2d %-16s %s\n", type, grtrace_event_name(type),
				       grt_types_has(&grtrace_wanted_types, type) ? "on" : "off");
	return n;
}

static int control_key_print_file(enum grt_key key, char *buf, size_t size)
{
	int n;

	if (!control_key_present(key))
		return -ENODEV;
	n = control_key_print(key, buf, size - 1);
	buf[n++] = '\n';
	if (grt_key_table[key].kind == GRT_KEY_TYPES)
		n += control_print_events(buf + n, size - n);
	return n;
}

/* A key's own file. */
static ssize_t control_key_read(struct file *file, char __user *to, size_t count, loff_t *ppos)
{
	enum grt_key key = (unsigned long)file_inode(file)->i_private;
	char *buf = kmalloc(KEY_FILE_MAX, GFP_KERNEL);
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	n = grtrace_lock_for_file(grt_key_table[key].stage);
	if (!n) {
		n = control_key_print_file(key, buf, KEY_FILE_MAX);
		grtrace_unlock();
	}
	if (n > 0)
		n = simple_read_from_buffer(to, count, ppos, buf, n);
	kfree(buf);
	return n;
}

static ssize_t control_key_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text = control_text_from_user(from, count);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = control_key_set((unsigned long)file_inode(file)->i_private, strim(text));
	kfree(text);
	return err ?: count;
}

static const struct file_operations key_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = control_key_read,
	.write = control_key_write,
	.llseek = default_llseek,
};

static int control_config_show(struct seq_file *m, void *unused)
{
	char *buf = kmalloc(VALUE_MAX, GFP_KERNEL);
	int key, n;

	if (!buf)
		return -ENOMEM;
	mutex_lock(&grtrace_lock);
	for (key = 0; key < GRT_CONFIG_KEYS; key++) {
		if (!control_key_present(key))
			continue;
		n = control_key_print(key, buf, VALUE_MAX);
		seq_printf(m, "%s=%.*s\n", grt_key_table[key].name, n, buf);
	}
	grtrace_unlock();
	kfree(buf);
	return 0;
}

static int control_config_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_config_show, NULL);
}

/* Parses one key=value. */
static ssize_t control_config_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text = control_text_from_user(from, count), *value, *name;
	int key, err = -EINVAL;

	if (IS_ERR(text))
		return PTR_ERR(text);
	value = strim(text);
	name = strsep(&value, "=");
	key = value ? control_key_by_name(strim(name)) : -EINVAL;
	if (key >= 0)
		err = control_key_set(key, strim(value));
	kfree(text);
	return err ?: count;
}

const struct file_operations grtrace_config_fops = {
	.owner = THIS_MODULE,
	.open = control_config_open,
	.read = seq_read,
	.write = control_config_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int control_do_start(const struct file *file)
{
	return grtrace_start_tracing();
}

static int control_do_record(const struct file *file)
{
	int err;

	if (grtrace_running())
		return -EBUSY;
	err = grtrace_start_tracing();
	if (!err)
		recorder = file;
	return err;
}

static int control_do_stop(const struct file *file)
{
	grtrace_stop_tracing();
	recorder = NULL;
	return 0;
}

static int control_do_clear(const struct file *file)
{
	return grtrace_clear();
}

static int control_do_flush(const struct file *file)
{
	grtrace_flush();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const struct file *file);
} orders[] = {
	{"start", control_do_start}, {"record", control_do_record}, {"stop", control_do_stop},
	{"clear", control_do_clear}, {"flush", control_do_flush},
};

static int control_run_order(const struct file *file, const char *order)
{
	unsigned int i;
	int err = -EINVAL;

	mutex_lock(&grtrace_lock);
	for (i = 0; i < ARRAY_SIZE(orders); i++)
		if (!strcmp(order, orders[i].name))
			err = orders[i].run(file);
	grtrace_unlock();
	return err;
}

static ssize_t control_read(struct file *file, char __user *to, size_t count, loff_t *ppos)
{
	const char *state = grtrace_running() ? "running\n" : "stopped\n";

	return simple_read_from_buffer(to, count, ppos, state, strlen(state));
}

static ssize_t control_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text = control_text_from_user(from, count);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = control_run_order(file, strim(text));
	kfree(text);
	return err ?: count;
}

static int control_release(struct inode *inode, struct file *file)
{
	mutex_lock(&grtrace_lock);
	if (recorder == file)
		control_do_stop(file);
	grtrace_unlock();
	return 0;
}

const struct file_operations grtrace_control_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = control_read,
	.write = control_write,
	.llseek = default_llseek,
	.release = control_release,
};

static const struct {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
} files[] = {
#define GRT_FILE(fname, fmode, help) {#fname, fmode, &grtrace_##fname##_fops},
#include <grtrace/control.def>
};

static const struct {
	enum grt_stage stage;
	const char *name;
} stage_files[] = {
#define GRT_STAGE_FILE(STAGE, fname, help) {GRT_STAGE_##STAGE, #fname},
#include <grtrace/control.def>
};

/* A file that a stage adds; @key: GRT_CONFIG_KEYS if it is not a key's file. */
typedef void (*file_fn)(const char *name, unsigned long key);

static void control_each_file_of(enum grt_stage stage, file_fn fn)
{
	unsigned int i, key;

	for (key = 0; key < GRT_CONFIG_KEYS; key++)
		if (grt_key_table[key].stage == stage && grt_key_table[key].flags & GRT_KEY_AS_FILE)
			fn(grt_key_table[key].name, key);
	for (i = 0; i < ARRAY_SIZE(grt_key_aliases); i++) {
		key = grt_key_aliases[i].key;
		if (grt_key_table[key].stage == stage && grt_key_table[key].flags & GRT_KEY_AS_FILE)
			fn(grt_key_aliases[i].name, key);
	}
	for (i = 0; i < ARRAY_SIZE(stage_files); i++)
		if (stage_files[i].stage == stage)
			fn(stage_files[i].name, GRT_CONFIG_KEYS + stage);
}

static void control_file_add(const char *name, unsigned long key)
{
	if (key < GRT_CONFIG_KEYS)
		debugfs_create_file(name, 0600, grtrace_dir, (void *)key, &key_fops);
	else
		debugfs_create_file(name, 0400, grtrace_dir, (void *)(key - GRT_CONFIG_KEYS),
				    &grtrace_stage_file_fops);
}

static void control_file_remove(const char *name, unsigned long key)
{
	struct dentry *file = debugfs_lookup(name, grtrace_dir);

	debugfs_remove(file);
	dput(file);
}

/** grtrace_control_add - makes the files of a stage, or the module's own, in grtrace_dir */
void grtrace_control_add(enum grt_stage stage)
{
	control_each_file_of(stage, control_file_add);
}

/** grtrace_control_remove - removes the files of a stage, and waits for their readers and writers */
void grtrace_control_remove(enum grt_stage stage)
{
	control_each_file_of(stage, control_file_remove);
}

/** grtrace_control_init - makes the module's files in grtrace_dir */
void grtrace_control_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, files[i].mode, grtrace_dir, NULL, files[i].fops);
	grtrace_control_add(GRT_STAGE_CORE);
}

/** grtrace_config_reset - sets the keys of a stage to their defaults, grtrace_lock held */
void grtrace_config_reset(enum grt_stage stage)
{
	int key;

	for (key = 0; key < GRT_CONFIG_KEYS; key++)
		if (grt_key_table[key].stage == stage)
			WRITE_ONCE(grtrace_config[key], grt_key_table[key].def);
}

/**
 * grtrace_config_init - sets every key to its default and makes the buffer, grtrace_lock held
 * @buffer_size: bytes per CPU, 0: the default
 * Return: 0, -ERANGE or -ENOMEM
 */
int grtrace_config_init(u64 buffer_size)
{
	const struct grt_key_desc *d = &grt_key_table[GRT_CONFIG_buffer_size];

	grtrace_config_reset(GRT_STAGE_CORE);
	grtrace_stages_update();
	if (!buffer_size)
		buffer_size = d->def;
	if (buffer_size < d->min || buffer_size > d->max)
		return -ERANGE;
	return grtrace_buffer_open(buffer_size);
}
