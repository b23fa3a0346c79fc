//! What is known of a block beside its words, whether it stands in memory or in a layer.

use crate::search::analyze::days::About;
use crate::search::analyze::stems::Shape;
use crate::search::store::corpus::code::WORDS;

/// The row of a block without a vector.
pub const NO_ROW: u32 = u32::MAX;
/// No author.
pub const NOBODY: u32 = u32::MAX;
/// No time.
pub const NEVER: i64 = i64::MIN;
/// The signs behind the first word.
pub type Rest = [u64; WORDS - 1];

/// What is known of a block beside its words and its vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meta {
    /// Its note, by number.
    pub file: u32,
    /// First line, from 1.
    pub line: u32,
    /// Its author, by number, or [`NOBODY`].
    pub author: u32,
    /// The length of its window (`neighbours::window_length`).
    pub window: f32,
    /// Seconds since 1970 within two million years, or [`NEVER`].
    pub time: i64,
    /// The day that it is about, where it names another than that of its time.
    pub about: About,
    /// Its terms, for BM25's length.
    pub length: u16,
    /// Its shape.
    pub shape: Shape,
}
