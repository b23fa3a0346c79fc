//! Plans the reminders: finds each due line's key in the journal, and chooses the action for the line.

use jiff::civil::Date;

use super::Pass;
use super::notes::ReminderNote;
use super::planned::{
    ChangedAfterSend, LineRewrite, PassPlan, PendingRewrite, PendingSend, Readiness, is_line_sent,
    late_seconds, marks, readiness,
};
use crate::deliver::delivery_journal::{self, DeliveryRow, DeliveryState, LineHash};
use crate::deliver::prelude::*;
use crate::format::reminder::{self, Recur, Reminder, ReminderLine};
use crate::reminders::{fields, id_of_line};
use crate::schedule::{DueInstant, DueReminder};
use crate::sqlite::Result;

/// The hash of a reminder's meaning, independent of the order of its fields and the white space between them.
pub(crate) fn meaning(reminder: &Reminder) -> LineHash {
    LineHash::of(fields(reminder).as_bytes())
}

/// A reminder that comes again, without what its steps change.
fn undated(reminder: &Reminder) -> Reminder {
    Reminder { date: Date::MIN, day: None, block_id: None, ..reminder.clone() }
}

/// Plans the reminders of a note.
pub(super) struct Planner<'a> {
    pub pass: Pass<'a>,
    pub note: &'a ReminderNote,
    pub moment: DueInstant<'a>,
}

/// The identity under which a due line is known.
struct LineIdentity {
    id: ReminderId,
    /// Another line of the file is this reminder already (a stale copy came back beside it).
    elsewhere: bool,
}

impl Planner<'_> {
    /// Adds the actions for the note to `plan`.
    pub(super) fn run(&self, plan: &mut PassPlan) -> Result<()> {
        let lines = &self.note.parsed.reminders;
        let due: Vec<(&ReminderLine, DueReminder)> =
            lines.iter().filter_map(|line| self.moment.due(&line.reminder).map(|due| (line, due))).collect();
        if due.is_empty() {
            return Ok(());
        }
        let identities = self.identities(&due)?;
        let disputed = self.disputed(&due);
        for ((line, due), mut identity) in due.into_iter().zip(identities) {
            let hash = meaning(&line.reminder);
            let namesakes = line.reminder.id.and_then(|id| disputed.get(&id));
            let is_disputed = namesakes.is_some_and(|all| self.is_disputed(&line.reminder, &due, all));
            identity.elsewhere |= namesakes.is_some_and(|all| self.is_old_copy(&line.reminder, all));
            let (due, key, readiness) = self.verdict(&line.reminder, due, &identity, hash, is_disputed)?;
            match readiness {
                Readiness::Fire if self.wait_of_new(line, &due).is_some() => {
                    plan.waiting.extend(self.wait_of_new(line, &due));
                    plan.has_young = true;
                    plan.open.insert(key);
                }
                Readiness::Fire if !plan.open.insert(key.clone()) => {}
                Readiness::Fire => {
                    let fact = reminder_fact(&line.reminder, identity.id, &due, self.pass.now);
                    plan.fires.push(PendingSend { key, line: hash, fact, scope: None });
                }
                Readiness::Wait(at) => {
                    plan.waiting.extend(at);
                    plan.open.insert(key);
                }
                Readiness::Sent(row)
                    if line.reminder.recur == Recur::None && !same_words(&row, hash, &line.reminder) =>
                {
                    plan.changed.push(ChangedAfterSend {
                        kind: MessageKind::Reminder,
                        line: line.line,
                        key,
                        row,
                        without_id: line.reminder.id.is_none(),
                    });
                }
                Readiness::Sent(row) => {
                    let target = self.target(line, &identity, &row);
                    plan.settles.push(PendingRewrite { key, row, target });
                }
            }
        }
        Ok(())
    }

    /// Until when a line waits, if it was written after its time, and just now.
    fn wait_of_new(&self, line: &ReminderLine, due: &DueReminder) -> Option<Timestamp> {
        let new = self.note.just_written.get(&line.text)?;
        (due.occurrence.at <= new.since && new.until > self.pass.now).then_some(new.until)
    }

    /// The id of each due line: its own, else the id that was given to this very line before, else the id of the line
    /// that it was before its words were changed, else a new one.
    fn identities(&self, due: &[(&ReminderLine, DueReminder)]) -> Result<Vec<LineIdentity>> {
        let mut taken = self.note.ids();
        let journal = self.pass.journal;
        let mut names: HashMap<LineHash, ReminderId> = HashMap::new();
        let mut lost: Option<Vec<DeliveryRow>> = None;
        let mut new = Vec::new();
        let mut out = Vec::with_capacity(due.len());
        for (line, due) in due {
            let hash = meaning(&line.reminder);
            if let Some(id) = line.reminder.id.or_else(|| names.get(&hash).copied()) {
                out.push(LineIdentity { id, elsewhere: false });
                continue;
            }
            let known = journal.name(&hash)?;
            let elsewhere = known.is_some_and(|id| taken.contains(&id));
            if let Some(id) = known
                && (!elsewhere || self.was_sent(id, &line.reminder, due)?)
            {
                out.push(LineIdentity { id, elsewhere });
                continue;
            }
            let lost = match &mut lost {
                Some(lost) => lost,
                none => none.insert(self.lost(&taken)?),
            };
            let id = reworded(lost, &line.reminder, due).unwrap_or_else(|| {
                id_of_line(&self.pass.settings.reminders, &line.reminder, |id| taken.contains(id))
            });
            taken.insert(id);
            names.insert(hash, id);
            new.push((hash, id));
            out.push(LineIdentity { id, elsewhere: false });
        }
        if !self.pass.is_dry_run() {
            journal.set_names(&new)?;
        }
        Ok(out)
    }

    /// Deliveries that were sent, or may have been, and are not written down yet, and whose id no line of the note has.
    fn lost(&self, taken: &HashSet<ReminderId>) -> Result<Vec<DeliveryRow>> {
        let journal = self.pass.journal;
        let mut lost = journal.unfinished_deliveries()?;
        lost.retain(|row| row.fact.kind == MessageKind::Reminder);
        if lost.is_empty() {
            return Ok(lost);
        }
        let mut here = taken.clone();
        for line in self.note.without_id() {
            here.extend(journal.name(&meaning(&line.reminder))?);
        }
        let id = |row: &DeliveryRow| ReminderId::from_bytes(row.fact.id.as_bytes());
        lost.retain(|row| id(row).is_some_and(|id| !here.contains(&id)));
        Ok(lost)
    }

    fn was_sent(&self, id: ReminderId, reminder: &Reminder, due: &DueReminder) -> Result<bool> {
        let own = reminder.date.to_datetime(reminder.time);
        Ok(self.pass.journal.latest_sent(id.as_str(), own, due.occurrence.local)?.is_some())
    }

    /// Whether one of these is this line after a recurrence step, or before it: the line is then an old copy of itself.
    fn is_old_copy(&self, reminder: &Reminder, namesakes: &[&Reminder]) -> bool {
        let next = |of: &Reminder| self.moment.next(of).map(|next| (next.local, next.day));
        reminder.recur != Recur::None
            && namesakes.iter().any(|other| {
                other.date > reminder.date
                    && undated(other) == undated(reminder)
                    && next(other) == next(reminder)
            })
    }

    /// Whether another line with the same id may come at the same time, so that one key would be that of both. What comes
    /// at another time has another key by that: a key should depend on no other line, which another machine may lack.
    fn is_disputed(&self, reminder: &Reminder, due: &DueReminder, namesakes: &[&Reminder]) -> bool {
        let are_one = |other: &Reminder| {
            meaning(other) == meaning(reminder)
                || self.is_old_copy(reminder, &[other])
                || self.is_old_copy(other, &[reminder])
        };
        let is_at = |other: &Reminder| self.moment.has_occurrence(other, due.occurrence.local);
        namesakes.iter().any(|other| is_at(other) && !are_one(other))
    }

    /// The ids of due lines that another line has too, with other words or another time, and all lines that have them.
    fn disputed(&self, due: &[(&ReminderLine, DueReminder)]) -> HashMap<ReminderId, Vec<&Reminder>> {
        let mut all: HashMap<ReminderId, Vec<&Reminder>> =
            due.iter().filter_map(|(line, _)| line.reminder.id).map(|id| (id, Vec::new())).collect();
        for reminder in self.note.parsed.reminders.iter().map(|line| &line.reminder) {
            reminder.id.and_then(|id| all.get_mut(&id)).into_iter().for_each(|all| all.push(reminder));
        }
        all.retain(|_, all| all.iter().any(|one| meaning(one) != meaning(all[0])));
        all
    }

    /// The occurrence that counts, its key, and the journal's verdict on it.
    fn verdict(
        &self,
        reminder: &Reminder,
        due: DueReminder,
        identity: &LineIdentity,
        hash: LineHash,
        disputed: bool,
    ) -> Result<(DueReminder, String, Readiness)> {
        let journal = self.pass.journal;
        let id = identity.id.as_str();
        // Ids are random: what was told under this one was this reminder, whatever a merge made of its words. What another
        // machine told is the line with its words, since only this copy may have the other.
        let is_told = |row: DeliveryRow| {
            let is_it = row.sender_machine.is_none() || row.line == hash;
            is_it && !matches!(row.state, DeliveryState::Due | DeliveryState::Failed)
        };
        let plain = delivery_journal::key(id, due.occurrence.local, None);
        let disputed = disputed && !journal.row(&plain)?.is_some_and(is_told) && {
            let fact = reminder_fact(reminder, identity.id, &due, self.pass.now);
            !is_line_sent(self.pass, &plain, &fact, hash)
        };
        // An old copy of a line that comes again is still that line.
        let hashes = match reminder.recur {
            Recur::None => vec![hash],
            _ => vec![meaning(&undated(reminder)), hash],
        };
        let marks = marks(journal, id, due.occurrence.local, &hashes, disputed)?;
        let key = |local| delivery_journal::key(id, local, marks.as_ref());
        let mut due = due;
        if reminder.recur != Recur::None {
            let own = reminder.date.to_datetime(reminder.time);
            let subject = delivery_journal::subject(id, marks.as_ref());
            let mut sent = journal.latest_sent(&subject, own, due.occurrence.local)?;
            // Another line with this id may have been sent in between.
            while let Some(at) = sent.filter(|at| !self.moment.has_occurrence(reminder, *at)) {
                let before = at.saturating_sub(SignedDuration::from_mins(1));
                sent = journal.latest_sent(&subject, own, before)?;
            }
            if let Some(sent) = sent {
                match self.moment.due_after(reminder, sent) {
                    Some(later) => due = later,
                    None => {
                        let key = key(sent);
                        let row = journal.row(&key)?.map(Box::new);
                        return Ok((due, key, row.map_or(Readiness::Wait(None), Readiness::Sent)));
                    }
                }
            }
        }
        let key = key(due.occurrence.local);
        let readiness = readiness(self.pass, journal.row(&key)?);
        Ok((due, key, readiness))
    }

    fn target(&self, line: &ReminderLine, identity: &LineIdentity, row: &DeliveryRow) -> LineRewrite {
        // As the machine that sent it would have: by the time at which it did.
        let told = row.attempted.filter(|_| row.sender_machine.is_some());
        let told = told.map(|at| DueInstant::new(&self.pass.settings.zone, at));
        let moment = told.as_ref().unwrap_or(&self.moment);
        let next = if line.reminder.recur == Recur::None { None } else { moment.next(&line.reminder) };
        let next = next.filter(|_| !identity.elsewhere);
        let id = next.and((line.reminder.id.is_none() && line.terminated).then_some(identity.id));
        let with = next.map(|next| {
            let named = id.map_or_else(|| line.text.clone(), |id| reminder::with_id(&line.text, &id));
            reminder::with_schedule(&named, next.local.date(), None, next.day)
        });
        LineRewrite { line: line.text.clone(), with, id }
    }
}

/// A due reminder as its message tells it at `now`.
pub(crate) fn reminder_fact(
    reminder: &Reminder,
    id: ReminderId,
    due: &DueReminder,
    now: Timestamp,
) -> NotifiedItem {
    NotifiedItem {
        kind: MessageKind::Reminder,
        id: id.to_string(),
        local: due.occurrence.local,
        due: due.occurrence.at,
        late_seconds: late_seconds(due.occurrence.at, now),
        missed: due.missed,
        msg: reminder.msg.clone(),
        recurring: reminder.recur != Recur::None,
        next: due.next.map(|next| next.local),
        note: None,
    }
}

/// The id that this line had, for the same time, before its words were changed; takes that delivery out of `lost`.
fn reworded(lost: &mut Vec<DeliveryRow>, reminder: &Reminder, due: &DueReminder) -> Option<ReminderId> {
    let times = reminder.date.to_datetime(reminder.time)..=due.occurrence.local;
    let was = |row: &DeliveryRow| times.contains(&row.fact.local) && is_alike(&row.fact.msg, &reminder.msg);
    let at = lost.iter().position(was)?;
    ReminderId::from_bytes(lost.remove(at).fact.id.as_bytes())
}

/// Whether two texts share at least half of the shorter one at their beginning and end. A text that is less alike is
/// another reminder, and is sent too.
fn is_alike(a: &str, b: &str) -> bool {
    let shorter = a.chars().count().min(b.chars().count());
    let same = |(a, b): &(char, char)| a == b;
    let head = a.chars().zip(b.chars()).take_while(same).count();
    let tail = a.chars().rev().zip(b.chars().rev()).take(shorter - head).take_while(same).count();
    2 * (head + tail) >= shorter
}

/// Whether a line still has the words that were sent; an id added since is no change.
fn same_words(row: &DeliveryRow, hash: LineHash, reminder: &Reminder) -> bool {
    row.line == hash || row.line == meaning(&Reminder { id: None, ..reminder.clone() }) || {
        let id = ReminderId::from_bytes(row.fact.id.as_bytes());
        row.line == meaning(&Reminder { id, ..reminder.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::is_alike;

    #[test]
    fn an_edit_of_the_words_is_told_from_other_words() {
        for (a, b) in [("Ca", "Call Mum"), ("Call Mun", "Call Mum"), ("Milk", "Buy milk"), ("é", "éa")] {
            assert!(is_alike(a, b) && is_alike(b, a), "{a} {b}");
        }
        for (a, b) in [("Take pills", "Call Bob"), ("aa", "ba b"), ("D", "Call")] {
            assert!(!is_alike(a, b) && !is_alike(b, a), "{a} {b}");
        }
    }
}
