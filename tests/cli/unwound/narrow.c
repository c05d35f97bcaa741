// SPDX-License-Identifier: GPL-2.0
/* narrow: a program of 32 bits without a C library, which sleeps again and again. */
static int call(int number, int a, int b)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b) : "memory");
	return ret;
}

#define EXIT 1
#define NANOSLEEP 162

void _start(void)
{
	int ms[2] = {0, 1000000};

	for (int i = 0; i < 40; i++)
		call(NANOSLEEP, (int)ms, 0);
	call(EXIT, 0, 0);
}
