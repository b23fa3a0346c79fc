//! Turns due items into messages: chooses their recipients, puts missed items into digests, and makes the texts.

use super::Pass;
use super::plan::Phrases;
use super::planned::{PendingSend, late_seconds, recipient};
use crate::deliver::delivery_journal::{
    ChunkState, CopyState, JournalMessage, LineHash, NewMessage, Recipient,
};
use crate::deliver::prelude::*;
use crate::deliver::words::{compose, phrase_check};
use crate::schedule;
use crate::sqlite::Result;

/// The name of the only notifier that uses scopes.
const SCOPED: &str = "discord";

/// The destination of a message: its recipient, and the scope there.
pub(super) type Place = (Recipient, Option<MessageScope>);

/// Makes the counting messages for due items. Missed items come in one digest for each place if the rule says so,
/// oldest first; all others alone, by their instant and then in the order of the notes.
///
/// If the notifier already took an item as a copy, the item becomes a message of its own, which [`super::Sender`] finds
/// to be sent. If such a copy is on its way, the item waits for it.
///
/// `phrases` are a brain's phrases, by key. A phrase replaces the plain text of an item that is sent alone, on time and
/// without a remark.
pub(super) fn counting(pass: Pass<'_>, fires: &[PendingSend], phrases: &Phrases) -> Result<Vec<NewMessage>> {
    let (mut unsent, mut already_sent) = (Vec::new(), Vec::new());
    for fire in fires {
        let to = recipient(pass.settings, &fire.fact);
        let copy = pass.delivery_order.name(&to).map(|name| pass.journal.copy(&fire.key, name));
        match copy.transpose()?.flatten() {
            Some(CopyState::Underway) => {}
            Some(CopyState::Delivered) => already_sent.push(((to, fire.scope), fire)),
            None => unsent.push((to, fire.scope, fire)),
        }
    }
    let mut messages = messages(pass, unsent.into_iter(), phrases);
    messages.extend(already_sent.iter().map(|(place, fire)| single(fire, place, pass.today(), phrases)));
    Ok(messages)
}

/// Makes the missing copies for the further notifiers. A copy holds the items of one counting message or a part of
/// them, so that it is sent or not as a whole if the counting message goes to the copy's notifier instead.
pub(super) fn copies(pass: Pass<'_>, fires: &[PendingSend], phrases: &Phrases) -> Result<Vec<NewMessage>> {
    let mut further: BTreeMap<(&str, Recipient), Vec<&PendingSend>> = BTreeMap::new();
    for fire in fires {
        for kind in pass.settings.notify_rules.kinds(&fire.fact.msg).into_iter().skip(1) {
            if !pass.journal.is_copied(&fire.key, kind)? {
                further.entry((kind, recipient(pass.settings, &fire.fact))).or_default().push(fire);
            }
        }
    }
    let mut out = Vec::new();
    for ((name, _), fires) in further {
        let scope = |fire: &PendingSend| fire.scope.filter(|_| name == SCOPED);
        let parts = fires.into_iter().map(|fire| (Recipient::Copy(name.to_owned()), scope(fire), fire));
        out.extend(messages(pass, parts, phrases));
    }
    Ok(out)
}

/// A copy of which surely nothing was sent says how late it is by now. `None` if another process sends it.
pub(super) fn with_lateness(pass: Pass<'_>, mut message: JournalMessage) -> Result<Option<JournalMessage>> {
    let is_unsent = message.chunks.iter().all(|chunk| chunk.state == ChunkState::Due);
    let missed = |fact: &NotifiedItem| schedule::is_missed(fact.due.duration_until(pass.now));
    if !(message.to.is_copy() && is_unsent && message.facts.iter().any(missed)) {
        return Ok(Some(message));
    }
    message.facts.iter_mut().for_each(|fact| fact.late_seconds = late_seconds(fact.due, pass.now));
    let body = match message.facts.as_slice() {
        [one] => compose::single(one, pass.today()),
        all => compose::digest(all, pass.today()),
    };
    if std::mem::replace(&mut message.body, body.clone()) == body {
        return Ok(Some(message));
    }
    pass.journal.reword(&message, pass.delivery_order.limit(&message.to))
}

/// The key of the message to `to` with all of `deliveries`.
pub(super) fn digest_key<'k>(keys: impl Iterator<Item = &'k str>, to: &Recipient) -> String {
    let mut keys: Vec<&str> = keys.collect();
    keys.sort_unstable();
    let hash = blake3::hash(keys.join("\n").as_bytes());
    for_recipient(format!("digest:{}", data_encoding::BASE32_NOPAD.encode(&hash.as_bytes()[..15])), to)
}

/// The key of a message to `to`, from the key of its item.
fn for_recipient(key: String, to: &Recipient) -> String {
    if to.is_copy() { format!("{key} for {}", to.name().unwrap_or_default()) } else { key }
}

/// Splits a message of several items into one message for each.
pub(super) fn split_message(message: &NewMessage, today: civil::Date) -> Vec<NewMessage> {
    let one = |(key, line, fact): &(String, LineHash, NotifiedItem)| NewMessage {
        key: for_recipient(key.clone(), &message.to),
        kind: fact.kind,
        body: compose::single(fact, today),
        deliveries: vec![(key.clone(), *line, fact.clone())],
        ..message.clone()
    };
    message.deliveries.iter().map(one).collect()
}

/// Splits the items of one message, in order. If there are several machines, each part fits one message of the place,
/// so that another machine can look for it.
fn parts<'f>(
    pass: Pass<'_>,
    together: Vec<&'f PendingSend>,
    to: &Recipient,
    words: impl Fn(&[NotifiedItem]) -> String,
) -> Vec<Vec<&'f PendingSend>> {
    if pass.machines.is_alone() {
        return vec![together];
    }
    let limit = pass.delivery_order.limit(to);
    let mut parts: Vec<Vec<&PendingSend>> = Vec::new();
    for fire in together {
        let fits = |part: &Vec<&PendingSend>| {
            let facts: Vec<NotifiedItem> = part.iter().chain([&fire]).map(|fire| fire.fact.clone()).collect();
            words(&facts).encode_utf16().count() <= limit
        };
        match parts.last_mut().filter(|part| fits(part)) {
            Some(part) => part.push(fire),
            None => parts.push(vec![fire]),
        }
    }
    parts
}

fn messages<'f>(
    pass: Pass<'_>,
    fires: impl Iterator<Item = (Recipient, Option<MessageScope>, &'f PendingSend)>,
    phrases: &Phrases,
) -> Vec<NewMessage> {
    let (rule, today) = (&pass.settings.digest, pass.today());
    let mut places: BTreeMap<Place, Vec<&PendingSend>> = BTreeMap::new();
    for (to, scope, fire) in fires {
        places.entry((to, scope)).or_default().push(fire);
    }
    let mut out: Vec<(Timestamp, NewMessage)> = Vec::new();
    for (place, mut fires) in places {
        fires.sort_by_key(|fire| fire.fact.due);
        let late: Vec<SignedDuration> = fires.iter().map(|fire| lateness(fire)).collect();
        let (together, alone): (Vec<&PendingSend>, Vec<&PendingSend>) = if schedule::needs_digest(rule, &late)
        {
            fires.into_iter().partition(|fire| schedule::is_missed(lateness(fire)))
        } else {
            (Vec::new(), fires)
        };
        let words = |facts: &[NotifiedItem]| compose::digest(facts, today);
        for part in parts(pass, together, &place.0, words) {
            match part.as_slice() {
                [] => {}
                [one] => out.push((one.fact.due, single(one, &place, today, phrases))),
                [first, ..] => out.push((first.fact.due, digest(&part, &place, words))),
            }
        }
        // Dates without a time are all due in one minute.
        let (tasks, alone): (Vec<&PendingSend>, Vec<&PendingSend>) =
            alone.into_iter().partition(|fire| fire.fact.kind == MessageKind::Task);
        for tasks in tasks.chunk_by(|a, b| a.fact.due == b.fact.due) {
            if tasks.len() > rule.over {
                let words = |facts: &[NotifiedItem]| compose::task_list(facts, today);
                let parts = parts(pass, tasks.to_vec(), &place.0, words);
                out.extend(parts.iter().map(|part| (part[0].fact.due, digest(part, &place, words))));
            } else {
                let one = |fire: &&PendingSend| (fire.fact.due, single(fire, &place, today, phrases));
                out.extend(tasks.iter().map(one));
            }
        }
        out.extend(alone.into_iter().map(|fire| (fire.fact.due, single(fire, &place, today, phrases))));
    }
    out.sort_by_key(|(due, _)| *due);
    out.into_iter().map(|(_, message)| message).collect()
}

fn lateness(fire: &PendingSend) -> SignedDuration {
    SignedDuration::from_secs(fire.fact.late_seconds)
}

fn single(fire: &PendingSend, (to, scope): &Place, today: civil::Date, phrases: &Phrases) -> NewMessage {
    let phrase = phrases.get(&fire.key).filter(|phrase| {
        compose::remark(&fire.fact, today).is_empty() && phrase_check::says_the_same(&fire.fact.msg, phrase)
    });
    NewMessage {
        key: for_recipient(fire.key.clone(), to),
        kind: fire.fact.kind,
        to: to.clone(),
        scope: *scope,
        body: phrase.cloned().unwrap_or_else(|| compose::single(&fire.fact, today)),
        deliveries: vec![(fire.key.clone(), fire.line, fire.fact.clone())],
        lookup_since: None,
    }
}

fn digest(
    fires: &[&PendingSend],
    (to, scope): &Place,
    words: impl Fn(&[NotifiedItem]) -> String,
) -> NewMessage {
    let facts: Vec<NotifiedItem> = fires.iter().map(|fire| fire.fact.clone()).collect();
    NewMessage {
        key: digest_key(fires.iter().map(|fire| fire.key.as_str()), to),
        kind: MessageKind::Digest,
        to: to.clone(),
        scope: *scope,
        body: words(&facts),
        deliveries: fires.iter().map(|fire| (fire.key.clone(), fire.line, fire.fact.clone())).collect(),
        lookup_since: None,
    }
}
