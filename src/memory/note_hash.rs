//! Computes the hash of a note that a reader gets and a writer may give back, so that an unseen version isn't
//! overwritten.

use crate::vault::NotePath;

/// So many characters of a note an error shows.
const MOST_CHARS: usize = 8_000;

/// A note isn't as its reader saw it; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` was changed since it was read: its hash is {hash} now; nothing was written")]
pub struct StaleRead {
    /// The note.
    pub path: NotePath,
    /// Its hash now.
    pub hash: String,
    /// Its present text; of a long note the beginning.
    pub text: String,
}

/// The hash of a note's bytes; a note that isn't there has that of no bytes.
pub fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// Refuses bytes that aren't those of `expected`.
///
/// # Errors
/// They differ.
pub(super) fn check(path: &NotePath, bytes: &[u8], expected: Option<&str>) -> Result<(), StaleRead> {
    let hash = hash_of(bytes);
    if expected.is_none_or(|expected| expected.trim().eq_ignore_ascii_case(&hash)) {
        return Ok(());
    }
    let whole = String::from_utf8_lossy(bytes);
    let mut text: String = whole.chars().take(MOST_CHARS).collect();
    if text.len() < whole.len() {
        text.push_str("\n[…]\n");
    }
    Err(StaleRead { path: path.clone(), hash, text })
}
