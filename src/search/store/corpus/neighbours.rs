//! Finds the blocks beside a block: a note's blocks have adjacent slots, so a turn's neighbours are found by counting.

use crate::search::Role;
use crate::search::analyze::stems::Shape;
use crate::search::store::corpus::blocks::Corpus;

/// The slot `offset` places beside `slot` in the same note, where it exists.
pub(in crate::search) fn beside(corpus: &Corpus, slot: u32, offset: i32) -> Option<u32> {
    let at = slot.checked_add_signed(offset)?;
    (corpus.has(at) && corpus.meta(at).file == corpus.meta(slot).file).then_some(at)
}

pub(in crate::search) fn is_turn(corpus: &Corpus, slot: u32) -> bool {
    corpus.shape(slot).has(Shape::TURN)
}

/// Whether a block is an event of a conversation: a turn, or what a tool was asked or said.
pub(in crate::search) fn is_said(corpus: &Corpus, slot: u32) -> bool {
    corpus.shape(slot).has(Shape::TURN | Shape::TOOL)
}

/// The turn `offset` places beside a turn: a candidate as that is, as all blocks of a note are or none.
pub(in crate::search) fn turn_beside(corpus: &Corpus, slot: u32, offset: i32) -> Option<u32> {
    let at = beside(corpus, slot, offset)?;
    (is_turn(corpus, slot) && is_turn(corpus, at)).then_some(at)
}

/// Whether the turn before is a question.
pub(in crate::search) fn answers(corpus: &Corpus, slot: u32) -> bool {
    is_turn(corpus, slot)
        && beside(corpus, slot, -1).is_some_and(|before| corpus.shape(before).has(Shape::QUESTION))
}

/// Whether somebody else spoke after a turn in its log, the agent or another person.
pub(in crate::search) fn is_answered(corpus: &Corpus, slot: u32) -> bool {
    let author = corpus.meta(slot).author;
    let after = (1..).map_while(|offset| beside(corpus, slot, offset)).filter(|at| is_turn(corpus, *at));
    let mut others =
        after.filter(|at| corpus.role(*at) == Some(Role::Agent) || corpus.meta(*at).author != author);
    others.next().is_some()
}
