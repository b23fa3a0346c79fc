//! Loops over many numbers, run with the widest instructions that the processor at hand has.
//!
//! The same operations in the same order everywhere: what differs between processors is the time alone.

use pulp::Arch;

/// Runs `work`, compiled once for every processor and once for those with AVX2 and a population count. Only what is
/// inlined into `work` gains.
pub fn wide<T>(work: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(work)
}
