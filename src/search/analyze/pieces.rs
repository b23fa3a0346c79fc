//! Splits words into pieces that two forms of a word, a compound and its part, or a word and its misspelling share.

/// The two ends of a word, as letters.
const ENDS: [u8; 2] = [2, 3];
/// A piece of a word: four bytes.
pub(in crate::search) type Piece = u32;

/// Calls `each` with the pieces of a word between its ends.
#[inline]
pub(in crate::search) fn each_piece(word: &[u8], mut each: impl FnMut(Piece)) {
    let mut piece = Piece::from(ENDS[0]);
    let mut length = 1;
    for byte in word.iter().chain(&ENDS[1..]) {
        piece = piece << 8 | Piece::from(*byte);
        length += 1;
        if length >= 4 {
            each(piece);
        }
    }
    if length < 4 {
        each(piece);
    }
}

/// The bits of a word's pieces; of a word in a script without spaces, all.
pub(in crate::search) fn signature(word: &[u8]) -> u64 {
    if word.first().is_none_or(|first| *first >= 0xE0) {
        return u64::MAX;
    }
    let mut bits = 0;
    each_piece(word, |piece| bits |= bit(piece));
    bits
}

/// The bit of a piece in a signature.
pub(in crate::search) fn bit(piece: Piece) -> u64 {
    1 << (piece.wrapping_mul(0x9E37_79B1) >> 26)
}
