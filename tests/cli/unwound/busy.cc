// SPDX-License-Identifier: GPL-2.0
/*
 * busy WAY: computes at the end of calls of one kind, without end, so that each of its instructions is one
 * to stop at: deep (frames of many sizes, alloca), tail (calls that are jumps), throw
 * (exceptions through destructors), signal (in a handler on a stack of its own), sort (called back by the C
 * library, and by templates), text (numbers to text and back: the C library's own calls).
 */
#include <algorithm>
#include <alloca.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

static NOINLINE int work(int n)
{
	int sum = n;

	for (int i = 0; i < 40; i++)
		sum += sum / (i + 3) ^ i;
	return sum;
}

static NOINLINE int deep(int n)
{
	volatile char room[40];
	auto more = static_cast<volatile char *>(alloca(16 * (n % 5) + 8));

	room[n % 40] = more[0] = static_cast<char>(n);
	if (n)
		return deep(n - 1) + room[n % 40] + more[0] + work(n);
	return work(room[0]);
}

static NOINLINE int last(int n)
{
	return work(n) + work(n + 1);
}

static NOINLINE int middle(int n)
{
	sink = sink + work(n);
	return last(n + 1);
}

static NOINLINE int tail(int n)
{
	sink = sink + n;
	return n % 3 ? middle(n * 2) : last(n);
}

struct guard {
	int n;
	~guard()
	{
		sink = sink + work(n);
	}
};

static NOINLINE int fail(int n)
{
	guard g{n};

	if (!n)
		throw std::string("on purpose, and longer than what a string has in itself");
	return fail(n - 1) + 1;
}

static NOINLINE int catches(int n)
{
	try {
		return fail(n);
	} catch (const std::string &e) {
		return deep(3) + static_cast<int>(e.size());
	}
}

static void on_signal(int)
{
	sink = sink + deep(5);
}

static NOINLINE int interrupted(int n)
{
	raise(SIGUSR1);
	return work(n);
}

static int compare(const void *a, const void *b)
{
	return work(*static_cast<const int *>(a)) - work(*static_cast<const int *>(b));
}

static NOINLINE int sort(int n)
{
	std::vector<int> v;
	std::map<int, std::string> m;

	for (int i = 0; i < 60; i++)
		v.push_back(work(n + i * 7919) % 1000);
	qsort(v.data(), v.size(), sizeof(v[0]), compare);
	for (int i : v)
		m[i % 17] += "word";
	std::sort(v.begin(), v.end(), [](int a, int b) { return work(a) > work(b); });
	return v[0] + static_cast<int>(m.size());
}

static NOINLINE int text(int n)
{
	char line[200];

	snprintf(line, sizeof(line), "%d %.12g %s %08x", n, n / 7.0, "some words", n);
	return static_cast<int>(strtod(line + 2, nullptr) + atoi(line)) + static_cast<int>(strlen(line));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int);
	} ways[] = {{"deep", [](int) { return deep(60); }},
		    {"tail", tail},
		    {"throw", catches},
		    {"signal", interrupted},
		    {"sort", sort},
		    {"text", text}};
	static char stack[65536];
	stack_t other = {};
	struct sigaction act = {};

	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	act.sa_handler = on_signal;
	act.sa_flags = SA_ONSTACK;
	sigaltstack(&other, nullptr);
	sigaction(SIGUSR1, &act, nullptr);
	for (const auto &way : ways)
		for (int i = 0; !strcmp(way.name, argc > 1 ? argv[1] : "deep"); i++)
			sink = sink + way.run(i % 13 + 5);
	return 0;
}
