//! What the bot logs is one commit a snapshot, by `discord`, whatever people do beside it.

use vault_agent::format::log::{EventKind, LogEvent, LogHeader, render_event, render_header};
use vault_agent::history::audit;

use crate::history::room::{Room, note};

const LOG: &str = "logs/discord-channel/2000/20261201T093000Z_0001.md";

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
    assert_eq!(
        room.subjects()[..4],
        [
            "human: changed MEMORY.md",
            "discord: logged 1 event of a conversation",
            "discord: logged 2 events of a conversation",
            "mcp: saved: agent's",
        ]
    );
    insta::assert_snapshot!(room.log()[2].commit.message.render(), @r"
    logged 2 events of a conversation

    Actor: discord
    Transcript: 2
    Conversation: discord-channel/2000
    Note: logs/discord-channel/2000/20261201T093000Z_0001.md
    ");
    let plan = room.plan_undo(1);
    assert_eq!(plan.writes[0].commit.message.subject, "saved: agent's");
    assert!(room.snapshot().commits.is_empty());
    assert!(audit(&room.history, &room.settings.paths, &|_| None).unwrap().violations.is_empty());
    room.fsck();
}

#[test]
fn what_the_assistant_logs_by_itself_is_its_own() {
    let room = Room::new();
    room.snapshot();
    let event = |surface: &str, context: &str| {
        let path = format!("logs/{surface}/{context}/20261201T000000Z_0001.md");
        logs(&room, &path, EventKind::Agent, "", "took 7 ms");
    };
    for (surface, context) in
        [("phrasing", "phrasing"), ("working-memory", "working-memory"), ("routines", "morning")]
    {
        event(surface, context);
        room.snapshot();
        assert_eq!(room.subjects()[0], "assistant: logged 1 event of a conversation", "{surface}");
    }
    // Another program's logs are nobody's of ours; and what is the assistant's here is no write to undo.
    event("chat", "7");
    room.snapshot();
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
    assert_eq!(room.subjects()[0], format!("human: changed {LOG}"));
    assert_eq!(room.subjects()[1], "discord: logged 1 event of a conversation");
    let at = |index: usize| {
        let bytes = room.history.read_at(&room.log()[index].commit, LOG).unwrap().unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!((at(1), at(0)), (before + &second, mine));
    assert!(room.snapshot().commits.is_empty());
}

#[test]
fn what_the_bot_logged_before_a_kill_is_still_the_bots() {
    let mut room = Room::new();
    room.snapshot();
    says(&room, LOG, "one");
    room.reopen();
    room.agent_appends(LOG, "by another hand");
    let logged = "discord: logged 1 event of a conversation";
    assert_eq!(room.subjects()[..2], ["mcp: saved: by another hand", logged]);
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
    let logged = "discord: logged 1 event of a conversation";
    assert_eq!(room.subjects()[..2], ["human: 1100 notes: 1100 added", logged]);
    room.is_settled();
}
