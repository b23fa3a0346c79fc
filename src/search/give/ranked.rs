//! Defines ranked blocks, and the best ones of a scope. `search` fills these values; `finder` and `given` read them.

use crate::search::rank::gate::Measured;

/// A block and how it ranks.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Ranked {
    pub slot: u32,
    pub score: f64,
    pub sure: f64,
}

/// A scope's best blocks.
#[derive(Debug, Default)]
pub(in crate::search) struct Ranking {
    /// Best first.
    pub best: Vec<Ranked>,
    /// The measures of their confidence.
    pub measures: Vec<Measured>,
    /// Warnings for a person.
    pub notes: Vec<String>,
    /// The percentage that the settings' model has embedded.
    pub embedded: Option<u8>,
}
