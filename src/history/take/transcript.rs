//! Commits text that the bot, the hooks and the assistant appended to logs, separately from people's changes.
//!
//! Appends are not reported one by one, because a commit for each message would cost more than the message; the next
//! snapshot finds them. The logs themselves prove their origin: whole events, byte for byte as this program writes
//! them, with ids that the last snapshot lacks. So any process may take the snapshot, also after the bot was killed or
//! a person changed the same log. The events are one commit by `discord`, `hook` or `assistant`; the other changes are
//! people's.

use super::history::History;
use super::snapshot::{Committer, plural};
use crate::format::log::{self, LogPath, SESSIONS, SessionPath};
use crate::history::error::Result;
use crate::history::prelude::*;
use crate::history::store::{
    CONVERSATION, CommitMessage, FileMode, FileState, NAMED, TRANSCRIPT, TreeChange,
};

/// The writer of a log of ours, and its conversation.
type OwnLog = (Actor, String);

/// A log with what the bot added, and nothing that a person did; and how many events that is.
type GrownLog = (Vec<u8>, usize);

/// The text that the bot appended to the log `old` on the way to `new`; none where it added nothing.
fn grown(old: Option<&[u8]>, new: &[u8]) -> Option<GrownLog> {
    let log = log::parse(new);
    let mut bytes = match old {
        Some(old) => old.to_vec(),
        None => {
            let head = log::render_header(log.header.as_ref()?).into_bytes();
            Some(head).filter(|head| new.starts_with(head))?
        }
    };
    let known: HashSet<_> = log::parse(&bytes).blocks.into_iter().filter_map(|b| b.event.ulid()).collect();
    let mut events = 0;
    for block in log.blocks {
        let text = log::render_event(&block.event);
        let is_new = block.event.ulid().is_some_and(|id| !known.contains(&id));
        if is_new && new[..block.range.end].ends_with(text.as_bytes()) {
            if !bytes.is_empty() && !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
            bytes.extend(text.as_bytes());
            events += 1;
        }
    }
    (events > 0 || old.is_none()).then_some((bytes, events))
}

/// Conversations that went on since the last snapshot.
struct LoggedConversations {
    actor: Actor,
    changes: Vec<TreeChange>,
    events: usize,
    conversations: Vec<String>,
}

impl LoggedConversations {
    fn by(actor: Actor) -> Self {
        Self { actor, changes: Vec::new(), events: 0, conversations: Vec::new() }
    }

    fn add(&mut self, path: String, name: String, state: FileState, events: usize) {
        if !self.conversations.contains(&name) {
            self.conversations.push(name);
        }
        self.events += events;
        self.changes.push((path, Some(state)));
    }

    fn message(&self) -> CommitMessage {
        let (events, conversations) = (self.events, self.conversations.len());
        let subject = match (events, conversations) {
            (0, _) if self.actor == Actor::Hook => "kept what belongs to a session".to_owned(),
            (0, _) => format!("began {} {}", self.changes.len(), plural(self.changes.len(), "log")),
            (_, 1) => format!("logged {events} {} of a conversation", plural(events, "event")),
            _ => format!("logged {events} {} of {conversations} conversations", plural(events, "event")),
        };
        let mut why = ChangeReason::new(self.actor, subject).trailer(TRANSCRIPT, events.to_string());
        for name in self.conversations.iter().take(NAMED) {
            why = why.trailer(CONVERSATION, name);
        }
        CommitMessage::new(&why, self.changes.iter().map(|(path, _)| path.as_str()))
    }
}

impl Committer<'_> {
    /// Commits what the bot has added to its logs, and returns what is left for people.
    pub(super) fn commit_logged(&mut self, changes: Vec<TreeChange>) -> Result<Vec<TreeChange>> {
        let (history, store) = (self.history, self.store);
        let is_ours = |path: &str| history.own_log(path).is_some() || history.kept_file(path).is_some();
        if !changes.iter().any(|(path, state)| state.is_some() && is_ours(path)) {
            return Ok(changes);
        }
        let mut gone = HashSet::new();
        for (path, _) in changes.iter().filter(|(_, state)| state.is_none()) {
            gone.extend(store.file(self.tree, path)?.map(|state| state.id));
        }
        let (mut logged, mut theirs) =
            ([Actor::Discord, Actor::Hook, Actor::Assistant].map(LoggedConversations::by), Vec::new());
        for (path, state) in changes {
            if let (Some(conversation), Some(new)) = (history.kept_file(&path), state)
                && store.file(self.tree, &path)?.is_none()
                && !gone.contains(&new.id)
            {
                logged[1].add(path, conversation, new, 0);
                continue;
            }
            let Some(((actor, conversation), new, (bytes, events))) = self.grown(&path, state, &gone)? else {
                theirs.push((path, state));
                continue;
            };
            let without = FileState { id: self.objects.write(ObjectType::Blob, &bytes)?, ..new };
            if without != new {
                theirs.push((path.clone(), state));
            }
            if let Some(logged) = logged.iter_mut().find(|logged| logged.actor == actor) {
                logged.add(path, conversation, without, events);
            }
        }
        for logged in logged.iter().filter(|logged| !logged.changes.is_empty()) {
            self.commit(&logged.changes, &logged.message())?;
        }
        Ok(theirs)
    }

    /// The text that we added to the file at `path`; a log that a person moved there counts as theirs.
    fn grown(
        &self,
        path: &str,
        state: Option<FileState>,
        gone: &HashSet<Oid>,
    ) -> Result<Option<(OwnLog, FileState, GrownLog)>> {
        let new = state.filter(|state| state.mode != FileMode::Link);
        let (Some(own), Some(new)) = (self.history.own_log(path), new) else { return Ok(None) };
        let old = self.store.file(self.tree, path)?.filter(|old| old.mode != FileMode::Link);
        if old.is_none() && gone.contains(&new.id) {
            return Ok(None);
        }
        let old = old.map(|old| self.store.blob(old.id)).transpose()?;
        Ok(grown(old.as_deref(), &self.store.blob(new.id)?).map(|grown| (own, new, grown)))
    }
}

impl History {
    /// Of the log of ours that stands at `path`, if one may: its writer and its conversation.
    fn own_log(&self, path: &str) -> Option<OwnLog> {
        if let Some(place) = LogPath::parse(&self.logs, path)
            && (place.is_discord() || place.is_internal())
        {
            let actor = if place.is_discord() { Actor::Discord } else { Actor::Assistant };
            return Some((actor, format!("{}/{}", place.surface, place.context_id)));
        }
        let place = SessionPath::parse(&self.logs, path)?;
        Some((Actor::Hook, place.folder))
    }

    /// The conversation that a file beside a session's log belongs to.
    fn kept_file(&self, path: &str) -> Option<String> {
        let (folder, name) = path.strip_prefix(&self.logs)?.strip_prefix('/')?.rsplit_once('/')?;
        let folder = folder.strip_suffix("/files")?;
        // A log of a project called `files` is none.
        let is_one = folder.split('/').next() == Some(SESSIONS) && !name.ends_with(".md");
        is_one.then(|| folder.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::log::{EventKind, LogEvent, LogHeader, render_event, render_header};

    fn event(number: u64, content: &str) -> String {
        let at: jiff::Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
        let id = ulid::Ulid::from_parts(number, 7).to_string();
        let author = "Alice".to_owned();
        render_event(&LogEvent {
            kind: EventKind::User,
            at,
            author,
            content: content.to_owned(),
            id: Some(id),
        })
    }

    fn header() -> String {
        render_header(&LogHeader { surface: "discord-channel".into(), ..LogHeader::default() })
    }

    fn found(old: Option<&str>, new: &str) -> Option<(String, usize)> {
        let (bytes, events) = grown(old.map(str::as_bytes), new.as_bytes())?;
        Some((String::from_utf8(bytes).unwrap(), events))
    }

    #[test]
    fn what_was_appended_is_the_bots() {
        let old = header() + &event(1, "one");
        let new = old.clone() + &event(2, "two\n> [!user] three") + &event(3, "");
        assert_eq!(found(Some(&old), &new), Some((new.clone(), 2)));
        assert_eq!(found(None, &new), Some((new.clone(), 3)));
        assert_eq!(found(None, &header()), Some((header(), 0)));
        assert_eq!(found(Some(&new), &new), None);
    }

    #[test]
    fn a_line_that_was_torn_is_ended_by_the_bot() {
        let old = header() + "torn";
        let new = old.clone() + "\n" + &event(1, "one");
        assert_eq!(found(Some(&old), &new), Some((new, 1)));
    }

    #[test]
    fn what_a_person_changed_meanwhile_is_none_of_the_bots() {
        let old = header() + &event(1, "one");
        let logged = old.clone() + &event(2, "two");
        for new in [
            header() + &event(1, "ONE") + &event(2, "two"),
            header() + "mine\n" + &event(1, "one") + &event(2, "two"),
            logged.clone() + "mine\n",
            header() + &event(2, "two"),
        ] {
            assert_eq!(found(Some(&old), &new), Some((logged.clone(), 1)), "{new}");
        }
        for new in [old.clone() + "mine\n", old.clone() + "\n> [!user] 2026-11-20T10:00:00Z Mallory\n> hi\n"]
        {
            assert_eq!(found(Some(&old), &new), None, "{new}");
        }
        assert_eq!(found(None, "no log\n"), None);
    }
}
