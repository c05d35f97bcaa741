// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Writes a tree of stacks for speedscope.app: its file format, a profile of the type "sampled"
 * (https://www.speedscope.app/file-format-schema.json). In a comparison, the tree before is a second profile.
 */
#include "flamegraph_parts.h"

#include "base/escape.h"

static void speedscope_put_string(struct flamegraph *f, const char *text, size_t len)
{
	struct grt_outbuf *out = &f->out;

	flamegraph_put(f, "\"");
	/* a part at a time; each part begins with a character */
	for (size_t n; len; text += n, len -= n) {
		n = len < 1024 ? len : 1024;
		while (n < len && n > 1000 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		grt_outbuf_take(out, grt_outbuf_room(out, GRT_ESCAPED_MAX(1024)) +
					     grt_escape(GRT_ESCAPE_JSON, out->buf + out->used,
							GRT_ESCAPED_MAX(1024), text, n));
	}
	flamegraph_put(f, "\"");
}

static void speedscope_put_frames(struct flamegraph *f)
{
	flamegraph_put(f, "\"shared\": {\"frames\": [");
	for (uint32_t i = 0; i < grt_stacks_names(f->s); i++) {
		const struct flamegraph_place place = flamegraph_place(f->s, i);

		flamegraph_put(f, i ? ",\n{\"name\": " : "\n{\"name\": ");
		speedscope_put_string(f, place.function, place.function_len);
		if (place.file) {
			flamegraph_put(f, ", \"file\": ");
			speedscope_put_string(f, place.file, place.file_len);
			flamegraph_printf(f, ", \"line\": %u", place.line);
		}
		flamegraph_put(f, "}");
	}
	flamegraph_put(f, "]},\n");
}

/** struct speedscope - a column of a profile, of which @rows rows have been written */
struct speedscope {
	struct flamegraph *f;
	enum grt_stacks_side side;
	uint64_t rows;
};

static int speedscope_put_sample(void *arg, uint32_t node, const uint32_t *frame, uint32_t depth)
{
	struct speedscope *p = arg;

	flamegraph_put(p->f, p->rows++ ? ",\n[" : "\n[");
	for (uint32_t i = 0; i < depth; i++)
		flamegraph_printf(p->f, i ? ",%u" : "%u", frame[i]);
	flamegraph_put(p->f, "]");
	return p->f->out.error;
}

static int speedscope_put_weight(void *arg, uint32_t node, const uint32_t *frame, uint32_t depth)
{
	struct speedscope *p = arg;

	flamegraph_printf(p->f, p->rows++ ? ",%llu" : "%llu",
			  (unsigned long long)grt_stacks_weight(p->f->s, node, p->side));
	return p->f->out.error;
}

/* speedscope knows these units, and no other. */
static const char *speedscope_unit(const char *unit)
{
	return !strcmp(unit, "ns")   ? "nanoseconds"
	       : !strcmp(unit, "us") ? "microseconds"
	       : !strcmp(unit, "B")  ? "bytes"
				     : "none";
}

static int speedscope_put_profile(struct flamegraph *f, enum grt_stacks_side side)
{
	struct speedscope samples = {.f = f, .side = side}, weights = samples;
	char name[64];
	int ret;

	flamegraph_put(f, "{\"type\": \"sampled\", \"name\": ");
	snprintf(name, sizeof(name), "%s%s%s", f->look->estimated ? "estimated " : "",
		 f->look->weight ? f->look->weight : "weight", side == GRT_STACKS_BEFORE ? " before" : "");
	speedscope_put_string(f, name, strlen(name));
	flamegraph_printf(f, ", \"unit\": \"%s\", \"startValue\": 0, \"endValue\": %llu,\n\"samples\": [",
			  speedscope_unit(f->look->unit), (unsigned long long)grt_stacks_total(f->s, side));
	ret = flamegraph_each_stack(f, speedscope_put_sample, &samples);
	flamegraph_put(f, "],\n\"weights\": [");
	if (!ret)
		ret = flamegraph_each_stack(f, speedscope_put_weight, &weights);
	flamegraph_put(f, "]}");
	return ret;
}

int flamegraph_speedscope(struct flamegraph *f)
{
	const char *name = f->look->about && *f->look->about ? f->look->about : "grtrace";
	int ret;

	flamegraph_put(f, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
			  "\"exporter\": \"grtrace\",\n\"name\": ");
	speedscope_put_string(f, name, strlen(name));
	flamegraph_put(f, ",\n");
	speedscope_put_frames(f);
	flamegraph_put(f, "\"profiles\": [\n");
	ret = speedscope_put_profile(f, GRT_STACKS_NOW);
	if (!ret && grt_stacks_compared(f->s)) {
		flamegraph_put(f, ",\n");
		ret = speedscope_put_profile(f, GRT_STACKS_BEFORE);
	}
	flamegraph_put(f, "]}\n");
	return ret;
}
