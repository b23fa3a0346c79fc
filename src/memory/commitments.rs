//! Adds, lists, changes, completes and cancels follow-ups in `COMMITMENTS.md`, the only place where follow-ups are
//! kept.
//!
//! [`crate::deliver`] sends due follow-ups. After a write, the follow-up is read from the note again, and the caller
//! gets what the note says.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::error::check;
use crate::config::Settings;
use crate::format::commitment::{self, Commitment, CommitmentBlock, CommitmentStatus, CommitmentsFile};
use crate::memory::wording;
use crate::memory::{MemoryError, Origin, Result};
use crate::reminders::rfc3339;
use crate::schedule::Zone;
use crate::vault::{Actor, EditPlan, Editor, NotePath, Operation, Vault, VaultError};

/// The places of follow-ups.
const PLACES: &str = "write `channel:ID`, `thread:ID` or `user:ID` with the number that Discord shows";
/// The places that a brain may name.
const OWN_PLACES: &str =
    "the assistant delivers one to an owner, in the bot's channel, or where it has a log";

/// The follow-ups of a vault.
#[derive(Debug, Clone)]
pub struct FollowUpNotes<'a> {
    /// Reads the note.
    pub vault: &'a Vault,
    /// Writes the note.
    pub editor: &'a Editor,
    /// The note.
    pub path: NotePath,
    /// The zone whose days count the ids.
    pub zone: &'a Zone,
    /// Whether several machines have this vault, and which places on Discord are the owner's.
    pub settings: &'a Settings,
    /// The [fingerprint](ListedFollowUp::fingerprint) that a follow-up must have to be changed, where that matters.
    pub was: Option<&'a str>,
}

/// A follow-up that was added, or that was there already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddedCommitment {
    /// As it stands in the note.
    #[serde(flatten)]
    pub listed: ListedFollowUp,
    /// Whether it waited there already, and nothing was written.
    pub existing: bool,
}

/// A follow-up as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedFollowUp {
    /// Its id.
    pub id: String,
    /// `pending`, `delivered` or `cancelled`.
    pub status: String,
    /// When it is due, RFC 3339.
    pub due: Option<String>,
    /// `precise` or `soft`.
    pub precision: Option<String>,
    /// Its destination.
    pub scope: Option<String>,
    /// The turn that it came from.
    pub source: Option<String>,
    /// The promise.
    pub text: String,
    /// The line of its first `---`, from 1.
    pub line: usize,
}

impl ListedFollowUp {
    /// A fingerprint of its text and time: another one if a person changed either.
    pub fn fingerprint(&self) -> String {
        format!("{} {}", self.due.as_deref().unwrap_or("no due time"), self.text)
    }
}

impl<'a> FollowUpNotes<'a> {
    /// The same, for changes of a follow-up that still has this fingerprint.
    #[must_use]
    pub fn if_unchanged(self, was: &'a str) -> Self {
        Self { was: Some(was), ..self }
    }

    /// Refuses a follow-up in these bytes that is not as expected.
    fn expected(&self, bytes: &[u8], id: &str) -> Result<()> {
        let file = commitment::parse(bytes);
        let now = file.find(id).map(|block| listed(block, self.zone.tz()).fingerprint());
        if self.was.is_none() || self.was == now.as_deref() { Ok(()) } else { Err(changed(id)) }
    }

    /// Whether a place is the owner's: the bot's channel, an owner, or a channel or thread that has a log. A brain
    /// names no other, since what it has read would leave the machine there without a question.
    fn is_owners(&self, place: &str) -> bool {
        let (discord, logs) = (&self.settings.discord, &self.settings.paths.logs);
        let (kind, id) = place.split_once(':').unwrap_or_default();
        let number = id.parse().ok();
        if kind == "user" {
            return number.is_some_and(|user| discord.owner_ids.contains(&user));
        }
        let log = NotePath::new(&format!("{logs}/discord-{kind}/{id}"));
        let has_log = log.is_ok_and(|log| self.vault.notes_below(log).is_ok_and(|notes| !notes.is_empty()));
        discord.channel_id == number || has_log
    }

    /// Refuses a place that is none, and for the assistant one that isn't the owner's.
    fn check_place(&self, followed: &Commitment, origin: &Origin) -> Result<()> {
        let Some(scope) = &followed.scope else { return Ok(()) };
        let places = match commitment::is_place(scope) {
            true if origin.actor != Actor::Assistant || self.is_owners(scope) => return Ok(()),
            true => OWN_PLACES,
            false => PLACES,
        };
        Err(MemoryError::BadPlace(crate::format::quote(scope), places))
    }

    /// The note's follow-ups; a missing note has none.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn read(&self) -> Result<CommitmentsFile, VaultError> {
        let bytes = self.vault.read_if_there(&self.path)?;
        Ok(bytes.map_or_else(CommitmentsFile::default, |bytes| commitment::parse(&bytes)))
    }

    /// Adds a follow-up at the end of the note, with the next id of the local day. If one with the same words, due time
    /// and place is waiting already, it is returned and not written again. `expected` is the hash of the note as it was
    /// read: where the note is another by now, nothing is written.
    ///
    /// # Errors
    /// The text or its place can't be kept, the block would not read back, or the note can't be written.
    pub fn add(
        &self,
        draft: &Commitment,
        expected: Option<&str>,
        now: Timestamp,
        origin: &Origin,
    ) -> Result<AddedCommitment> {
        let created = Some(Timestamp::from_second(now.as_second()).unwrap_or(now));
        let draft =
            Commitment { text: wording::checked_of(&draft.text, "", origin)?, created, ..draft.clone() };
        self.check_place(&draft, origin)?;
        let bytes = self.editor.read_settled(&self.path)?;
        check(&self.path, &bytes, expected)?;
        let standing = standing_text(&draft);
        if let Some(listed) = self.waiting(&commitment::parse(&bytes), &draft, &standing) {
            return Ok(AddedCommitment { listed, existing: true });
        }
        let (_, planned) = self.planned(&bytes, &draft, now)?;
        let subject = format!("promised: {}", wording::summary(&planned.text));
        let why = origin.why(subject).trailer("Commitment", planned.id.clone());
        // Computed again from the newest bytes, in case they have changed.
        let (id, existing) = self.editor.try_edit_with(&self.path, &why, |bytes| -> Result<_> {
            check(&self.path, bytes, expected)?;
            if let Some(listed) = self.waiting(&commitment::parse(bytes), &draft, &standing) {
                return Ok((EditPlan::NOTHING, (listed.id, true)));
            }
            let (append, listed) = self.planned(bytes, &draft, now)?;
            Ok((EditPlan::Operations(vec![append]), (listed.id, false)))
        })?;
        Ok(AddedCommitment { listed: self.read_back(&id)?, existing })
    }

    /// The follow-up that waits with the same words, due time and place.
    fn waiting(&self, file: &CommitmentsFile, draft: &Commitment, standing: &str) -> Option<ListedFollowUp> {
        let same = |commitment: &Commitment| {
            commitment.status == CommitmentStatus::Pending
                && (commitment.due, commitment.scope.as_ref()) == (draft.due, draft.scope.as_ref())
                && wording::say_the_same(&commitment.text, standing)
        };
        let found = file.blocks.iter().find(|block| same(&block.commitment))?;
        Some(listed(found, self.zone.tz()))
    }

    /// Reads a follow-up back from the note on disk.
    pub(super) fn read_back(&self, id: &str) -> Result<ListedFollowUp> {
        let file = self.read()?;
        let block = file.find(id).ok_or_else(|| MemoryError::Vanished(format!("the follow-up `{id}`")))?;
        Ok(listed(block, self.zone.tz()))
    }

    /// The id of a new follow-up: the next number of the day. Several machines may each add one before they see the
    /// other's note, so there the number is a hash.
    fn new_id(&self, file: &CommitmentsFile, draft: &Commitment, now: Timestamp) -> String {
        let day = self.zone.tz().to_datetime(now).date();
        if self.settings.machines.is_none() {
            return commitment::next_id(file, day);
        }
        commitment::hashed_id(file, day, draft)
    }

    /// The operation that adds a draft to these bytes, and the draft as it then reads.
    fn planned(
        &self,
        bytes: &[u8],
        draft: &Commitment,
        now: Timestamp,
    ) -> Result<(Operation, ListedFollowUp)> {
        let file = commitment::parse(bytes);
        let id = self.new_id(&file, draft, now);
        let commitment = Commitment { id: id.clone(), ..draft.clone() };
        let blank_line = if bytes.is_empty() || bytes.ends_with(b"\n\n") || bytes.ends_with(b"\n\r\n") {
            ""
        } else {
            "\n"
        };
        let append =
            Operation::Append { text: format!("{blank_line}{}", commitment.to_block()).into_bytes() };
        let (after, _) = crate::vault::apply(std::slice::from_ref(&append), bytes);
        let read = commitment::parse(&after);
        let Some(block) = read.find(&id) else {
            let reason =
                read.findings.last().map_or("its end is inside a comment or a code block", |f| &f.reason);
            return Err(MemoryError::Unreadable(self.path.clone(), reason.to_owned()));
        };
        Ok((append, listed(block, self.zone.tz())))
    }

    /// All follow-ups in the order of the note; only those that wait, unless `all`.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn list(&self, all: bool) -> Result<Vec<ListedFollowUp>> {
        self.list_those(|one| all || one.status == CommitmentStatus::Pending)
    }

    /// Those that wait and are due at `now`, in the order of the note.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn due(&self, now: Timestamp) -> Result<Vec<ListedFollowUp>> {
        self.list_those(|one| {
            one.status == CommitmentStatus::Pending && one.due.is_some_and(|due| due <= now)
        })
    }

    fn list_those(&self, are_meant: impl Fn(&Commitment) -> bool) -> Result<Vec<ListedFollowUp>> {
        let file = self.read()?;
        let meant = file.blocks.iter().filter(|block| are_meant(&block.commitment));
        Ok(meant.map(|block| listed(block, self.zone.tz())).collect())
    }

    /// As [`Self::read`], for a change: never in the middle of another program's save.
    fn read_settled(&self) -> Result<CommitmentsFile> {
        Ok(commitment::parse(&self.editor.read_settled(&self.path)?))
    }

    /// Marks a waiting follow-up as delivered or cancelled: its status changes and no other byte.
    ///
    /// # Errors
    /// There is none with the id, it doesn't wait any more, or the note can't be written.
    pub fn set(&self, id: &str, to: CommitmentStatus, origin: &Origin) -> Result<ListedFollowUp> {
        let file = self.read_settled()?;
        let block = self.pending(&file, id)?;
        let subject = format!("{to}: {}", wording::summary(&block.commitment.text));
        let why = origin.why(subject).trailer("Commitment", id);
        self.editor.try_edit_with(&self.path, &why, |bytes| -> Result<_> {
            self.expected(bytes, id)?;
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
    /// There is none with the id, it doesn't wait any more or has no due time to change, the words can't be kept, or
    /// the note can't be written.
    pub fn change(
        &self,
        id: &str,
        (text, due): (Option<&str>, Option<Timestamp>),
        origin: &Origin,
    ) -> Result<ListedFollowUp> {
        let file = self.read_settled()?;
        let before = &self.pending(&file, id)?.commitment;
        if origin.actor == Actor::Assistant {
            self.check_place(before, origin)?;
        }
        let text = text.map(|text| wording::checked_of(text, &before.text, origin)).transpose()?;
        let words = text.as_deref().unwrap_or(&before.text);
        let why = origin.why(format!("changed: {}", wording::summary(words))).trailer("Commitment", id);
        self.editor.try_edit_with(&self.path, &why, |bytes| -> Result<_> {
            self.expected(bytes, id)?;
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

    /// Lets a waiting follow-up be due later: its due time changes and no other byte. Returns its block as it stands
    /// then.
    ///
    /// # Errors
    /// It was changed in the meantime, or the note can't be written.
    pub fn postpone(&self, id: &str, (from, to): (Timestamp, Timestamp), origin: &Origin) -> Result<String> {
        let why = origin.why(format!("snoozed: {id}")).trailer("Commitment", id);
        self.editor.try_edit_with(&self.path, &why, |bytes| -> Result<_> {
            self.expected(bytes, id)?;
            let after = commitment::set_due(bytes, id, from, to).ok_or_else(|| changed(id))?;
            let range = commitment::parse(&after).find(id).ok_or_else(|| changed(id))?.range.clone();
            let block = String::from_utf8_lossy(&after[range]).trim_end().to_owned();
            Ok((EditPlan::Bytes(after), block))
        })
    }
}

fn listed(block: &CommitmentBlock, tz: &TimeZone) -> ListedFollowUp {
    let commitment = &block.commitment;
    ListedFollowUp {
        id: commitment.id.clone(),
        status: commitment.status.to_string(),
        due: commitment.due.map(|due| rfc3339(due, tz)),
        precision: commitment.precision.map(|precision| precision.to_string()),
        scope: commitment.scope.clone(),
        source: commitment.source.clone(),
        text: commitment.text.clone(),
        line: block.line,
    }
}

/// The text of a draft's block once it stands in a note, where a text can't begin or end a block.
fn standing_text(draft: &Commitment) -> String {
    let block = Commitment { id: "c-1".to_owned(), ..draft.clone() }.to_block();
    let read = commitment::parse(block.as_bytes()).blocks.pop();
    read.map_or_else(|| draft.text.clone(), |block| block.commitment.text)
}

fn changed(id: &str) -> MemoryError {
    MemoryError::Changed(format!("the follow-up `{id}`"))
}
