// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for NVIDIA's control device, 195:255: answers the ioctls by which
 * programs ask for channel groups, as far as a test needs it. It accepts and
 * copies back; what it does not:
 *
 *	a group without parameters	status INVALID_ARGUMENT, the call returns 0
 *	a free of object 0		-EINVAL
 *
 * A token is runlist 14 and the low bits of the channel's handle; a subcontext has
 * the low six bits of its own handle as its number.
 */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#define MAJOR_MINOR MKDEV(195, 255)

/* Places in the structs: lib/codes/nv_abi.h */
#define FREE_OBJECT	8
#define ALLOC_CLASS	12
#define ALLOC_PARAMS	16
#define CONTROL_OBJECT	4
#define CONTROL_CMD	8
#define CONTROL_PARAMS	16
#define ALLOC_OBJECT	8
#define SHARE_NUMBER	8
#define CLASS_GROUP	0xa06c
#define CLASS_SHARE	0x9067
#define GET_TOKEN	0xc36f0108
#define INVALID_ARGUMENT 0x1f

static u32 get(const void *data, unsigned int at)
{
	return *(const u32 *)(data + at);
}

static u64 pointer(const void *data, unsigned int at)
{
	return *(const u64 *)(data + at);
}

static u32 answer_alloc(const void *data)
{
	u32 number = get(data, ALLOC_OBJECT) & 0x3f;
	u64 params = pointer(data, ALLOC_PARAMS);

	if (get(data, ALLOC_CLASS) == CLASS_SHARE && params &&
	    copy_to_user((void __user *)(unsigned long)(params + SHARE_NUMBER), &number, sizeof(number)))
		return INVALID_ARGUMENT;
	return get(data, ALLOC_CLASS) == CLASS_GROUP && !params ? INVALID_ARGUMENT : 0;
}

static u32 answer_control(const void *data)
{
	u32 token = 14 << 16 | (get(data, CONTROL_OBJECT) & 0xfff);

	if (get(data, CONTROL_CMD) != GET_TOKEN)
		return 0;
	return copy_to_user((void __user *)(unsigned long)pointer(data, CONTROL_PARAMS), &token, sizeof(token)) ?
		       INVALID_ARGUMENT :
		       0;
}

/* Number, size and where the status is of what it knows. */
static const struct {
	u8 nr;
	u8 size;
	u8 status;
	u32 (*answer)(const void *data);
} calls[] = {
	{ 0x29, 16, 12, NULL },
	{ 0x2a, 32, 28, answer_control },
	{ 0x2b, 32, 28, answer_alloc },
	{ 0x2b, 48, 40, answer_alloc },
	{ 0x34, 28, 24, NULL },
	{ 0xd2, 72, 4, NULL },
};

static long answer(unsigned int nr, unsigned int size, void __user *at)
{
	u8 data[72];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr && calls[i].size == size)
			break;
	if (i == ARRAY_SIZE(calls))
		return -EINVAL;
	if (copy_from_user(data, at, size))
		return -EFAULT;
	if (nr == 0x29 && !get(data, FREE_OBJECT))
		return -EINVAL;
	*(u32 *)(data + calls[i].status) = calls[i].answer ? calls[i].answer(data) : 0;
	return copy_to_user(at, data, size) ? -EFAULT : 0;
}

static long ctl_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct {
		u32 nr;
		u32 size;
		u64 at;
	} wrapper;

	if (_IOC_TYPE(cmd) != 'F')
		return -ENOTTY;
	if (_IOC_NR(cmd) != 0xd3)
		return answer(_IOC_NR(cmd), _IOC_SIZE(cmd), (void __user *)arg);
	if (copy_from_user(&wrapper, (void __user *)arg, sizeof(wrapper)))
		return -EFAULT;
	return answer(wrapper.nr, wrapper.size, (void __user *)(unsigned long)wrapper.at);
}

static const struct file_operations ctl_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = ctl_ioctl,
};

static struct cdev ctl;

static int __init ctl_init(void)
{
	int err = register_chrdev_region(MAJOR_MINOR, 1, "nvidia-frontend");

	if (err)
		return err;
	cdev_init(&ctl, &ctl_fops);
	ctl.owner = THIS_MODULE;
	err = cdev_add(&ctl, MAJOR_MINOR, 1);
	if (err)
		unregister_chrdev_region(MAJOR_MINOR, 1);
	return err;
}

static void __exit ctl_exit(void)
{
	cdev_del(&ctl);
	unregister_chrdev_region(MAJOR_MINOR, 1);
}

module_init(ctl_init);
module_exit(ctl_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("Stands for NVIDIA's control device");
MODULE_LICENSE("GPL");
