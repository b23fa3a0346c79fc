//! Re-exports hash maps and sets with a quick hash.
//!
//! They are for keys that text from outside can't make collide.

pub use rustc_hash::{FxHashMap as FastMap, FxHashSet as FastSet};
