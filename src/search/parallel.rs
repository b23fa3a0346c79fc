//! Splits large work into parts for the processor's cores.

use rayon::prelude::*;

/// Fewer blocks than this, or as many postings of one, don't pay for another core.
const WORTH_A_CORE: usize = 30_000;

/// The results of `work` for each of `count` parts of so many blocks, in their order.
pub fn share<T: Send>(blocks: usize, count: usize, work: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    if blocks < WORTH_A_CORE {
        return (0..count).map(work).collect();
    }
    (0..count).into_par_iter().map(work).collect()
}

/// Runs `work` on so many blocks on a thread that shares it out: what it shares waits for no thread to wake up.
pub fn sharing<T: Send>(blocks: usize, work: impl FnOnce() -> T + Send) -> T {
    if blocks < WORTH_A_CORE { work() } else { rayon::scope(|_| work()) }
}
