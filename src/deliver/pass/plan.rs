//! What is due, and what of it is to be sent, waited for or written down: the notes against the
//! journal.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};

use super::notes::{CommitmentNote, Notes, ReminderNote};
use super::report::late_seconds;
use super::{Mode, PassContext, PassError};
use crate::deliver::journal::{self, Journal, LineHash, Row, State};
use crate::deliver::notifier::{Fact, MessageKind, Scope};
use crate::deliver::phrase;
use crate::format::commitment::{Commitment, Status};
use crate::format::id::ReminderId;
use crate::format::reminder::{self, Parsed, Recur, Reminder, ReminderLine};
use crate::reminders::random_id;
use crate::schedule::{Due, Moment, Next, Zone};

/// What a pass has to do.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// To be sent, in the order of the notes.
    pub fires: Vec<Fire>,
    /// Sent, and to be written down.
    pub settles: Vec<Settle>,
    /// To be tried again at these instants.
    pub waiting: Vec<Timestamp>,
    /// The keys of all that is due and not sent.
    pub open: HashSet<String>,
    /// Lines of one-offs whose words were changed after they were sent: number and key.
    pub changed: Vec<(usize, String)>,
}

/// One notification that is due and not sent.
#[derive(Debug, Clone)]
pub(super) struct Fire {
    pub key: String,
    pub line: LineHash,
    pub fact: Fact,
    pub scope: Option<Scope>,
}

/// One that is sent and whose note doesn't say so.
#[derive(Debug, Clone)]
pub(super) struct Settle {
    pub key: String,
    pub row: Box<Row>,
    pub target: Target,
}

/// What is rewritten.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// The line goes.
    Delete { line: Vec<u8> },
    /// The line moves on; with an id, where it has none.
    Move { line: Vec<u8>, next: Next, id: Option<ReminderId> },
    /// The block is marked delivered.
    Delivered { block: Vec<u8>, id: String },
}

/// Compares the notes with the journal. With `assign`, ids that are made up for lines without one
/// are remembered before anything is sent under them.
pub(super) fn plan(
    context: &PassContext<'_>,
    notes: &Notes,
    mode: Mode,
    now: Timestamp,
    assign: bool,
) -> Result<Plan, PassError> {
    let mut plan = Plan::default();
    if let Some(note) = &notes.reminders {
        Planner { context, note, moment: Moment::new(&context.settings.zone, now), now }
            .run(assign, &mut plan)?;
    }
    if let Some(note) = &notes.commitments {
        commitments(context, note, now, &mut plan)?;
    }
    if let Some(tasks) = &notes.tasks {
        super::tasks::plan(context, tasks, mode, now, &mut plan)?;
    }
    hold(context, &mut plan, now);
    Ok(plan)
}

/// In the quiet hours only what is urgent is told; the rest waits until they end.
fn hold(context: &PassContext<'_>, plan: &mut Plan, now: Timestamp) {
    let settings = context.settings;
    let Some(until) = settings.telling.quiet_until(&settings.zone, now) else { return };
    let all = plan.fires.len();
    plan.fires.retain(|fire| settings.telling.has_urgent_tag(&fire.fact.msg));
    plan.waiting.extend((plan.fires.len() < all).then_some(until));
}

/// What a reminder says, whatever the order of its fields and the white space between them.
pub(crate) fn meaning(reminder: &Reminder) -> LineHash {
    LineHash::of(Reminder { block_id: None, ..reminder.clone() }.to_line().as_bytes())
}

struct Planner<'a> {
    context: &'a PassContext<'a>,
    note: &'a ReminderNote,
    moment: Moment<'a>,
    now: Timestamp,
}

/// Under which name a due line is known.
struct Identity {
    id: ReminderId,
    /// Another line of the file has this id already (a stale copy came back beside it).
    elsewhere: bool,
}

/// What is to be done about one due line.
enum Verdict {
    Fire(Due, String),
    Settle(String, Box<Row>),
    Wait(String, Option<Timestamp>),
    Changed(String),
}

impl Planner<'_> {
    fn run(&self, assign: bool, plan: &mut Plan) -> Result<(), PassError> {
        let lines = &self.note.soon;
        let due: Vec<(&ReminderLine, Due)> =
            lines.iter().filter_map(|line| self.moment.due(&line.reminder).map(|due| (line, due))).collect();
        if due.is_empty() {
            return Ok(());
        }
        let identities = self.identities(&due, assign)?;
        let disputed = self.disputed(&due);
        for ((line, due), identity) in due.into_iter().zip(identities) {
            let hash = meaning(&line.reminder);
            let is_disputed = line.reminder.id.is_some_and(|id| disputed.contains(&id));
            match self.verdict(&line.reminder, due, &identity, hash, is_disputed)? {
                Verdict::Fire(due, key) => {
                    if plan.open.insert(key.clone()) {
                        plan.fires.push(Fire {
                            key,
                            line: hash,
                            fact: self.fact(line, &identity, &due),
                            scope: None,
                        });
                    }
                }
                Verdict::Settle(key, row) => {
                    plan.settles.push(Settle { key, row, target: self.target(line, &identity) });
                }
                Verdict::Wait(key, at) => {
                    plan.waiting.extend(at);
                    plan.open.insert(key);
                }
                Verdict::Changed(key) => plan.changed.push((line.line, key)),
            }
        }
        Ok(())
    }

    /// The id of each due line: its own, else the one that was given to this very line before, else a
    /// new one.
    fn identities(&self, due: &[(&ReminderLine, Due)], assign: bool) -> Result<Vec<Identity>, PassError> {
        let nameless = due.iter().any(|(line, _)| line.reminder.id.is_none());
        let mut taken: HashSet<ReminderId> =
            if nameless { self.note.ids().iter().map(|at| at.id).collect() } else { HashSet::new() };
        let journal = self.context.journal;
        let mut names: HashMap<LineHash, ReminderId> = HashMap::new();
        let mut new = Vec::new();
        let mut out = Vec::with_capacity(due.len());
        for (line, due) in due {
            if let Some(id) = line.reminder.id {
                out.push(Identity { id, elsewhere: false });
                continue;
            }
            let hash = meaning(&line.reminder);
            if let Some(&id) = names.get(&hash) {
                out.push(Identity { id, elsewhere: false });
                continue;
            }
            let known = journal.name(&hash)?.and_then(|id| id.parse::<ReminderId>().ok());
            let elsewhere = known.is_some_and(|id| taken.contains(&id));
            if let Some(id) = known
                && (!elsewhere || self.was_sent(id, &line.reminder, due)?)
            {
                out.push(Identity { id, elsewhere });
                continue;
            }
            let id = random_id(|id| taken.contains(id))?;
            taken.insert(id);
            names.insert(hash, id);
            new.push((hash, id.to_string()));
            out.push(Identity { id, elsewhere: false });
        }
        if assign && !new.is_empty() {
            journal.set_names(&new)?;
        }
        Ok(out)
    }

    fn was_sent(&self, id: ReminderId, reminder: &Reminder, due: &Due) -> Result<bool, PassError> {
        let own = reminder.date.to_datetime(reminder.time);
        Ok(self.context.journal.latest_sent(id.as_str(), own, due.occurrence.local)?.is_some())
    }

    /// The ids of due lines that another line has too, with other words.
    fn disputed(&self, due: &[(&ReminderLine, Due)]) -> HashSet<ReminderId> {
        let mut first: HashMap<ReminderId, Option<LineHash>> =
            due.iter().filter_map(|(line, _)| line.reminder.id).map(|id| (id, None)).collect();
        let mut disputed = HashSet::new();
        for at in self.note.ids() {
            let Some(known) = first.get_mut(&at.id) else { continue };
            let Parsed::Reminder(found) = reminder::parse_line(at.text()) else { continue };
            let hash = meaning(&found);
            if *known.get_or_insert(hash) != hash {
                disputed.insert(at.id);
            }
        }
        disputed
    }

    fn verdict(
        &self,
        reminder: &Reminder,
        due: Due,
        identity: &Identity,
        hash: LineHash,
        disputed: bool,
    ) -> Result<Verdict, PassError> {
        let journal = self.context.journal;
        let id = identity.id.as_str();
        let marks = marks(journal, id, due.occurrence.local, hash, disputed)?;
        let key = |local| journal::key(id, local, marks.as_ref());
        let mut due = due;
        if reminder.recur != Recur::None {
            let own = reminder.date.to_datetime(reminder.time);
            let subject = journal::subject(id, marks.as_ref());
            if let Some(sent) = journal.latest_sent(&subject, own, due.occurrence.local)? {
                match self.moment.due_after(reminder, sent) {
                    Some(later) => due = later,
                    None => {
                        let key = key(sent);
                        let row = journal.row(&key)?;
                        return Ok(match row {
                            Some(row) => Verdict::Settle(key, Box::new(row)),
                            None => Verdict::Wait(key, None),
                        });
                    }
                }
            }
        }
        let key = key(due.occurrence.local);
        let row = journal.row(&key)?;
        Ok(match readiness(row, self.now, &self.context.settings.notifiers) {
            Readiness::Fire => Verdict::Fire(due, key),
            Readiness::Wait(at) => Verdict::Wait(key, at),
            Readiness::Sent(row) if reminder.recur == Recur::None && !same_words(&row, hash, reminder) => {
                Verdict::Changed(key)
            }
            Readiness::Sent(row) => Verdict::Settle(key, row),
        })
    }

    fn target(&self, line: &ReminderLine, identity: &Identity) -> Target {
        let next = if line.reminder.recur == Recur::None { None } else { self.moment.next(&line.reminder) };
        match next {
            Some(next) if !identity.elsewhere => Target::Move {
                line: line.text.clone(),
                next: Next { date: next.local.date(), day: next.day, at: next.at },
                id: (line.reminder.id.is_none() && line.terminated).then_some(identity.id),
            },
            _ => Target::Delete { line: line.text.clone() },
        }
    }

    fn fact(&self, line: &ReminderLine, identity: &Identity, due: &Due) -> Fact {
        let time = line.reminder.time;
        Fact {
            kind: MessageKind::Reminder,
            id: identity.id.to_string(),
            local: due.occurrence.local,
            due: due.occurrence.at,
            late_seconds: late_seconds(due.occurrence.at, self.now),
            missed: due.missed,
            msg: line.reminder.msg.clone(),
            recurring: line.reminder.recur != Recur::None,
            next: due.next.map(|next| next.date.to_datetime(time)),
            note: None,
        }
    }
}

/// The hash that is part of the key, where lines that differ share the id. A line whose plain key was
/// sent before the other one came keeps the plain key; one that is alone again keeps the key that it
/// was claimed with.
fn marks(
    journal: &Journal,
    id: &str,
    local: civil::DateTime,
    hash: LineHash,
    disputed: bool,
) -> Result<Option<LineHash>, PassError> {
    let with_hash = journal.row(&journal::key(id, local, Some(&hash)))?.is_some();
    if with_hash || !disputed {
        return Ok(with_hash.then_some(hash));
    }
    let plain = journal.row(&journal::key(id, local, None))?;
    let was_first = plain.is_some_and(|row| row.line == Some(hash));
    Ok((!was_first).then_some(hash))
}

/// Whether a line still says what was sent; an id that it got since is no change.
fn same_words(row: &Row, hash: LineHash, reminder: &Reminder) -> bool {
    row.line == Some(hash) || row.line == Some(meaning(&Reminder { id: None, ..reminder.clone() })) || {
        let id = row.fact.id.parse().ok();
        row.line == Some(meaning(&Reminder { id, ..reminder.clone() }))
    }
}

pub(super) enum Readiness {
    Fire,
    Wait(Option<Timestamp>),
    Sent(Box<Row>),
}

pub(super) fn readiness(row: Option<Row>, now: Timestamp, notifiers: &str) -> Readiness {
    let Some(row) = row else { return Readiness::Fire };
    match row.state {
        State::Sent | State::Done => Readiness::Sent(Box::new(row)),
        State::Sending => Readiness::Wait(row.retry.filter(|at| *at > now)),
        State::Failed if row.settings.as_deref() == Some(notifiers) => Readiness::Wait(None),
        State::Failed if row.settings.as_deref() == Some(journal::RESTORED) => Readiness::Wait(None),
        State::Failed => Readiness::Fire,
        // A clock that was put back to before the attempt makes the wait meaningless.
        State::Due => match (row.retry, row.attempted) {
            (Some(at), attempted) if at > now && attempted.is_none_or(|then| then <= now) => {
                Readiness::Wait(Some(at))
            }
            _ => Readiness::Fire,
        },
    }
}

fn commitments(
    context: &PassContext<'_>,
    note: &CommitmentNote,
    now: Timestamp,
    plan: &mut Plan,
) -> Result<(), PassError> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for block in &note.parsed.blocks {
        *counts.entry(&block.commitment.id).or_default() += 1;
    }
    for block in &note.parsed.blocks {
        let commitment = &block.commitment;
        let Some(due) = commitment.due.filter(|due| commitment.status == Status::Pending && *due <= now)
        else {
            continue;
        };
        let bytes = &note.bytes[block.range.clone()];
        let hash = LineHash::of(bytes);
        let utc = due.to_zoned(TimeZone::UTC).datetime();
        let disputed = counts[commitment.id.as_str()] > 1;
        let marks = marks(context.journal, &commitment.id, utc, hash, disputed)?;
        let key = journal::key(&commitment.id, utc, marks.as_ref());
        match readiness(context.journal.row(&key)?, now, &context.settings.notifiers) {
            Readiness::Wait(at) => {
                plan.waiting.extend(at);
                plan.open.insert(key);
            }
            Readiness::Sent(row) => {
                let target = Target::Delivered { block: bytes.to_vec(), id: commitment.id.clone() };
                plan.settles.push(Settle { key, row, target });
            }
            Readiness::Fire if !plan.open.insert(key.clone()) => {}
            Readiness::Fire => {
                let scope = commitment.scope.as_deref().and_then(|scope| scope.parse().ok());
                let fact = commitment_fact(&context.settings.zone, commitment, due, now);
                plan.fires.push(Fire { key, line: hash, fact, scope });
            }
        }
    }
    Ok(())
}

/// What is told of a follow-up that was due at `due`.
pub(crate) fn commitment_fact(zone: &Zone, commitment: &Commitment, due: Timestamp, now: Timestamp) -> Fact {
    Fact {
        kind: MessageKind::Commitment,
        id: commitment.id.clone(),
        local: zone.tz().to_datetime(due),
        due,
        late_seconds: late_seconds(due, now),
        missed: 0,
        msg: commitment.text.trim().to_owned(),
        recurring: false,
        next: None,
        note: None,
    }
}

/// How far ahead words are looked for.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// Something that will be due within a minute, and that a brain may put into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upcoming {
    /// The delivery's key.
    pub key: String,
    /// The hash of the line or block that it stands in.
    pub line: LineHash,
    /// What will be told.
    pub fact: Fact,
}

/// What will be due within a minute after `now` and is told once, by itself. What recurs, what is late and what comes
/// in a digest is told in plain words.
pub(super) fn upcoming(
    context: &PassContext<'_>,
    notes: &Notes,
    now: Timestamp,
) -> Result<Vec<Upcoming>, PassError> {
    let ahead = now.saturating_add(AHEAD).unwrap_or(now);
    // A line gets its id within seconds, and a pass follows: until then it has no lasting key.
    let named: HashSet<String> = notes
        .reminders
        .iter()
        .flat_map(|note| &note.soon)
        .filter_map(|line| line.reminder.id.map(|id| id.to_string()))
        .collect();
    let may = |fire: &Fire| {
        let fact = &fire.fact;
        let lasting = fact.kind == MessageKind::Commitment || named.contains(&fact.id);
        lasting && fact.due > now && !fact.recurring && fact.missed == 0 && phrase::fits(&fact.msg)
    };
    let fires = plan(context, notes, Mode::DryRun, ahead, false)?.fires;
    let upcoming = |fire: Fire| Upcoming { key: fire.key, line: fire.line, fact: fire.fact };
    Ok(fires.into_iter().filter(may).map(upcoming).collect())
}

/// The words that were found in time for what is due now.
pub(super) fn phrases(
    context: &PassContext<'_>,
    fires: &[Fire],
) -> Result<HashMap<String, String>, PassError> {
    if !context.settings.phrase {
        return Ok(HashMap::new());
    }
    let mut found = HashMap::new();
    for fire in fires.iter().filter(|fire| !fire.fact.recurring) {
        if let Some(phrase) = context.journal.phrase(&fire.key, &fire.line)? {
            found.insert(fire.key.clone(), phrase);
        }
    }
    Ok(found)
}
