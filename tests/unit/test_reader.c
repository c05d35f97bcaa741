// SPDX-License-Identifier: GPL-2.0
/*
 * The readers: recording directories and raw files, what is refused and with
 * which words, and what is done to a recording that a crash left behind.
 */
#include "collect.h"
#include "trace_maker.h"
#include "inputs.h"

#include <errno.h>
#include <sys/file.h>

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
#define READS STRING(GRT_FORMAT_MIN) ".." STRING(GRT_FORMAT)

struct fixture {
	char *dir;
	char *path; /* where the trace is made */
	struct collect k;
	struct grt_session *s;
	struct grt_err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = tm_tmpdir();
	f->path = path_join(f->dir, "t.grt");
	collect_reset(&f->k);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	grt_session_close(f->s);
	tm_remove(f->dir);
	free(f->k.e);
	free(f->k.cpu);
	free(f->path);
	free(f->dir);
	free(f);
	return 0;
}

static void read_all(struct fixture *f)
{
	grt_session_close(f->s);
	collect_path(&f->k, f->path, &f->s);
}

/* Opening must fail with this code and these words. */
static void refuse(struct fixture *f, int code, const char *what, const char *why)
{
	f->s = (void *)1;
	assert_int_equal(grt_session_open(&f->s, f->path, &f->err), code);
	assert_null(f->s);
	if (!strstr(f->err.what, what) || !strstr(f->err.why, why))
		fail_msg("'%s: %s' instead of '%s: %s'", f->err.what, f->err.why, what, why);
}

static void fill(struct trace_maker *tm, unsigned int cpus)
{
	for (uint64_t i = 0; i < 1000; i++)
		tm_emit(tm, (unsigned int)(i / 3 % cpus), start, .e.time = 10 * i, .e.seqno = i);
	tm_close(tm);
}

static void make_dir(struct fixture *f)
{
	struct trace_maker *tm = tm_dir(f->path, 4);

	tm_packet_bytes(tm, 2048);
	fill(tm, 4);
}

static void put_file(const struct fixture *f, const char *name, const void *data, size_t size)
{
	char *path = path_join(f->path, name);

	file_store(path, data, size);
	free(path);
}

static size_t file_size(const struct fixture *f, const char *name)
{
	char *path = path_join(f->path, name);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	free(path);
	return (size_t)st.st_size;
}

static void truncate_to(const struct fixture *f, const char *name, size_t size)
{
	char *path = path_join(f->path, name);

	assert_int_equal(truncate(path, (off_t)size), 0);
	free(path);
}

static void check_sequence(const struct fixture *f, size_t n)
{
	assert_int_equal(f->k.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(f->k.e[i].seqno, i);
		assert_int_equal(f->k.cpu[i], i / 3 % 4);
	}
}

static void a_directory_and_a_raw_file_give_the_same(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm;

	make_dir(f);
	read_all(f);
	check_sequence(f, 1000);
	assert_true(grt_session_health(f->s)->finished);

	tm_remove(f->path);
	tm = tm_raw(f->path, 4);
	tm_packet_bytes(tm, 2048);
	fill(tm, 4);
	read_all(f);
	check_sequence(f, 1000);
	assert_true(grt_session_health(f->s)->finished);
	assert_int_equal(grt_session_health(f->s)->bytes, file_size(f, ""));
	assert_string_equal(grt_session_health(f->s)->first.what, "");
}

static void a_raw_file_of_many_cpus(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 300);

	tm_packet_bytes(tm, 1024);
	for (uint64_t i = 0; i < 30000; i++)
		tm_emit(tm, (unsigned int)(i * 7 % 300), start, .e.time = i, .e.seqno = i);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, 30000);
	for (uint64_t i = 0; i < 30000; i++) {
		assert_int_equal(f->k.e[i].seqno, i);
		assert_int_equal(f->k.cpu[i], i * 7 % 300);
	}
}

static void packets_larger_than_the_buffer(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 2);

	tm_packet_bytes(tm, 1 << 20);
	for (uint64_t i = 0; i < 60000; i++)
		tm_emit(tm, i % 2, submit, .e.time = i, .e.seqno = i);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, 60000);
	for (uint64_t i = 0; i < 60000; i++)
		assert_int_equal(f->k.e[i].seqno, i);
}

static void other_things_in_a_directory_are_skipped(void **state)
{
	struct fixture *f = *state;
	char *sub;

	make_dir(f);
	put_file(f, ".hidden", "not a packet", 12);
	put_file(f, "empty", "", 0);
	sub = path_join(f->path, "index");
	assert_int_equal(mkdir(sub, 0700), 0);
	free(sub);
	put_file(f, "index/kmod_0.idx", "not a packet", 12);
	read_all(f);
	check_sequence(f, 1000);
}

static void a_foreign_file_in_a_directory_is_named(void **state)
{
	struct fixture *f = *state;
	char *path;

	make_dir(f);
	put_file(f, "notes.txt", "bought milk", 11);
	refuse(f, -EINVAL, "t.grt/notes.txt: not a file of packets", "no packet header");

	path = path_join(f->path, "notes.txt");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("kmod_0", path), 0);
	refuse(f, -EINVAL, "t.grt/notes.txt: not a file of packets", "symbolic link");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuse(f, -EINVAL, "t.grt/notes.txt: not a file of packets", "not a regular file");
	free(path);
}

static void what_is_no_trace_is_refused(void **state)
{
	struct fixture *f = *state;
	char garbage[4096];

	refuse(f, -ENOENT, "t.grt: cannot open", "No such file");
	file_store(f->path, "", 0);
	refuse(f, -ENODATA, "t.grt: the file is empty", "");
	memset(garbage, 0x5a, sizeof(garbage));
	file_store(f->path, garbage, sizeof(garbage));
	refuse(f, -EINVAL, "t.grt: not a file of packets", "no packet header");
	tm_remove(f->path);
	assert_int_equal(symlink("/dev/null", f->path), 0);
	refuse(f, -EINVAL, "t.grt: not a trace", "neither a directory, a regular file nor a pipe");
	tm_remove(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	refuse(f, -EINVAL, "t.grt: not a grtrace recording", "no metadata");
}

static void metadata_of_others_is_refused(void **state)
{
	struct fixture *f = *state;
	static const char lttng[] = "/* CTF 1.8 */\nenv { tracer_name = \"lttng-ust\"; };\n";
	static const char broken[] = "/* CTF 1.8 */\nenv { tracer_name = \"grtrace; };\n";
	static const char newer[] = "env { tracer_name = \"grtrace\"; grtrace_format = 9; };\n";

	make_dir(f);
	put_file(f, "metadata", lttng, strlen(lttng));
	refuse(f, -EINVAL, "t.grt: not a grtrace recording", "does not name grtrace as its writer");
	put_file(f, "metadata", "", 0);
	refuse(f, -EINVAL, "t.grt: not a grtrace recording", "");
	put_file(f, "metadata", broken, strlen(broken));
	refuse(f, -EINVAL, "t.grt/metadata: offset 47: not understood", "");
	put_file(f, "metadata", newer, strlen(newer));
	refuse(f, -EPROTO, "t.grt/metadata: format 9, this tool reads " READS, "another version");
}

static void another_format_is_refused_by_its_number(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 1);
	size_t size;
	char *data;

	fill(tm, 1);
	data = file_load(f->path, &size);
	((struct grt_packet *)data)->format = 7;
	file_store(f->path, data, size);
	refuse(f, -EPROTO, "t.grt: format 7, this tool reads " READS, "another version");
	/* enough of a header to hold the number */
	file_store(f->path, data, 12);
	refuse(f, -EPROTO, "t.grt: format 7, this tool reads " READS, "another version");
	free(data);
}

static void a_cut_recording_is_read_as_it_is_and_cut_back_on_request(void **state)
{
	struct fixture *f = *state;
	char typed[256];
	const struct grt_health *h;
	struct grt_mending done;
	struct grt_err err;
	size_t whole, before, skipped;

	make_dir(f);
	before = file_size(f, "kmod_2");
	truncate_to(f, "kmod_2", before - 8);
	read_all(f);
	h = grt_session_health(f->s);
	assert_true(f->k.n < 1000);
	assert_int_equal(h->events, f->k.n);
	assert_int_equal(h->fault[GRT_FAULT_CUT], 1);
	assert_non_null(strstr(h->first.what, "t.grt/kmod_2: offset "));
	assert_non_null(strstr(h->first.what, "the last packet is cut"));
	snprintf(typed, sizeof(typed), "grtrace mend %s cuts", f->path);
	assert_non_null(strstr(h->first.fix, typed));
	skipped = h->skipped_bytes;
	assert_int_equal(file_size(f, "kmod_2"), before - 8);

	assert_int_equal(grt_mend(&done, f->path, &err), 0);
	whole = file_size(f, "kmod_2");
	assert_true(whole < before - 8 && whole % 8 == 0);
	assert_int_equal(skipped, before - 8 - whole);
	assert_int_equal(done.files, 1);
	assert_int_equal(done.bytes, skipped);
	assert_int_equal(done.why, 0);

	/* the next reader finds a sound trace */
	before = f->k.n;
	read_all(f);
	assert_int_equal(f->k.n, before);
	assert_string_equal(grt_session_health(f->s)->first.what, "");
	assert_int_equal(grt_mend(&done, f->path, &err), 0);
	assert_int_equal(done.files, 0);
}

static void zeros_after_the_last_packet_are_cut_off(void **state)
{
	struct fixture *f = *state;
	struct grt_mending done;
	struct grt_err err;
	size_t size;

	make_dir(f);
	size = file_size(f, "kmod_1");
	truncate_to(f, "kmod_1", size + 5000);
	read_all(f);
	check_sequence(f, 1000);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_PACKET], 1);
	assert_int_equal(file_size(f, "kmod_1"), size + 5000);
	assert_int_equal(grt_mend(&done, f->path, &err), 0);
	assert_int_equal(done.bytes, 5000);
	assert_int_equal(file_size(f, "kmod_1"), size);
}

static void a_recording_in_progress_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	struct grt_mending done;
	struct grt_err err;
	size_t size;
	int fd;

	tm_state(tm, "recording");
	tm_packet_bytes(tm, 2048);
	fill(tm, 1);
	size = file_size(f, "kmod_0") - 24;
	truncate_to(f, "kmod_0", size);
	fd = open(f->path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	read_all(f);
	assert_true(f->k.n > 900 && f->k.n < 1000);
	assert_string_equal(grt_session_health(f->s)->first.what, "");
	assert_false(grt_session_health(f->s)->finished);
	assert_int_equal(grt_mend(&done, f->path, &err), 0);
	assert_true(done.busy);
	assert_int_equal(file_size(f, "kmod_0"), size);
	close(fd);
	assert_int_equal(grt_mend(&done, f->path, &err), 0);
	assert_false(done.busy);
	assert_true(file_size(f, "kmod_0") < size);
}

static void a_damaged_size_does_not_cut_off_what_follows(void **state)
{
	struct fixture *f = *state;
	struct grt_packet *p;
	size_t size;
	char *data, *path;

	make_dir(f);
	path = path_join(f->path, "kmod_0");
	data = file_load(path, &size);
	/* the second packet says that it reaches far beyond the end of the file */
	p = (struct grt_packet *)(data + ((struct grt_packet *)data)->packet_size / 8);
	p->packet_size += 8 * 1000000;
	file_store(path, data, size);
	free(data);
	free(path);
	read_all(f);
	assert_int_equal(file_size(f, "kmod_0"), size);
	assert_true(f->k.n > 900 && f->k.n < 1000);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_PACKET], 1);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_CUT], 0);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_GAP], 1);
	assert_int_equal(f->k.n + grt_session_health(f->s)->missing_events, 1000);
}

static void a_raw_file_is_never_changed(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 4);
	size_t size;

	tm_packet_bytes(tm, 2048);
	fill(tm, 4);
	size = file_size(f, "") - 16;
	assert_int_equal(truncate(f->path, (off_t)size), 0);
	read_all(f);
	assert_true(f->k.n > 900 && f->k.n < 1000);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_CUT], 1);
	assert_int_equal(file_size(f, ""), size);
}

static void a_broken_record_costs_the_rest_of_its_packet(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 1);
	struct grt_event *e;
	size_t size, skipped;
	char *data;

	tm_packet_bytes(tm, 2048);
	fill(tm, 1);
	data = file_load(f->path, &size);
	e = (struct grt_event *)(data + sizeof(struct grt_packet) + 10 * sizeof(*e));
	e->size = 12;
	skipped = ((struct grt_packet *)data)->content_size / 8 - (size_t)((char *)e - data);
	file_store(f->path, data, size);
	free(data);
	read_all(f);
	assert_int_equal(f->k.n, 1000 - skipped / sizeof(*e));
	assert_int_equal(f->k.e[9].seqno, 9);
	assert_int_equal(f->k.e[10].seqno, 10 + skipped / sizeof(*e));
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_RECORD], 1);
	assert_int_equal(grt_session_health(f->s)->skipped_bytes, skipped);
	assert_non_null(strstr(grt_session_health(f->s)->first.what, "t.grt: offset 704: broken record"));
}

/* What a record says of itself, and why it cannot be so: the tenth record of 31 in the first packet. */
static void a_record_is_judged_before_it_is_used(void **state)
{
	struct fixture *f = *state;
	static const struct {
		uint16_t type;
		uint16_t size;
		uint64_t time;
		const char *why;
	} rows[] = {
		{GRT_EV_START, 0, 100, "size"},
		{GRT_EV_START, 40, 100, "size"},
		{GRT_EV_START, 52, 100, "size"},
		{GRT_EV_SUBMIT, 48, 100, "size"},
		{GRT_EV_NAME, 96, 100, "size"},
		{GRT_EV_START, 65528, 100, "size"},
		{GRT_EV_START, 48, 1000000, "time"},
		{GRT_EV_START, 48, UINT64_MAX, "time"},
		{GRT_EV_START, 48, GRT_PACKET_MAGIC, "time"},
	};
	struct grt_event *e;
	size_t size;
	char *data;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_maker *tm = tm_raw(f->path, 1);

		tm_packet_bytes(tm, 2048);
		fill(tm, 1);
		data = file_load(f->path, &size);
		e = (struct grt_event *)(data + sizeof(struct grt_packet) + 10 * sizeof(*e));
		e->type = rows[i].type;
		e->size = rows[i].size;
		e->time = rows[i].time;
		file_store(f->path, data, size);
		free(data);
		read_all(f);
		assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_RECORD], 1);
		assert_non_null(strstr(grt_session_health(f->s)->first.what, "offset 704: broken record"));
		assert_non_null(strstr(grt_session_health(f->s)->first.why, rows[i].why));
		assert_int_equal(f->k.e[9].seqno, 9);
		assert_true(f->k.e[10].seqno > 20);
	}
}

/* A packet that claims more than it has ends where the next one begins. */
static void a_packet_does_not_run_into_the_next_one(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 1);
	struct grt_packet *p;
	size_t size;
	char *data;

	tm_packet_bytes(tm, 2048);
	for (uint64_t i = 0; i < 1000; i++)
		tm_emit(tm, 0, start, .e.time = (1ULL << 40) + i, .e.seqno = i);
	tm_close(tm);
	data = file_load(f->path, &size);
	p = (struct grt_packet *)data;
	p->packet_size += 8 * 512;
	p->content_size = p->packet_size;
	file_store(f->path, data, size);
	free(data);
	read_all(f);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_RECORD], 1);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_TIME], 0);
	for (size_t i = 1; i < f->k.n; i++)
		assert_true(f->k.e[i].seqno > f->k.e[i - 1].seqno);
	assert_int_equal(f->k.n + grt_session_health(f->s)->missing_events, 1000);
}

/* The first packet of a damaged file is searched for, but not through a whole disk image. */
static void a_file_that_does_not_begin_with_a_packet(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 1);
	size_t size;
	char *data;
	int fd;

	tm_emit(tm, 0, start, .e.time = 1);
	tm_close(tm);
	data = file_load(f->path, &size);
	fd = open(f->path, O_WRONLY | O_TRUNC);
	assert_int_equal(pwrite(fd, data, size, GRT_PACKET_MAX + 4096), size);
	refuse(f, -EINVAL, "t.grt: not a file of packets", "no packet header");
	assert_int_equal(pwrite(fd, data, size, 4096), size);
	close(fd);
	free(data);
	read_all(f);
	assert_int_equal(f->k.n, 2);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_PACKET], 2);
	assert_int_equal(grt_session_health(f->s)->skipped_bytes, GRT_PACKET_MAX + 4096 - size);
}

static void bytes_between_packets_are_stepped_over(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 2);
	size_t size, first;
	char *data, *with;

	tm_packet_bytes(tm, 2048);
	fill(tm, 2);
	data = file_load(f->path, &size);
	first = ((struct grt_packet *)data)->packet_size / 8;
	with = malloc(size + 1000);
	memcpy(with, data, first);
	memset(with + first, 0xa5, 1000);
	memcpy(with + first + 1000, data + first, size - first);
	file_store(f->path, with, size + 1000);
	free(with);
	free(data);
	read_all(f);
	assert_int_equal(f->k.n, 1000);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_PACKET], 1);
	assert_int_equal(grt_session_health(f->s)->skipped_bytes, 1000);
	assert_int_equal(grt_session_health(f->s)->bytes, size + 1000);
}

static void the_environment_is_read(void **state)
{
	struct fixture *f = *state;

	make_dir(f);
	read_all(f);
	assert_string_equal(grt_session_env(f->s, "command"), "trace_maker");
	assert_string_equal(grt_session_env(f->s, "grtrace_format"), STRING(GRT_FORMAT));
	assert_null(grt_session_env(f->s, "nonsense"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_directory_and_a_raw_file_give_the_same),
		CASE(a_raw_file_of_many_cpus),
		CASE(packets_larger_than_the_buffer),
		CASE(other_things_in_a_directory_are_skipped),
		CASE(a_foreign_file_in_a_directory_is_named),
		CASE(what_is_no_trace_is_refused),
		CASE(metadata_of_others_is_refused),
		CASE(another_format_is_refused_by_its_number),
		CASE(a_cut_recording_is_read_as_it_is_and_cut_back_on_request),
		CASE(zeros_after_the_last_packet_are_cut_off),
		CASE(a_recording_in_progress_is_left_alone),
		CASE(a_damaged_size_does_not_cut_off_what_follows),
		CASE(a_raw_file_is_never_changed),
		CASE(a_broken_record_costs_the_rest_of_its_packet),
		CASE(a_record_is_judged_before_it_is_used),
		CASE(a_packet_does_not_run_into_the_next_one),
		CASE(a_file_that_does_not_begin_with_a_packet),
		CASE(bytes_between_packets_are_stepped_over),
		CASE(the_environment_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
