//! Defines the fixed-size record of a block that ranking reads.
//!
//! The record holds the note, line, author and time, the day that the block is about, the number of terms, and the
//! shape. The upper bits of the shape hold the role. Values are converted to 20 bytes and back. The block's words and
//! vectors are stored elsewhere. Pure.

use crate::search::Role;
use crate::search::analyze::{About, Shape};
use crate::search::store::WORDS;

/// The row of a block without a vector.
pub const NO_ROW: u32 = u32::MAX;
/// No author.
pub const NO_AUTHOR: u32 = u32::MAX;
/// No time.
pub const NEVER: i64 = i64::MIN;
/// The signs after the first word.
pub type Rest = [u64; WORDS - 1];

/// The record of a block, beside its words and its vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meta {
    /// Its note, by number.
    pub file: u32,
    /// First line, from 1.
    pub line: u32,
    /// Its author, by number, or [`NO_AUTHOR`].
    pub author: u32,
    /// Seconds since 1970 within 17,000 years, or [`NEVER`].
    pub time: i64,
    /// The day that it is about, where it names another than that of its time.
    pub about: About,
    /// Its terms, for BM25's length.
    pub length: u16,
    /// Its shape.
    pub shape: Shape,
}

/// The position of the role in the bits of a stored shape, above those that [`Shape`] uses.
pub(super) const ROLE_BITS: u32 = 14;

/// A role as it is stored: its place among the roles, from 1, or 0.
pub(super) fn role_code(role: Option<Role>) -> u16 {
    (1..).zip(Role::ALL).find(|(_, other)| role == Some(*other)).map_or(0, |(code, _)| code)
}

/// The role in the bits of a stored shape.
pub(in crate::search) fn role_of(shape: Shape) -> Option<Role> {
    Role::ALL.into_iter().find(|role| shape.0 >> ROLE_BITS == role_code(Some(*role)))
}

/// The size of a stored [`Meta`], in bytes.
pub(super) const META: usize = 20;
/// The stored form of [`NEVER`].
const NO_TIME: i64 = -1 << 39;
/// The stored form of [`NO_AUTHOR`], and the most that three bytes hold.
const MOST: u32 = (1 << 24) - 1;

impl Meta {
    /// The stored form. Notes, speakers and lines have three bytes each, far more than a segment needs. A time has five
    /// bytes (a year is 2^25 seconds), whose least number stands for no time.
    pub(super) fn to_bytes(self) -> [u8; META] {
        let time = match self.time {
            NEVER => NO_TIME,
            time => time.clamp(NO_TIME + 1, -(NO_TIME + 1)),
        };
        let [a, b, c, d, e, ..] = time.to_le_bytes();
        let [[f, g, h, _], [l, m, n, _], [o, p, q, _]] =
            [self.file, self.line, self.author].map(|number| number.min(MOST).to_le_bytes());
        let ([i, j], [r, s], [x, y]) =
            (self.about.to_bytes(), self.length.to_le_bytes(), self.shape.0.to_le_bytes());
        [f, g, h, l, m, n, o, p, q, a, b, c, d, e, i, j, r, s, x, y]
    }

    /// From [`Meta::to_bytes`].
    #[inline(always)]
    pub(super) fn from_bytes(bytes: &[u8; META]) -> Self {
        let [f, g, h, l, m, n, o, p, q, a, b, c, d, e, i, j, r, s, x, y] = *bytes;
        let author = u32::from_le_bytes([o, p, q, 0]);
        let time = i64::from(e.cast_signed()) << 32 | i64::from(u32::from_le_bytes([a, b, c, d]));
        Self {
            file: u32::from_le_bytes([f, g, h, 0]),
            line: u32::from_le_bytes([l, m, n, 0]),
            author: if author == MOST { NO_AUTHOR } else { author },
            time: if time == NO_TIME { NEVER } else { time },
            about: About::from_bytes([i, j]),
            length: u16::from_le_bytes([r, s]),
            shape: Shape(u16::from_le_bytes([x, y])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_block_comes_back() {
        let meta = Meta {
            file: 7,
            line: 1 << 23,
            author: 3,
            time: NEVER,
            about: About::default(),
            length: 65_535,
            shape: Shape(0x8001),
        };
        assert_eq!(Meta::from_bytes(&meta.to_bytes()), meta);
        let said = jiff::civil::date(2026, 11, 21);
        let unsigned = Meta { author: NO_AUTHOR, ..meta };
        assert_eq!(Meta::from_bytes(&unsigned.to_bytes()), unsigned);
        for (time, about) in [
            (-5, About::default()),
            (1 << 38, About::of("yesterday", said)),
            (0, About::of("next week", said)),
        ] {
            let other = Meta { time, about, ..meta };
            assert_eq!(Meta::from_bytes(&other.to_bytes()), other);
        }
    }
}
