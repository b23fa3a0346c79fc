//! Changes a waiting follow-up: its status, its due time, its words.

use jiff::Timestamp;

use crate::format::commitment::{self, CommitmentBlock, CommitmentStatus, CommitmentsFile};
use crate::memory::commitments::{FollowUpNotes, ListedFollowUp};
use crate::memory::text::wording;
use crate::memory::{MemoryError, Result};
use crate::vault::{EditPlan, Origin};

impl FollowUpNotes<'_> {
    /// Marks a waiting follow-up as delivered or cancelled: its status changes and no other byte.
    ///
    /// # Errors
    /// There is none with the id, it doesn't wait any more, or the note can't be written.
    pub fn set(&self, id: &str, to: CommitmentStatus, origin: &Origin) -> Result<ListedFollowUp> {
        let file = self.read()?;
        let block = self.pending(&file, id)?;
        let subject = format!("{to}: {}", wording::summary(&block.commitment.text));
        let why = origin.why(subject).trailer("Commitment", id);
        self.editor.try_edit_with(&self.path, &why, |bytes| -> Result<_> {
            let after = commitment::set_status(bytes, id, CommitmentStatus::Pending, to);
            Ok((EditPlan::Bytes(after.ok_or_else(|| changed(id))?), ()))
        })?;
        self.read_back(id)
    }

    /// The only block with this id, which waits.
    fn pending<'f>(&self, file: &'f CommitmentsFile, id: &str) -> Result<&'f CommitmentBlock> {
        let blocks: Vec<&CommitmentBlock> =
            file.blocks.iter().filter(|block| block.commitment.id == id).collect();
        match blocks.as_slice() {
            [] => Err(MemoryError::NoSuchFollowUp(self.path.clone(), id.to_owned())),
            [block] if block.commitment.status == CommitmentStatus::Pending => Ok(block),
            [block] => Err(MemoryError::NotPending(id.to_owned(), block.commitment.status)),
            many => {
                let lines = many.iter().map(|block| block.line).collect();
                Err(MemoryError::DisputedFollowUp { path: self.path.clone(), id: id.to_owned(), lines })
            }
        }
    }

    /// Gives a waiting follow-up other words, another due time, or both: no other byte changes.
    ///
    /// # Errors
    /// There is none with the id, it doesn't wait any more or has no due time to change, the words can't be kept, or the note
    /// can't be written.
    pub fn change(
        &self,
        id: &str,
        (text, due): (Option<&str>, Option<Timestamp>),
        origin: &Origin,
    ) -> Result<ListedFollowUp> {
        let text = text.map(wording::checked).transpose()?;
        let file = self.read()?;
        let before = &self.pending(&file, id)?.commitment;
        let words = text.as_deref().unwrap_or(&before.text);
        let why = origin.why(format!("changed: {}", wording::summary(words))).trailer("Commitment", id);
        self.editor.try_edit_with(&self.path, &why, |bytes| -> Result<_> {
            let dated = match (due, before.due) {
                (Some(to), Some(from)) => commitment::set_due(bytes, id, from, to),
                (Some(_), None) => None,
                (None, _) => Some(bytes.to_vec()),
            };
            let after = dated.and_then(|bytes| match &text {
                Some(text) => commitment::set_text(&bytes, id, text),
                None => Some(bytes),
            });
            // The written text is read again: it has to be this follow-up, and all others as before.
            let is_read = |after: &Vec<u8>| {
                let (old, new) = (commitment::parse(bytes), commitment::parse(after));
                let others = |file: &CommitmentsFile| {
                    let others = file.blocks.iter().map(|block| block.commitment.clone());
                    others.filter(|other| other.id != id).collect::<Vec<_>>()
                };
                new.find(id).is_some() && others(&old) == others(&new)
            };
            Ok((EditPlan::Bytes(after.filter(is_read).ok_or_else(|| changed(id))?), ()))
        })?;
        self.read_back(id)
    }

    /// Lets a waiting follow-up be due later: its due time changes and no other byte. Returns its block as it stands then.
    ///
    /// # Errors
    /// It was changed in the meantime, or the note can't be written.
    pub fn postpone(&self, id: &str, (from, to): (Timestamp, Timestamp), origin: &Origin) -> Result<String> {
        let why = origin.why(format!("snoozed: {id}")).trailer("Commitment", id);
        self.editor.try_edit_with(&self.path, &why, |bytes| -> Result<_> {
            let after = commitment::set_due(bytes, id, from, to).ok_or_else(|| changed(id))?;
            let range = commitment::parse(&after).find(id).ok_or_else(|| changed(id))?.range.clone();
            let block = String::from_utf8_lossy(&after[range]).trim_end().to_owned();
            Ok((EditPlan::Bytes(after), block))
        })
    }
}

fn changed(id: &str) -> MemoryError {
    MemoryError::Changed(format!("the follow-up `{id}`"))
}
