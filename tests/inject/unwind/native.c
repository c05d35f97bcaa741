// SPDX-License-Identifier: GPL-2.0
/*
 * native [LIBRARY-A LIBRARY-B]: stacks of C, compared with backtrace()'s: random
 * call trees, alloca, realigned frames, tail calls, signals at any instruction,
 * the vDSO, deep recursion, contexts, threads, generated code, objects that take
 * another's place. Prints TAP; ends at the first difference.
 */
#include "check.h"

#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

unsigned long walks_checked;
bool in_made_context;

static __thread struct grt_unwind_thread *memory;

struct grt_unwind_thread *memory_of_walks(void)
{
	if (!memory)
		memory = grt_unwind_thread_new();
	return memory;
}

static __thread volatile unsigned int sink;

/* ------------------------------------------------------ random call trees */

static __thread uint32_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

static void visit(unsigned int depth);

static NOINLINE void small(unsigned int depth)
{
	visit(depth);
	sink++;
}

static NOINLINE unsigned int saves_registers(unsigned int depth, unsigned int a, unsigned int b,
					     unsigned int c)
{
	unsigned int d = a * b, e = b * c, f = a - c;

	visit(depth);
	visit(depth);
	return a + b + c + d + e + f;
}

static NOINLINE void with_alloca(unsigned int depth)
{
	volatile char *room = alloca(16 + 16 * draw(200));

	room[0] = 1;
	visit(depth);
	sink += (unsigned int)room[0];
}

static NOINLINE void realigned(unsigned int depth)
{
	volatile char room[128] __attribute__((aligned(64)));

	room[0] = 1;
	visit(depth);
	sink += (unsigned int)room[0];
}

static NOINLINE void realigned_and_alloca(unsigned int depth)
{
	volatile char room[64] __attribute__((aligned(128)));
	volatile char *more = alloca(1 + draw(3000));

	room[0] = more[0] = 1;
	visit(depth);
	sink += (unsigned int)(room[0] + more[0]);
}

static NOINLINE int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i,
				   unsigned int depth)
{
	visit(depth);
	return a + b + c + d + e + f + g + h + i;
}

static NOINLINE void large(unsigned int depth)
{
	volatile char room[5000];

	room[17] = 1;
	visit(depth);
	sink += room[17];
}

static NOINLINE void tail_called(unsigned int depth)
{
	visit(depth);
	sink--;
}

/* With optimisation this is a jump: it is in no stack. */
static NOINLINE void tail_calls(unsigned int depth)
{
	sink++;
	tail_called(depth);
}

static int compare(const void *a, const void *b)
{
	unsigned int depth;

	memcpy(&depth, a, sizeof(depth));
	if (a != b)
		visit(depth);
	return 0;
}

static NOINLINE void through_libc(unsigned int depth)
{
	unsigned int two[2] = {depth, depth};

	qsort(two, 2, sizeof(two[0]), compare);
	sink++;
}

static NOINLINE void visit(unsigned int depth)
{
	if (!depth || !draw(6)) {
		check_here("random call tree");
		return;
	}
	depth--;
	for (uint32_t calls = 1 + draw(2); calls--;)
		switch (draw(9)) {
		case 0:
			small(depth);
			break;
		case 1:
			sink += saves_registers(depth, sink, 2, 3);
			break;
		case 2:
			with_alloca(depth);
			break;
		case 3:
			realigned(depth);
			break;
		case 4:
			realigned_and_alloca(depth);
			break;
		case 5:
			sink += (unsigned int)many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, depth);
			break;
		case 6:
			large(depth);
			break;
		case 7:
			tail_calls(depth);
			break;
		default:
			through_libc(depth);
		}
}

static void random_trees(void)
{
	unsigned long before = walks_checked;

	random_state = 1;
	for (int i = 0; i < 60 || walks_checked - before < 2000; i++)
		visit(9);
	passed("random call trees, 2000 stacks");
}

/* --------------------------------------------------- stacks that come again */

/* Three functions with frames of one size in each of four levels, so that all paths have one stack pointer.
 */
typedef void level_fn(unsigned int path);
static level_fn *const levels[4][3];

#define LEVEL(n, x)                                              \
	static NOINLINE void level##n##x(unsigned int path)      \
	{                                                        \
		volatile unsigned int kept = path;               \
                                                                 \
		if (n == 3)                                      \
			check_here("stacks that come again");    \
		else                                             \
			levels[(n + 1) % 4][path % 3](path / 3); \
		sink += kept + x;                                \
	}
#define THREE(n) LEVEL(n, 0) LEVEL(n, 1) LEVEL(n, 2)
THREE(0)
THREE(1) THREE(2) THREE(3) static level_fn *const levels[4][3] = {{level00, level01, level02},
								  {level10, level11, level12},
								  {level20, level21, level22},
								  {level30, level31, level32}};

/* Some twenty of the 81 paths come for a while in any order, then twenty others. */
static void stacks_again(void)
{
	unsigned int path;

	random_state = 2;
	for (unsigned int i = 0; i < 4000; i++) {
		path = (i / 500 * 10 + draw(20)) % 81;
		levels[0][path % 3](path / 3);
	}
	passed("stacks that come again, 4000 of 81");
}

/* ------------------------------------------------------------------- names */

NOINLINE void first_name(void);
NOINLINE void second_name(void);
NOINLINE void third_name(void);

void third_name(void)
{
	static const char *const expected[] = {"third_name", "second_name", "first_name"};
	static struct stack s;

	read_stack(check_here("names"), &s);
	for (unsigned int i = 0; i < 3; i++)
		if (strcmp(name_at(s.frame[i].address), expected[i])) {
			show("names", &s, NULL, 0);
			must(false, "names of functions");
		}
	sink++;
}

void second_name(void)
{
	third_name();
	sink++;
}

void first_name(void)
{
	second_name();
	sink++;
}

/* ------------------------------------------------------------------ signals */

static const char *handler_what;

static void handler(int sig)
{
	(void)sig;
	check_here(handler_what);
}

static NOINLINE void raise_it(const char *what)
{
	handler_what = what;
	raise(SIGUSR1);
	sink++;
}

static void set_handler(int sig, void (*function)(int), int flags)
{
	struct sigaction a = {.sa_handler = function, .sa_flags = flags};

	sigaction(sig, &a, NULL);
}

static void in_handlers(void)
{
	stack_t alternate = {.ss_sp = malloc(1 << 20), .ss_size = 1 << 20};

	set_handler(SIGUSR1, handler, 0);
	raise_it("in a signal handler");
	passed("in a signal handler");
	sigaltstack(&alternate, NULL);
	set_handler(SIGUSR1, handler, SA_ONSTACK);
	raise_it("in a signal handler on a stack of its own");
	passed("in a signal handler on a stack of its own");
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
	free(alternate.ss_sp);
}

static volatile sig_atomic_t timer_walks;
static __thread volatile int walking;

/* On 64-bit Arm a PLT has no tables, which libgcc goes by: code that jumps to what x17 has is one. */
static bool peer_is_lost(void **peer, int peers)
{
#ifdef __aarch64__
	const uint32_t *code = peer[peers - 1];

	for (int i = 0; i < 5; i++)
		if (code[i] == 0xd61f0220)
			return true;
#endif
	return false;
}

/* backtrace() takes locks where libgcc does: not within another one, nor within the linker. */
static void on_timer(int sig)
{
	static __thread void *peer[MAX_FRAMES];
	static __thread struct stack s;
	static struct grt_unwind_thread *own;
	uint32_t id;
	int peers;

	(void)sig;
	if (!own)
		own = grt_unwind_thread_new();
	id = grt_unwind(own);
	peers = backtrace(peer, MAX_FRAMES);
	read_stack(id, &s);
	if (s.root == GRT_ROOT_START && peers > 2 && peer_is_lost(peer, peers))
		return;
	if (!same_frames(&s, 2, peer, peers, PEER_SKIP)) {
		show("interrupted code", &s, peer, peers);
		printf("not ok - signals at any instruction: the stacks differ\n");
		_exit(1);
	}
	timer_walks++;
}

static NOINLINE void busy(unsigned int depth)
{
	struct timespec t;

	if (depth) {
		volatile char *room = alloca(1 + draw(300));

		room[0] = 1;
		if (draw(2))
			busy(depth - 1);
		busy(depth - 1);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	sink += (unsigned int)t.tv_nsec;
}

static void at_any_instruction(void)
{
	struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};

	set_handler(SIGPROF, on_timer, SA_RESTART);
	setitimer(ITIMER_PROF, &often, NULL);
	while (timer_walks < 200)
		busy(6);
	setitimer(ITIMER_PROF, &never, NULL);
	passed("signals at any instruction, 200 of them, the vDSO among it");
}

/* The handler uses the memory of the walk that it interrupted. */
static void nested_handler(int sig)
{
	uint32_t id = grt_unwind(memory);

	(void)sig;
	if (id < GRT_ROOT_COUNT && id != GRT_ROOT_NESTED)
		_exit(1);
	timer_walks++;
}

static void walks_in_walks(void)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	uint64_t checked = walks_checked;

	timer_walks = 0;
	set_handler(SIGPROF, nested_handler, SA_RESTART);
	setitimer(ITIMER_PROF, &often, NULL);
	while (timer_walks < 100)
		visit(6);
	setitimer(ITIMER_PROF, &never, NULL);
	must(walks_checked > checked, "a walk in a handler that came in a walk leaves that one right");
}

/* ---------------------------------------------------------------- recursion */

static NOINLINE unsigned int deep(unsigned int left, struct stack *s)
{
	volatile unsigned int below = left;

	if (left)
		return deep(left - 1, s) + below;
	read_stack(grt_unwind(memory_of_walks()), s);
	return 1;
}

static void recursion(void)
{
	static struct stack s;
	struct grt_unwind_stats before, after;

	grt_unwind_stats(&before);
	deep(2000, &s);
	grt_unwind_stats(&after);
	must(s.root == GRT_ROOT_TRUNCATED && s.count == GRT_UNWIND_MAX &&
		     after.roots[GRT_ROOT_TRUNCATED] == before.roots[GRT_ROOT_TRUNCATED] + 1,
	     "a stack of 2000 frames is cut, and counted");
	deep(GRT_UNWIND_MAX - 20, &s);
	must(s.root == GRT_ROOT_START, "one that just fits is complete");
	deep(GRT_UNWIND_MAX, &s);
	must(s.root == GRT_ROOT_TRUNCATED && s.count == GRT_UNWIND_MAX,
	     "one that is deeper than the last is cut");
	check_here("after deep stacks");
	passed("after deep stacks");
}

/* ----------------------------------------------------------------- contexts */

static ucontext_t outside, inside;

static void in_context(void)
{
	for (int i = 0; i < 3; i++) {
		in_made_context = true;
		check_here("in a context of its own");
		in_made_context = false;
		swapcontext(&inside, &outside);
	}
}

static void contexts(void)
{
	size_t size = 256 << 10;
	void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, in_context, 0);
	for (int i = 0; i < 3; i++) {
		swapcontext(&outside, &inside);
		check_here("beside a context");
	}
	munmap(stack, size);
	passed("makecontext(), on its stack and beside it");
}

/* ------------------------------------------------------------ generated code */

typedef uint32_t walk_fn(void);

static NOINLINE uint32_t walk_now(void)
{
	uint32_t id = grt_unwind(memory_of_walks());

	sink++;
	return id;
}

/* Code in a mapping that no table has, called as jit(walk_now). */
static NOINLINE uint32_t call_code(const void *code, size_t size)
{
	uint8_t *jit =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t (*call)(walk_fn *);
	uint32_t id;

	memcpy(jit, code, size);
	__builtin___clear_cache((char *)jit, (char *)jit + size);
	memcpy(&call, &jit, sizeof(call));
	id = call(walk_now);
	munmap(jit, 4096);
	return id;
}

/* Frames: grt_unwind(), walk_now(), the code, call_code(), generated_code(), main(). */
static bool leads_on(uint32_t id, struct stack *s)
{
	read_stack(id, s);
	if (s->root == GRT_ROOT_START && s->count > 5 && s->frame[2].guessed && !s->frame[2].module &&
	    s->frame[3].module)
		return true;
	show("generated code", s, NULL, 0);
	return false;
}

/* But for the call in generated_code(), which is another one. */
static bool same_callers(const struct stack *a, const struct stack *b)
{
	bool same = a->count == b->count;

	for (unsigned int i = 3; same && i < a->count; i++)
		same = i == 4 || a->frame[i].address == b->frame[i].address;
	return same;
}

/* Generated code that calls what it is given. */
#ifdef __x86_64__
/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret: what CPython's trampolines for perf do */
static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
/* push %rbp; mov %rsp,%rbp; push %rbx; push %rbx; call *%rdi; nop; pop; pop; pop %rbp; ret */
static const uint8_t pointer[] = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x53, 0xff,
				  0xd7, 0x90, 0x5b, 0x5b, 0x5d, 0xc3};
/* the same, without the frame pointer: xor %ebp,%ebp */
static const uint8_t lost[] = {0x55, 0x31, 0xed, 0xff, 0xd7, 0x90, 0x5d, 0xc3};
#else
/* str x30, [sp, #-16]!; blr x0; ldr x30, [sp], #16; ret */
static const uint32_t trampoline[] = {0xf81f0ffe, 0xd63f0000, 0xf84107fe, 0xd65f03c0};
/* stp x29, x30, [sp, #-32]!; mov x29, sp; str x19; blr x0; nop; ldr x19; ldp x29, x30, [sp], #32; ret */
static const uint32_t pointer[] = {0xa9be7bfd, 0x910003fd, 0xf9000bf3, 0xd63f0000,
				   0xd503201f, 0xf9400bf3, 0xa8c27bfd, 0xd65f03c0};
/* the same, without the frame pointer: mov x29, #0 */
static const uint32_t lost[] = {0xa9be7bfd, 0xd280001d, 0xf9000bf3, 0xd63f0000,
				0xd503201f, 0xf9400bf3, 0xa8c27bfd, 0xd65f03c0};
#endif

static NOINLINE void generated_code(void)
{
	static struct stack s, by_size;

	must(leads_on(call_code(trampoline, sizeof(trampoline)), &by_size) && !by_size.frame[3].guessed,
	     "generated code without tables or frame pointer");
#ifndef NO_FRAME_POINTERS
	must(leads_on(call_code(pointer, sizeof(pointer)), &s) && same_callers(&s, &by_size),
	     "generated code with a frame pointer");
#else
	/* the caller's is not one: what is found by it is marked */
	read_stack(call_code(pointer, sizeof(pointer)), &s);
	must(s.count > 3 && s.frame[2].guessed && s.frame[3].guessed && !same_callers(&s, &by_size),
	     "generated code with a frame pointer, whose callers have none");
#endif
	read_stack(call_code(lost, sizeof(lost)), &s);
	must(s.root == GRT_ROOT_NO_RULE && s.count == 3,
	     "generated code with neither: the stack ends there, marked");
	check_here("after generated code");
}

/* ------------------------------------------------------------------- objects */

static uint32_t called_back_id;

static void called_back(void)
{
	called_back_id = check_here("in a library that takes another's place");
}

static bool call_library(const char *path, const char *function, void **address, struct grt_umodule *module)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call)(void (*)(void)) =
		library ? (void (*)(void (*)(void)))(uintptr_t)dlsym(library, function) : NULL;
	static struct stack s;

	if (!call)
		return false;
	*address = (void *)(uintptr_t)call;
	call(called_back);
	read_stack(called_back_id, &s);
	/* called_back(), then the library's function */
	if (strcmp(name_at(s.frame[1].address), function) || !grt_unwind_module(s.frame[1].module, module))
		return false;
	call(called_back);
	dlclose(library);
	return true;
}

static void libraries(const char *a, const char *b)
{
	struct grt_umodule first, second, again;
	struct grt_unwind_stats stats;
	void *at[3];
	bool ok = true;

	for (int i = 0; i < 20 && ok; i++)
		ok = call_library(a, "function_a", &at[0], &first) &&
		     call_library(b, "function_b", &at[1], &second) &&
		     call_library(a, "function_a", &at[2], &again);
	must(ok, "libraries that come and go");
	must(strstr(first.path, a) && strstr(second.path, b) && !strcmp(first.path, again.path),
	     "each frame is in the library that was there");
	must(at[0] >= (void *)(uintptr_t)first.start && at[0] < (void *)(uintptr_t)first.end &&
		     first.build_id_len == 20 && memcmp(first.build_id, second.build_id, 20),
	     "with its addresses and build id");
	grt_unwind_stats(&stats);
	must(stats.exact_dlopen, "dlopen() and dlclose() are seen at once");
	if (first.start != second.start)
		printf("# the second library was not put in the first one's place\n");
}

/* -------------------------------------------------------------------- threads */

static void *thread_main(void *data)
{
	random_state = (uint32_t)(uintptr_t)data;
	for (int i = 0; i < 12; i++)
		visit(8);
	grt_unwind_thread_free(memory);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[8];

	for (uintptr_t i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, thread_main, (void *)(i + 77));
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	passed("8 threads at once");
}

static void children(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		grt_unwind_forked();
		check_here("in a child");
		_exit(0);
	}
	waitpid(child, &status, 0);
	must(!status, "in a child");
}

/* ------------------------------------------------------- tables that are full */

static int hidden_compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	called_back_id = grt_unwind(memory_of_walks());
	return 0;
}

static NOINLINE void sort_two(void)
{
	int two[2] = {1, 2};

	qsort(two, 2, sizeof(two[0]), hidden_compare);
	sink++;
}

static NOINLINE void nest_sorts(unsigned int depth);

static int nesting_compare(const void *a, const void *b)
{
	unsigned int depth;

	(void)b;
	memcpy(&depth, a, sizeof(depth));
	nest_sorts(depth);
	return 0;
}

static NOINLINE void nest_sorts(unsigned int depth)
{
	unsigned int two[2] = {depth - 1, depth - 1};

	if (depth)
		qsort(two, 2, sizeof(two[0]), nesting_compare);
	else
		sort_two();
	sink++;
}

/* With a tree of few nodes, and this program hidden where it is innermost. */
static void small_tree(void)
{
	static struct stack s;
	struct grt_unwind_stats stats;
	uint32_t first = 0, full = 0;

	must(!grt_unwind_init(40, false) && !grt_unwind_hide((const void *)(uintptr_t)small_tree) &&
		     grt_unwind_hide((const void *)8) == -ENOENT,
	     "start with a small tree");
	/* Twice from one place: the second time the tree is full. */
	for (volatile int i = 0; i < 2; i++) {
		sort_two();
		first = i ? first : called_back_id;
		for (unsigned int depth = 1; !i && depth < 60; depth++)
			nest_sorts(depth);
		full = i ? full : called_back_id;
	}
	read_stack(first, &s);
	must(s.root == GRT_ROOT_START && s.count > 3 && s.frame[0].module != s.frame[s.count - 1].module,
	     "frames of a hidden object are left out where they are innermost");
	grt_unwind_stats(&stats);
	must(full == GRT_ROOT_FULL && stats.roots[GRT_ROOT_FULL] > 10 && stats.nodes == 40,
	     "a stack that finds no room is lost, and counted");
	must(called_back_id == first, "what is known is found in a full tree, too");
}

#if defined(__aarch64__) && defined(__ARM_FEATURE_PAC_DEFAULT)
/* Behind the saved frame pointer is the return address. */
static NOINLINE void signed_addresses(void)
{
	const uint64_t *saved = __builtin_frame_address(0);

	must(saved[1] >> 48, "return addresses are signed");
	check_here("signed return addresses");
}
#else
static void signed_addresses(void)
{
}
#endif

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "small")) {
		small_tree();
		return 0;
	}
	must(!grt_unwind_init(0, false), "start");
	if (argc > 1 && !strcmp(argv[1], "threads")) {
		threads();
		return 0;
	}
	signed_addresses();
	random_trees();
	stacks_again();
#ifndef NO_NAMES
	first_name();
	passed("names of functions");
#endif
	in_handlers();
	recursion();
	contexts();
	generated_code();
	if (argc > 2)
		libraries(argv[1], argv[2]);
	threads();
	children();
	walks_in_walks();
	at_any_instruction();
	printf("# %lu stacks compared\n", walks_checked);
	return 0;
}
