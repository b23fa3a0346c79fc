//! Tests `parse`.

use super::*;
use crate::search::read::block::{Kind, Role};

fn show(path: &str, text: &str) -> Vec<String> {
    let parsed = parse(path, text.as_bytes(), &Options::default()).unwrap();
    parsed
        .blocks
        .iter()
        .map(|b| format!("{} {}-{} {}", b.kind, b.line, b.end_line, b.text.replace('\n', "/")))
        .collect()
}

#[test]
fn memory_and_daily_bullets_say_what_they_belong_to() {
    assert_eq!(
        show("MEMORY.md", "# Memory\n## Kyle\n- [2026-05-08T14:00:00Z] prefers TypeScript\n  and tea\n"),
        ["heading 2-2 Kyle", "memory 3-4 Kyle: prefers TypeScript/and tea"]
    );
    let parsed = parse("daily/2026-11-20.md", b"- 14:02 saw the dentist\n", &Options::default()).unwrap();
    let block = &parsed.blocks[0];
    let time = |text: &str| text.parse().ok().map(jiff::Timestamp::as_second);
    assert_eq!(block.text, "2026-11-20 14:02 saw the dentist");
    assert_eq!(block.time, time("2026-11-20T14:02:00Z"));
    // The day is that of the note's name, for its header, too.
    let dated = b"---\ndate: 2026-01-12\n---\nwords\n";
    let parsed = parse("daily/2026-11-20.md", dated, &Options::default()).unwrap();
    assert!(parsed.blocks.iter().all(|block| block.time == time("2026-11-20T00:00:00Z")), "{parsed:?}");
}

#[test]
fn all_parts_of_a_bullet_bear_its_scopes() {
    let marked = |path: &str, text: &str| -> Vec<String> {
        let parsed = parse(path, text.as_bytes(), &Options::default()).unwrap();
        parsed.blocks.iter().map(|b| format!("{} {}", b.text.replace('\n', "/"), b.tags.join(" "))).collect()
    };
    let text = "- top\n  ```\n  code #user/x\n  ```\n  - sub\n\n  | a |\n  |---|\n  | b |\n\n  %% hidden %%\n  \
                #project/p1 #tea\n  - other #project/p2\n- plain\n\nafter\n\n%% gone #user/anna %%\n";
    let expected = [
        "top project/p1 project/p2",
        "code #user/x project/p1 project/p2",
        "sub project/p1 project/p2",
        "a project/p1 project/p2",
        "b project/p1 project/p2",
        "hidden project/p1 project/p2",
        "#project/p1 #tea project/p1 tea",
        "other #project/p2 project/p2",
        "plain ",
        "after ",
        "gone #user/anna user/anna",
    ];
    for path in ["MEMORY.md", "Pinned.md"] {
        assert_eq!(marked(path, text), expected, "{path}");
    }
    assert_eq!(marked("daily/2026-11-20.md", text)[2], "2026-11-20 sub project/p1 project/p2");
    let long = format!("- {}#project/p1\n", "A sentence that goes on. ".repeat(100));
    let parts = marked("MEMORY.md", &long);
    assert!(parts.len() > 1 && parts.iter().all(|part| part.ends_with(" project/p1")), "{parts:?}");
}

/// A piece without its text's scope would be global.
#[test]
fn all_pieces_of_a_long_text_bear_its_scopes() {
    let words = "A sentence that goes on. ".repeat(400);
    let many: String = (0..60).map(|n| format!("#tag{n} ")).collect();
    let log = format!(
        "---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n\n> [!user] 2026-01-30T14:23:55Z x\n\
         > {words}#project/p1\n\n^01JGXYZ0000000000000000001\n"
    );
    for (path, text) in [
        ("logs/discord-channel/7/a_0001.md", log),
        ("notes/a.md", format!("%% {words}#project/p1 %%\n")),
        ("notes/a.md", format!("- {many}{words}#project/p1\n")),
    ] {
        let blocks = parse(path, text.as_bytes(), &Options::default()).unwrap().blocks;
        assert!(blocks.len() > 5, "{path}: {blocks:?}");
        for block in blocks {
            assert!(block.tags.iter().any(|tag| tag == "project/p1"), "{path}: {block:?}");
            assert!(block.tags.len() <= 61, "{path}: {block:?}");
        }
    }
}

#[test]
fn pins_name_what_they_pin() {
    let parsed = parse(
        "Pinned.md",
        b"- to [[a#^b]] the [[logs/t/1/a_0001#^01J]]\n- plain\n- [[a#^b]] c\n\n[[a#^b]]\n",
        &Options::default(),
    )
    .unwrap();
    let pins = parsed.blocks.iter().filter(|block| block.kind == Kind::Pin);
    let pins = pins.flat_map(|block| &block.links).filter_map(|link| note::pin(link));
    assert!(pins.eq([("logs/t/1/a_0001".to_owned(), "01J".to_owned())]));
    assert!(parsed.blocks.iter().any(|b| b.kind == Kind::Pin && b.text == "plain"));
}

#[test]
fn a_session_gives_what_was_said_and_not_what_tools_did() {
    let event = |kind: &str, said: &str, id: u8| {
        format!("\n> [!{kind}] 2026-01-30T14:23:55Z x\n> {said}\n\n^01JGXYZ000000000000000000{id}\n")
    };
    let head = "---\nsurface: claude-code\ncontext_id: garden\n---\n".to_owned();
    let text = head + &event("user", "fix it", 1) + &event("tool", "whole files", 2);
    let words = |parsed: ParsedNote| parsed.blocks.into_iter().map(|b| b.text).collect::<Vec<_>>();
    let read = |path: &str, text: &str| parse(path, text.as_bytes(), &Options::default()).unwrap();
    let path = "logs/claude-code/garden/s.md";
    let first = read(path, &text);
    assert_eq!(words(first), ["fix it"]);
    assert_eq!(words(read("logs/routines/a/s.md", &text)), ["fix it", "whole files"]);
}

#[test]
fn a_log_gives_its_turns_but_nothing_injected() {
    let text = "---\nsurface: discord-channel\ncontext_id: \"7\"\nstarted: 2026-01-30T14:23:55Z\n---\n\n\
> [!user] 2026-01-30T14:23:55Z Alice\n> first\n> line\n\n^01JGXYZ0000000000000000001\n\n\
> [!recall]- 2026-01-30T14:23:56Z\n> secret memory\n\n^01JGXYZ0000000000000000002\n\n\
> [!agent] 2026-01-30T14:23:57Z Bot\n> answer\n\n^01JGXYZ0000000000000000003\n";
    let read = |text: &str| {
        parse("logs/discord-channel/7/20260130T142355Z_0001.md", text.as_bytes(), &Options::default())
            .unwrap()
    };
    let texts = |of: &ParsedNote| of.blocks.iter().map(|b| b.text.clone()).collect::<Vec<_>>();
    let parsed = read(text);
    assert_eq!(texts(&parsed), ["first\nline", "answer"]);
    // What a message says now is what is found.
    let change =
        |what: &str| format!("\n> [!system] 2026-01-30T14:23:58Z\n> {what}\n\n^01JGXYZ0000000000000000004\n");
    let edited = text.to_owned() + &change("edited [[logs/x#^01JGXYZ0000000000000000001]]:\n> second");
    assert_eq!(texts(&read(&edited)), ["second", "answer"]);
    let deleted = text.to_owned() + &change("deleted [[logs/x#^01JGXYZ0000000000000000001]]");
    assert_eq!(texts(&read(&deleted)), ["answer"]);
    let turn = &parsed.blocks[0];
    assert_eq!((turn.line, turn.role, turn.context_id.as_deref()), (7, Some(Role::User), Some("7")));
    assert_eq!(turn.block_id.as_deref(), Some("01JGXYZ0000000000000000001"));
}

#[test]
fn a_transcript_with_a_heading_a_turn_is_a_conversation() {
    let text = "---\nchannel: pets-1\nsession: 1\nstarted: 2026-01-30T14:23:55Z\n---\n\n\
## 2026-01-30T14:23:55Z user Alice ^D1-1\nfirst\nline\n\n## 2026-01-30T14:24:25Z user Bob ^D1-2\n\n";
    let parsed =
        parse("logs/x/pets-1/20260130T142355Z_0001.md", text.as_bytes(), &Options::default()).unwrap();
    // A turn without words is none.
    assert_eq!(parsed.blocks.len(), 1);
    let turn = &parsed.blocks[0];
    assert_eq!((turn.kind, turn.line, turn.end_line, turn.text.as_str()), (Kind::Turn, 7, 9, "first\nline"));
    assert_eq!((turn.author.as_deref(), turn.role), (Some("Alice"), Some(Role::User)));
    assert_eq!((turn.context_id.as_deref(), turn.block_id.as_deref()), (Some("pets-1"), Some("D1-1")));
    assert_eq!(turn.time, "2026-01-30T14:23:55Z".parse().ok().map(jiff::Timestamp::as_second));
    // Elsewhere in the vault a heading is a heading.
    let blocks = parse("notes/a.md", text.as_bytes(), &Options::default()).unwrap().blocks;
    assert!(blocks.iter().all(|block| block.kind != Kind::Turn));
}

#[test]
fn canvases_bases_and_odd_files_give_their_text() {
    let text = "{\"nodes\":[{\"id\":\"a1\",\"type\":\"text\",\"text\":\"Card #one\"},\n{\"id\":\"b2\",\"type\":\"file\",\"file\":\"N.md\"}],\n\"edges\":[{\"id\":\"e3\",\"fromNode\":\"a1\",\"label\":\"leads to\"}]}";
    assert_eq!(show("x.canvas", text), ["canvas 1-1 Card #one", "canvas 2-2 N.md", "canvas 3-3 leads to"]);
    assert_eq!(show("x.base", "views:\n  - a\n\nb"), ["text 1-2 views:/  - a", "text 4-4 b"]);
    assert_eq!(show("x.canvas", "{broken"), ["text 1-1 {broken"]);
    assert!(parse("x.md", &[0u8; 100], &Options::default()).is_err());
    assert!(show("x.md", "").is_empty());
}

#[test]
fn quotes_in_quotes_and_marks_without_an_end_are_read_once() {
    let quotes = format!("{} deep", ">".repeat(20_000));
    assert_eq!(show("x.md", &quotes), ["paragraph 1-1 deep"]);
    let marks = "> [!open\n> words\n\n".repeat(5_000);
    assert_eq!(show("x.md", &marks).len(), 5_000);
}

#[test]
fn what_stands_between_a_log_s_events_is_read_as_a_note() {
    let head = "---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n";
    let event = |said: &str, id: u8| {
        format!("\n> [!user] 2026-01-30T14:23:55Z x\n> {said}\n\n^01JGXYZ000000000000000000{id}\n")
    };
    let strange = "\n> [!assistant] 2026-01-30T14:24:00Z Bot\n> The kayak is green.\n\n> [!note] Mine\n> The paddle is red.\n\nPlain words.\n";
    let path = "logs/discord-channel/7/a_0001.md";
    let text = format!("{head}{}{strange}{}", event("first", 1), event("second", 2));
    assert_eq!(
        show(path, &text),
        [
            "turn 6-9 first",
            "callout 11-12 2026-01-30T14:24:00Z Bot/The kayak is green.",
            "callout 14-15 Mine/The paddle is red.",
            "paragraph 17-17 Plain words.",
            "turn 19-22 second"
        ]
    );
    let before = format!("{head}{}", event("first", 1));
    // Nothing injected comes in by that way.
    let injected = format!("{before}\n> [!recall]-\n> secret\n");
    assert_eq!(show(path, &injected), ["turn 6-9 first"]);
}
