//! Writes questions to the inbox, a note with one line for each candidate. Carries out a person's answers: keep, keep
//! in other words, or decline. Each question is also recorded in the note when it is asked. The record outlives the
//! line, so a declined candidate isn't asked again.
//!
//! The note is the whole state ([`crate::format::candidate`]). Keeping a candidate takes two edits with one
//! [`OPERATION`], which `undo` takes back together. The first edit writes the fact into `MEMORY.md` with a link to its
//! source; the second edit removes the line from the inbox. After a crash between the two, the next run finds the fact
//! in `MEMORY.md` and only removes the line. The operation's name contains a hash of the line, so after a crash the
//! second edit gets the same name as the first.
//!
//! Before an answer is carried out, the question's checkbox is emptied, by an edit that `undo` skips. So `undo`
//! restores the question with an empty checkbox. If the checkbox were ticked, the next run would carry out the same
//! answer again.

use jiff::Timestamp;
use serde::Serialize;

use super::inbox_note::{self, escape_markup};
use crate::format::candidate::{
    self, AUTO, Candidate, CandidateLine, CandidateRecord, CandidateState, Category, CheckboxMark,
    FactChange, HUMAN, InboxFile,
};
use crate::memory::keep_fact::KeptFact;
use crate::memory::{MemoryError, MemoryNotes, Origin, SavedMemory, wording};
use crate::vault::{
    Actor, BOOKKEEPING, ChangeReason, EditError, EditPlan, NotePath, OPERATION, Operation, VaultError,
};

/// Why an inbox operation failed.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// There is no question with this id.
    #[error("nothing in `{0}` has the id `{1}`")]
    NoSuch(NotePath, String),
    /// It was answered before.
    #[error("`{}` was {} already", .0, if *.1 { "kept" } else { "declined" })]
    Over(String, bool),
    /// A line can't be added to the note so that it reads back.
    #[error("a line added to `{0}` would stand in code or a comment: close it first")]
    Hidden(NotePath),
    /// The fact can't be kept.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The note can't be read.
    #[error(transparent)]
    Read(#[from] VaultError),
    /// The note can't be written.
    #[error(transparent)]
    Write(#[from] EditError),
}

type Result<T, E = InboxError> = std::result::Result<T, E>;

impl InboxError {
    /// A remedy, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoSuch { .. } => Some("`vault-agent inbox list` shows the open entries, with their ids"),
            _ => None,
        }
    }
}

/// One question of the inbox, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedCandidate {
    /// Its id.
    pub id: String,
    /// Its category.
    pub category: Category,
    /// The section of `MEMORY.md` that it is for.
    pub section: String,
    /// The text that would be remembered.
    pub text: String,
    /// The quote.
    pub quote: String,
    /// Its source: `logs/…#^id`.
    #[serde(rename = "ref")]
    pub source: String,
    /// Its state.
    pub state: CandidateState,
    /// The words of the fact that it would replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// The words of the fact that it would be added to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joins: Option<String>,
    /// Its finder: a brain's name, or `rules`; `None` if a person wrote the line.
    pub by: Option<String>,
}

/// A fact that was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptCandidate {
    /// The question's id.
    pub id: String,
    /// The fact as written in `MEMORY.md`.
    #[serde(flatten)]
    pub saved: SavedMemory,
}

/// The result of reading the note's boxes.
#[derive(Debug, Default, Serialize)]
pub struct InboxOutcome {
    /// Ticked ones, which are kept now.
    pub kept: Vec<KeptCandidate>,
    /// Declined ones.
    pub dropped: Vec<String>,
    /// Sentences: ticked ones that can't be kept, and why.
    pub problems: Vec<String>,
}

impl InboxOutcome {
    /// Whether no box was answered.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.dropped.is_empty() && self.problems.is_empty()
    }
}

/// The inbox of a vault.
#[derive(Debug, Clone, Copy)]
pub struct Inbox<'a> {
    notes: MemoryNotes<'a>,
}

impl<'a> Inbox<'a> {
    /// The inbox of these memories.
    pub fn new(notes: MemoryNotes<'a>) -> Self {
        Self { notes }
    }

    /// Its note.
    pub fn path(&self) -> NotePath {
        NotePath::new(&self.notes.settings.paths.inbox)
            .expect("the settings' paths are validated when they are read")
    }

    /// Its content; a missing note is empty.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn read(&self) -> Result<InboxFile> {
        let bytes = self.notes.vault.read_if_there(&self.path())?;
        Ok(bytes.map_or_else(InboxFile::default, |bytes| candidate::parse(&bytes)))
    }

    /// All questions ever asked, oldest first; open ones in the order of the note.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn list(&self) -> Result<Vec<ListedCandidate>> {
        let file = self.read()?;
        let by = |id: &str| {
            let record = file.records.iter().find(|record| record.candidate.id == id)?;
            record.candidate.record.as_ref().map(|record| record.by.clone())
        };
        let all = file.all();
        let mut open: Vec<&Candidate> =
            all.iter().filter(|(state, _)| *state == CandidateState::Open).map(|(_, one)| *one).collect();
        open.sort_by_key(|one| file.lines.iter().position(|line| line.candidate.id == one.id));
        let mut open = open.into_iter();
        let in_order = all.into_iter().map(|(state, one)| match state {
            CandidateState::Open => (state, open.next().unwrap_or(one)),
            _ => (state, one),
        });
        Ok(in_order.map(|(state, one)| ListedCandidate { by: by(&one.id), ..listed(state, one) }).collect())
    }

    /// Asks about these, except those asked before. Open questions with an id in `again` move up.
    /// Returns the ids that are new, in order.
    ///
    /// # Errors
    /// The note can't be written, or a line in it wouldn't be seen.
    pub fn ask(&self, candidates: &[Candidate], again: &[String]) -> Result<Vec<String>> {
        let known = self.read()?;
        let is_known = |id: &str| known.records.iter().any(|record| record.candidate.id == id);
        let new: Vec<&Candidate> = candidates.iter().filter(|one| !is_known(&one.id)).collect();
        let ids: Vec<String> = new.iter().map(|one| one.id.clone()).collect();
        let subject = match new.as_slice() {
            [] if again.is_empty() => return Ok(ids),
            [] => "moved up what was said again".to_owned(),
            [one] => format!("asked whether to remember: {}", short(&one.text)),
            many => format!("asked whether to remember {} things", many.len()),
        };
        let mut why = ChangeReason::new(Actor::Assistant, subject);
        for id in &ids {
            why = why.trailer("Candidate", id);
        }
        let path = self.path();
        self.notes.editor.try_edit_with(&path, &why, |bytes| -> Result<_> {
            let after = inbox_note::with_questions(&inbox_note::with_moved_up(bytes, again), candidates);
            let read = candidate::parse(&after);
            let seen =
                |id: &String| read.lines.iter().chain(&read.records).any(|line| line.candidate.id == *id);
            let hidden = || InboxError::Hidden(path.clone());
            ids.iter().all(seen).then_some((EditPlan::Bytes(after), ())).ok_or_else(hidden)
        })?;
        Ok(ids)
    }

    /// Keeps the fact of this question, with `text` in place of its words if given; `on` names who decided it.
    ///
    /// # Errors
    /// Nothing waits under the id, the words can't be kept, or a note can't be written.
    pub fn keep(
        &self,
        id: &str,
        text: Option<&str>,
        on: &str,
        now: Timestamp,
        origin: &Origin,
    ) -> Result<KeptCandidate> {
        let (file, line) = self.open(id)?;
        self.keep_line(&file, line, text, on, now, origin)
    }

    fn keep_line(
        &self,
        file: &InboxFile,
        CandidateLine { text: mut answered, candidate: mut line, .. }: CandidateLine,
        text: Option<&str>,
        on: &str,
        now: Timestamp,
        origin: &Origin,
    ) -> Result<KeptCandidate> {
        let id = line.id.clone();
        line.text = match text {
            Some(text) => wording::checked(text).map_err(MemoryError::from)?,
            None => escape_markup(&line.text),
        };
        let link = format!("[[{}]]", line.source());
        // A run that completes an interrupted one uses the same label, so that both are undone together; a copied
        // question with other words has the same id, and a label of its own.
        let line_hash = blake3::hash(inbox_note::cleared_line(&answered).trim_ascii_end()).to_hex();
        let operation = format!("inbox-{id}-{}", &line_hash[..8]);
        let why = origin.why(format!("kept: {}", short(&line.text))).trailer("Candidate", &id);
        let why = why.trailer(OPERATION, &operation);
        let fact =
            KeptFact { text: &line.text, section: &line.section, link: &link, change: line.change.as_ref() };
        let saved = self.notes.keep(&fact, now, &why)?;
        fail::fail_point!("capture::keep::between");
        self.clear_box(&line, &mut answered)?;
        let new = || CandidateRecord { asked: now, by: HUMAN.to_owned(), kept: None, on: None };
        let record = record_of(file, &id).unwrap_or_else(new);
        let record = CandidateRecord { kept: Some(now), on: Some(on.to_owned()), ..record };
        let kept = Candidate { mark: CheckboxMark::Ticked, record: Some(record), block_id: None, ..line };
        self.notes.editor.edit_with(&self.path(), &why, |bytes| {
            EditPlan::Bytes(inbox_note::without_line(bytes, &answered, Some(&kept)))
        })?;
        Ok(KeptCandidate { id, saved })
    }

    /// Declines the question with this id: it isn't asked again.
    ///
    /// # Errors
    /// Nothing waits under the id, or the note can't be written.
    pub fn decline(&self, id: &str, origin: &Origin) -> Result<ListedCandidate> {
        self.decline_line(self.open(id)?.1, origin)
    }

    fn decline_line(
        &self,
        CandidateLine { text: mut answered, candidate: line, .. }: CandidateLine,
        origin: &Origin,
    ) -> Result<ListedCandidate> {
        self.clear_box(&line, &mut answered)?;
        let why = origin.why(format!("declined: {}", short(&line.text))).trailer("Candidate", &line.id);
        self.notes.editor.edit_with(&self.path(), &why, |bytes| {
            EditPlan::Bytes(inbox_note::without_line(bytes, &answered, None))
        })?;
        Ok(listed(CandidateState::Dropped, &line))
    }

    /// Empties the box of an answered line. `undo` passes over this edit, and so brings back an open question.
    fn clear_box(&self, line: &Candidate, answered: &mut Vec<u8>) -> Result<()> {
        if line.mark == CheckboxMark::Open {
            return Ok(());
        }
        let why =
            ChangeReason::new(Actor::Assistant, "an answer is carried out").trailer(BOOKKEEPING, &line.id);
        let with = inbox_note::cleared_line(answered);
        let clear = Operation::ReplaceLine { line: std::mem::replace(answered, with.clone()), with };
        self.notes.editor.edit(&self.path(), &[clear], &why)?;
        fail::fail_point!("capture::keep::unticked");
        Ok(())
    }

    /// Carries out the answers in the boxes: keeps ticked lines, and declines the declined ones. Also ends an open line
    /// whose fact is in memory already, with its link: a crash interrupted the keeping.
    ///
    /// # Errors
    /// The note can't be read. A failure of one line is reported with the results of the others.
    pub fn settle(&self, now: Timestamp) -> Result<InboxOutcome> {
        let mut settled = InboxOutcome::default();
        let origin = Origin::new(Actor::Assistant);
        let file = self.read()?;
        for answered in &file.lines {
            let line = &answered.candidate;
            let is_answered = match line.mark {
                // Its fact is in memory: a crash interrupted the keeping.
                CheckboxMark::Open => {
                    self.notes.is_kept(&escape_markup(&line.text), &format!("[[{}]]", line.source()))?
                }
                CheckboxMark::Ticked | CheckboxMark::Declined => true,
            };
            // A line that was changed meanwhile is for the next run; two equal ones are one.
            if !is_answered || !self.read()?.lines.iter().any(|line| line.text == answered.text) {
                continue;
            }
            let is_auto = record_of(&file, &line.id).is_some_and(|it| it.on.as_deref() == Some(AUTO));
            let (on, acted) = (if is_auto { AUTO } else { HUMAN }, answered.clone());
            let done = match line.mark {
                CheckboxMark::Declined => {
                    self.decline_line(acted, &origin).map(|gone| settled.dropped.push(gone.id))
                }
                CheckboxMark::Open | CheckboxMark::Ticked => {
                    self.keep_line(&file, acted, None, on, now, &origin).map(|kept| settled.kept.push(kept))
                }
            };
            if let Err(error) = done {
                settled.problems.push(format!("`{}` can't be kept: {error}", line.id));
            }
        }
        Ok(settled)
    }

    /// The first line that waits under an id.
    fn open(&self, id: &str) -> Result<(InboxFile, CandidateLine)> {
        let file = self.read()?;
        match file.lines.iter().find(|line| line.candidate.id == id).cloned() {
            Some(line) => Ok((file, line)),
            None => match record_of(&file, id) {
                Some(record) => Err(InboxError::Over(id.to_owned(), record.kept.is_some())),
                None => Err(InboxError::NoSuch(self.path(), id.to_owned())),
            },
        }
    }
}

fn record_of(file: &InboxFile, id: &str) -> Option<CandidateRecord> {
    file.records.iter().find(|line| line.candidate.id == id)?.candidate.record.clone()
}

fn listed(state: CandidateState, one: &Candidate) -> ListedCandidate {
    let words = |is: fn(&FactChange) -> bool| {
        one.change.as_ref().filter(|change| is(change)).map(|it| it.words().to_owned())
    };
    ListedCandidate {
        id: one.id.clone(),
        category: one.category,
        section: one.section.clone(),
        text: one.text.clone(),
        quote: one.quote.clone(),
        source: one.source(),
        state,
        replaces: words(|change| matches!(change, FactChange::Replaces(_))),
        joins: words(|change| matches!(change, FactChange::Joins(_))),
        by: one.record.as_ref().map(|record| record.by.clone()),
    }
}

/// A text for a subject.
fn short(text: &str) -> String {
    crate::capture::sentences::one_line(text, 60)
}
