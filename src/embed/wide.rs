//! Runs loops over many numbers with the widest instructions that the processor has.
//!
//! The operations and their order are the same everywhere; processors differ in time alone.

use pulp::Arch;
pub use pulp::NullaryFnOnce as Work;

/// Runs `work`, compiled once for every processor and once for those with AVX2 and a population count. Only what is
/// inlined into `work` gains: a closure's body is if it is short, a [`Work`]'s if it says so.
pub fn wide<T>(work: impl Work<Output = T>) -> T {
    Arch::new().dispatch(work)
}
