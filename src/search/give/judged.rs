//! Rates the best found blocks for a prompt: how much each is worth as context that the user did not ask for.
//!
//! Ranked blocks come in. At most 24 go out, each with its worth and its confidence; echoes of an earlier question are
//! left out.

use crate::search::give::choose;
use crate::search::give::finder;
use crate::search::give::ranked::Ranked;
use crate::search::rank::gate::FIRST;
use crate::search::rank::worth::{Judge, Worth, is_question_alone};
use crate::search::read::shipped::is_shipped;
use crate::search::recall::State;
use crate::search::store::corpus::neighbours::is_answered;
use crate::search::store::view::DocRef;
use crate::search::{Block, Hit, HitMaker, IndexError, Snapshot};

/// Candidates for what is given without asking.
pub(super) const POOL: usize = 24;
/// After a find that is less sure than this, further ones are no help.
const HOPELESS: f64 = 0.05;

/// A find with what it is worth.
pub(super) struct Judged {
    pub slot: u32,
    pub sure: f64,
    pub worth: Worth,
    pub hit: Hit,
}

/// The best finds with what they are worth, at most [`POOL`] that are no echo of a question, however many those are; and
/// how sure the surest of the [`FIRST`] is, headings among them.
pub(super) fn judged(
    snapshot: &Snapshot<'_>,
    state: &State,
    maker: &mut HitMaker,
    judge: &Judge,
    takes: impl Fn(DocRef, &Block) -> Result<bool, IndexError>,
    ranked: &[Ranked],
) -> Result<(Vec<Judged>, f64), IndexError> {
    let (mut out, mut facts, mut said, mut first, mut surest) = (Vec::new(), 0, 0, 0, 0.0_f64);
    for ranked in ranked.chunks(POOL) {
        for find in finder::of_slots(snapshot, state, ranked.to_vec(), POOL, &takes)? {
            let Ranked { slot, sure, .. } = find.ranked;
            let hit = snapshot.hit(maker, find.found)?;
            if judge.is_left_out(&hit.path, hit.block_id.as_deref()) {
                continue;
            }
            let worth = match judge.worth(&hit.path, hit.kind, hit.role, &hit.text) {
                // A mere question holds no information.
                Worth::Said if is_question_alone(&hit.text) && !is_answered(&state.corpus, slot) => {
                    Worth::Nothing
                }
                worth => worth,
            };
            if worth != Worth::Nothing
                || hit.kind == "heading" && !is_shipped(&hit.text) && !judge.is_skill(&hit.path)
            {
                if first < FIRST {
                    surest = surest.max(sure);
                }
                first += 1;
            }
            facts += usize::from(worth == Worth::Fact);
            said += usize::from(worth == Worth::Said);
            let is_wanted = match worth {
                Worth::Fact => facts <= POOL,
                Worth::Said => said <= choose::MOST_MEMORIES,
                Worth::Nothing => hit.pinned,
            };
            if is_wanted {
                out.push(Judged { slot, sure, worth, hit });
            }
        }
        if facts >= POOL || ranked.last().is_none_or(|last| last.sure < HOPELESS) && facts > 0 {
            break;
        }
    }
    Ok((out, surest))
}
