//! Adds and removes pinned memories: `Pinned.md`, a bullet each, ending in a link to the pinned text, or plain text.
//!
//! Pinning adds a bullet at the end; unpinning removes the bullet's exact bytes. A person may do the same by hand, and
//! wins: a bullet that was changed meanwhile is left alone. Results are read back from the note.

use std::borrow::Cow;

use super::error::MemoryError;
use super::text::harmless;
use super::text::wording::{self, WordsError};
use crate::format::pinned::{self, LinkTarget};
use crate::memory::{Origin, Result};
use crate::vault::{EditPlan, Editor, NotePath, Operation};

/// One pinned memory as it stands in the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// Its text, without the bullet's marker, with its link; continuation lines joined by line breaks.
    pub text: String,
    /// The target of the link at its end.
    pub target: Option<LinkTarget>,
    /// The bullet's bytes, its last line break included.
    pub bytes: Vec<u8>,
}

impl Pin {
    /// The bullet as it stands in the note, without its last line break.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.bytes).trim_end().to_owned()
    }
}

/// A pin, and whether it stood there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinResult {
    /// The pin as it was read back.
    pub pin: Pin,
    /// Whether nothing was written because it was pinned already.
    pub existing: bool,
}

/// The pins of a note's bytes, in order.
pub fn parse(bytes: &[u8]) -> Vec<Pin> {
    let shown = |text: &str, target: Option<&LinkTarget>| match target {
        Some(target) if text.is_empty() => target.to_string(),
        Some(target) => format!("{text} {target}"),
        None => text.to_owned(),
    };
    let pins = pinned::parse(bytes).into_iter().map(|bullet| Pin {
        line: bullet.line,
        end_line: bullet.end_line,
        text: shown(&bullet.text, bullet.target.as_ref()),
        bytes: bytes[bullet.range.clone()].to_vec(),
        target: bullet.target,
    });
    pins.collect()
}

/// Adds a pin: words, a link to the pinned text, or both. A second pin of the same is not added.
///
/// # Errors
/// Both are empty, either can't be kept, or the note can't be written.
pub fn pin(
    editor: &Editor,
    path: &NotePath,
    text: &str,
    target: Option<&LinkTarget>,
    origin: &Origin,
) -> Result<PinResult> {
    let text = match wording::checked(text) {
        Err(WordsError::Empty) if target.is_some() => String::new(),
        text => text?,
    };
    let text = without_box(&text);
    let bullet = pinned::render_bullet(&text, target);
    let wanted = parse(bullet.as_bytes()).pop().ok_or(WordsError::Empty)?;
    if target.is_some() && wanted.target.as_ref() != target {
        return Err(MemoryError::BadLink(target.map(ToString::to_string).unwrap_or_default()));
    }
    let same = |pin: &Pin| pin.text == wanted.text || (target.is_some() && pin.target.as_ref() == target);
    let why = origin.why(format!("pinned: {}", summary(&bullet)));
    let mut existing = false;
    editor.edit_with(path, &why, |bytes| {
        existing = parse(bytes).iter().any(same);
        let append = Operation::Append { text: bullet.clone().into_bytes() };
        EditPlan::Operations(if existing { Vec::new() } else { vec![append] })
    })?;
    let there = parse(&read(editor, path)?).into_iter().find(same);
    let pin = there.ok_or_else(|| MemoryError::vanished(path, bullet.trim_start_matches("- ")))?;
    Ok(PinResult { pin, existing })
}

/// The trailer of a write that took out the pin with exactly these words, as they were given.
pub const UNPINNED: &str = "Unpinned";

/// The value of [`UNPINNED`] for a text.
pub fn unpinned(text: &str) -> String {
    wording::normal(&without_box(text.trim())).chars().take(150).collect()
}

/// Takes out the pin that is `text`, or the only one that begins with it (not if it must be the whole pin). Returns the
/// pin as it stood.
///
/// # Errors
/// No pin or several are meant, or the note can't be written.
pub fn unpin(editor: &Editor, path: &NotePath, text: &str, whole: bool, origin: &Origin) -> Result<Pin> {
    let bytes = read(editor, path)?;
    let pins = parse(&bytes);
    let plain = harmless(text.trim());
    let wanted = &*without_box(&plain);
    let exact: Vec<&Pin> = pins.iter().filter(|pin| pin.text == wanted || pin.shown() == wanted).collect();
    let is_exact = !exact.is_empty();
    let found = if !is_exact && !whole && !wanted.is_empty() {
        pins.iter().filter(|pin| pin.text.starts_with(wanted)).collect()
    } else {
        exact
    };
    let pin = match found.as_slice() {
        [] => return Err(MemoryError::NoSuchPin(wording::summary(wanted))),
        [pin] => *pin,
        several => {
            return Err(MemoryError::AmbiguousPin(wording::summary(wanted), several.len()));
        }
    };
    let mut why = origin.why(format!("unpinned: {}", summary(&pin.shown())));
    if is_exact {
        why = why.trailer(UNPINNED, unpinned(text));
    }
    let report = editor.edit(path, &[Operation::DeleteRange { bytes: pin.bytes.clone() }], &why)?;
    let changed = || MemoryError::Changed(format!("the pin `{}`", summary(&pin.shown())));
    report.all_done().then(|| pin.clone()).ok_or_else(changed)
}

/// The pins of the note; none where there is no note.
///
/// # Errors
/// The note can't be read.
pub fn list(editor: &Editor, path: &NotePath) -> Result<Vec<Pin>> {
    Ok(parse(&read(editor, path)?))
}

fn read(editor: &Editor, path: &NotePath) -> Result<Vec<u8>> {
    Ok(editor.vault().read_or_empty(path)?)
}

/// A text that begins with a task's box, with the box escaped: a pin is no task, and no reminder.
fn without_box(text: &str) -> Cow<'_, str> {
    let is_box = matches!(text.as_bytes(), [b'[', _, b']', b' ' | b'\t' | b'\n', ..] | [b'[', _, b']']);
    if is_box { Cow::Owned(format!("\\{text}")) } else { Cow::Borrowed(text) }
}

fn summary(bullet: &str) -> String {
    wording::summary(bullet.trim_start_matches("- "))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::SystemClock;
    use crate::vault::{Actor, EditOptions, Vault};

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
        let target = LinkTarget { path: "logs/a".into(), block_id: Some("X".into()), heading: None };
        let origin = Origin::new(Actor::Discord);
        let first = pin(&editor, &path, "Mum's birthday\nis in May", Some(&target), &origin).unwrap();
        let bullet = first.pin.shown();
        assert_eq!((bullet.as_str(), first.pin.line), ("- Mum's birthday\n  is in May [[logs/a#^X]]", 4));
        let again = pin(&editor, &path, "other words", Some(&target), &origin).unwrap();
        assert_eq!((again.existing, &again.pin), (true, &first.pin));
        let text = std::fs::read_to_string(temp.path().join("vault/Pinned.md")).unwrap();
        assert_eq!(text, format!("# Pinned\n\n- by hand\n{bullet}\n"));
        assert_eq!(unpin(&editor, &path, "Mum's", false, &origin).unwrap().shown(), bullet);
        let text = std::fs::read_to_string(temp.path().join("vault/Pinned.md")).unwrap();
        assert_eq!(text, "# Pinned\n\n- by hand\n");
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        let origin = Origin::new(Actor::Cli);
        let (_temp, editor, path) = set_up("- one a\n- one b\n```\n- one in code\n```\n");
        assert!(matches!(unpin(&editor, &path, "one", false, &origin), Err(MemoryError::AmbiguousPin(_, 2))));
        assert!(matches!(unpin(&editor, &path, "two", false, &origin), Err(MemoryError::NoSuchPin(_))));
        assert!(matches!(
            pin(&editor, &path, " \n", None, &origin),
            Err(MemoryError::Words(WordsError::Empty))
        ));
        let broken = LinkTarget { path: "a]] b".into(), block_id: None, heading: None };
        assert!(matches!(pin(&editor, &path, "x", Some(&broken), &origin), Err(MemoryError::BadLink(_))));
        assert!(matches!(pin(&editor, &path, "x\u{7}", None, &origin), Err(MemoryError::Words(_))));
        assert_eq!(list(&editor, &path).unwrap().len(), 2);
    }
}
