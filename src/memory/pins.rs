//! Adds and removes pinned memories: bullets of `Pinned.md` that end in a link to the pinned text, or are plain text.
//!
//! Pinning adds a bullet at the end, unless the text is pinned already. Unpinning removes the bullet's exact bytes; a
//! bullet that a person changed meanwhile is left alone. A person may add and remove bullets in the note, too. Results
//! are read back from the note.

use serde::Serialize;

use super::error::MemoryError;
use super::wording::{self, WordsError};
use crate::format::harmless::{harmless, without_tasks};
use crate::format::lines::with_lf;
use crate::format::memory::{self, Bullet};
use crate::format::pinned::{self, LinkTarget};
use crate::memory::edit::ForgottenMemory;
use crate::memory::{MemoryNotes, Origin, Result, SavedMemory, Scope};
use crate::vault::{self, ChangeReason, EditPlan, NotePath, Operation};

/// The trailer of a write that removed a pin: the words, exactly as the call gave them.
pub const UNPINNED: &str = "Unpinned";

/// One pinned memory as it stands in the note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pin {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// Its text, without the bullet's marker, with its link; continuation lines joined by line breaks.
    pub text: String,
    /// The target of the link at its end.
    #[serde(skip)]
    pub target: Option<LinkTarget>,
    /// The bullet's bytes, its last line break included.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

impl Pin {
    /// The bullet as it stands in the note, without its last line break.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.bytes).trim_end().to_owned()
    }

    /// Its text as it stands in the note: also with its link's alias, an embed's mark and a block id.
    pub fn whole_text(&self) -> String {
        memory::parse(&self.bytes).bullets.pop().map_or_else(|| self.text.clone(), Bullet::into_text)
    }
}

impl MemoryNotes<'_> {
    /// Adds a pin: words, a link to the pinned text, or both. A second pin of the same is not added. Returns the pin as
    /// it stands in the note.
    ///
    /// # Errors
    /// Both are empty, either can't be kept, or the note can't be written.
    pub fn pin(&self, text: &str, target: Option<&LinkTarget>, origin: &Origin) -> Result<SavedMemory> {
        let path = self.pinned_path();
        let words = match wording::checked(text) {
            Err(WordsError::Empty) if target.is_some() => String::new(),
            words => words?,
        };
        let bullet = pinned::render_bullet(&without_boxes(&words), target);
        let wanted = parse(bullet.as_bytes()).pop().ok_or(WordsError::Empty)?;
        if target.is_some() && wanted.target.as_ref() != target {
            return Err(MemoryError::BadLink(target.map(ToString::to_string).unwrap_or_default()));
        }
        // A block, and a link without words, is pinned once; beside a note each has words of its own.
        let by_target = target.filter(|target| target.block_id.is_some() || words.is_empty());
        let same = |pin: &Pin| {
            // A person may have written what is made harmless.
            harmless(&pin.text) == wanted.text || (by_target.is_some() && pin.target.as_ref() == by_target)
        };
        let why = origin.why(format!("pinned: {}", summary(&bullet)));
        let append = [Operation::Append { text: bullet.clone().into_bytes() }];
        let existing = self.editor.try_edit_with(&path, &why, |bytes| -> Result<_> {
            if parse(bytes).iter().any(same) {
                return Ok((EditPlan::NOTHING, true));
            }
            let is_read = parse(&vault::apply(&append, bytes).0).iter().any(same);
            let unreadable = || MemoryError::unreadable(&path);
            is_read.then(|| (EditPlan::Operations(append.to_vec()), false)).ok_or_else(unreadable)
        })?;
        let there = self.pins()?.into_iter().find(same);
        let pin = there.ok_or_else(|| MemoryError::vanished(&path))?;
        Ok(SavedMemory {
            path,
            line: pin.line,
            end_line: pin.end_line,
            text: pin.shown(),
            id: None,
            section: None,
            scope: Scope::of_text(&pin.text).pop().unwrap_or(Scope::Global),
            existing,
            notes: wording::notes(text, &words),
        })
    }

    /// Pins the memory, or the paragraph's line, that stands in a line of a note: its words, and a link to the note.
    /// With `expect`, pins the memory with these words, on whichever line it is, and no other.
    ///
    /// # Errors
    /// The path names no note, there is no such line or nothing in it, no memory says that, or the pins can't be
    /// written.
    pub fn pin_line(
        &self,
        path: &str,
        line: usize,
        expect: Option<&str>,
        origin: &Origin,
    ) -> Result<SavedMemory> {
        let path = self.note_named(path)?;
        let bytes = with_lf(self.vault.read(&path)?);
        let text = match self.item_meant(&path, &bytes, line, expect) {
            Ok(item) => item.text,
            Err(MemoryError::NoMemory { .. }) => self.get(path.as_str(), Some((line, line)))?.text,
            Err(error) => return Err(error),
        };
        let (text, block_id) = crate::format::memory::split_block_id(text.trim());
        let target = LinkTarget {
            path: path.as_str().strip_suffix(".md").unwrap_or(path.as_str()).to_owned(),
            block_id: block_id.map(str::to_owned),
            heading: None,
        };
        // A link to the note alone says too little to be the same pin as another with it.
        let words = if text.is_empty() { None } else { Some(text) };
        match (words, &target.block_id) {
            (Some(text), None) => self.pin(&format!("{text} {target}"), None, origin),
            (words, _) => self.pin(words.unwrap_or_default(), Some(&target), origin),
        }
    }

    /// Removes the pin with these words, and its copies. Unless they must be the `whole` pin, also the only pin that
    /// begins with them. Returns the removed pin.
    ///
    /// # Errors
    /// No pin or several are meant, or the note can't be written.
    pub fn unpin(&self, text: &str, whole: bool, origin: &Origin) -> Result<ForgottenMemory> {
        let path = self.pinned_path();
        let pins = self.pins()?;
        let given = text.trim();
        // As a person wrote it, or as `pin` did.
        let plain = without_boxes(&harmless(given));
        let find = |is_it: &dyn Fn(&Pin, &str) -> bool| -> Vec<&Pin> {
            let found = [given, &plain].map(|words| pins.iter().filter(|pin| is_it(pin, words)).collect());
            found.into_iter().find(|found: &Vec<_>| !found.is_empty()).unwrap_or_default()
        };
        let mut found = find(&|pin, words| pin.text == words || pin.shown() == words);
        let is_exact = !found.is_empty();
        if !is_exact && !whole && !given.is_empty() {
            found = find(&|pin, words| pin.text.starts_with(words));
        }
        // Copies of one pin are one.
        let (line, shown) = match found.as_slice() {
            [] => return Err(MemoryError::NoSuchPin(wording::summary(given))),
            [pin, more @ ..] if more.iter().all(|other| other.shown() == pin.shown()) => {
                (pin.line, pin.shown())
            }
            several => return Err(MemoryError::AmbiguousPin(wording::summary(given), several.len())),
        };
        let mut why = origin.why(format!("unpinned: {}", summary(&shown)));
        if is_exact {
            why = why.trailer(UNPINNED, unpinned(text));
        }
        let is_there = self.editor.try_edit_with(&path, &why, |now| -> Result<_> {
            let mut kept = now.to_vec();
            for bullet in pinned::parse(now).into_iter().rev() {
                if String::from_utf8_lossy(&now[bullet.range.clone()]).trim_end() == shown {
                    kept.drain(bullet.range);
                }
            }
            let is_there = kept.len() < now.len();
            Ok((if is_there { EditPlan::Bytes(kept) } else { EditPlan::NOTHING }, is_there))
        })?;
        if is_there {
            Ok(ForgottenMemory { path, line, text: shown })
        } else {
            Err(MemoryError::Changed(format!("the pin `{}`", summary(&shown))))
        }
    }

    /// Points the pins of the block `id` of one note at another note, to which the block is moved.
    ///
    /// # Errors
    /// The pins can't be written.
    pub(super) fn move_pins(&self, id: &str, [from, to]: [&NotePath; 2], why: &ChangeReason) -> Result<()> {
        let name = |path: &NotePath| path.as_str().trim_end_matches(".md").to_owned();
        let (old, new) = (name(from), name(to));
        let short = old.rsplit('/').next().unwrap_or_default();
        self.editor.edit_with(&self.pinned_path(), why, |now| {
            let Ok(mut text) = String::from_utf8(now.to_vec()) else { return EditPlan::NOTHING };
            for (name, end) in [(&*old, "]]"), (&*old, "|"), (short, "]]"), (short, "|")] {
                for md in ["", ".md"] {
                    text = text.replace(&format!("[[{name}{md}#^{id}{end}"), &format!("[[{new}#^{id}{end}"));
                }
            }
            if text.as_bytes() == now { EditPlan::NOTHING } else { EditPlan::Bytes(text.into_bytes()) }
        })?;
        Ok(())
    }

    /// The pins, in order; none where there is no note.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn pins(&self) -> Result<Vec<Pin>> {
        Ok(parse(&self.bytes(&self.pinned_path())?))
    }
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

/// The value of [`UNPINNED`] for a text.
pub fn unpinned(text: &str) -> String {
    wording::normal(&without_boxes(text.trim())).chars().take(150).collect()
}

/// A pin's words with the boxes of tasks as text: a pin is no task, and no reminder.
fn without_boxes(text: &str) -> String {
    without_tasks(&format!("- {text}"), "")[2..].to_owned()
}

fn summary(bullet: &str) -> String {
    wording::summary(bullet.trim_start_matches("- "))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::SystemClock;
    use crate::config::Settings;
    use crate::schedule::Zone;
    use crate::vault::{Actor, EditOptions, Editor, Vault};

    fn with_pins(text: &str, test: impl FnOnce(&MemoryNotes<'_>, &dyn Fn() -> String)) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("vault");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("Pinned.md"), text).unwrap();
        let vault = Vault::open(&root).unwrap();
        let editor = Editor::new(vault.clone(), temp.path(), Arc::new(SystemClock), EditOptions::default());
        let (settings, zone) = (Settings::default(), Zone::get("UTC").unwrap());
        let notes = MemoryNotes { vault: &vault, editor: &editor, settings: &settings, zone: &zone };
        test(&notes, &|| std::fs::read_to_string(root.join("Pinned.md")).unwrap());
    }

    #[test]
    fn a_pin_is_added_once_and_taken_out_whole() {
        let target = LinkTarget { path: "logs/a".into(), block_id: Some("X".into()), heading: None };
        let origin = Origin::new(Actor::Discord);
        with_pins("# Pinned\n\n- by hand\n", |notes, text| {
            let first = notes.pin("Mum's birthday\nis in May", Some(&target), &origin).unwrap();
            assert_eq!((&*first.text, first.line), ("- Mum's birthday\n  is in May [[logs/a#^X]]", 4));
            let again = notes.pin("other words", Some(&target), &origin).unwrap();
            assert_eq!((again.existing, &again.text, again.line), (true, &first.text, first.line));
            assert_eq!(text(), format!("# Pinned\n\n- by hand\n{}\n", first.text));
            assert_eq!(notes.unpin("Mum's", false, &origin).unwrap().text, first.text);
            assert_eq!(text(), "# Pinned\n\n- by hand\n");
        });
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        let origin = Origin::new(Actor::Cli);
        with_pins("- one a\n- one b\n```\n- one in code\n```\n", |notes, _| {
            let unpin = |text: &str| notes.unpin(text, false, &origin).unwrap_err();
            assert!(matches!(unpin("one"), MemoryError::AmbiguousPin(_, 2)));
            assert!(matches!(unpin("two"), MemoryError::NoSuchPin(_)));
            let pin = |text: &str, target| notes.pin(text, target, &origin).unwrap_err();
            assert!(matches!(pin(" \n", None), MemoryError::Words(WordsError::Empty)));
            let broken = LinkTarget { path: "a]] b".into(), block_id: None, heading: None };
            assert!(matches!(pin("x", Some(&broken)), MemoryError::BadLink(_)));
            assert!(matches!(pin("x\u{7}", None), MemoryError::Words(_)));
            assert_eq!(notes.pins().unwrap().len(), 2);
        });
        with_pins("## A\n- one\n- two\n- one\n## B\n- one more\n- one", |notes, text| {
            notes.unpin("one", false, &origin).unwrap();
            assert_eq!(text(), "## A\n- two\n## B\n- one more\n");
        });
        // By its words as they stand there, also where they would be changed today.
        let picture = "![a](https://e.example/b)";
        with_pins(&format!("- {picture}\n"), |notes, text| {
            assert!(notes.pin(picture, None, &origin).unwrap().existing);
            notes.unpin(picture, true, &origin).unwrap();
            assert_eq!(text(), "");
        });
        with_pins("# P\n\n%% x\n", |notes, text| {
            let error = notes.pin("pinned", None, &origin).unwrap_err();
            assert!(matches!(error, MemoryError::Unreadable(..)), "{error}");
            assert_eq!(text(), "# P\n\n%% x\n");
        });
    }
}
