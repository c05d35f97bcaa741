// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Where the stacks of the devices' work end. The frames of a stack may be reported after the work. */
#include <errno.h>

#include "idle_parts.h"

/* Work of one stack comes in a row: its sum is looked up once. */
static int idle_ends_settle(struct grt_idleness *x, struct idle_device *d)
{
	const struct grt_key key = {{d->device.number, d->worked_key}};
	struct grt_stack_end_sum *sum;
	int ret = d->worked.works ? grt_keyed_get_or_count(&x->worked, &key, NULL, (void **)&sum) : 0;

	if (ret || !d->worked.works)
		return ret;
	if (sum) {
		sum->ns += d->worked.ns;
		sum->works += d->worked.works;
	} else {
		x->count.ends_over += d->worked.works;
	}
	d->worked = (struct grt_stack_end_sum){0};
	return 0;
}

int idle_ends_add(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w, uint64_t ns)
{
	uint64_t key = (uint64_t)w->image << 32 | w->stack;
	int ret = key == d->worked_key ? 0 : idle_ends_settle(x, d);

	d->worked_key = key;
	d->worked.ns += ns;
	d->worked.works++;
	return ret;
}

/* Adds the end of the stack @stack of @image, see struct idle_work. Return: 0 or -ENOMEM */
static int idle_ends_of(struct grt_idleness *x, uint32_t image, uint32_t stack, enum grt_stack_end *end,
			bool *none)
{
	struct grt_image *i = image ? grt_launches_images(x->launches)->image[image - 1] : NULL;

	*none = !stack || (i ? grt_image_reach(i, stack) <= GRT_STACK_NONE
			     : !x->frames.text || !grt_frames_has(&x->frames, stack));
	if (*none)
		return 0;
	if (i)
		return grt_image_frames_end(x->image_frames, i, stack, end);
	*end = grt_frames_end(&x->frames, stack);
	return 0;
}

int idle_ends_sum(struct grt_idleness *x)
{
	int ret = 0;

	for (uint32_t i = 0; i < x->devices.used && !ret; i++)
		ret = idle_ends_settle(x, x->device[i]);
	for (struct grt_stack_end_sum *s = grt_keyed_oldest(&x->worked), *to; s && !ret;
	     s = grt_keyed_next(&x->worked, s)) {
		const struct grt_key *key = grt_keyed_key(s);
		struct grt_stack_ends *ends = &x->device[key->w[0]]->device.ends;
		enum grt_stack_end end = GRT_STACK_END_UNKNOWN;
		bool none;

		ret = idle_ends_of(x, (uint32_t)(key->w[1] >> 32), (uint32_t)key->w[1], &end, &none);
		to = none ? &ends->none : &ends->end[end];
		to->ns += s->ns;
		to->works += s->works;
	}
	return ret;
}
