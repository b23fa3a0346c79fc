//! Splits large work into parts for the processor's cores. The calling thread works, too, so it doesn't wait for
//! threads to wake up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Fewer blocks than this, or as many postings of one, don't pay for another core.
const WORTH_A_CORE: usize = 30_000;

/// Runs two pieces of work on so many blocks, in parallel if the number makes that worthwhile.
pub fn both<A: Send, B>(blocks: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B) -> (A, B) {
    if blocks < WORTH_A_CORE {
        return (a(), b());
    }
    let mut made = None;
    let other = rayon::in_place_scope(|scope| {
        scope.spawn(|_| made = Some(a()));
        b()
    });
    (made.expect("a scope ends after what was spawned in it"), other)
}

/// The results of `work` for each of `count` parts of so many blocks, in their order.
pub fn share<T: Send>(blocks: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let helpers = rayon::current_num_threads().min(count).saturating_sub(1);
    if blocks < WORTH_A_CORE || helpers == 0 {
        return (0..count).map(work).collect();
    }
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    let run = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let part = work(at);
            made.lock().unwrap_or_else(PoisonError::into_inner).push((at, part));
        }
    };
    rayon::in_place_scope(|scope| {
        (0..helpers).for_each(|_| scope.spawn(|_| run()));
        run();
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, part)| part).collect()
}
