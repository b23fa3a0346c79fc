//! Forgets a memory: finds its line by its words and removes it from the note.

use super::edit::{ForgottenMemory, without};
use super::promote::with_removed_lines;
use super::save::SavedMemory;
use crate::format::pinned::LinkTarget;
use crate::memory::text::item::MemoryItem;
use crate::memory::text::wording;
use crate::memory::{MemoryError, MemoryNotes, Origin, Result, Scope, pins};
use crate::vault::{ChangeReason, EditPlan, NotePath};

impl MemoryNotes<'_> {
    /// Takes out the memory that holds line `line` of `MEMORY.md`, a day's note or the pins. With `expect`, the one that
    /// says that (its words, or its exact lines), wherever it stands, and none that says anything else.
    ///
    /// # Errors
    /// The note is another, no memory holds that line or says that, or the note can't be written.
    pub fn forget(
        &self,
        path: &str,
        line: usize,
        expect: Option<&str>,
        origin: &Origin,
    ) -> Result<ForgottenMemory> {
        let path = self.note_of_memories(path)?;
        let bytes = self.vault.read(&path)?;
        let item = self.item_meant(&path, &bytes, line, expect)?;
        let text = item.shown(&bytes);
        let why = origin.why(format!("forgot: {}", wording::summary(&item.text)));
        let why = with_removed_lines(why, &item, line);
        if self.take_out(&path, &item, &bytes, &why)? {
            Ok(ForgottenMemory { path, line: item.line, text })
        } else {
            Err(MemoryError::Changed(format!("the memory in line {} of `{path}`", item.line)))
        }
    }

    /// Pins words, a link, or both; the pin as it stands in the note.
    ///
    /// # Errors
    /// Both are empty, either can't be kept, or the note can't be written.
    pub fn pin(&self, text: &str, target: Option<&LinkTarget>, origin: &Origin) -> Result<SavedMemory> {
        let path = self.pinned_path();
        let pinned = pins::pin(self.editor, &path, text, target, origin)?;
        Ok(SavedMemory {
            path,
            line: pinned.pin.line,
            end_line: pinned.pin.end_line,
            text: pinned.pin.shown(),
            id: None,
            section: None,
            scope: Scope::of_text(&pinned.pin.text).pop().unwrap_or(Scope::Global),
            existing: pinned.existing,
            notes: wording::notes(text, text),
        })
    }

    /// Pins the memory, or the paragraph's line, that stands in a line of a note: its words, and a link to the note.
    ///
    /// # Errors
    /// The path names no note, there is no such line or nothing in it, or the pins can't be written.
    pub fn pin_line(&self, path: &str, line: usize, origin: &Origin) -> Result<SavedMemory> {
        let path = self.note_named(path)?;
        let bytes = self.vault.read(&path)?;
        let text = match self.item_at(&path, &bytes, line) {
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

    /// Removes the pin with these words, or (not if they must be the `whole` pin) the only one that begins with them.
    ///
    /// # Errors
    /// No pin or several match, or the note can't be written.
    pub fn unpin(&self, text: &str, whole: bool, origin: &Origin) -> Result<ForgottenMemory> {
        let path = self.pinned_path();
        let pin = pins::unpin(self.editor, &path, text, whole, origin)?;
        Ok(ForgottenMemory { path, line: pin.line, text: pin.shown() })
    }

    /// The pins, in order.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn pins(&self) -> Result<Vec<pins::Pin>> {
        pins::list(self.editor, &self.pinned_path())
    }

    /// Takes out the memory `item` of `bytes`, wherever it stands in its section now; says whether it was still there.
    /// Identical ones in the section are one thing: all of them go.
    pub(super) fn take_out(
        &self,
        path: &NotePath,
        item: &MemoryItem,
        bytes: &[u8],
        why: &ChangeReason,
    ) -> Result<bool> {
        let (is_day, meant) = (self.date_of(path).is_some(), item.shown(bytes));
        let mut there = false;
        self.editor.edit_with(path, why, |now| {
            let kept = without(now, item, &meant, is_day);
            there = kept.len() < now.len();
            if there { EditPlan::Bytes(kept) } else { EditPlan::NOTHING }
        })?;
        Ok(there)
    }
}
