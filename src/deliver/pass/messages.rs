//! From what is due to messages: who is told, alone or in a digest, and in which words.

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp, civil};

use super::planned::Fire;
use super::{PassContext, PassError, PassSettings};
use crate::deliver::journal::{CopyState, NewMessage, Recipient};
use crate::deliver::notifier::{Fact, MessageKind, Scope};
use crate::deliver::words::{compose, phrase};
use crate::schedule;

/// The name of the one notifier that a scope means something to.
const SCOPED: &str = "discord";

/// The messages that count, for what is due: what was missed in one digest a place where the rule says so, oldest
/// first; everything else alone, by its instant and then in the order of the notes.
///
/// What the notifier that counts took already, when another one did, is a message alone that [`super::Sender`] finds to be
/// sent; what is on its way to it as a copy waits for that.
///
/// `phrases` are words that a brain found, by key: they stand in the place of the plain ones where these would have been
/// the message alone, on time, without a remark.
pub(super) fn counting(
    context: &PassContext<'_>,
    fires: &[Fire],
    phrases: &HashMap<String, String>,
    now: Timestamp,
) -> Result<Vec<NewMessage>, PassError> {
    let settings = context.settings;
    let first = settings.telling.kinds.first();
    let to = |fire: &Fire| match settings.telling.kinds(&fire.fact.msg).first() {
        Some(kind) if Some(kind) != first => Recipient::Named((*kind).to_owned()),
        _ => Recipient::Primary,
    };
    let (mut untold, mut told) = (Vec::new(), Vec::new());
    for fire in fires {
        let to = to(fire);
        let copy = match context.outlets.name(&to) {
            Some(name) => context.journal.copy(&fire.key, name)?,
            None => None,
        };
        match copy {
            Some(CopyState::Underway) => {}
            Some(CopyState::Delivered) => told.push(((to, fire.scope), fire)),
            None => untold.push((to, fire.scope, fire)),
        }
    }
    let today = settings.zone.tz().to_datetime(now).date();
    let mut messages = messages(settings, untold.into_iter(), phrases, now);
    messages.extend(told.iter().map(|(place, fire)| single(fire, place, today, phrases)));
    Ok(messages)
}

/// Copies for the further notifiers, of what they were given none of yet.
pub(super) fn copies(
    context: &PassContext<'_>,
    fires: &[Fire],
    phrases: &HashMap<String, String>,
    now: Timestamp,
) -> Result<Vec<NewMessage>, PassError> {
    let mut further: BTreeMap<&str, Vec<&Fire>> = BTreeMap::new();
    for fire in fires {
        for kind in context.settings.telling.kinds(&fire.fact.msg).into_iter().skip(1) {
            further.entry(kind).or_default().push(fire);
        }
    }
    let mut parts = Vec::new();
    for (name, fires) in further {
        let copied = context.journal.copied(fires.iter().map(|fire| fire.key.as_str()), name)?;
        for fire in fires.into_iter().filter(|fire| !copied.contains(&fire.key)) {
            let scope = fire.scope.filter(|_| name == SCOPED);
            parts.push((Recipient::Copy(name.to_owned()), scope, fire));
        }
    }
    let mut messages = messages(context.settings, parts.into_iter(), phrases, now);
    for message in &mut messages {
        message.key = format!("{} for {}", message.key, message.to.name().unwrap_or_default());
    }
    Ok(messages)
}

fn messages<'f>(
    settings: &PassSettings,
    fires: impl Iterator<Item = (Recipient, Option<Scope>, &'f Fire)>,
    phrases: &HashMap<String, String>,
    now: Timestamp,
) -> Vec<NewMessage> {
    let today = settings.zone.tz().to_datetime(now).date();
    let mut places: BTreeMap<(Recipient, Option<Scope>), Vec<&Fire>> = BTreeMap::new();
    for (to, scope, fire) in fires {
        places.entry((to, scope)).or_default().push(fire);
    }
    let mut out: Vec<(Timestamp, NewMessage)> = Vec::new();
    for (place, mut fires) in places {
        fires.sort_by_key(|fire| fire.fact.due);
        let late: Vec<SignedDuration> = fires.iter().map(|fire| lateness(fire)).collect();
        let (together, alone): (Vec<&Fire>, Vec<&Fire>) = if schedule::digest(&settings.digest, &late) {
            fires.into_iter().partition(|fire| schedule::is_missed(lateness(fire)))
        } else {
            (Vec::new(), fires)
        };
        match together.as_slice() {
            [] => {}
            [one] => out.push((one.fact.due, single(one, &place, today, phrases))),
            [first, ..] => out.push((first.fact.due, digest(&together, &place, today, compose::digest))),
        }
        // Dates without a time are all told in one minute.
        let (tasks, alone): (Vec<&Fire>, Vec<&Fire>) =
            alone.into_iter().partition(|fire| fire.fact.kind == MessageKind::Task);
        for tasks in tasks.chunk_by(|a, b| a.fact.due == b.fact.due) {
            if tasks.len() > settings.digest.over {
                out.push((tasks[0].fact.due, digest(tasks, &place, today, compose::together)));
            } else {
                let one = |fire: &&Fire| (fire.fact.due, single(fire, &place, today, phrases));
                out.extend(tasks.iter().map(one));
            }
        }
        out.extend(alone.into_iter().map(|fire| (fire.fact.due, single(fire, &place, today, phrases))));
    }
    out.sort_by_key(|(due, _)| *due);
    out.into_iter().map(|(_, message)| message).collect()
}

fn lateness(fire: &Fire) -> SignedDuration {
    SignedDuration::from_secs(fire.fact.late_seconds)
}

fn single(
    fire: &Fire,
    (to, scope): &(Recipient, Option<Scope>),
    today: civil::Date,
    phrases: &HashMap<String, String>,
) -> NewMessage {
    let phrase = phrases.get(&fire.key).filter(|phrase| {
        compose::remark(&fire.fact, today).is_empty() && phrase::keeps(&fire.fact.msg, phrase)
    });
    NewMessage {
        key: fire.key.clone(),
        kind: fire.fact.kind,
        to: to.clone(),
        scope: *scope,
        body: phrase.cloned().unwrap_or_else(|| compose::single(&fire.fact, today)),
        deliveries: vec![(fire.key.clone(), fire.line, fire.fact.clone())],
    }
}

fn digest(
    fires: &[&Fire],
    (to, scope): &(Recipient, Option<Scope>),
    today: civil::Date,
    words: fn(&[Fact], civil::Date) -> String,
) -> NewMessage {
    let facts: Vec<Fact> = fires.iter().map(|fire| fire.fact.clone()).collect();
    let mut keys: Vec<&str> = fires.iter().map(|fire| fire.key.as_str()).collect();
    keys.sort_unstable();
    let hash = blake3::hash(keys.join("\n").as_bytes());
    NewMessage {
        key: format!("digest:{}", data_encoding::BASE32_NOPAD.encode(&hash.as_bytes()[..15])),
        kind: MessageKind::Digest,
        to: to.clone(),
        scope: *scope,
        body: words(&facts, today),
        deliveries: fires.iter().map(|fire| (fire.key.clone(), fire.line, fire.fact.clone())).collect(),
    }
}
