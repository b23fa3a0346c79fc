//! Rates the best found blocks for a prompt: how much each is worth as context that the user did not ask for.
//!
//! Ranked blocks come in. At most 24 go out, each with its worth and its confidence; echoes of an earlier question are
//! left out.

use crate::search::rank::confidence::{FIRST, default_confidence};
use crate::search::rank::rating::{Rater, Rating, is_question_alone};
use crate::search::read::template_text::is_shipped;
use crate::search::recall::CorpusState;
use crate::search::results::hit::find_block;
use crate::search::results::injection;
use crate::search::results::search::Ranking;
use crate::search::retrieve::filter::Filters;
use crate::search::weights::LEAST_CONFIDENCE;
use crate::search::{Hit, HitMaker, IndexError, Snapshot};

/// Candidates for what is given without asking.
pub(super) const POOL: usize = 24;
/// After a find that is less sure than this, further ones are no help.
const HOPELESS: f64 = 0.05;

/// Beside a sure find, weaker ones may stand that are about as likely.
pub(super) const HELPS: f64 = LEAST_CONFIDENCE * 0.5;

/// A find with what it is worth.
pub(super) struct RatedBlock {
    pub slot: u32,
    pub confidence: f64,
    pub rating: Rating,
    pub hit: Hit,
}

/// The best finds with what they are worth, at most [`POOL`] that are no echo of a question, however many those are; and
/// the highest confidence of the [`FIRST`] is, headings among them. Where nothing `has_pins`, it ends where no further one
/// can be given.
pub(super) fn rate_blocks(
    snapshot: &Snapshot<'_>,
    state: &CorpusState,
    maker: &mut HitMaker,
    rater: &Rater,
    filters: &Filters<'_>,
    Ranking { best, measures, .. }: &Ranking,
    has_pins: bool,
) -> Result<(Vec<RatedBlock>, f64), IndexError> {
    let (mut out, mut facts, mut said, mut first, mut highest) = (Vec::new(), 0, 0, 0, 0.0_f64);
    let confidences: Vec<f64> = measures.iter().map(default_confidence).collect();
    let helping = if has_pins {
        confidences.len()
    } else {
        confidences.iter().rposition(|own| *own >= HELPS).map_or(0, |at| at + 1)
    };
    for (at, (ranked, own)) in best.iter().zip(&confidences).enumerate().take(helping) {
        let is_pool = at > 0 && at % POOL == 0;
        if is_pool && (facts >= POOL || facts > 0 && confidences[at - 1] < HOPELESS)
            || !has_pins && first >= FIRST && highest < LEAST_CONFIDENCE
        {
            break;
        }
        let Some(found) = find_block(snapshot, *ranked, filters)? else { continue };
        let hit = snapshot.hit(maker, found)?;
        if rater.is_left_out(&hit.path, hit.block_id.as_deref()) {
            continue;
        }
        let (slot, confidence) = (ranked.0, *own);
        let rating = match rater.rate(&hit.path, hit.kind, hit.role, &hit.text) {
            // A mere question holds no information.
            Rating::Said if is_question_alone(&hit.text) && !state.corpus.is_answered(slot) => {
                Rating::Nothing
            }
            rating => rating,
        };
        if rating != Rating::Nothing
            || hit.kind == "heading" && !is_shipped(&hit.text) && !rater.is_skill(&hit.path)
        {
            if first < FIRST {
                highest = highest.max(confidence);
            }
            first += 1;
        }
        facts += usize::from(rating == Rating::Fact);
        said += usize::from(rating == Rating::Said);
        let is_wanted = match rating {
            Rating::Fact => facts <= POOL,
            Rating::Said => said <= injection::MOST_MEMORIES,
            Rating::Nothing => hit.pinned,
        };
        if is_wanted {
            out.push(RatedBlock { slot, confidence, rating, hit });
        }
    }
    Ok((out, highest))
}
