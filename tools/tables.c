// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the formats as the manual pages show them, from the same rows and
 * structs that the programs use: `tables NAME` prints one block in mdoc,
 * `tables` their names. tools/check-tables compares them with docs/.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

static const char *type_of(const struct grt_field *f)
{
	static char text[32];

	if (f->kind == GRT_FIELD_STR)
		snprintf(text, sizeof(text), "char[%u]", f->size);
	else
		snprintf(text, sizeof(text), "%c%u", f->kind == GRT_FIELD_SIGNED ? 's' : 'u', f->size * 8);
	return text;
}

static void field(unsigned int offset, const char *type, const char *name, const char *help)
{
	printf(".It %u\t%s\t%s\t%s\n", offset, type, name, help);
}

static void begin(void)
{
	puts(".Bl -column \"000\" \"char[32]\" \"timestamp_begin\" \"what it is and how it is counted\" -compact\n"
	     ".It Offset\tType\tName\tMeaning");
}

static void end(void)
{
	puts(".El");
}

static void print_fields(const struct grt_field *f)
{
	for (; f->name; f++)
		field(f->offset, type_of(f), f->name, f->help);
}

/* The packet header has no rows; a field left out or moved shows as a wrong sum here. */
#define HEAD(name, help)                                                                          \
	do {                                                                                      \
		if (__builtin_offsetof(struct grt_packet, name) != at)                            \
			abort();                                                                  \
		snprintf(type, sizeof(type), "u%zu", 8 * sizeof(((struct grt_packet *)0)->name)); \
		field(at, type, #name, help);                                                     \
		at += sizeof(((struct grt_packet *)0)->name);                                     \
	} while (0)

static void balance(unsigned int at, const char *which)
{
	char name[64];
	int i;

	snprintf(name, sizeof(name), "%s.emitted", which);
	field(at, "u64", name, "events offered on this CPU since the last clear");
	for (i = 0; i < GRT_FATES; i++) {
		snprintf(name, sizeof(name), "%s.%s", which, grt_fate_names[i]);
		field(at + 8 + 8 * (unsigned int)i, "u64", name, "of these");
	}
}

static void print_packet(void)
{
	unsigned int at = 0;
	char type[8];

	begin();
	HEAD(magic, "0xc1fc1fc1");
	HEAD(stream_id, "0: the events of a CPU");
	HEAD(format, "format number of the writer");
	HEAD(header_size, "bytes of this header");
	HEAD(cpu_id, "the CPU whose events these are; in files of cuda a number for each");
	HEAD(timestamp_begin, "stamp of the first record");
	HEAD(timestamp_end, "stamp of the last record");
	HEAD(content_size, "header and records, in bits");
	HEAD(packet_size, "to the start of the next packet, in bits");
	HEAD(packet_seq_num, "counts from 0 on each CPU since the last clear");
	HEAD(events_discarded, "the same as end.lost");
	balance(at, "begin");
	balance(at + sizeof(struct grt_balance), "end");
	end();
	if (at + 2 * sizeof(struct grt_balance) != sizeof(struct grt_packet))
		abort();
}

static void print_record(void)
{
	begin();
	field(0, "u64", "time", "CLOCK_MONOTONIC, ns");
	field(8, "u16", "type", "the event's number");
	field(10, "u16", "size", "bytes of the record");
	print_fields(grt_common_fields);
	end();
}

static const char *const levels[] = {"off", "normal", "verbose", "debug"};

static void print_events(void)
{
	const struct grt_event_desc *d;
	unsigned int i;

	for (i = 0; i < GRT_EV_MAX; i++) {
		d = &grt_event_table[i];
		if (!d->name)
			continue;
		printf(".Ss %u %s\n%c%s.\n%u bytes, level %s, pid and tid of the %s thread.\n", i, d->title,
		       toupper((unsigned char)d->help[0]), d->help + 1, d->size, levels[d->level],
		       d->who == GRT_WHO_CURRENT ? "running" : "submitting");
		if (!d->fields()->name)
			continue;
		begin();
		print_fields(d->fields());
		end();
	}
}

static void item(const char *name, const char *help)
{
	printf(".It Cm %s\n%s.\n", name, help);
}

static void print_engines(void)
{
	char name[64];

	puts(".Bl -tag -width \"4 video_decode\" -compact");
#define GRT_ENGINE(number, NAME, ename, help)                  \
	snprintf(name, sizeof(name), "%d %s", number, #ename); \
	item(name, help);
#include <grtrace/engines.def>
#undef GRT_ENGINE
	end();
}

static void print_flags(void)
{
	char name[64];

	puts(".Bl -tag -width \"16 signalled\" -compact");
#define GRT_FLAG(NAME, fname, help)                                                   \
	snprintf(name, sizeof(name), "%u %s", (unsigned int)GRT_FLAG_##NAME, #fname); \
	item(name, help);
#include <grtrace/flags.def>
#undef GRT_FLAG
	end();
}

static void print_fates(void)
{
	puts(".Bl -tag -width \"rate_limited\" -compact");
#define GRT_FATE(NAME, name, help) item(#name, help);
#include <grtrace/fates.def>
#undef GRT_FATE
	end();
}

static void print_files(void)
{
	puts(".Bl -tag -width \"events_by_type\"");
#define GRT_FILE(name, mode, help) item(#name, help);
#define GRT_STAGE_FILE(STAGE, name, help) item(#name, help);
#include <grtrace/control.def>
	end();
}

static void key(const char *name, const char *kind, const char *max, const char *min, const char *def,
		const char *unit, const char *flags, const char *help)
{
	printf(".It Cm %s\n%c%s.\n", name, toupper((unsigned char)help[0]), help + 1);
	if (!strcmp(kind, "LEVEL"))
		unit = "off|normal|verbose|debug";
	if (!strcmp(kind, "MASK"))
		puts("Names with commas between, or a mask.");
	if (!strcmp(kind, "TYPES")) {
		puts("Names of events with commas between;\nwith\n.Ql -\nbefore the first, all others.");
		puts("Also\n.Cm all ,\n.Cm none ,\nor a mask of the events 1 to 63.\nDefault all.");
	} else if (strchr(unit, '|'))
		printf("One of %s, or its number, default %s.\n", unit, def);
	else if (strcmp(max, "0"))
		printf("From %s to %s%s%s, default %s.\n", min, max, *unit ? " " : "", unit, def);
	if (strstr(flags, "STOPPED"))
		puts("Changes only while tracing is off.");
	if (strstr(flags, "FILE"))
		puts("Also a file.");
	if (strstr(flags, "OF("))
		puts("Missing without its module, see STAGES.");
}

static void print_keys(void)
{
	puts(".Bl -tag -width \"max_events_per_sec\"");
#define GRT_KEY(name, KIND, min, max, def, unit, FLAGS, help) \
	key(#name, #KIND, #max, #min, #def, unit, #FLAGS, help);
#include <grtrace/control.def>
	end();
}

static void print_aliases(void)
{
	puts(".Bl -tag -width \"sampling_rate\" -compact");
#define GRT_ALIAS(other, name) printf(".It Cm %s\n.Cm %s\n", #other, #name);
#include <grtrace/control.def>
	end();
}

static void print_profiles(void)
{
	puts(".Bl -tag -width \"production\" -compact");
#define GRT_SET(key, value) " " #key "=" #value
#define GRT_PROFILE(name, settings, help) printf(".It Cm %s\n%s:\n.Li%s\n", #name, help, "" settings);
#include "../cmds/config/profiles.def"
#undef GRT_PROFILE
#undef GRT_SET
	end();
}

static void print_commands(void)
{
	puts(".Bl -tag -width \"timeline\"");
#define GRT_COMMAND(name, help) printf(".It Cm %s\n%s; see\n.Xr grtrace-%s 1\n", #name, help, #name);
#include "../cmds/commands.def"
#undef GRT_COMMAND
	end();
}

static void print_stages(void)
{
	puts(".Bl -tag -width \"grtrace_aggregator\" -compact");
#define GRT_STAGE(NAME, name, help) item("grtrace_" #name, help);
#include <grtrace/stages.def>
#undef GRT_STAGE
	end();
}

static void colour(const char *pattern, unsigned int red, unsigned int green, unsigned int blue,
		   const char *help)
{
	fputs(".It ", stdout);
	for (; *pattern; pattern++)
		if (*pattern != '\\')
			putchar(*pattern);
	printf("\n#%02x%02x%02x: %s\n", red, green, blue, help);
}

static void print_frame_kinds(void)
{
#define GRT_FRAME_KIND(name, pattern, red, green, blue, help) colour(pattern, red, green, blue, help);
#include "../lib/flamegraph/frame_kinds.def"
}

static void print_exports(void)
{
	puts(".Bl -tag -width \"perfetto .pftrace\" -compact");
#define GRT_EXPORT(name, ending, help) item(#name " " ending, help);
#include "../lib/export/exports.def"
#undef GRT_EXPORT
	end();
}

static void print_idle_causes(void)
{
	puts(".Bl -tag -width \"scheduler\" -compact");
#define GRT_IDLE_CAUSE(NAME, name, colour, phrase, help) item(#name, help);
#include "../lib/idle/idle_causes.def"
	end();
}

static const struct block {
	const char *name;
	void (*print)(void);
} blocks[] = {
	{"packet", print_packet},
	{"record", print_record},
	{"events", print_events},
	{"engines", print_engines},
	{"flags", print_flags},
	{"fates", print_fates},
	{"files", print_files},
	{"keys", print_keys},
	{"aliases", print_aliases},
	{"profiles", print_profiles},
	{"stages", print_stages},
	{"commands", print_commands},
	{"exports", print_exports},
	{"frame_kinds", print_frame_kinds},
	{"idle_causes", print_idle_causes},
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		if (argc < 2)
			puts(blocks[i].name);
		else if (!strcmp(argv[1], blocks[i].name))
			return blocks[i].print(), 0;
	}
	return argc > 1;
}
