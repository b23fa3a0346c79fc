//! Which state of the index something was made from: four numbers, which what is kept beside the index stores with itself.

/// A state of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bitcode::Encode, bitcode::Decode)]
pub(in crate::search) struct Stamp {
    /// Which making of the index it is of.
    pub epoch: i64,
    pub generation: u64,
    pub committed: i64,
    pub docs: u64,
}
