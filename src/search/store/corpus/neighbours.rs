//! Finds the blocks beside a block: a note's blocks have adjacent slots, so a turn's neighbours are found by counting.

use crate::search::Role;
use crate::search::analyze::stems::Shape;
use crate::search::store::corpus::blocks::Corpus;

/// The slot `offset` places beside `slot` in the same note, where it exists.
#[inline(always)]
pub(in crate::search) fn beside(corpus: &Corpus, slot: u32, offset: i32) -> Option<u32> {
    let at = slot.checked_add_signed(offset)?;
    (corpus.has(at) && corpus.meta(at).file == corpus.meta(slot).file).then_some(at)
}

#[inline(always)]
pub(in crate::search) fn is_turn(corpus: &Corpus, slot: u32) -> bool {
    corpus.shape(slot).has(Shape::TURN)
}

/// Whether a block is an event of a conversation: a turn, or what a tool was asked or said.
#[inline(always)]
pub(in crate::search) fn is_said(corpus: &Corpus, slot: u32) -> bool {
    corpus.shape(slot).has(Shape::TURN | Shape::TOOL)
}

/// The turn `offset` places beside a turn: a candidate as that is, as all blocks of a note are or none.
#[inline(always)]
pub(in crate::search) fn turn_beside(corpus: &Corpus, slot: u32, offset: i32) -> Option<u32> {
    let at = beside(corpus, slot, offset)?;
    (is_turn(corpus, slot) && is_turn(corpus, at)).then_some(at)
}

/// The turns of a log at most `reach` beside a turn, itself among them, each with its distance.
pub(in crate::search) fn turns_around(
    corpus: &Corpus,
    slot: u32,
    reach: u32,
) -> impl Iterator<Item = (u32, i32)> {
    let (rows, slots) = corpus.part_of(slot);
    let meta = move |at: u32| rows.meta((at - slots.start) as usize);
    let note = meta(slot).file;
    let (first, end) = (slot.saturating_sub(reach).max(slots.start), (slot + reach + 1).min(slots.end));
    let around = (first..end).map(move |at| (at, meta(at)));
    let turns = around.filter(move |(_, meta)| meta.file == note && meta.shape.has(Shape::TURN));
    turns.map(move |(at, _)| (at, at.cast_signed() - slot.cast_signed()))
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
