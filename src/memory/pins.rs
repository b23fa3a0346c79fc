//! Pinned memories: `Pinned.md`, a bullet each, ending in a link to what is pinned, or plain text.
//!
//! Pinning adds a bullet at the end; unpinning takes the bullet's exact bytes out. A person may do the same by hand,
//! and where the two meet the person wins: what isn't there any more as it was is left alone.

use crate::format::pinned::{self, Target};
use crate::vault::{Actor, EditError, Editor, NotePath, Operation, VaultError, Why};

/// Pinning or unpinning failed.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// There is nothing in it.
    #[error("nothing to pin: the text is empty")]
    Empty,
    /// No pin is, or begins with, this.
    #[error("nothing is pinned as `{0}`: see the list of pins for the exact words")]
    NoSuchPin(String),
    /// More than one pin is meant.
    #[error("`{text}` is the beginning of {count} pins: give more of it")]
    Ambiguous {
        /// What was given.
        text: String,
        /// How many pins begin with it.
        count: usize,
    },
    /// The pin was changed meanwhile.
    #[error("the pin `{0}` was changed by someone just now: look again")]
    Changed(String),
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] VaultError),
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] EditError),
}

/// One pinned memory as it stands in the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its first line, from 1.
    pub line: usize,
    /// What it says, without the bullet's marker, with its link; continuation lines joined by line breaks.
    pub text: String,
    /// What the link at its end points to.
    pub target: Option<Target>,
    /// The bullet's bytes, its last line break included.
    pub bytes: Vec<u8>,
}

/// The pins of a note's bytes, in order.
pub fn parse(bytes: &[u8]) -> Vec<Pin> {
    let shown = |text: &str, target: Option<&Target>| match target {
        Some(target) if text.is_empty() => target.to_string(),
        Some(target) => format!("{text} {target}"),
        None => text.to_owned(),
    };
    let pins = pinned::parse(bytes).bullets.into_iter().map(|bullet| Pin {
        line: bullet.line,
        text: shown(&bullet.text, bullet.target.as_ref()),
        bytes: bytes[bullet.range.clone()].to_vec(),
        target: bullet.target,
    });
    pins.collect()
}

/// Adds a pin: words, a link to what is meant, or both. Returns the bullet as it stands in the note. What is pinned
/// already is not pinned twice.
///
/// # Errors
/// Both are empty, or the note can't be written.
pub fn pin(
    editor: &Editor,
    path: &NotePath,
    text: &str,
    target: Option<&Target>,
    actor: Actor,
) -> Result<String, PinError> {
    if text.trim().is_empty() && target.is_none() {
        return Err(PinError::Empty);
    }
    let bullet = pinned::render_bullet(text, target);
    let wanted = parse(bullet.as_bytes()).pop().map(|pin| pin.text);
    let there = read(editor, path)?;
    let same =
        |pin: &Pin| Some(&pin.text) == wanted.as_ref() || (target.is_some() && pin.target.as_ref() == target);
    if let Some(known) = parse(&there).into_iter().find(same) {
        return Ok(String::from_utf8_lossy(&known.bytes).trim_end().to_owned());
    }
    let why = Why::new(actor, format!("pinned: {}", summary(&bullet)));
    editor.edit(path, &[Operation::Append { text: bullet.clone().into_bytes() }], &why)?;
    Ok(bullet.trim_end().to_owned())
}

/// Takes out the pin that is `text`, or the only one that begins with it. Returns the bullet as it stood.
///
/// # Errors
/// No pin or several are meant, or the note can't be written.
pub fn unpin(editor: &Editor, path: &NotePath, text: &str, actor: Actor) -> Result<String, PinError> {
    let bytes = read(editor, path)?;
    let pins = parse(&bytes);
    let wanted = text.trim();
    let exact: Vec<&Pin> = pins.iter().filter(|pin| pin.text == wanted).collect();
    let found = if exact.is_empty() && !wanted.is_empty() {
        pins.iter().filter(|pin| pin.text.starts_with(wanted)).collect()
    } else {
        exact
    };
    let pin = match found.as_slice() {
        [] => return Err(PinError::NoSuchPin(wanted.to_owned())),
        [pin] => *pin,
        several => return Err(PinError::Ambiguous { text: wanted.to_owned(), count: several.len() }),
    };
    let shown = String::from_utf8_lossy(&pin.bytes).trim_end().to_owned();
    let why = Why::new(actor, format!("unpinned: {}", summary(&shown)));
    let report = editor.edit(path, &[Operation::DeleteRange { bytes: pin.bytes.clone() }], &why)?;
    if report.all_done() { Ok(shown) } else { Err(PinError::Changed(summary(&shown))) }
}

/// The pins of the note; none where there is no note.
///
/// # Errors
/// The note can't be read.
pub fn list(editor: &Editor, path: &NotePath) -> Result<Vec<Pin>, PinError> {
    Ok(parse(&read(editor, path)?))
}

fn read(editor: &Editor, path: &NotePath) -> Result<Vec<u8>, PinError> {
    match editor.vault().read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn summary(bullet: &str) -> String {
    let first = bullet.lines().next().unwrap_or_default().trim_start_matches("- ");
    let short: String = first.chars().take(60).collect();
    if short.len() < first.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::SystemClock;
    use crate::vault::{EditOptions, Vault};

    fn set_up(text: &str) -> (tempfile::TempDir, Editor, NotePath) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("vault");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("Pinned.md"), text).unwrap();
        let editor = Editor::new(
            Vault::open(&root).unwrap(),
            temp.path(),
            Arc::new(SystemClock),
            EditOptions::default(),
        );
        (temp, editor, NotePath::new("Pinned.md").unwrap())
    }

    #[test]
    fn a_pin_is_added_once_and_taken_out_whole() {
        let (temp, editor, path) = set_up("# Pinned\n\n- by hand\n");
        let target = Target { path: "logs/a".into(), block_id: Some("X".into()), heading: None };
        let bullet = pin(&editor, &path, "Mum's birthday\nis in May", Some(&target), Actor::Discord).unwrap();
        assert_eq!(bullet, "- Mum's birthday\n  is in May [[logs/a#^X]]");
        assert_eq!(pin(&editor, &path, "other words", Some(&target), Actor::Discord).unwrap(), bullet);
        let text = std::fs::read_to_string(temp.path().join("vault/Pinned.md")).unwrap();
        assert_eq!(text, format!("# Pinned\n\n- by hand\n{bullet}\n"));
        assert_eq!(unpin(&editor, &path, "Mum's", Actor::Discord).unwrap(), bullet);
        let text = std::fs::read_to_string(temp.path().join("vault/Pinned.md")).unwrap();
        assert_eq!(text, "# Pinned\n\n- by hand\n");
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        let (_temp, editor, path) = set_up("- one a\n- one b\n```\n- one in code\n```\n");
        assert!(matches!(
            unpin(&editor, &path, "one", Actor::Cli),
            Err(PinError::Ambiguous { count: 2, .. })
        ));
        assert!(matches!(unpin(&editor, &path, "two", Actor::Cli), Err(PinError::NoSuchPin(_))));
        assert!(matches!(pin(&editor, &path, " \n", None, Actor::Cli), Err(PinError::Empty)));
        assert_eq!(list(&editor, &path).unwrap().len(), 2);
    }
}
