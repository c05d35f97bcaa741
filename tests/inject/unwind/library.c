// SPDX-License-Identifier: GPL-2.0
/*
 * A library with one function, FUNCTION, whose frame has SIZE bytes: it calls
 * what it is given.
 */
void FUNCTION(void (*call)(void));
void FUNCTION(void (*call)(void))
{
	volatile char room[SIZE];

	room[0] = 1;
	call();
	room[0] = 2;
}
