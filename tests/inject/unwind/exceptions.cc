// SPDX-License-Identifier: GPL-2.0
/*
 * exceptions: stacks while a C++ exception is on its way: in a catch, in
 * destructors that the exception runs, in a constructor that throws, and after
 * a rethrow. Prints TAP; ends at the first difference to backtrace().
 */
#include "check.h"

#include <stdexcept>
#include <vector>

unsigned long walks_checked;
bool in_made_context;

struct grt_unwind_thread *memory_of_walks(void)
{
	static struct grt_unwind_thread *memory = grt_unwind_thread_new();

	return memory;
}

static volatile int sink;

struct Checked {
	const char *what;
	std::vector<int> room;
	explicit Checked(const char *w) : what(w), room(10)
	{
	}
	NOINLINE ~Checked()
	{
		check_here(what);
		sink = sink + room.size();
	}
};

static NOINLINE void thrower(int depth)
{
	Checked c("in a destructor that an exception runs");

	check_here("before the exception");
	if (!depth)
		throw std::runtime_error("thrown");
	thrower(depth - 1);
	sink = sink + 1;
}

struct Throws {
	Checked member;
	NOINLINE explicit Throws(int depth) : member("in a member's destructor")
	{
		thrower(depth);
	}
};

static NOINLINE void rethrows(int depth)
{
	try {
		Throws t(depth);
		sink = sink + 1;
	} catch (const std::exception &e) {
		check_here("in a catch");
		Checked c("leaving a catch");
		throw;
	}
}

static NOINLINE void catches(int depth)
{
	try {
		rethrows(depth);
	} catch (const std::runtime_error &e) {
		check_here("in an outer catch");
		sink = sink + e.what()[0];
	}
	check_here("after the exception");
}

int main()
{
	must(!grt_unwind_init(0, false), "start");
	for (int round = 0; round < 20; round++)
		catches(round % 5);
	must(walks_checked > 200, "exceptions in flight, in catches and destructors");
	return 0;
}
