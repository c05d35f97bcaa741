// SPDX-License-Identifier: GPL-2.0
// busy WAY: computes without end: deep (methods and closures, on the stack of a goroutine), main (text, a
// sort and a map, on that of main.main).
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
)

var sink int

//go:noinline
func work(n int) int {
	for i := 0; i < 40; i++ {
		n += n/(i+3) ^ i
	}
	return n
}

type step interface{ run(n int) int }
type small struct{ room [24]byte }
type large struct{ room [3000]byte }

//go:noinline
func (s small) run(n int) int { return deep(n) + int(s.room[n%24]) + work(n) }

//go:noinline
func (l *large) run(n int) int {
	more := func(x int) int { return deep(x) + int(l.room[x]) }
	return more(n)
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		return work(n)
	}
	var s step = small{}
	if n%2 == 1 {
		s = &large{}
	}
	return s.run(n-1) + work(n)
}

//go:noinline
func text(n int) int {
	words := map[string]int{}
	for i := 0; i < 30; i++ {
		words[fmt.Sprintf("%.3f", float64(n+i*7919)/7)] = i
	}
	var all []float64
	for word := range words {
		x, _ := strconv.ParseFloat(word, 64)
		all = append(all, x)
	}
	sort.Float64s(all)
	return len(all) + work(n)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "main" {
		for i := 0; ; i++ {
			sink += text(i % 13)
		}
	}
	go func() {
		for {
			sink += deep(20)
		}
	}()
	select {}
}
