//! Rates the best found blocks for a prompt: how much each is worth as context that the user did not ask for.
//!
//! Ranked blocks come in. At most 24 go out, each with its worth and its confidence; echoes of an earlier question are
//! left out.

use crate::search::give::choose;
use crate::search::give::finder;
use crate::search::give::search::Ranking;
use crate::search::rank::gate::{FIRST, as_built};
use crate::search::rank::worth::{Judge, Worth, is_question_alone};
use crate::search::read::shipped::is_shipped;
use crate::search::recall::State;
use crate::search::store::corpus::neighbours::is_answered;
use crate::search::store::view::DocRef;
use crate::search::weights::SURE_ENOUGH;
use crate::search::{Block, Hit, HitMaker, IndexError, Snapshot};

/// Candidates for what is given without asking.
pub(super) const POOL: usize = 24;
/// After a find that is less sure than this, further ones are no help.
const HOPELESS: f64 = 0.05;

/// Beside a sure find, weaker ones may stand that are about as likely.
pub(super) const HELPS: f64 = SURE_ENOUGH * 0.5;

/// A find with what it is worth.
pub(super) struct Judged {
    pub slot: u32,
    pub sure: f64,
    pub worth: Worth,
    pub hit: Hit,
}

/// The best finds with what they are worth, at most [`POOL`] that are no echo of a question, however many those are; and
/// how sure the surest of the [`FIRST`] is, headings among them. Where nothing `has_pins`, it ends where no further one
/// can be given.
pub(super) fn judged(
    snapshot: &Snapshot<'_>,
    state: &State,
    maker: &mut HitMaker,
    judge: &Judge,
    takes: impl Fn(DocRef, &Block) -> Result<bool, IndexError>,
    Ranking { best, measures, .. }: &Ranking,
    has_pins: bool,
) -> Result<(Vec<Judged>, f64), IndexError> {
    let (mut out, mut facts, mut said, mut first, mut surest) = (Vec::new(), 0, 0, 0, 0.0_f64);
    let sure: Vec<f64> = measures.iter().map(as_built).collect();
    let helping =
        if has_pins { sure.len() } else { sure.iter().rposition(|own| *own >= HELPS).map_or(0, |at| at + 1) };
    for (at, (ranked, own)) in best.iter().zip(&sure).enumerate().take(helping) {
        let is_pool = at > 0 && at % POOL == 0;
        if is_pool && (facts >= POOL || facts > 0 && sure[at - 1] < HOPELESS)
            || !has_pins && first >= FIRST && surest < SURE_ENOUGH
        {
            break;
        }
        let Some(found) = finder::block(snapshot, state, *ranked, &takes)? else { continue };
        let hit = snapshot.hit(maker, found)?;
        if judge.is_left_out(&hit.path, hit.block_id.as_deref()) {
            continue;
        }
        let (slot, sure) = (ranked.0, *own);
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
    Ok((out, surest))
}
