//! What the bot logs is one commit a snapshot, by `discord`, whatever people do beside it.

use vault_agent::format::log::{EventKind, LogEvent, LogHeader, render_event, render_header};
use vault_agent::history::audit;

use crate::history::room::{Room, note};

const LOG: &str = "logs/discord-channel/2000/20261201T093000Z_0001.md";

/// Appends an event as the bot does.
fn says(room: &Room, path: &str, content: &str) -> String {
    room.tick();
    let id = ulid::Ulid::from_parts(room.now().as_millisecond().unsigned_abs(), 7).to_string();
    let (at, author) = (room.now(), "Ann".to_owned());
    let event = LogEvent { kind: EventKind::User, at, author, content: content.to_owned(), id: Some(id) };
    let header =
        LogHeader { surface: "discord-channel".into(), context_id: "2000".into(), ..LogHeader::default() };
    let (header, text) = (render_header(&header), render_event(&event));
    room.editor.append(&note(path), header.as_bytes(), text.as_bytes()).unwrap();
    text
}

#[test]
fn log_lines_are_the_bots_and_undo_passes_them_over() {
    let room = Room::new();
    room.write("MEMORY.md", "mine\n");
    room.snapshot();
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
    let plan = room.history.plan_undo(1).unwrap();
    assert_eq!(plan.writes[0].commit.message.subject, "saved: agent's");
    assert!(room.snapshot().is_empty());
    assert!(audit(&room.history, &room.settings.paths, &|_| None).unwrap().violations.is_empty());
    room.fsck();
}

#[test]
fn what_the_assistant_logs_by_itself_is_its_own() {
    let room = Room::new();
    room.snapshot();
    let path = |surface: &str, context: &str| format!("logs/{surface}/{context}/20261201T000000Z_0001.md");
    let event = |room: &Room, surface: &str, context: &str| {
        room.tick();
        let id = ulid::Ulid::from_parts(room.now().as_millisecond().unsigned_abs(), 7).to_string();
        let event = LogEvent {
            kind: EventKind::Agent,
            at: room.now(),
            author: String::new(),
            content: "took 7 ms".into(),
            id: Some(id),
        };
        let header =
            LogHeader { surface: surface.into(), context_id: context.into(), ..LogHeader::default() };
        let (header, text) = (render_header(&header), render_event(&event));
        room.editor.append(&note(&path(surface, context)), header.as_bytes(), text.as_bytes()).unwrap();
    };
    for (surface, context) in
        [("phrasing", "phrasing"), ("working-memory", "working-memory"), ("routines", "morning")]
    {
        event(&room, surface, context);
        room.snapshot();
        assert_eq!(room.subjects()[0], "assistant: logged 1 event of a conversation", "{surface}");
    }
    // Another program's logs are nobody's of ours; and what is the assistant's here is no write to undo.
    event(&room, "chat", "7");
    room.snapshot();
    assert!(room.subjects()[0].starts_with("human: "), "{:?}", room.subjects());
    assert!(room.history.plan_undo(5).unwrap().writes.is_empty());
}

#[test]
fn who_edits_a_log_while_the_bot_writes_it_is_named_beside_the_bot() {
    let room = Room::new();
    says(&room, LOG, "one");
    room.snapshot();
    let before = room.read(LOG);
    let second = says(&room, LOG, "two");
    let mine = room.read(LOG).replace("> one", "> ONE");
    room.write(LOG, &mine);
    room.snapshot();
    assert_eq!(room.subjects()[0], format!("human: changed {LOG}"));
    assert_eq!(room.subjects()[1], "discord: logged 1 event of a conversation");
    let at = |index: usize| {
        let bytes = room.history.read_at(&room.log()[index].commit, LOG).unwrap().unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!((at(1), at(0)), (before + &second, mine));
    assert!(room.snapshot().is_empty());
}

#[test]
fn what_the_bot_logged_before_a_kill_is_still_the_bots() {
    let mut room = Room::new();
    room.snapshot();
    says(&room, LOG, "one");
    room.reopen();
    room.agent_appends(LOG, "by another hand");
    assert_eq!(
        room.subjects()[..2],
        ["mcp: saved: by another hand", "discord: logged 1 event of a conversation"]
    );
}

#[test]
fn a_log_that_a_person_moves_is_moved_by_a_person() {
    let room = Room::new();
    says(&room, LOG, "one");
    room.snapshot();
    assert_eq!(room.subjects(), ["human: first snapshot: 1 file"]);
    let to = LOG.replace("2000", "3000");
    std::fs::create_dir_all(room.root().join(&to).parent().unwrap()).unwrap();
    std::fs::rename(room.root().join(LOG), room.root().join(&to)).unwrap();
    room.snapshot();
    assert_eq!(room.subjects()[0], format!("human: moved {LOG} to {to}"));
}

#[test]
fn log_lines_among_a_thousand_new_notes_are_the_bots() {
    let room = Room::new();
    room.snapshot();
    for number in 0..1_100 {
        room.write(&format!("n{number}.md"), format!("{number}\n"));
    }
    says(&room, LOG, "one");
    room.snapshot();
    assert_eq!(
        room.subjects()[..2],
        ["human: 1100 notes: 1100 added", "discord: logged 1 event of a conversation"]
    );
    assert!(room.snapshot().is_empty());
    room.fsck();
}
