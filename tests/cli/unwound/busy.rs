// SPDX-License-Identifier: GPL-2.0
// busy WAY: computes below calls of one kind, without end: deep (frames of many sizes, closures, calls by
// a vtable), panic (unwound through destructors), text (numbers to text and back, a tree, a sort).
use std::collections::BTreeMap;
use std::hint::black_box;

#[inline(never)]
fn work(n: usize) -> usize {
    (0..40).fold(n, |sum, i| sum.wrapping_add(black_box(sum) / (i + 3) ^ i))
}

trait Step {
    fn go(&self, n: usize) -> usize;
}

struct Small([u8; 24]);
struct Large([u8; 3000]);

impl Step for Small {
    #[inline(never)]
    fn go(&self, n: usize) -> usize {
        deep(n) + self.0[n % 24] as usize + work(n)
    }
}

impl Step for Large {
    #[inline(never)]
    fn go(&self, n: usize) -> usize {
        let copy = black_box(self.0);
        let more = |x: usize| deep(x) + copy[x % 3000] as usize;
        black_box(more)(n)
    }
}

#[inline(never)]
fn deep(n: usize) -> usize {
    if n == 0 {
        return work(n);
    }
    let step: Box<dyn Step> = if n % 2 == 0 { Box::new(Small([1; 24])) } else { Box::new(Large([2; 3000])) };
    let sum = black_box(step).go(n - 1);
    black_box(sum).wrapping_add(work(n))
}

struct Guard(usize);

impl Drop for Guard {
    fn drop(&mut self) {
        black_box(work(self.0));
    }
}

#[inline(never)]
fn fails(n: usize) -> usize {
    let _guard = Guard(n);
    if black_box(n) == 0 {
        panic!("on purpose");
    }
    fails(n - 1) + 1
}

#[inline(never)]
fn text(n: usize) -> usize {
    let mut tree = BTreeMap::new();
    for i in 0..30 {
        tree.entry(format!("{:.3} {}", (n + i * 7919) as f64 / 7.0, i % 11)).or_insert(i);
    }
    let mut words: Vec<_> = tree.keys().filter_map(|k| k.split(' ').next()?.parse::<f64>().ok()).collect();
    words.sort_by(|a, b| b.total_cmp(a));
    words.len() + work(n)
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    std::panic::set_hook(Box::new(|_| {}));
    for i in 0usize.. {
        black_box(match way.as_str() {
            "panic" => std::panic::catch_unwind(|| fails(i % 13)).unwrap_or(0),
            "text" => text(i % 13),
            _ => deep(40),
        });
    }
}
