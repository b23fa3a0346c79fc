//! What a question looks for in notes: each of its words with the terms that stand for it, and the characters of scripts
//! written without spaces.
//!
//! A word stands for itself, for words that look like it ([`crate::search::retrieve::alike`]) and, less, for words that
//! mean nearly the same. Function words of the question's language are left out, and of many blocks what is common and only like a word.

use crate::search::analyze::function_words;
use crate::search::cores::share;
use crate::search::query::question::Question;
use crate::search::rank::note_weights::{LONG, NoteWeights};
use crate::search::retrieve::alike::{Alike, Lookout};
use crate::search::retrieve::candidates::{COMMON, MANY};
use crate::search::retrieve::scope::Scope;
use crate::search::store::corpus::neighbours::is_said;

/// So many characters are looked for by themselves.
const MOST_CHARS: usize = 32;

/// The terms that stand for a word or a character, each with its likeness; and what it counts.
#[derive(Debug)]
pub(in crate::search) struct Sought {
    pub members: Vec<(String, f32)>,
    /// The word as asked; empty for a character.
    pub word: String,
    pub weight: f32,
    /// A block without a likeness of so much has not the word.
    pub least: f32,
}

/// What is looked for in a scope, in its notes alone or in conversations, too.
pub(in crate::search) fn sought(
    scope: Scope<'_>,
    question: &Question,
    weights: &NoteWeights,
    in_turns: bool,
) -> Vec<Sought> {
    let blocks_with = |term: &str| {
        scope.blocks_with(term, |slot, own| in_turns || !own.has_turns || !is_said(scope.corpus, slot))
    };
    let Question { words, asked, text, .. } = question;
    let corpus = scope.corpus;
    let skipped = function_words::of(words);
    let asked: Vec<_> = asked.iter().filter(|asked| !skipped.contains(&asked.word.as_str())).collect();
    let mut chars: Vec<char> = Vec::new();
    for c in text.chars().filter(|c| matches!(u32::from(*c), 0x3040..=0x30ff | 0x3400..=0x9fff)) {
        if !chars.contains(&c) && chars.len() < MOST_CHARS {
            chars.push(c);
        }
    }
    let lookout = Lookout::new(asked.iter().map(|asked| asked.term.as_str()), &chars);
    let layers = share(scope.candidates.count, corpus.parts(), |layer| lookout.look(corpus, layer));
    let alike: Alike = lookout.joined(layers);
    let is_many = scope.candidates.count > MANY;
    let mut sought: Vec<Sought> = Vec::with_capacity(alike.len());
    for (at, alike) in alike.into_iter().enumerate() {
        let asked = asked.get(at);
        let weight = if asked.is_some() { 1.0 } else { weights.character };
        let mut members: Vec<(String, f32)> = asked.iter().map(|asked| (asked.term.clone(), 1.0)).collect();
        let near = asked.iter().flat_map(|asked| &asked.near);
        let near = near.filter(|(term, _)| !is_many || !scope.is_common(blocks_with(term), COMMON));
        members.extend(near.map(|(term, how)| (term.clone(), how * weights.near_word)));
        let mut left = lookout.most(at);
        for (term, likeness) in alike {
            if let Some(known) = members.iter_mut().find(|(known, _)| *known == term) {
                known.1 = known.1.max(likeness);
            } else if left > 0 {
                // Terms of blocks that are dead must not push out others.
                let blocks = blocks_with(&term);
                left -= usize::from(blocks > 0);
                if blocks > 0 && !scope.is_common(blocks, COMMON) {
                    members.push((term, likeness));
                }
            }
        }
        let is_long = asked.is_some_and(|asked| asked.term.len() >= LONG);
        let least = if is_long { weights.least_long_word } else { weights.least_word };
        let word = asked.map_or_else(String::new, |asked| asked.word.clone());
        sought.push(Sought { members, word, weight, least });
    }
    sought
}
