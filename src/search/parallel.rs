//! Splits large work into parts for the processor's cores. The calling thread works, too, so it doesn't wait for
//! threads to wake up.

use std::sync::{Mutex, OnceLock};

use crate::search::store::cache::guard;

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
pub fn share<T: Send + Sync>(blocks: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if blocks < WORTH_A_CORE {
        return (0..count).map(work).collect();
    }
    let made: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    let parts = Mutex::new(made.iter().enumerate());
    let run = || {
        loop {
            let next = guard(&parts).next();
            let Some((at, made)) = next else { return };
            let _ = made.set(work(at));
        }
    };
    rayon::in_place_scope(|scope| {
        (1..rayon::current_num_threads().min(count)).for_each(|_| scope.spawn(|_| run()));
        run();
    });
    made.into_iter().filter_map(OnceLock::into_inner).collect()
}
