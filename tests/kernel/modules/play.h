/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the modules that stand for drivers share: they do what they are told by
 * a line written to /sys/kernel/debug/grtrace_play_<module>,
 *
 *	[irq] VERB [NUMBER]...
 *
 * in the thread that writes it, after `irq` in an interrupt on its CPU. Included
 * by the one file of a module, after it has defined play_verbs.
 */
#ifndef PLAY_H
#define PLAY_H

#include <linux/debugfs.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define PLAY_ARGS 12
#define PLAY_LINE 256

/**
 * struct play_verb - something that the module can do
 * @name: the verb
 * @nargs: numbers that it takes
 * @fn: does it; 0 or a negative errno, which the write returns
 */
struct play_verb {
	const char *name;
	unsigned int nargs;
	int (*fn)(const u64 *arg);
};

struct play_call {
	struct irq_work work;
	const struct play_verb *verb;
	u64 arg[PLAY_ARGS];
	int err;
};

static const struct play_verb play_verbs[];
static const unsigned int play_nverbs;
static struct dentry *play_file;

static const struct play_verb *play_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < play_nverbs; i++)
		if (!strcmp(play_verbs[i].name, name))
			return &play_verbs[i];
	return NULL;
}

static int play_parse(struct play_call *call, char *text)
{
	unsigned int n = 0;
	char *word = strsep(&text, " ");

	call->verb = play_find(word);
	if (!call->verb)
		return -ENOENT;
	while ((word = strsep(&text, " ")))
		if (n == PLAY_ARGS || kstrtou64(word, 0, &call->arg[n++]))
			return -EINVAL;
	return n == call->verb->nargs ? 0 : -EINVAL;
}

static void play_in_irq(struct irq_work *work)
{
	struct play_call *call = container_of(work, struct play_call, work);

	call->err = call->verb->fn(call->arg);
}

static int play_line(struct play_call *call, char *text)
{
	bool irq = str_has_prefix(text, "irq ");
	int err = play_parse(call, text + (irq ? strlen("irq ") : 0));

	if (err)
		return err;
	if (!irq)
		return call->verb->fn(call->arg);
	call->work = IRQ_WORK_INIT_HARD(play_in_irq);
	irq_work_queue(&call->work);
	irq_work_sync(&call->work);
	return call->err;
}

static ssize_t play_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	struct play_call call = {};
	char text[PLAY_LINE];
	int err;

	if (count >= sizeof(text) || copy_from_user(text, from, count))
		return -EINVAL;
	text[count] = 0;
	err = play_line(&call, strim(text));
	return err ?: count;
}

static const struct file_operations play_fops = {
	.owner = THIS_MODULE,
	.write = play_write,
	.llseek = noop_llseek,
};

static void play_begin(void)
{
	play_file = debugfs_create_file("grtrace_play_" KBUILD_MODNAME, 0200, NULL, NULL, &play_fops);
}

/* No line is being played after this. */
static void play_end(void)
{
	debugfs_remove(play_file);
}

#endif /* PLAY_H */
