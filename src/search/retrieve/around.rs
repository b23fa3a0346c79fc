//! Calls a function for the turns around a turn, with the weight that the turn's text has for each.

use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::neighbours::turn_beside;

/// The region fades linearly to zero at eight turns, and ends after six.
pub(in crate::search) const REGION: i32 = 6;
/// The block alone.
pub(in crate::search) const ALONE: [(i32, f32); 1] = [(0, 1.0)];

/// Calls `each` with the turns in whose window the turn `slot` stands: itself and those beside it.
pub(in crate::search) fn spread(
    corpus: &Corpus,
    slot: u32,
    window: &[(i32, f32)],
    mut each: impl FnMut(u32, f32),
) {
    for (offset, weight) in window {
        if *offset == 0 {
            each(slot, *weight);
        } else if let Some(at) = turn_beside(corpus, slot, -offset) {
            each(at, *weight);
        }
    }
}

/// Calls `each` with the turns in the region of one, at most `reach` beside it.
pub(in crate::search) fn region_spread(
    corpus: &Corpus,
    slot: u32,
    reach: i32,
    mut each: impl FnMut(u32, f32),
) {
    each(slot, 1.0);
    for offset in (-reach..=reach).filter(|offset| *offset != 0) {
        if let Some(at) = turn_beside(corpus, slot, offset) {
            #[expect(clippy::cast_precision_loss, reason = "at most 6")]
            each(at, 1.0 - offset.abs() as f32 / 8.0);
        }
    }
}
