// SPDX-License-Identifier: GPL-2.0
/*
 * Members of drivers' private structs. No header of theirs is installed, so
 * where a member lies comes from outside, through the file `offsets`: a line per
 * member that some adapter can make use of,
 *
 *	amdgpu amdgpu_job.num_ibs 416 4
 *
 * which is the driver's module, the member, its offset and size in bytes, with
 * "-" for both where they are unknown. Writing such a line sets it. The
 * driver must be loaded, since its next version may have it elsewhere.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core.h"

#define LINE_MAX 256

/* Most bytes of a struct. */
#define PLACE_MAX (1U << 20)
#define BYTES_MAX 255U

/**
 * grtrace_peek - memory at an address that may be none
 * @to: where it goes
 * @from: any number
 * @size: bytes
 *
 * Any context but NMI.
 * Return: 0 or -EFAULT, -ERANGE
 */
int grtrace_peek(void *to, const void *from, size_t size)
{
	/*
	 * Below are addresses that none but a five-level page table has. Where the processor
	 * could use one and the kernel does not, copy_from_kernel_nofault() takes them for
	 * good, and the fault is not the kind that it expects: it warns (x86, Linux 6.1).
	 */
	if (IS_ENABLED(CONFIG_X86_64) && (unsigned long)from < PAGE_OFFSET)
		return -EFAULT;
	return copy_from_kernel_nofault(to, from, size);
}
EXPORT_SYMBOL_GPL(grtrace_peek);

/**
 * grtrace_field_copy - copies the bytes of a member
 * @f: the member
 * @object: the struct; invalid addresses are allowed, because it is read with care
 * @to: gets the bytes
 * @room: size of @to
 *
 * Any context but NMI. Return: bytes in @to; 0: the member or the memory is not there
 */
size_t grtrace_field_copy(const struct grtrace_field *f, const void *object, void *to, size_t room)
{
	u32 place = READ_ONCE(f->place);
	size_t size = min_t(size_t, place & BYTES_MAX, room);

	if (!place || !object || grtrace_peek(to, object + (place >> 8), size))
		return 0;
	return size;
}
EXPORT_SYMBOL_GPL(grtrace_field_copy);

/**
 * grtrace_field_read - a member of 1, 2, 4 or 8 bytes as a number
 * @f: the member
 * @object: see grtrace_field_copy()
 * @value: its value, not sign-extended; unchanged where it is unknown
 * Return: whether it is known
 */
bool grtrace_field_read(const struct grtrace_field *f, const void *object, u64 *value)
{
	u64 bytes = 0;
	size_t n = grtrace_field_copy(f, object, &bytes, sizeof(bytes));

	if (!n || !is_power_of_2(n))
		return false;
	*value = bytes; /* little-endian, like the format */
	return true;
}
EXPORT_SYMBOL_GPL(grtrace_field_read);

static int fields_offsets_show(struct seq_file *m, void *unused)
{
	const struct grtrace_adapter *a;
	const struct grtrace_field *f;

	mutex_lock(&grtrace_adapters_lock);
	list_for_each_entry(a, &grtrace_adapters, list) {
		for (f = a->fields; f < a->fields + a->nfields; f++) {
			seq_printf(m, "%s %s.%s ", a->driver, f->type, f->member);
			if (f->place)
				seq_printf(m, "%u %u\n", f->place >> 8, f->place & BYTES_MAX);
			else
				seq_puts(m, "- -\n");
		}
	}
	mutex_unlock(&grtrace_adapters_lock);
	return 0;
}

static int fields_offsets_open(struct inode *inode, struct file *file)
{
	return single_open(file, fields_offsets_show, NULL);
}

/* "struct.member" */
static bool fields_is_member(const struct grtrace_field *f, const char *text)
{
	size_t n = strlen(f->type);

	return !strncmp(text, f->type, n) && text[n] == '.' && !strcmp(text + n + 1, f->member);
}

static int fields_set_field(struct grtrace_adapter *a, const char *member, u32 place)
{
	struct grtrace_field *f;

	if (!a->present)
		return -ENODEV;
	for (f = a->fields; f < a->fields + a->nfields; f++) {
		if (!fields_is_member(f, member))
			continue;
		WRITE_ONCE(f->place, place);
		return 0;
	}
	return -ENOENT;
}

static int fields_parse_place(const char *offset, const char *size, u32 *place)
{
	u32 at, bytes;

	*place = 0;
	if (!strcmp(offset, "-") && !strcmp(size, "-"))
		return 0;
	if (kstrtou32(offset, 10, &at) || kstrtou32(size, 10, &bytes))
		return -EINVAL;
	if (at > PLACE_MAX || !bytes || bytes > BYTES_MAX)
		return -ERANGE;
	*place = at << 8 | bytes;
	return 0;
}

static int fields_set_line(char *text)
{
	char *driver = strsep(&text, " "), *member = strsep(&text, " "), *offset = strsep(&text, " ");
	struct grtrace_adapter *a;
	u32 place;
	int err;

	if (!text)
		return -EINVAL;
	err = fields_parse_place(offset, text, &place);
	if (err)
		return err;
	err = -ENODEV;
	mutex_lock(&grtrace_adapters_lock);
	list_for_each_entry(a, &grtrace_adapters, list)
		if (!strcmp(a->driver, driver))
			err = fields_set_field(a, member, place);
	mutex_unlock(&grtrace_adapters_lock);
	return err;
}

/* Parses one line. */
static ssize_t fields_offsets_write(struct file *file, const char __user *from, size_t count, loff_t *ppos)
{
	char *text = count >= LINE_MAX ? ERR_PTR(-E2BIG) : memdup_user_nul(from, count);
	int err;

	if (IS_ERR(text))
		return PTR_ERR(text);
	err = fields_set_line(strim(text));
	kfree(text);
	return err ?: count;
}

const struct file_operations grtrace_offsets_fops = {
	.owner = THIS_MODULE,
	.open = fields_offsets_open,
	.read = seq_read,
	.write = fields_offsets_write,
	.llseek = seq_lseek,
	.release = single_release,
};
