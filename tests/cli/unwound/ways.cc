// SPDX-License-Identifier: GPL-2.0
/*
 * unwound WAY [TYPE]: sleeps again and again at the end of calls of one kind, all of which
 * are compiled without frame pointers: deep (frames of many sizes), tail (calls
 * that are jumps), throw (in a handler of an exception, beside a destructor),
 * signal (in a signal handler on a stack of its own, which interrupted a function),
 * sort (called back by the C library), turns (by one caller and by the other: only a word
 * far out differs). With TYPE it makes an ioctl of this type on /dev/null before it
 * sleeps.
 */
#include <alloca.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static int null;
static unsigned long call;

static NOINLINE void nap()
{
	const timespec t = {0, 4000000};

	if (call)
		ioctl(null, call, 0);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, nullptr);
	sink = sink + 1;
}

static NOINLINE int deep(int n)
{
	volatile char room[40];
	auto more = static_cast<volatile char *>(alloca(16 * (n % 5) + 8));

	room[n % 40] = more[0] = static_cast<char>(n);
	if (n)
		return deep(n - 1) + room[n % 40] + more[0];
	nap();
	return room[0];
}

static NOINLINE int last(int n)
{
	nap();
	return n + sink;
}

static NOINLINE int middle(int n)
{
	return last(n + 1);
}

static NOINLINE int tail(int n)
{
	return middle(n * 2);
}

struct guard {
	~guard() { nap(); }
};

static NOINLINE void fail(int n)
{
	guard g;

	if (n)
		throw n;
}

static NOINLINE int catches(int n)
{
	try {
		fail(n);
	} catch (int e) {
		return deep(e);
	}
	return 0;
}

static void on_signal(int)
{
	deep(3);
}

static NOINLINE void interrupted()
{
	raise(SIGUSR1);
	sink = sink + 1;
}

static int compare(const void *a, const void *b)
{
	nap();
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static NOINLINE void sort()
{
	int two[] = {2, 1};

	qsort(two, 2, sizeof(two[0]), compare);
	sink = sink + two[0];
}

static NOINLINE void left()
{
	sink = sink + deep(30);
}

static NOINLINE void right()
{
	sink = sink + deep(30);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "deep";
	static char stack[65536];
	stack_t other = {};
	struct sigaction act = {};

	null = open("/dev/null", O_RDWR);
	call = argc > 2 ? static_cast<unsigned long>(argv[2][0]) << 8 : 0;
	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	act.sa_handler = on_signal;
	act.sa_flags = SA_ONSTACK;
	sigaltstack(&other, nullptr);
	sigaction(SIGUSR1, &act, nullptr);
	for (int i = 0; i < 250; i++) {
		if (!strcmp(way, "tail"))
			sink = sink + tail(i) + 1;
		else if (!strcmp(way, "throw"))
			sink = sink + catches(4) + 1;
		else if (!strcmp(way, "signal"))
			interrupted();
		else if (!strcmp(way, "sort"))
			sort();
		else if (!strcmp(way, "turns"))
			i % 2 ? left() : right();
		else
			sink = sink + deep(60) + 1;
	}
	return 0;
}
