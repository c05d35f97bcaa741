// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * What precedes a message in the log of AMD's runtime. The releases
 * differ in the stamp and in how the thread is named, and a file may hold lines
 * of several of them, so each record is looked at for itself:
 *
 *	:3:hip_api.cpp               :12  : 0123456789 us: MESSAGE		from 3.7
 *	:3:hip_api.cpp               :12  : 0123456789 us: 4321: [tid:0x7f00] MESSAGE
 *	:3:hip_api.cpp               :12  : 0123456789d us: [pid:4321 tid: 7f00] MESSAGE
 *	:3:hip_api.cpp               :12  : 51234567890 : 4321 : [7f0011223344] MESSAGE	ticks of 100 ns
 *	: 3:    hip_api.cpp:   12: (0000000123) us MESSAGE			from the first record on
 *	:1:hip_api.cpp:12: MESSAGE
 *
 * Writers: ROCclr, rocclr/utils/debug.cpp, releases 3.x to 7.x.
 */
#include "amd_log_header.h"
#include "base/bisect.h"

#include <string.h>

/* Longest path of a source file that is recognised. */
#define FILE_MAX 512
/* Fewer digits without a unit are not ticks, but the beginning of a message. */
#define TICK_DIGITS_MIN 5
/* Most digits of a thread's number in brackets without a word before it. */
#define BARE_THREAD_MIN 6
#define BARE_THREAD_MAX 16

static bool amd_log_header_is_word(char c)
{
	return grt_is_digit(c) || (unsigned int)((c | 0x20) - 'a') < 26 || c == '_' || c == '.';
}

/*
 * The eight positions from @p on at which ":N:" or ": N:" may be, as high bits; the bytes after *@p may be
 * read.
 */
static inline uint64_t colon_pairs(const char *p)
{
	uint64_t at, two, three;

	memcpy(&at, p, 8);
	memcpy(&two, p + 2, 8);
	memcpy(&three, p + 3, 8);
	at = grt_zero_bytes(at ^ 0x3a3a3a3a3a3a3a3a);
	return at & (grt_zero_bytes(two ^ 0x3a3a3a3a3a3a3a3a) | grt_zero_bytes(three ^ 0x3a3a3a3a3a3a3a3a));
}

static inline bool is_level(char c)
{
	return (unsigned char)(c - '0') <= 5;
}

/* Return: the text after ":N:" or ": N:"; NULL: it is something else */
static inline const char *behind_level(const char *p, const char *end)
{
	if (end - p < 5 || p[0] != ':')
		return NULL;
	if (is_level(p[1]) && p[2] == ':')
		return p + 3;
	return p[1] == ' ' && is_level(p[2]) && p[3] == ':' ? p + 4 : NULL;
}

/*
 * Reads the name of a file without blanks, which may be missing. Return: the text after its colon; NULL: it
 * is something else
 */
static const char *scan_file(const char *p, const char *end, struct grt_span *file)
{
	const char *stop = end - p > FILE_MAX ? p + FILE_MAX : end,
		   *colon = memchr(p, ':', (size_t)(stop - p));

	if (!colon)
		return NULL;
	*file = grt_span_trim((struct grt_span){p, (size_t)(colon - p)});
	if (file->len && memchr(file->at, ' ', file->len))
		return NULL;
	return colon + 1;
}

/* Reads "FILE :LINE : ". Return: the text after it; NULL: it is something else */
static const char *scan_place(const char *p, const char *end, struct grt_span *file)
{
	uint64_t line;

	p = scan_file(p, end, file);
	if (!p)
		return NULL;
	grt_scan_blanks(&p, end);
	if (!grt_scan_u64(&p, end, &line))
		return NULL;
	grt_scan_blanks(&p, end);
	return grt_scan_char(&p, end, ':') ? p : NULL;
}

/* Directly after a word, only a complete header is one: with a source file, a line and a time stamp. */
static bool amd_log_header_is_whole(const char *p, const char *end)
{
	struct amd_log_head h;

	return amd_log_stamp(p, end, &h) && h.clock == AMD_LOG_MONOTONIC && h.file.len > 4 &&
	       !memcmp(h.file.at + h.file.len - 2, "pp", 2);
}

const char *amd_log_find(const char *p, const char *end)
{
	const char *begin = p, *at, *q;
	struct grt_span file;
	uint64_t pairs;

	for (; p < end; p += 8) {
		for (pairs = colon_pairs(p); pairs; pairs &= pairs - 1) {
			at = p + __builtin_ctzll(pairs) / 8;
			q = at < end ? behind_level(at, end) : NULL;
			if (!q)
				continue;
			if (at == begin || !amd_log_header_is_word(at[-1]) ? scan_place(q, end, &file) != NULL
									   : amd_log_header_is_whole(at, end))
				return at;
		}
	}
	return NULL;
}

static uint64_t amd_log_header_times(uint64_t n, uint64_t unit)
{
	return n > UINT64_MAX / unit ? UINT64_MAX : n * unit;
}

/* "(N) us " */
static bool scan_relative(const char **p, const char *end, struct amd_log_head *h)
{
	const char *q = *p;
	uint64_t n;

	if (!grt_scan_char(&q, end, '(') || !grt_scan_u64(&q, end, &n) || !grt_scan_char(&q, end, ')'))
		return false;
	grt_scan_blanks(&q, end);
	if (!GRT_SCAN_WORD(&q, end, "us"))
		return false;
	h->clock = AMD_LOG_RELATIVE;
	h->time = amd_log_header_times(n, AMD_LOG_NS_PER_US);
	*p = q;
	return true;
}

/* Reads "N us:", "Nd us:" or "N :"; other text belongs to the message */
static void amd_log_header_scan_time(const char **p, const char *end, struct amd_log_head *h)
{
	const char *q = *p, *digits;
	uint64_t n;

	h->clock = AMD_LOG_NO_TIME;
	grt_scan_blanks(&q, end);
	digits = q;
	if (scan_relative(&q, end, h)) {
		*p = q;
		return;
	}
	if (!grt_scan_line_u64(&q, end, &n))
		return;
	if (end - q >= 4 && !memcmp(q, " us:", 4)) {
		h->clock = AMD_LOG_MONOTONIC;
		h->time = amd_log_header_times(n, AMD_LOG_NS_PER_US);
		*p = q + 4;
		return;
	}
	if (q < end && *q == 'd')
		q++;
	grt_scan_blanks(&q, end);
	if (GRT_SCAN_WORD(&q, end, "us")) {
		h->clock = AMD_LOG_MONOTONIC;
		h->time = amd_log_header_times(n, AMD_LOG_NS_PER_US);
		grt_scan_char(&q, end, ':');
		*p = q;
	} else if (grt_scan_char(&q, end, ':') && q - digits > TICK_DIGITS_MIN) {
		h->clock = AMD_LOG_TICKS;
		h->time = amd_log_header_times(n, AMD_LOG_NS_PER_TICK);
		*p = q;
	}
}

/* Reads up to 16 hexadecimal digits at once. */
static inline bool scan_thread_number(const char **p, const char *end, uint64_t *v)
{
	const char *q = *p;
	uint64_t high, low;
	unsigned int n;

	if (q[0] == '0' && (q[1] | 0x20) == 'x')
		q += 2;
	n = grt_scan_hex_digits(q, &high);
	if (n < 8 || q + 8 >= end)
		return grt_scan_hex(p, end, v);
	n = grt_scan_hex_digits(q + 8, &low);
	if (n == 8)
		return grt_scan_hex(p, end, v);
	*v = n ? high << 4 * n | low : high;
	*p = q + 8 + n;
	return true;
}

/* "[pid:4321  tid: 0x7f00]", "[tid:0x7f00]" or "[7f0011223344]" */
static bool scan_brackets(const char **p, const char *end, struct amd_log_head *h)
{
	const char *q = *p, *digits;
	uint64_t pid = 0, thread = 0;
	bool named = false;

	if (!grt_scan_char(&q, end, '['))
		return false;
	if (GRT_SCAN_WORD(&q, end, "pid:")) {
		named = true;
		grt_scan_blanks(&q, end);
		if (!grt_scan_line_u64(&q, end, &pid))
			return false;
		grt_scan_blanks(&q, end);
	}
	if (GRT_SCAN_WORD(&q, end, "tid:")) {
		named = true;
		grt_scan_blanks(&q, end);
	}
	digits = q;
	if (!scan_thread_number(&q, end, &thread) && !named)
		return false;
	if (!named && (q - digits < BARE_THREAD_MIN || q - digits > BARE_THREAD_MAX))
		return false;
	if (!grt_scan_char(&q, end, ']'))
		return false;
	h->thread = thread;
	if (pid)
		h->pid = grt_u32(pid);
	*p = q;
	return true;
}

/* The brackets, perhaps after "4321 : "; if there are none, the message follows. */
static void scan_thread(const char **p, const char *end, struct amd_log_head *h)
{
	const char *q = *p;
	uint64_t pid;

	h->pid = 0;
	h->thread = 0;
	grt_scan_blanks(&q, end);
	if (q >= end)
		return;
	if (*q == '[') {
		if (scan_brackets(&q, end, h))
			*p = q;
		return;
	}
	if (!grt_is_digit(*q) || !grt_scan_u64(&q, end, &pid))
		return;
	grt_scan_blanks(&q, end);
	if (!grt_scan_char(&q, end, ':'))
		return;
	grt_scan_blanks(&q, end);
	if (!scan_brackets(&q, end, h))
		return;
	h->pid = grt_u32(pid);
	*p = q;
}

const char *amd_log_stamp(const char *p, const char *end, struct amd_log_head *h)
{
	const char *q = behind_level(p, end);

	if (!q)
		return NULL;
	h->level = (unsigned int)(q[-2] - '0');
	p = scan_place(q, end, &h->file);
	if (p)
		amd_log_header_scan_time(&p, end, h);
	return p;
}

const char *amd_log_head(const char *p, const char *end, struct amd_log_head *h)
{
	p = amd_log_stamp(p, end, h);
	if (p)
		scan_thread(&p, end, h);
	return p;
}

const char *amd_log_rocr(const char *line, const char *end, struct amd_log_head *h)
{
	static const char mark[] = "[***rocr***]";
	const char *at = grt_find_text(line, end, mark, sizeof(mark) - 1), *p;

	if (!at)
		return NULL;
	grt_scan_blanks(&line, end);
	p = scan_place(line, at, &h->file);
	if (!p)
		return NULL;
	h->level = 0;
	amd_log_header_scan_time(&p, at, h);
	if (h->clock != AMD_LOG_MONOTONIC)
		return NULL;
	h->clock = AMD_LOG_RAW;
	scan_thread(&p, at, h);
	return at + sizeof(mark) - 1;
}

/* ---------------------------------------------------------------- clocks */

/*
 * The offset between the clock of ROCr's lines and the runtime's.
 */

/* Time stamps are truncated to us. */
#define CUT_NS 1000
/* The most by which the kernel lets CLOCK_MONOTONIC run faster or slower, ppm (MAXFREQ of linux/timex.h). */
#define DRIFT_PPM 500U
/*
 * The most by which a record of another thread may be out of order, because a record gets its time stamp
 * before it is written, ns.
 */
#define JITTER_NS 10000000
/* No limit: it is greater than any. */
#define FAR (INT64_MAX / 4)
/* No clock has time stamps beyond this, and sums of them would overflow. */
#define STAMP_MAX ((uint64_t)FAR / 2)

static int64_t drift(uint64_t a, uint64_t b)
{
	return (int64_t)((a > b ? a - b : b - a) / (1000000 / DRIFT_PPM) + 1);
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t amd_log_clocks_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Return: the limit at the moment @raw that follows from @from. */
static struct amd_log_bound seen_from(const struct amd_log_bound *from, uint64_t raw)
{
	int64_t d = drift(from->raw, raw);

	return (struct amd_log_bound){raw, most(from->low - d, -FAR),
				      amd_log_clocks_least(from->high + d, FAR)};
}

static void tighten(struct amd_log_bound *b, const struct amd_log_bound *from)
{
	struct amd_log_bound seen = seen_from(from, b->raw);

	b->low = most(b->low, seen.low);
	b->high = amd_log_clocks_least(b->high, seen.high);
}

static void amd_log_clocks_keep(struct amd_log_clocks *c, const struct amd_log_bound *b)
{
	if (c->passed++ % (c->stride ? c->stride : 1))
		return;
	if (c->bounds == AMD_LOG_BOUNDS) {
		/* each includes what the earlier ones say, so every second one is enough */
		for (unsigned int i = 0; 2 * i + 1 < AMD_LOG_BOUNDS; i++)
			c->bound[i] = c->bound[2 * i + 1];
		c->bounds /= 2;
		c->stride = c->stride ? 2 * c->stride : 2;
	}
	c->bound[c->bounds++] = *b;
}

static void amd_log_clocks_add(struct amd_log_clocks *c, struct amd_log_bound b)
{
	if (c->begun && b.raw < c->now.raw)
		b = seen_from(&b, c->now.raw);
	if (c->begun)
		tighten(&b, &c->now);
	c->begun = true;
	c->now = b;
	c->apart |= b.low > b.high;
	amd_log_clocks_keep(c, &b);
}

/* ---------------------------------------------------------------- order of lines */

static struct amd_log_writer *amd_log_clocks_place_of(struct amd_log_clocks *c, const struct amd_log_head *h)
{
	return &c->writer[((h->thread ^ h->pid) * 0x9e3779b97f4a7c15) >> 58];
}

static bool amd_log_clocks_is(const struct amd_log_writer *w, const struct amd_log_head *h)
{
	return w->thread == h->thread && w->pid == h->pid && w->last;
}

/* Ends the wait of a line of ROCr: its offset is at most @high. */
static void amd_log_clocks_settle(struct amd_log_clocks *c, struct amd_log_writer *w, int64_t high)
{
	if (w->waits && (w->low > -FAR || high < FAR))
		amd_log_clocks_add(c, (struct amd_log_bound){w->raw, w->low, high});
	w->waits = false;
}

static void amd_log_clocks_take_record(struct amd_log_clocks *c, struct amd_log_writer *w, uint64_t time,
				       int64_t jitter)
{
	/* a record that was written later has an earlier time, so the order of lines says nothing */
	c->apart |= w->last > time && w->last - time > (uint64_t)jitter;
	amd_log_clocks_settle(c, w, (int64_t)(time - w->raw) + CUT_NS + jitter);
	w->last = time;
}

void amd_log_clocks_record(struct amd_log_clocks *c, const struct amd_log_head *h)
{
	struct amd_log_writer *w = amd_log_clocks_place_of(c, h);

	if (h->time > STAMP_MAX)
		return;
	amd_log_clocks_take_record(c, &c->any, h->time, JITTER_NS);
	if (!h->thread)
		return;
	if (!amd_log_clocks_is(w, h)) {
		amd_log_clocks_settle(c, w, FAR);
		*w = (struct amd_log_writer){.thread = h->thread, .pid = h->pid};
	}
	amd_log_clocks_take_record(c, w, h->time, 0);
}

void amd_log_clocks_rocr(struct amd_log_clocks *c, const struct amd_log_head *h)
{
	struct amd_log_writer *w = amd_log_clocks_place_of(c, h);
	int64_t jitter = 0;

	if (!c->rocr || h->time < c->first)
		c->first = h->time;
	if (!c->rocr || h->time > c->last)
		c->last = h->time;
	c->rocr = true;
	if (h->time > STAMP_MAX)
		return;
	if (!h->thread || !amd_log_clocks_is(w, h)) {
		w = &c->any;
		jitter = JITTER_NS;
	}
	amd_log_clocks_settle(c, w, FAR);
	w->waits = true;
	w->raw = h->time;
	w->low = w->last ? (int64_t)(w->last - h->time) - CUT_NS - jitter : -FAR;
}

/* ----------------------------------------------------------------------- the rest */

void amd_log_clocks_snapshot(struct amd_log_clocks *c, const char *p, const char *end)
{
	struct amd_log_snapshot s;

	if (c->snapshots == AMD_LOG_SNAPSHOTS || !GRT_SCAN_WORD(&p, end, "monotonic=") ||
	    !grt_scan_u64(&p, end, &s.monotonic) || !GRT_SCAN_WORD(&p, end, " monotonic_raw=") ||
	    !grt_scan_u64(&p, end, &s.raw) || !GRT_SCAN_WORD(&p, end, " error=") ||
	    !grt_scan_u64(&p, end, &s.error))
		return;
	if (s.monotonic > STAMP_MAX || s.raw > STAMP_MAX || s.error > STAMP_MAX ||
	    (c->snapshots && s.raw <= c->snapshot[c->snapshots - 1].raw))
		return;
	c->snapshot[c->snapshots++] = s;
}

void amd_log_clocks_end(struct amd_log_clocks *c)
{
	amd_log_clocks_settle(c, &c->any, FAR);
	for (unsigned int i = 0; i < AMD_LOG_CLOCK_THREADS; i++)
		amd_log_clocks_settle(c, &c->writer[i], FAR);
	if (c->begun && c->bounds)
		c->bound[c->bounds - 1] = c->now;
	for (unsigned int i = c->bounds; i-- > 1;)
		tighten(&c->bound[i - 1], &c->bound[i]);
	for (unsigned int i = 0; i < c->bounds; i++)
		c->apart |= c->bound[i].low > c->bound[i].high;
}

/* Between two snapshots, the offset changes evenly; before the first and after the last, it is constant. */
static void by_snapshots(const struct amd_log_clocks *c, uint64_t raw, struct amd_log_bound *b)
{
	const struct amd_log_snapshot *s = c->snapshot, *next;
	uint64_t error;
	int64_t at;

	while (s + 2 < c->snapshot + c->snapshots && s[1].raw <= raw)
		s++;
	next = c->snapshots > 1 ? s + 1 : s;
	at = (int64_t)(s->monotonic - s->raw);
	if (raw >= next->raw)
		at = (int64_t)(next->monotonic - next->raw);
	else if (raw > s->raw)
		at += (int64_t)((double)((int64_t)(next->monotonic - next->raw) - at) *
				((double)(raw - s->raw) / (double)(next->raw - s->raw)));
	error = s->error > next->error ? s->error : next->error;
	*b = (struct amd_log_bound){raw, at - (int64_t)error, at + (int64_t)error + CUT_NS};
}

static void amd_log_clocks_by_order(const struct amd_log_clocks *c, uint64_t raw, struct amd_log_bound *b)
{
	unsigned int low = grt_bisect(c->bounds, i, c->bound[i].raw < raw);

	*b = (struct amd_log_bound){raw, -FAR, FAR};
	if (low < c->bounds)
		tighten(b, &c->bound[low]);
	if (low)
		tighten(b, &c->bound[low - 1]);
}

static uint64_t amd_log_clocks_moved(uint64_t raw, int64_t by)
{
	return by < 0 && raw < (uint64_t)-by ? 0 : raw + (uint64_t)by;
}

enum amd_log_moved amd_log_clocks_move(const struct amd_log_clocks *c, uint64_t raw, uint64_t *low,
				       uint64_t *high)
{
	struct amd_log_bound b;

	if (raw > STAMP_MAX)
		return AMD_LOG_UNMOVED;
	if (c->snapshots)
		by_snapshots(c, raw, &b);
	else if (!c->apart)
		amd_log_clocks_by_order(c, raw, &b);
	else
		return AMD_LOG_UNMOVED;
	if (b.low <= -FAR || b.high >= FAR || b.low > b.high)
		return AMD_LOG_UNMOVED;
	*low = amd_log_clocks_moved(raw, b.low);
	*high = amd_log_clocks_moved(raw, b.high);
	return c->snapshots ? AMD_LOG_BY_SNAPSHOTS : AMD_LOG_BY_ORDER;
}
