//! Commits by their author: each write of the agent is one, people's changes are one before it, and what the bot logs is
//! one a snapshot, by `discord`.

use crate::history::room::*;
use vault_agent::format::log::{EventKind, LogEvent, LogHeader, render_event, render_header};
use vault_agent::history::{History, NOTE, audit};
use vault_agent::vault::{ChangeObserver, ObservedChange};

#[test]
fn what_a_person_changed_before_the_agent_wrote_is_committed_first() {
    let room = Room::of(&[("Reminders.md", "mine\n")]);
    room.write("Reminders.md", "mine\nand more of mine\n");
    room.agent_appends("Reminders.md", "agent's");
    let log = room.log();
    assert_eq!(room.subjects()[..2], ["mcp: saved: agent's", "human: changed Reminders.md"]);
    assert_eq!(log[0].commit.message.trailer(NOTE), Some("Reminders.md"));
    let before = room.history.read_at(&log[1].commit, "Reminders.md").unwrap().unwrap();
    assert_eq!(before, b"mine\nand more of mine\n");
    room.is_settled();
}

#[test]
fn a_note_that_goes_with_others_is_the_agent_s_deletion() {
    let room = Room::of(&[("a.md", "a\n"), ("b.md", "b\n")]);
    room.tick();
    let reason = why(Actor::Hook, "followed codex");
    let (_, recorded) = room.history.together(&reason, || {
        room.editor.create(&note("c.md"), b"c\n", &reason).unwrap();
        let removal = Operation::RemoveFile { expect: b"a\n".to_vec() };
        room.editor.edit(&note("a.md"), &[removal], &reason).unwrap();
        std::thread::scope(|scope| scope.spawn(|| room.agent_appends("b.md", "another part's")).join())
            .unwrap();
    });
    recorded.unwrap();
    assert_eq!(room.subjects()[..2], ["hook: followed codex", "mcp: saved: another part's"]);
    room.is_settled();
    room.undo(&room.plan_undo(1));
    assert_eq!((room.read("a.md"), room.path("c.md").exists()), ("a\n".to_owned(), false));
    room.is_settled();
}

#[test]
fn being_told_again_after_a_crash_changes_nothing() {
    let mut room = Room::of(&[("a.md", "one\n")]);
    let (path, reason) = (note("a.md"), why(Actor::Scheduler, "fired: x").trailer("Reminder", "rid_X"));
    let change = ObservedChange { path: &path, before: Some(b"one\n"), after: Some(b"two\n"), why: &reason };
    room.write("a.md", "two\n");
    room.history.changed(&change).unwrap();
    let before = room.subjects();
    room.reopen();
    room.history.changed(&change).unwrap();
    assert_eq!(room.subjects(), before);
    // The same words about the same change in one run are two writes.
    let back = ObservedChange { path: &path, before: Some(b"two\n"), after: Some(b"one\n"), why: &reason };
    room.history.changed(&back).unwrap();
    room.history.changed(&change).unwrap();
    assert_eq!(room.subjects().len(), before.len() + 2);
}

#[test]
fn a_snapshot_that_overtakes_the_word_about_a_write_takes_nothing_from_it() {
    let room = Room::of(&[("a.md", "one\n")]);
    room.save("a.md", "two\n");
    let (path, reason) = (note("a.md"), why(Actor::Cli, "saved: two"));
    let change = ObservedChange { path: &path, before: Some(b"one\n"), after: Some(b"two\n"), why: &reason };
    room.history.changed(&change).unwrap();
    // The write has its own change again, so `undo` takes it back.
    assert_eq!(room.subjects()[..3], ["cli: saved: two", "human: changed a.md", "human: changed a.md"]);
    assert_eq!(room.history.read_at(&room.log()[0].commit, "a.md").unwrap().unwrap(), b"two\n");
    room.is_settled();
    let undone = room.undo(&room.plan_undo(1));
    assert_eq!((undone.notes.as_slice(), room.read("a.md").as_str()), (&["a.md".to_owned()][..], "one\n"));
    room.is_settled();
}

/// Takes snapshots, as another process does, before it passes a report on.
struct Overtaken {
    other: Room,
    history: Arc<History>,
}

impl ChangeObserver for Overtaken {
    fn changed(&self, change: &ObservedChange<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.other.snapshot();
        self.other.snapshot_of(&["a.md"]);
        self.history.changed(change)
    }
}

#[test]
fn a_snapshot_between_a_write_and_its_report_leaves_the_write_to_its_report() {
    let room = Room::of(&[("a.md", "one\n")]);
    let (other, history) = (Room::at(room.dir()), Arc::clone(&room.history));
    room.editor.set_observer(Arc::new(Overtaken { other, history }));
    room.write("b.md", "by a person\n");
    room.agent_appends("a.md", "two\n");
    assert_eq!(room.subjects()[..2], ["mcp: saved: two", "human: added b.md"]);
    room.is_settled();
}

#[test]
fn many_processes_may_snapshot_at_once() {
    let room = Room::of(&[("a.md", "0\n")]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let other = Room::at(room.dir());
            scope.spawn(move || {
                for turn in 0..10 {
                    let name = format!("t{thread}-{turn}.md");
                    other.write(&name, "x");
                    other.snapshot_of(&[&name]);
                }
            });
        }
    });
    assert_eq!((room.git_tree("main").len(), room.log().len()), (41, 41));
    room.is_settled();
}

const LOG: &str = "logs/discord-channel/2000/20261201T093000Z_0001.md";
const LOGGED: &str = "discord: logged 1 event of a conversation";

/// Appends an event as the bot does; the path names the place and what it belongs to.
fn logs(room: &Room, path: &str, kind: EventKind, author: &str, content: &str) -> String {
    room.tick();
    let id = ulid::Ulid::from_parts(room.now().as_millisecond().unsigned_abs(), 7).to_string();
    let (at, author) = (room.now(), author.to_owned());
    let event = LogEvent { kind, at, author, content: content.to_owned(), id: Some(id) };
    let mut place = path.split('/').skip(1).map(str::to_owned);
    let (surface, context_id) = (place.next().unwrap(), place.next().unwrap());
    let header = LogHeader { surface, context_id, ..LogHeader::default() };
    let (header, text) = (render_header(&header), render_event(&event));
    room.editor.append(&note(path), header.as_bytes(), text.as_bytes()).unwrap();
    text
}

fn says(room: &Room, path: &str, content: &str) -> String {
    logs(room, path, EventKind::User, "Ann", content)
}

#[test]
fn log_lines_are_the_bots_and_undo_passes_them_over() {
    let room = Room::of(&[("MEMORY.md", "mine\n")]);
    room.agent_appends("MEMORY.md", "agent's");
    says(&room, LOG, "hello\n> [!agent] who?");
    says(&room, LOG, "are you there?");
    room.snapshot();
    says(&room, LOG, "one more");
    room.write("MEMORY.md", "mine\nagent's\nmore\n");
    room.snapshot_of(&[LOG, "MEMORY.md"]);
    let two = LOGGED.replace("1 event", "2 events");
    assert_eq!(room.subjects()[..4], ["human: changed MEMORY.md", LOGGED, &two, "mcp: saved: agent's"]);
    let trailers = "Actor: discord\nTranscript: 2\nConversation: discord-channel/2000\nNote: ";
    assert!(room.log()[2].commit.message.render().ends_with(&format!("{trailers}{LOG}\n")));
    assert_eq!(room.plan_undo(1).writes[0].commit.message.subject, "saved: agent's");
    assert!(room.snapshot().commits.is_empty());
    assert!(audit(&room.history, &room.settings.paths, &|_| None).unwrap().violations.is_empty());
    room.fsck();
}

#[test]
fn what_the_assistant_logs_by_itself_is_its_own() {
    let room = Room::new();
    room.snapshot();
    let event = |place: &str| {
        logs(&room, &format!("logs/{place}/20261201T000000Z_0001.md"), EventKind::Agent, "", "took 7 ms");
        room.snapshot();
    };
    for place in ["phrasing/phrasing", "working-memory/working-memory", "routines/morning"] {
        event(place);
        assert_eq!(room.subjects()[0], LOGGED.replace("discord", "assistant"), "{place}");
    }
    // Another program's logs are nobody's of ours; and what is the assistant's here is no write to undo.
    event("chat/7");
    assert!(room.subjects()[0].starts_with("human: "), "{:?}", room.subjects());
    assert!(room.plan_undo(5).writes.is_empty());
}

#[test]
fn who_edits_a_log_while_the_bot_writes_it_is_named_beside_the_bot() {
    let room = Room::new();
    says(&room, LOG, "one");
    room.snapshot();
    let before = room.read(LOG);
    let second = says(&room, LOG, "two");
    let mine = room.read(LOG).replace("> one", "> ONE");
    room.save(LOG, &mine);
    assert_eq!(room.subjects()[..2], [&*format!("human: changed {LOG}"), LOGGED]);
    let at = |index: usize| room.history.read_at(&room.log()[index].commit, LOG).unwrap().unwrap();
    assert_eq!((at(1), at(0)), ((before + &second).into_bytes(), mine.into_bytes()));
    assert!(room.snapshot().commits.is_empty());
}

#[test]
fn what_the_bot_logged_before_a_kill_is_still_the_bots() {
    let mut room = Room::new();
    room.snapshot();
    says(&room, LOG, "one");
    room.reopen();
    room.agent_appends(LOG, "by another hand");
    assert_eq!(room.subjects()[..2], ["mcp: saved: by another hand", LOGGED]);
}

#[test]
fn a_log_that_a_person_moves_is_moved_by_a_person() {
    let room = Room::new();
    says(&room, LOG, "one");
    room.snapshot();
    assert_eq!(room.subjects(), ["human: first snapshot: 1 file"]);
    let to = LOG.replace("2000", "3000");
    room.rename(LOG, &to);
    room.snapshot();
    assert_eq!(room.subjects()[0], format!("human: moved {LOG} to {to}"));
}

#[test]
fn log_lines_among_a_thousand_new_notes_are_the_bots() {
    let room = Room::new();
    room.snapshot();
    room.fill("n", 0..1_100, |number| format!("{number}\n"));
    says(&room, LOG, "one");
    room.snapshot();
    assert_eq!(room.subjects()[..2], ["human: 1100 notes: 1100 added", LOGGED]);
    room.is_settled();
}
