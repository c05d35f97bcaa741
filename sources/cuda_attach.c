// SPDX-License-Identifier: GPL-2.0
/*
 * Loads the library into a running process. One of its threads, which waits in a system call, is stopped
 * twice for less than a millisecond. First, it allocates memory and makes a file, into which the library is
 * copied. Then it runs code there that calls dlopen() on a stack of its own, restores all registers, and
 * continues where the thread was. No further help is needed: if the recorder is killed then, the process
 * continues.
 */
#include "cuda_attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/elf_file.h"
#include "host/maps.h"
#include "host/read_all.h"
#include "seccomp.h"

/* Functions are found with libelf, which the loader of BPF programs brings along. */
#if defined(__x86_64__) && defined(GRT_HAVE_BPF)

/*
 * Offsets in the new memory of the process: code, its data, state of the processor's other registers, and a
 * stack.
 */
#define ATTACH_DATA 0x1000
#define ATTACH_XSAVE 0x2000
#define ATTACH_STACK 0x8000
#define ATTACH_BYTES 0x60000
#define ATTACH_STOP_MS 500
#define ATTACH_LOAD_MS 10000
/* How many times to look for a thread that can be stopped, every 10 ms. */
#define ATTACH_TRIES 100

/* Data of the code, which contains these offsets. */
struct attach_data {
	uint64_t saved[16];   /* 0: rsp, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 .. r15 */
	uint64_t rip;	      /* 128 */
	uint64_t mask;	      /* 136 */
	uint64_t dlopen;      /* 144 */
	uint64_t dlerror;     /* 152 */
	uint64_t errno_place; /* 160 */
	uint64_t handle;      /* 168 */
	uint64_t error;	      /* 176 */
	uint32_t number;      /* 184 */
	uint32_t fd;	      /* 188 */
	uint32_t done;	      /* 192 */
	char path[60];	      /* 196 */
};

_Static_assert(offsetof(struct attach_data, path) == 196 && offsetof(struct attach_data, done) == 192,
	       "as in the code");

extern const char attach_code[], attach_code_end[];

/* The sender of a thread sets @rax and @rip, which make the thread repeat its system call. */
__asm__(".pushsection .rodata\n"
	".globl attach_code, attach_code_end\n"
	".hidden attach_code, attach_code_end\n"
	".set D, attach_code + 0x1000\n"
	"attach_code:\n"
	"	mov %rsp, D+0(%rip)\n	mov %rbx, D+16(%rip)\n	mov %rcx, D+24(%rip)\n"
	"	mov %rdx, D+32(%rip)\n	mov %rsi, D+40(%rip)\n	mov %rdi, D+48(%rip)\n"
	"	mov %rbp, D+56(%rip)\n	mov %r8, D+64(%rip)\n	mov %r9, D+72(%rip)\n"
	"	mov %r10, D+80(%rip)\n	mov %r11, D+88(%rip)\n	mov %r12, D+96(%rip)\n"
	"	mov %r13, D+104(%rip)\n	mov %r14, D+112(%rip)\n	mov %r15, D+120(%rip)\n"
	"	lea attach_code+0x60000(%rip), %rsp\n"
	"	pushfq\n	push %rbp\n	cld\n	xor %ebp, %ebp\n"
	"	mov $-1, %eax\n	mov $-1, %edx\n	xsave64 attach_code+0x2000(%rip)\n"
	"	call *D+160(%rip)\n	mov (%rax), %eax\n	mov %eax, D+184(%rip)\n"
	"	lea D+196(%rip), %rdi\n	mov $2, %esi\n	call *D+144(%rip)\n"
	"	mov %rax, D+168(%rip)\n	test %rax, %rax\n	jnz 1f\n"
	"	call *D+152(%rip)\n	mov %rax, D+176(%rip)\n"
	"1:	mov $3, %eax\n	mov D+188(%rip), %edi\n	syscall\n"
	"	call *D+160(%rip)\n	mov D+184(%rip), %ecx\n	mov %ecx, (%rax)\n"
	"	movl $1, D+192(%rip)\n"
	"	mov $14, %eax\n	mov $2, %edi\n	lea D+136(%rip), %rsi\n	xor %edx, %edx\n"
	"	mov $8, %r10d\n	syscall\n"
	"	mov $-1, %eax\n	mov $-1, %edx\n	xrstor64 attach_code+0x2000(%rip)\n"
	"	pop %rbp\n	popfq\n"
	"	mov D+16(%rip), %rbx\n	mov D+24(%rip), %rcx\n	mov D+32(%rip), %rdx\n"
	"	mov D+40(%rip), %rsi\n	mov D+48(%rip), %rdi\n	mov D+64(%rip), %r8\n"
	"	mov D+72(%rip), %r9\n	mov D+80(%rip), %r10\n	mov D+88(%rip), %r11\n"
	"	mov D+96(%rip), %r12\n	mov D+104(%rip), %r13\n	mov D+112(%rip), %r14\n"
	"	mov D+120(%rip), %r15\n	mov D+8(%rip), %rax\n	mov D+0(%rip), %rsp\n"
	"	jmp *D+128(%rip)\n"
	"attach_code_end:\n"
	".popsection\n");

/**
 * struct attach
 * @mem: the memory of the process
 * @low, @high: the dynamic linker's code: a thread that comes from there holds its lock
 * @gadget: a place in the C library that makes a system call
 * @filtered: some of its threads have seccomp filters
 * @tid, @regs, @mask: the stopped thread, its registers and its mask of signals
 * @stopped: when it was stopped
 */
struct attach {
	pid_t pid;
	int mem;
	uint64_t low, high;
	uint64_t dlopen, dlerror, errno_place, gadget;
	bool filtered;
	pid_t tid;
	struct user_regs_struct regs;
	uint64_t mask;
	uint64_t stopped;
	struct cuda_attach *out;
	struct grt_err *err;
};

static int attach_refuse(struct attach *a, int code, const char *why, const char *fix)
{
	return grt_err_set(a->err, code, why, fix, "cannot load the library into process %d", (int)a->pid);
}

/* -------------------------------------------------------- before anything is done */

/* A number in the status of a thread: /proc has a directory for each, by its number. 0: it has no such
 * number. */
static long attach_status(pid_t tid, const char *key)
{
	char value[64];

	read_status(tid, key, value, sizeof(value));
	return strtol(value, NULL, 10);
}

static int attach_yama(void)
{
	char scope[16];

	read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	return atoi(scope);
}

static int attach_no_right(struct attach *a, int code)
{
	int scope = attach_yama();

	if (code == -ESRCH)
		return attach_refuse(a, code, "there is no such process, or it has ended", "ps -e");
	if (scope >= 3)
		return attach_refuse(a, code, "/proc/sys/kernel/yama/ptrace_scope is 3: nobody may attach",
				     "grtrace start --cuda, and start the program again");
	if (scope && geteuid())
		return attach_refuse(a, code,
				     "/proc/sys/kernel/yama/ptrace_scope is not 0: only root may attach",
				     "sudo grtrace record ...");
	return attach_refuse(a, code,
			     geteuid()
				     ? "it belongs to another user, or has more privileges than this process"
				     : "this process lacks the right to trace it (CAP_SYS_PTRACE)",
			     "sudo grtrace record ..., outside of a container");
}

/* The next thread of a process, 0: that was the last one. @*d: NULL at first */
static pid_t attach_next_thread(const struct attach *a, DIR **d)
{
	char path[64];
	struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)a->pid);
	if (!*d)
		*d = opendir(path);
	while (*d && (e = readdir(*d)))
		if (atoi(e->d_name) > 0)
			return (pid_t)atoi(e->d_name);
	if (*d)
		closedir(*d);
	*d = NULL;
	return 0;
}

/* Notes whether a thread has seccomp filters, which are read later. Return: 0 or -errno */
static int attach_look_for_filters(struct attach *a)
{
	bool strict = false;
	DIR *d = NULL;
	pid_t tid;

	while ((tid = attach_next_thread(a, &d))) {
		long mode = attach_status(tid, "Seccomp");

		a->filtered |= mode > 1;
		strict |= mode == 1;
	}
	if (!strict)
		return 0;
	return attach_refuse(a, -EPERM, "seccomp allows one of its threads to read, write and exit only",
			     "start it with grtrace record -- PROG");
}

static int attach_check(struct attach *a)
{
	long tracer = attach_status(a->pid, "TracerPid");
	char why[96], path[64];
	unsigned char head[5] = {0};
	int fd, ret;

	snprintf(why, sizeof(why), "process %ld traces it already", tracer);
	if (tracer > 0)
		return attach_refuse(a, -EBUSY, why, "end that debugger or profiler");
	ret = attach_look_for_filters(a);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)a->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return attach_no_right(a, -errno);
	if (read(fd, head, sizeof(head)) != sizeof(head))
		head[4] = 0;
	close(fd);
	if (head[4] != 2)
		return attach_refuse(a, -ENOEXEC, "it is not a 64-bit program",
				     "start it with grtrace record -- PROG");
	return 0;
}

/* ------------------------------------------------------------- addresses */

/* The address of a function, from its offset in the file; 0: the file does not have it. */
static uint64_t attach_function(struct attach *a, const char *path, const char *symbol)
{
	struct maps maps = {.from = maps_open(a->pid)};
	struct maps_row row;
	struct grt_err none = {0};
	char file[PATH_MAX + 32];
	uint64_t offset = 0, at = 0;
	int fd;

	snprintf(file, sizeof(file), "/proc/%d/root%s", (int)a->pid, path);
	fd = elf_open(file, &none);
	if (fd >= 0 && !elf_function(fd, file, symbol, &offset, &none))
		while (!at && maps_next(&maps, &row))
			if (row.code && !strcmp(row.path, path) && offset >= row.offset &&
			    offset - row.offset < row.end - row.start)
				at = row.start + (offset - row.offset);
	if (fd >= 0)
		close(fd);
	maps_close(&maps);
	return at;
}

/* A system call instruction in a function of the C library. */
static uint64_t attach_gadget(struct attach *a, uint64_t function)
{
	uint8_t code[128];
	ssize_t n = function ? pread(a->mem, code, sizeof(code), (off_t)function) : 0;

	for (ssize_t i = 0; i + 1 < n; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x05)
			return function + (uint64_t)i;
	return 0;
}

static bool attach_is_library(const char *path, const char *name)
{
	const char *file = strrchr(path, '/');

	return file && !strncmp(file + 1, name, strlen(name));
}

static int attach_find(struct attach *a)
{
	struct maps maps = {.from = maps_open(a->pid)};
	char libc[PATH_MAX] = "", libdl[PATH_MAX] = "";
	struct maps_row row;

	if (!maps.from)
		return attach_no_right(a, -errno);
	while (maps_next(&maps, &row)) {
		if (attach_is_library(row.path, "libc.so.6") || attach_is_library(row.path, "libc-2."))
			snprintf(libc, sizeof(libc), "%s", row.path);
		if (attach_is_library(row.path, "libdl.so.2") || attach_is_library(row.path, "libdl-2."))
			snprintf(libdl, sizeof(libdl), "%s", row.path);
		if (row.code && (attach_is_library(row.path, "ld-linux-x86-64") ||
				 attach_is_library(row.path, "ld-2."))) {
			a->low = row.start;
			a->high = row.end;
		}
	}
	maps_close(&maps);
	if (!libc[0])
		return attach_refuse(a, -ENOEXEC,
				     "it is a static program, or has another C library than glibc",
				     "start it with grtrace record -- PROG");
	a->dlopen = attach_function(a, libc, "dlopen");
	a->dlerror = attach_function(a, libc, "dlerror");
	if (!a->dlopen && libdl[0]) {
		a->dlopen = attach_function(a, libdl, "dlopen");
		a->dlerror = attach_function(a, libdl, "dlerror");
	}
	a->errno_place = attach_function(a, libc, "__errno_location");
	a->gadget = attach_gadget(a, attach_function(a, libc, "syscall"));
	if (a->dlopen && a->dlerror && a->errno_place && a->gadget)
		return 0;
	return attach_refuse(a, -ENOEXEC, "its C library has no dlopen(), or was replaced since it began",
			     "start the program again");
}

/* ---------------------------------------------------------------- a thread */

/*
 * Calls in which a thread may be stopped: the kernel repeats them. A thread that allocates memory is only
 * ever in the last of them, to wait for another thread.
 */
static int attach_rank(long call)
{
	static const long calls[] = {SYS_clock_nanosleep, SYS_nanosleep, SYS_poll,	    SYS_ppoll,
				     SYS_select,	  SYS_pselect6,	 SYS_read,	    SYS_recvfrom,
				     SYS_recvmsg,	  SYS_accept,	 SYS_accept4,	    SYS_wait4,
				     SYS_waitid,	  SYS_pause,	 SYS_rt_sigsuspend, SYS_futex};
	const int n = sizeof(calls) / sizeof(calls[0]);

	for (int i = 0; i < n; i++)
		if (calls[i] == call)
			return n - i;
	return 0;
}

/* The call in which a thread waits; -1: none. */
static long attach_call_of(pid_t pid, pid_t tid, uint64_t *sp, uint64_t *pc)
{
	unsigned long long args[6], s = 0, p = 0;
	char path[64];
	long call = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &call, args, args + 1, args + 2,
			args + 3, args + 4, args + 5, &s, &p) != 9)
		call = -1;
	if (f)
		fclose(f);
	*sp = s;
	*pc = p;
	return call;
}

/* Return: whether the code before an address is a call, in the forms that compilers use. */
static bool attach_follows_call(struct attach *a, uint64_t address)
{
	uint8_t c[7];

	if (pread(a->mem, c, sizeof(c), (off_t)(address - sizeof(c))) != sizeof(c))
		return true;
	if (c[2] == 0xe8)
		return true;
	for (int i = 0; i < 6; i++)
		if (c[i] == 0xff && (c[i + 1] & 0x38) == 0x10)
			return true;
	return false;
}

/* Return: whether the thread may be inside the dynamic linker. */
static bool attach_is_linking(struct attach *a, uint64_t sp)
{
	uint64_t word[1024];
	ssize_t n = pread(a->mem, word, sizeof(word), (off_t)(sp & ~7ULL));

	for (ssize_t i = 0; i < n / 8; i++)
		if (word[i] >= a->low && word[i] < a->high && attach_follows_call(a, word[i]))
			return true;
	return false;
}

/* The best thread to be stopped; 0: none. */
static pid_t attach_choose(struct attach *a)
{
	uint64_t sp, pc;
	int best = 0, rank;
	pid_t tid, found = 0;
	DIR *d = NULL;

	while ((tid = attach_next_thread(a, &d))) {
		rank = attach_rank(attach_call_of(a->pid, tid, &sp, &pc));
		if (rank > best && !attach_is_linking(a, sp)) {
			best = rank;
			found = tid;
		}
	}
	return found;
}

static int attach_wait_stop(struct attach *a)
{
	struct timespec moment = {.tv_nsec = 20000};
	uint64_t limit = grt_now() + ATTACH_STOP_MS * 1000000ULL;
	int status;
	pid_t pid;

	while (!(pid = waitpid(a->tid, &status, __WALL | WNOHANG))) {
		if (grt_now() > limit)
			return -ETIMEDOUT;
		nanosleep(&moment, NULL);
	}
	if (pid < 0)
		return -errno;
	return WIFSTOPPED(status) ? status >> 8 : -ESRCH;
}

static int attach_set(struct attach *a, const struct user_regs_struct *regs)
{
	struct iovec v = {(void *)(uintptr_t)regs, sizeof(*regs)};

	return ptrace(PTRACE_SETREGSET, a->tid, 1 /* NT_PRSTATUS */, &v) ? -errno : 0;
}

/* Restores the thread, but not the address of the code that it runs next. */
static int attach_let_go(struct attach *a, const struct user_regs_struct *regs, uint64_t mask)
{
	int ret = regs ? attach_set(a, regs) : 0;
	uint64_t now;

	if (regs && ptrace(PTRACE_SETSIGMASK, a->tid, sizeof(mask), &mask))
		ret = ret ?: -errno;
	if (ptrace(PTRACE_DETACH, a->tid, 0, 0))
		ret = ret ?: -errno;
	now = grt_now();
	if (now - a->stopped > a->out->longest)
		a->out->longest = now - a->stopped;
	return ret;
}

/* Return: all signals except those that the processor causes. */
static uint64_t attach_quiet(void)
{
	return ~(1ULL << (SIGTRAP - 1) | 1ULL << (SIGSEGV - 1) | 1ULL << (SIGBUS - 1) | 1ULL << (SIGILL - 1) |
		 1ULL << (SIGFPE - 1));
}

static int attach_does_not_stop(struct attach *a)
{
	return attach_refuse(a, -ETIMEDOUT, "its thread does not stop, because the kernel does not let it",
			     "cat /proc/PID/wchan");
}

/* ---------------------------------------------------------------- seccomp */

/* The filters of a thread that is stopped. Return: 0 or -errno */
static int attach_judge_filters(struct attach *a, pid_t tid)
{
	char why[SECCOMP_WHY] = "";
	int ret = seccomp_check(tid, why);

	if (!ret)
		return 0;
	if (ret == -EPERM)
		return attach_refuse(a, ret, why, "start it with grtrace record -- PROG");
	if (ret == -EACCES)
		return attach_refuse(
			a, ret,
			"its seccomp filter may kill it, and only root outside of containers may "
			"read the filter (CAP_SYS_ADMIN)",
			"sudo grtrace record ..., outside of a container");
	return attach_refuse(a, ret,
			     "its seccomp filter may kill it, and the kernel does not show the filter",
			     "start it with grtrace record -- PROG");
}

/* Whether a thread can be stopped without an error of its call, or is in none. */
static bool attach_may_interrupt(const struct attach *a, pid_t tid)
{
	uint64_t sp, pc;
	long call = attach_call_of(a->pid, tid, &sp, &pc);

	return call < 0 || attach_rank(call);
}

/* Stops a thread to read its filters. Return: 0, -EAGAIN: try another time, or -errno */
static int attach_look_at_thread(struct attach *a, pid_t tid)
{
	int ret, left;

	if (attach_status(tid, "Seccomp") != 2)
		return 0;
	if (!attach_may_interrupt(a, tid))
		return -EAGAIN;
	a->tid = tid;
	a->stopped = grt_now();
	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return errno == ESRCH ? 0 : attach_no_right(a, -errno);
	left = ptrace(PTRACE_INTERRUPT, tid, 0, 0) ? -errno : attach_wait_stop(a);
	if (left == -ESRCH)
		return 0;
	if (left == -ETIMEDOUT)
		return attach_does_not_stop(a);
	ret = left == (SIGTRAP | PTRACE_EVENT_STOP << 8) ? attach_judge_filters(a, tid) : -EAGAIN;
	/* if a signal to the thread came first, the thread gets it */
	ptrace(PTRACE_DETACH, tid, 0, left > 0 && left >> 8 == 0 ? left & 0xff : 0);
	if (grt_now() - a->stopped > a->out->longest)
		a->out->longest = grt_now() - a->stopped;
	return ret;
}

/* Each thread calls the library's functions, and may have filters of its own. Return: 0 or -errno */
static int attach_look_at_filters(struct attach *a)
{
	struct timespec moment = {.tv_nsec = 10000000};
	int ret = 0, tries = ATTACH_TRIES;
	DIR *d = NULL;
	pid_t tid;

	while (a->filtered && (tid = attach_next_thread(a, &d)))
		while (!ret && (ret = attach_look_at_thread(a, tid)) == -EAGAIN && tries--) {
			nanosleep(&moment, NULL);
			ret = 0;
		}
	if (ret == -EAGAIN)
		return attach_refuse(
			a, -EBUSY,
			"one of its threads does not wait in a system call that can be restarted, "
			"so that its seccomp filter cannot be read",
			"try again, or start it with grtrace record -- PROG");
	return ret;
}

/* Return: 0: it is stopped in a call that can be repeated, -EAGAIN: try another time, or -errno */
static int attach_stop_one(struct attach *a)
{
	struct iovec v = {&a->regs, sizeof(a->regs)};
	uint64_t quiet = attach_quiet();
	int ret;

	a->tid = attach_choose(a);
	if (!a->tid)
		return -EAGAIN;
	a->stopped = grt_now();
	if (ptrace(PTRACE_SEIZE, a->tid, 0, 0))
		return errno == ESRCH ? -EAGAIN : -errno;
	if (ptrace(PTRACE_INTERRUPT, a->tid, 0, 0))
		ret = -errno;
	else
		ret = attach_wait_stop(a);
	if (ret == -ETIMEDOUT)
		return ret;
	/* another signal came first: the thread gets it */
	if (ret < 0 || ret != (SIGTRAP | PTRACE_EVENT_STOP << 8)) {
		ptrace(PTRACE_DETACH, a->tid, 0, ret > 0 && ret >> 8 == 0 ? ret & 0xff : 0);
		return -EAGAIN;
	}
	if (ptrace(PTRACE_GETREGSET, a->tid, 1, &v) || v.iov_len != sizeof(a->regs) ||
	    ptrace(PTRACE_GETSIGMASK, a->tid, sizeof(a->mask), &a->mask)) {
		attach_let_go(a, NULL, 0);
		return -EAGAIN;
	}
	/* it has left the call by itself, or runs as a 32-bit program */
	if (a->regs.cs != 0x33 || (long)a->regs.orig_rax < 0 || (long)a->regs.rax > -512 ||
	    (long)a->regs.rax < -516 || attach_is_linking(a, a->regs.rsp) ||
	    ptrace(PTRACE_SETSIGMASK, a->tid, sizeof(quiet), &quiet)) {
		attach_let_go(a, NULL, 0);
		return -EAGAIN;
	}
	return 0;
}

static int attach_stop(struct attach *a)
{
	struct timespec moment = {.tv_nsec = 10000000};
	int ret = -EAGAIN;

	for (int i = 0; i < ATTACH_TRIES && ret == -EAGAIN; i++) {
		ret = attach_stop_one(a);
		if (ret == -EAGAIN)
			nanosleep(&moment, NULL);
	}
	if (ret == -EAGAIN)
		return attach_refuse(a, -EBUSY,
				     "none of its threads waits in a system call that can be restarted",
				     "try again, or grtrace start --cuda, and start the program again");
	if (ret == -ETIMEDOUT)
		return attach_does_not_stop(a);
	if (ret)
		return attach_no_right(a, ret);
	/* it may have got a filter since the filters were read */
	if (attach_status(a->tid, "Seccomp") == 2)
		ret = attach_judge_filters(a, a->tid);
	if (ret)
		attach_let_go(a, &a->regs, a->mask);
	return ret;
}

/* Makes the thread execute a system call. Return: its result */
static long attach_make_call(struct attach *a, long number, long a1, long a2, long a3, long a4, long a5)
{
	struct user_regs_struct r = a->regs;
	struct iovec v = {&r, sizeof(r)};

	r.orig_rax = (unsigned long long)-1;
	r.rax = (unsigned long long)number;
	r.rdi = (unsigned long long)a1;
	r.rsi = (unsigned long long)a2;
	r.rdx = (unsigned long long)a3;
	r.r10 = (unsigned long long)a4;
	r.r8 = (unsigned long long)a5;
	r.r9 = 0;
	r.rip = a->gadget;
	if (attach_set(a, &r) || ptrace(PTRACE_SINGLESTEP, a->tid, 0, 0) || attach_wait_stop(a) < 0 ||
	    ptrace(PTRACE_GETREGSET, a->tid, 1, &v))
		return -ESRCH;
	return r.rip == a->gadget + 2 ? (long)r.rax : -EIO;
}

/* --------------------------------------------------------------- the two stops */

/* Return: 0 or -errno; the memory at @at, and the file @fd, in the process */
static int attach_make_room(struct attach *a, uint64_t *at, int *fd)
{
	static const char name[] = "grtrace";
	long room, file = -1;
	int ret = attach_stop(a);

	if (ret)
		return ret;
	room = attach_make_call(a, SYS_mmap, 0, ATTACH_BYTES, 7, 0x22 /* private, anonymous */, -1);
	if (room > 0 && pwrite(a->mem, name, sizeof(name), (off_t)room + ATTACH_DATA) == sizeof(name))
		file = attach_make_call(a, SYS_memfd_create, room + ATTACH_DATA, 1 /* close on exec */, 0, 0,
					0);
	ret = attach_let_go(a, &a->regs, a->mask);
	a->out->at = room > 0 ? (uint64_t)room : 0;
	a->out->bytes = ATTACH_BYTES;
	if (ret || room <= 0 || file < 0)
		return attach_refuse(a,
				     ret
					     ?: room <= 0 ? (int)room
							  : (int)file,
				     "it cannot map memory or open a file for the library",
				     "ulimit -n, -v of the process");
	*at = (uint64_t)room;
	*fd = (int)file;
	return 0;
}

static int attach_copy(struct attach *a, int fd, const char *library)
{
	char path[64];
	int from = open(library, O_RDONLY | O_CLOEXEC), to;
	ssize_t n = 1;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)a->pid, fd);
	to = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	while (from >= 0 && to >= 0 && n > 0)
		n = sendfile(to, from, NULL, 1 << 20);
	n = from < 0 || to < 0 || n < 0 ? -errno : 0;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return n ? attach_refuse(a, (int)n, strerror((int)-n), NULL) : 0;
}

/* The thread continues in its call, which is repeated with the remaining time. */
static void attach_continue_with(const struct user_regs_struct *r, struct attach_data *d)
{
	d->rip = r->rip - 2;
	d->saved[1] = (long)r->rax == -516 ? (uint64_t)SYS_restart_syscall : r->orig_rax;
}

static int attach_send(struct attach *a, uint64_t at, int fd)
{
	struct attach_data d = {.dlopen = a->dlopen,
				.dlerror = a->dlerror,
				.errno_place = a->errno_place,
				.fd = (uint32_t)fd};
	size_t code = (size_t)(attach_code_end - attach_code);
	struct user_regs_struct r;
	int ret = attach_stop(a);

	if (ret)
		return ret;
	snprintf(d.path, sizeof(d.path), "/proc/self/fd/%d", fd);
	attach_continue_with(&a->regs, &d);
	d.mask = a->mask;
	r = a->regs;
	r.rip = at;
	r.orig_rax = (unsigned long long)-1;
	if (pwrite(a->mem, attach_code, code, (off_t)at) != (ssize_t)code ||
	    pwrite(a->mem, &d, sizeof(d), (off_t)(at + ATTACH_DATA)) != sizeof(d)) {
		ret = -errno;
		attach_let_go(a, &a->regs, a->mask);
		return attach_refuse(a, ret, strerror(-ret), NULL);
	}
	/* the code unblocks signals at its end */
	ret = attach_let_go(a, &r, attach_quiet());
	return ret ? attach_refuse(a, ret, strerror(-ret), NULL) : 0;
}

/* Waits until the thread has left the code. Memory in which it might still be is not freed. */
static void attach_wait_out(struct attach *a, uint64_t at)
{
	struct timespec moment = {.tv_nsec = 1000000};
	uint64_t sp, pc;

	for (int ms = 0; ms < 1000; ms++, nanosleep(&moment, NULL))
		if (attach_call_of(a->pid, a->tid, &sp, &pc) >= 0 && (pc < at || pc >= at + ATTACH_BYTES))
			return;
	a->out->at = 0;
}

static int attach_wait_loaded(struct attach *a, uint64_t at)
{
	struct timespec moment = {.tv_nsec = 500000};
	uint64_t limit = grt_now() + ATTACH_LOAD_MS * 1000000ULL;
	struct attach_data d = {.done = 0};
	char why[256] = "dlopen() failed";

	while (pread(a->mem, &d, sizeof(d), (off_t)(at + ATTACH_DATA)) == sizeof(d) && !d.done) {
		if (grt_now() > limit)
			return attach_refuse(a, -ETIMEDOUT,
					     "another of its threads holds the dynamic linker's lock",
					     "try again");
		nanosleep(&moment, NULL);
	}
	if (!d.done)
		return attach_refuse(a, -ESRCH, "it has ended", NULL);
	attach_wait_out(a, at);
	if (d.handle)
		return 0;
	if (d.error && pread(a->mem, why, sizeof(why) - 1, (off_t)d.error) > 0)
		why[sizeof(why) - 1] = '\0';
	return attach_refuse(a, -ENOEXEC, why, NULL);
}

static int attach_load(struct attach *a, const char *library)
{
	uint64_t at = 0;
	int fd = -1, ret = attach_find(a);

	if (!ret)
		ret = attach_look_at_filters(a);
	if (!ret)
		ret = attach_make_room(a, &at, &fd);
	if (!ret)
		ret = attach_copy(a, fd, library);
	if (!ret)
		ret = attach_send(a, at, fd);
	return ret ?: attach_wait_loaded(a, at);
}

static int attach_try(struct cuda_attach *out, pid_t pid, const char *library, struct grt_err *err)
{
	struct attach a = {.pid = pid, .out = out, .err = err};
	char path[64];
	int ret;

	ret = attach_check(&a);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	a.mem = open(path, O_RDWR | O_CLOEXEC);
	if (a.mem < 0)
		return attach_no_right(&a, -errno);
	ret = attach_load(&a, library);
	close(a.mem);
	return ret;
}

/** struct attach_result - the result of the tracing process */
struct attach_result {
	struct cuda_attach out;
	struct grt_err err;
	int ret;
};

/*
 * The helper has its own session, so that a signal to the recorder's session does not end it before it has
 * restored the thread.
 */
static void attach_in_helper(struct attach_result *r, pid_t pid, const char *library)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	r->ret = attach_try(&r->out, pid, library, &r->err);
	_exit(0);
}

int cuda_attach_load(struct cuda_attach *out, pid_t pid, const char *library, struct grt_err *err)
{
	struct attach_result *r =
		mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t helper;
	int ret;

	if (r == MAP_FAILED)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory to trace process %d", (int)pid);
	r->ret = -ECHILD;
	helper = fork();
	if (!helper)
		attach_in_helper(r, pid, library);
	while (helper > 0 && waitpid(helper, NULL, 0) < 0 && errno == EINTR)
		;
	*out = r->out;
	*err = r->err;
	ret = r->ret;
	munmap(r, sizeof(*r));
	return ret != -ECHILD ? ret
			      : grt_err_set(err, ret, "the process that loads it was killed", "try again",
					    "cannot load the library into process %d", (int)pid);
}

#else

int cuda_attach_load(struct cuda_attach *out, pid_t pid, const char *library, struct grt_err *err)
{
	*out = (struct cuda_attach){0};
	return grt_err_set(err, -ENOSYS,
			   "this works only on x86-64, with a grtrace that was built with libbpf",
			   "grtrace start --cuda, and start the program again",
			   "cannot load the library into process %d", (int)pid);
}

#endif
