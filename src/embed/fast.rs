//! Maps whose keys outside text can't choose so that they collide; their hash is quick.

pub use rustc_hash::{FxHashMap as FastMap, FxHashSet as FastSet};
