// SPDX-License-Identifier: GPL-2.0
// ways WAY: sleeps again and again below calls of one kind: deep (frames of many sizes, closures, calls by a vtable),
// panic (in the destructor of what is unwound, and behind catch_unwind()).
use std::hint::black_box;

extern "C" {
    fn clock_nanosleep(clock: i32, flags: i32, request: *const [i64; 2], remain: *mut [i64; 2]) -> i32;
}

#[inline(never)]
fn nap() {
    let t = [0i64, 4_000_000];
    unsafe { clock_nanosleep(1, 0, &t, std::ptr::null_mut()) };
    black_box(&t);
}

trait Step {
    fn go(&self, n: usize) -> usize;
}

struct Small([u8; 24]);
struct Large([u8; 3000]);

impl Step for Small {
    #[inline(never)]
    fn go(&self, n: usize) -> usize {
        deep(n) + self.0[n % 24] as usize
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
        nap();
        return black_box(n);
    }
    let step: Box<dyn Step> = if n % 2 == 0 { Box::new(Small([1; 24])) } else { Box::new(Large([2; 3000])) };
    let sum = black_box(step).go(n - 1);
    black_box(sum) + 1
}

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        nap();
    }
}

#[inline(never)]
fn fails(n: usize) {
    let _guard = Guard;
    if black_box(n) > 0 {
        panic!("on purpose");
    }
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    std::panic::set_hook(Box::new(|_| {}));
    for i in 0..250 {
        if way == "panic" {
            let _ = std::panic::catch_unwind(|| fails(i + 1));
            black_box(deep(2));
        } else {
            black_box(deep(40));
        }
    }
}
