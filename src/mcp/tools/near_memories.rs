//! Finds memories near in meaning to a saved one, so that a model sees repetitions and contradictions.
//!
//! It reads `MEMORY.md` alone and uses the vectors that are in the binary; no index is opened.

use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use super::{McpCall, one_line};
use crate::embed::Embedder;
use crate::memory::ListedMemory;

/// The most memories that are shown.
const MAX_SHOWN: usize = 3;
/// How near a memory must be, as a cosine: below it two texts share a subject at most.
const NEAR: f32 = 0.55;
/// Only so many memories are compared, those that stand last in the note: some 20 ms.
const LOOKED_AT: usize = 2_000;
/// Characters of a text that are compared, and shown.
const HEAD: usize = 300;

/// A memory like another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NearMemory {
    /// Its note.
    pub path: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

/// The memories near to a text, best first, without the one in this line of `MEMORY.md`.
pub fn near(call: &McpCall<'_>, text: &str, own_line: Option<usize>) -> Vec<NearMemory> {
    let notes = call.workspace.memory();
    let scopes = call.visible_scopes().unwrap_or_default();
    let sections = notes.list_long(Some(&scopes)).unwrap_or_default();
    let memories = sections.into_iter().flat_map(|section| section.memories);
    let others: Vec<ListedMemory> = memories.filter(|one| Some(one.line) != own_line).collect();
    let mut embedder = Embedder::default();
    let wanted = embedder.embed(&head(&crate::format::memory::plain(text)));
    let mut found: Vec<(f32, &ListedMemory)> = others[others.len().saturating_sub(LOOKED_AT)..]
        .iter()
        .map(|one| (dot(&wanted, &embedder.embed(&head(&crate::format::memory::plain(&one.text)))), one))
        .filter(|(cosine, _)| *cosine >= NEAR)
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    let path = notes.long_path().to_string();
    let shown = |one: &ListedMemory| NearMemory {
        path: path.clone(),
        line: one.line,
        text: crate::format::invisible::strip(&head(&one_line(&one.text))).into_owned(),
    };
    found.into_iter().take(MAX_SHOWN).map(|(_, one)| shown(one)).collect()
}

fn head(text: &str) -> String {
    text.chars().take(HEAD).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
