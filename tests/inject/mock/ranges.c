// SPDX-License-Identifier: GPL-2.0
/*
 * ranges SCENE [NUMBER]: a program that uses NVTX in the way that its first argument
 * says, and keeps account of it: a line in the file of RANGES_LOG for each record that
 * a recording must have, and what it counts on its standard output.
 */
#include "mock.h"
#include "nvtx.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cudaRuntimeGetVersion(int *version);

#define OPEN_MAX 512
#define CHAIN_MAX 65536

static unsigned long number = 1000;

/* struct open - what the program itself has open; @domain, @name as they are to be read */
struct open {
	void *domain;
	const char *domain_name;
	char name[128];
	int depth;
};

static __thread struct open stack[OPEN_MAX];
static __thread int open_ranges;
static FILE *log_file;

static void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (log_file)
		vfprintf(log_file, format, ap);
	va_end(ap);
}

/* Bytes that would not be one word of a line. */
static const char *word(const char *text)
{
	static __thread char room[8][512];
	static __thread unsigned int turn;
	char *to = room[turn++ % 8], *at = to;

	for (; *text && at < to + 500; text++)
		if (*text > ' ' && *text < 0x7f && *text != '%' && *text != '/')
			*at++ = *text;
		else
			at += sprintf(at, "%%%02x", (unsigned char)*text);
	*at = '\0';
	return *to ? to : "-";
}

static int tid(void)
{
	return (int)syscall(SYS_gettid);
}

static const char *chain(int upto)
{
	static __thread char text[CHAIN_MAX];
	int at = 0;

	strcpy(text, "-");
	for (int i = 0; i < upto; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "/%s:%s", word(stack[i].domain_name),
			       word(stack[i].name));
	return text;
}

/* With the name that it was pushed with; @more: category, colour, payload */
static int push_as(void *domain, const char *domain_name, const char *name, int ret)
{
	struct open *o = &stack[open_ranges];
	int depth = 0;

	for (int i = 0; i < open_ranges; i++)
		depth += stack[i].domain == domain;
	o->domain = domain;
	o->domain_name = domain_name;
	o->depth = depth;
	snprintf(o->name, sizeof(o->name), "%s", name);
	open_ranges++;
	if (ret != depth)
		printf("push said %d, and it is %d\n", ret, depth);
	return ret;
}

static void push(const char *name)
{
	push_as(NULL, "", name, NVTX(push_a, name));
}

static void popped(int at, const char *more)
{
	say("R %d %d 1 %s %s %d %s %s\n", getpid(), tid(), word(stack[at].domain_name), word(stack[at].name),
	    stack[at].depth, chain(at + 1), more);
}

static void pop_more(const char *more)
{
	int ret = NVTX(pop);

	for (int at = open_ranges - 1; at >= 0; at--)
		if (!stack[at].domain) {
			popped(at, more);
			if (ret != stack[at].depth)
				printf("pop said %d, and it is %d\n", ret, stack[at].depth);
			open_ranges--;
			memmove(&stack[at], &stack[at + 1], (size_t)(open_ranges - at) * sizeof(stack[0]));
			return;
		}
	if (ret != -1)
		printf("pop of nothing said %d\n", ret);
}

static void pop(void)
{
	pop_more("0:- 0 0:0");
}

static void domain_pop(void *domain)
{
	NVTX(domain_pop, domain);
	for (int at = open_ranges - 1; at >= 0; at--)
		if (stack[at].domain == domain) {
			popped(at, "0:- 0 0:0");
			open_ranges--;
			memmove(&stack[at], &stack[at + 1], (size_t)(open_ranges - at) * sizeof(stack[0]));
			return;
		}
}

static void mark(const char *name)
{
	NVTX_DO(mark_a, name);
	say("M %d %d - %s %s\n", getpid(), tid(), word(name), chain(open_ranges));
}

static void launch(void)
{
	mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "_Z6kernelPfS_i");
	if (open_ranges)
		say("X %d %d %s %d\n", getpid(), tid(), chain(open_ranges), open_ranges);
}

static struct nvtx_attributes attributes(const char *text)
{
	return (struct nvtx_attributes){.version = 3, .size = 48, .message_type = 1, .message.ascii = text};
}

/* ---------------------------------------------------------------- scenes */

static void payloads(void)
{
	static const char *const more[] = {"7:seven ff00ff00 1:ffffffffffffffff",
					   "7:seven ff00ff00 3:4008000000000000", "9:- ff00ff00 6:3fc00000"};
	struct nvtx_attributes a = attributes("with attributes");

	NVTX_DO(category_a, 7, "seven");
	a.category = 7;
	a.colour_type = 1;
	a.colour = 0xff00ff00;
	a.payload_type = 1;
	a.payload.u64 = UINT64_MAX;
	push_as(NULL, "", "with attributes", NVTX(push_ex, &a));
	pop_more(more[0]);
	a.payload_type = 3;
	a.payload.d = 3;
	push_as(NULL, "", "with attributes", NVTX(push_ex, &a));
	pop_more(more[1]);
	a.category = 9;
	a.payload_type = 6;
	a.payload.f = 1.5F;
	push_as(NULL, "", "with attributes", NVTX(push_ex, &a));
	pop_more(more[2]);
}

static void domains(void)
{
	void *one = NVTX(domain_create, "one"), *two = NVTX(domain_create, "two"),
	     *known = NVTX(domain_register, one, "registered");
	struct nvtx_attributes a = attributes("a"), b = attributes(NULL);

	b.message_type = 3;
	b.message.registered = known;
	push("outer");
	push_as(one, "one", "a", NVTX(domain_push, one, &a));
	push_as(two, "two", "registered", NVTX(domain_push, two, &b));
	launch();
	domain_pop(one);
	launch();
	domain_pop(two);
	pop();
	NVTX_DO(domain_mark, two, &b);
	say("M %d %d two registered -\n", getpid(), tid());
}

static void wide(void)
{
	struct nvtx_attributes a = attributes(NULL);

	a.message_type = 2;
	a.message.wide = L"gr\u00fc\u00df \U0001F680";
	push_as(NULL, "", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\x80", NVTX(push_ex, &a));
	pop();
	push_as(NULL, "", "w", NVTX(push_w, L"w"));
	pop();
}

static void wrong(void)
{
	struct nvtx_attributes a = attributes("not looked at");

	push_as(NULL, "", "", NVTX(push_ex, NULL));
	pop();
	a.size = 4;
	push_as(NULL, "", "", NVTX(push_ex, &a));
	pop();
	a.size = 0;
	push_as(NULL, "", "", NVTX(push_ex, &a));
	pop();
	a = attributes("not looked at");
	a.message_type = 99;
	push_as(NULL, "", "", NVTX(push_ex, &a));
	pop();
	a.message_type = 3;
	a.message.registered = (void *)0x7fff12345678;
	push_as(NULL, "", "", NVTX(push_ex, &a));
	pop();
	a.message_type = 2;
	a.message.wide = NULL;
	push_as(NULL, "", "", NVTX(push_ex, &a));
	pop();
	NVTX_DO(thread_a, 1, "not kept");
	NVTX_DO(domain_destroy, (void *)77);
	NVTX_DO(mark_ex, NULL);
	say("M %d %d - - -\n", getpid(), tid());
	push_as(NULL, "", "", NVTX(push_a, NULL));
	pop();
	for (int i = 0; i < 3; i++)
		pop();
	NVTX_DO(end, 0);
	NVTX_DO(end, UINT64_MAX);
}

static uint64_t started;

static void *end_it(void *arg)
{
	NVTX_DO(end, started);
	return arg;
}

/* One that this thread ends, one that another does, and one that nobody does. */
static void starts(void)
{
	pthread_t thread;

	started = NVTX(start_a, "here");
	NVTX_DO(end, started);
	NVTX_DO(end, started);
	say("R %d %d 2 - here 0 - 0:- 0 0:0\n", getpid(), tid());
	started = NVTX(start_a, "there");
	pthread_create(&thread, NULL, end_it, NULL);
	pthread_join(thread, NULL);
	say("R %d %d 2 - there 0 - 0:- 0 0:0\n", getpid(), tid());
	NVTX(start_a, "nowhere");
	say("O %d %d 2 - nowhere 0 - 0:- 0 0:0\n", getpid(), tid());
}

static void basic(void)
{
	push("step 1");
	push("forward");
	mark("a mark");
	launch();
	pop();
	launch();
	pop();
	launch();
	payloads();
	domains();
	wide();
	wrong();
	starts();
}

static void *leave_open(void *arg)
{
	push("of a thread");
	say("O %d %d 1 - of%%20a%%20thread 0 %s 0:- 0 0:0\n", getpid(), tid(), chain(1));
	return arg;
}

static void opened(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, leave_open, NULL);
	pthread_join(thread, NULL);
	push("outer");
	push("inner");
	for (int at = 0; at < 2; at++)
		say("O %d %d 1 - %s %d %s 0:- 0 0:0\n", getpid(), tid(), stack[at].name, at, chain(at + 1));
}

static pthread_barrier_t all_there;

static void *push_many(void *arg)
{
	char name[32];
	FILE *log = log_file;

	pthread_barrier_wait(&all_there);
	for (unsigned long i = 0; i < number; i++) {
		snprintf(name, sizeof(name), "step %lu", i % 50);
		NVTX(push_a, name);
		NVTX(push_a, i & 1 ? "forward" : "backward");
		if (arg && i % 16 == 0)
			mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "k");
		NVTX(pop);
		NVTX(pop);
	}
	log_file = log;
	return NULL;
}

static void threads(unsigned int n, bool cuda)
{
	pthread_t thread[64];

	pthread_barrier_init(&all_there, NULL, n);
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, push_many, cuda ? &number : NULL))
			abort();
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	printf("pushes=%lu\n", 2 * number * n);
}

static void *load(void *arg)
{
	pthread_barrier_wait(&all_there);
	if (arg)
		cuInit(0);
	nvtx_load();
	return NULL;
}

/* Several libraries at once, and CUDA. */
static void at_once(void)
{
	pthread_t thread[8];

	pthread_barrier_init(&all_there, NULL, 8);
	for (unsigned long i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, load, i == 3 ? &number : NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	for (unsigned long i = 0; i < number; i++) {
		push("outer");
		launch();
		pop();
	}
}

static void deep(void)
{
	for (unsigned long i = 0; i < number; i++)
		NVTX(push_a, "deep");
	for (unsigned long i = 0; i < number; i++)
		if (NVTX(pop) != (int)(number - 1 - i))
			printf("pop %lu is wrong\n", i);
	push("behind");
	pop();
}

static void names(void)
{
	char name[64];

	for (unsigned long i = 0; i < number; i++) {
		snprintf(name, sizeof(name), "op %lu of %lu", i, number);
		NVTX(push_a, name);
		NVTX(pop);
	}
}

static void forked(void)
{
	pid_t pid;

	push("parent");
	pid = fork();
	if (!pid) {
		log_file = NULL;
		nvtx_load();
		push("child");
		NVTX(pop);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pop();
	push("again");
	pop();
}

static void hostile(void)
{
	static const char *const bad[] = {
		"<script>alert(1)</script>", "a\x1b[31mred\nline", "semi;colon 12", "quote\"back\\slash",
		"\xff\xfe not UTF-8",	     "</style><b>&amp;",   "%s%n%p"};
	static char text[100000];

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		push(bad[i]);
		launch();
		pop();
	}
	memset(text, 'x', sizeof(text) - 1);
	NVTX(push_a, text);
	NVTX(pop);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int empty_push(const char *text)
{
	__asm__ volatile("" : : "r"(text));
	return 0;
}

static int empty_pop(void)
{
	return 0;
}

/* ns of a push and of a pop together: the least of many rounds that leave the writer its time; against
 * functions that do nothing, and two readings of the clock. */
static uint64_t cost_of(int (*push_it)(const char *), int (*pop_it)(void))
{
	struct timespec rest = {.tv_nsec = 3000000};
	uint64_t least = UINT64_MAX, begun, took;

	for (int round = 0; round < 100; round++, nanosleep(&rest, NULL)) {
		begun = now();
		for (int i = 0; i < 1000; i++) {
			push_it("forward");
			pop_it();
		}
		took = now() - begun;
		least = took < least ? took : least;
	}
	return least;
}

static int clock_push(const char *text)
{
	(void)text;
	return (int)now();
}

static int clock_pop(void)
{
	return (int)now();
}

static void cost(void)
{
	uint64_t ours = cost_of(nvtx.push_a ?: empty_push, nvtx.pop ?: empty_pop);

	printf("push+pop %.1f ns, empty functions %.1f ns, two readings of the clock %.1f ns\n",
	       (double)ours / 1000, (double)cost_of(empty_push, empty_pop) / 1000,
	       (double)cost_of(clock_push, clock_pop) / 1000);
}

/* Steps among other ranges, nested; kernels say by their names whether they are of one. */
static void steps(void)
{
	for (unsigned int i = 0; i < 5; i++) {
		NVTX(push_a, "warm up");
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "outside");
		NVTX(push_a, "step");
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "inside");
		NVTX(push_a, "step");
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "inside");
		NVTX_DO(pop);
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "inside");
		NVTX_DO(pop);
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "outside");
		NVTX_DO(pop);
	}
}

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "", *log = getenv("RANGES_LOG");
	int runtime;

	if (cudaRuntimeGetVersion(&runtime))
		return 2;
	number = argc > 2 ? strtoul(argv[2], NULL, 10) : number;
	log_file = log ? fopen(log, "a") : NULL;
	if (log_file)
		setvbuf(log_file, NULL, _IOLBF, 0);
	if (is(scene, "at-once")) {
		at_once();
		return 0;
	}
	if (getenv("RANGES_CUDA_FIRST"))
		cuInit(0);
	nvtx_load();
	if (getenv("RANGES_CUDA"))
		cuInit(0);
	if (is(scene, "basic"))
		basic();
	else if (is(scene, "open"))
		opened();
	else if (is(scene, "threads"))
		threads(8, getenv("RANGES_CUDA") != NULL);
	else if (is(scene, "deep"))
		deep();
	else if (is(scene, "names"))
		names();
	else if (is(scene, "fork"))
		forked();
	else if (is(scene, "hostile"))
		hostile();
	else if (is(scene, "steps"))
		steps();
	else if (is(scene, "cost"))
		cost();
	else
		return 2;
	return 0;
}
