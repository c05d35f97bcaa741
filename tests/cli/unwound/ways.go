// SPDX-License-Identifier: GPL-2.0
// ways WAY: sleeps again and again, by the system call itself, on the stack of a goroutine: deep (methods and closures),
// main (the same on that of main.main).
package main

import (
	"os"
	"syscall"
	"unsafe"
)

var sink int

//go:noinline
func nap() {
	t := syscall.Timespec{Nsec: 4000000}
	syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, 1, 0, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	sink++
}

type step interface{ run(n int) int }
type small struct{ room [24]byte }
type large struct{ room [3000]byte }

//go:noinline
func (s small) run(n int) int { return deep(n) + int(s.room[n%24]) }

//go:noinline
func (l *large) run(n int) int {
	more := func(x int) int { return deep(x) + int(l.room[x]) }
	return more(n)
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		nap()
		return sink
	}
	var s step = small{}
	if n%2 == 1 {
		s = &large{}
	}
	return s.run(n-1) + 1
}

func all() {
	for i := 0; i < 250; i++ {
		sink += deep(20)
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "main" {
		all()
		return
	}
	done := make(chan bool)
	go func() {
		all()
		done <- true
	}()
	<-done
}
