//! Holds the weights of the ranking of notes; those of turns are in `rank/signal.rs`.
//!
//! They were chosen by hand on openly licensed notes in English, German and Chinese (`notes-dev`), after a fit of four
//! signals that left one vault out at a time; all four vaults were seen.

/// The weights of the signals, and their shapes.
pub(in crate::search) struct NoteWeights {
    /// BM25 of the whole note, as a share of the best one's.
    pub note: f32,
    /// BM25 of its best section, as a share of the best one's.
    pub section: f32,
    /// BM25 of a block, as a share of the best one's, among those of its note.
    pub block: f32,
    /// The cosine of its nearest block, beyond [`NoteWeights::far`], where the model knows all words of the question.
    pub meaning: f32,
    /// The mean cosine of its blocks, long ones counting more.
    pub mean_meaning: f32,
    /// Unrelated texts are as near as this.
    pub far: f32,
    /// Blocks with fewer terms than this say less than their vectors do.
    pub short: f32,
    /// The weight of a word that means nearly the same, besides its likeness.
    pub near_word: f32,
    /// The weight of a character of a script without spaces, besides the pairs of them.
    pub character: f32,
    /// BM25's length normalisation; its saturation is [`crate::search::retrieve::candidates::K1`].
    pub length: f32,
    /// A block with no better match than this has not the word; a long word is told by less.
    pub least_word: f32,
    /// The same for words of [`LONG`] bytes or more.
    pub least_long_word: f32,
}

/// The weights in use.
pub(in crate::search) const WEIGHTS: NoteWeights = NoteWeights {
    note: 4.0,
    section: 2.7,
    block: 0.8,
    meaning: 9.0,
    mean_meaning: 16.0,
    far: 0.1,
    short: 6.0,
    near_word: 0.4,
    character: 2.0,
    length: 0.8,
    least_word: 0.2,
    least_long_word: 0.04,
};

/// A word of so many bytes is long.
pub(in crate::search) const LONG: usize = 6;
