//! Work on parts of something large, shared out to the processor's cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer blocks than this, or as many postings of one, don't pay for a thread.
const WORTH_A_THREAD: usize = 500_000;

/// So many threads are worth their while for work on so many blocks.
pub fn threads(blocks: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (blocks / WORTH_A_THREAD).clamp(1, cores)
}

/// Runs `aside` in a thread of its own, if that pays, while `here` runs here.
pub fn both<A: Send, H>(pays: bool, aside: impl FnOnce() -> A + Send, here: impl FnOnce() -> H) -> (A, H) {
    if !pays {
        let here = here();
        return (aside(), here);
    }
    std::thread::scope(|scope| {
        let aside = scope.spawn(aside);
        let here = here();
        (aside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), here)
    })
}

/// What `work` makes of each of `count` numbers, in their order, by so many threads, this one among them.
pub fn share<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(count);
    if threads < 2 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return made;
            }
            made.push((at, work(at)));
        }
    };
    let mut made = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut made = run();
        for other in others {
            made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    });
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_comes_in_order_whoever_made_it() {
        for threads in [1, 2, 5] {
            assert_eq!(share(threads, 40, |at| at * 2), (0..40).map(|at| at * 2).collect::<Vec<_>>());
            assert!(share(threads, 0, |at| at).is_empty());
        }
        assert_eq!(super::threads(0), 1);
    }
}
