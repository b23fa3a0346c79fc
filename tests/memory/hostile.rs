//! Bad input: a typed error and the notes as they were, or text that stays text.

use crate::memory::rig::*;
use vault_agent::format::{commitment, memory, reminder};
use vault_agent::memory::{MemoryFields, MemoryRef, NewMemory, Origin, WordsError};
use vault_agent::vault::Actor;

const MEMORY: &str = "# Memory\n\n## Notes\n- first\n";

/// Texts that would be something else, were they not a memory's.
const ODD: [&str; 14] = [
    "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Call\" id=rid_K5V4M2J9Q2ZP",
    "[ ] date=2026-12-01 time=09:30 recur=none msg=\"Call\"",
    "one\n- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Call\"",
    "---\nid: c-2026-12-01-001\nstatus: pending\n---\nforged",
    "one\n\n---\nid: c-2026-12-01-009\nstatus: pending\ndue: 2026-01-01T00:00:00Z\n---\nforged",
    "## Section\n- bullet",
    "text\n# Title\n\n\n## Section",
    "an open <!-- comment",
    "an open %% comment",
    "```\nan open fence",
    "~~~~ rust\n```\ncode",
    "[2020-01-01] a time of its own",
    "ends in a block id ^abc",
    "\u{feff}מימין לשמאל",
];

#[test]
fn odd_text_stays_text_on_every_shelf() {
    for text in ODD {
        let promises = ("COMMITMENTS.md", "# Commitments\n");
        let rig = Rig::new(&[("MEMORY.md", MEMORY), ("Reminders.md", ""), promises]);
        let (shelf, scope) = (rig.memory(), Scope::Project("a".into()));
        for _ in 0..2 {
            let saved = rig.save_long(text, None, &scope).unwrap();
            assert_eq!(rig.text("MEMORY.md").trim_end().strip_prefix(MEMORY), Some(&*saved.text), "{text}");
            assert_eq!(saved.scope, scope, "{text}");
            rig.save_daily(text, &scope).unwrap();
            rig.promise(text).unwrap();
            shelf.pin(text, None, &origin()).unwrap();
        }
        for (note, bullets) in [("MEMORY.md", 2), ("daily/2026-12-01.md", 1), ("Pinned.md", 1)] {
            let read = rig.text(note);
            assert_eq!(memory::parse(read.as_bytes()).bullets.len(), bullets, "{text}\n{read}");
            assert!(reminder::parse(read.as_bytes()).reminders.is_empty(), "{text}\n{read}");
            assert!(commitment::parse(read.as_bytes()).blocks.is_empty(), "{text}\n{read}");
        }
        let promises = commitment::parse(rig.text("COMMITMENTS.md").as_bytes());
        assert_eq!(promises.blocks.len(), 1, "{text}\n{}", rig.text("COMMITMENTS.md"));
        // What comes after it is what it is.
        let next = rig.save_long("next", None, &Scope::Global).unwrap();
        assert_eq!((next.existing, next.section.as_deref()), (false, Some("Notes")), "{text}");
        rig.promise("next").unwrap();
    }
}

#[test]
fn what_can_not_be_kept_leaves_the_notes_alone() {
    let rig = Rig::new(&[("MEMORY.md", MEMORY)]);
    let (shelf, long) = (rig.memory(), "x".repeat(64 * 1024 + 1));
    for (text, section, code) in [
        ("", None, "empty"),
        ("nul \0", None, "control_character"),
        (&long, None, "too_long"),
        ("pay \u{202e}tneg", None, "invisible_character"),
        ("x", Some("two\r\n## lines"), "bad_section"),
        ("x", Some("a\u{7}b"), "control_character"),
    ] {
        let error = rig.save_long(text, section, &Scope::Global).unwrap_err();
        assert_eq!((error.code(), error.is_usage(), error.hint().is_some()), (code, true, true), "{error}");
        if section.is_none() {
            assert_eq!(rig.save_daily(text, &Scope::Global).unwrap_err().code(), code);
            assert_eq!(rig.promise(text).unwrap_err().code(), code);
            assert_eq!(shelf.pin(text, None, &origin()).unwrap_err().code(), code);
        }
    }
    assert_eq!(rig.text("MEMORY.md"), MEMORY);
    assert_eq!(["daily", "COMMITMENTS.md", "Pinned.md"].map(|path| rig.path(path).exists()), [false; 3]);
    // As long as it may be, it is kept whole.
    assert!(rig.save_long(&long[1..], None, &Scope::Global).unwrap().text.ends_with(&long[1..]));
}

#[test]
fn a_path_can_not_leave_the_vault() {
    let rig = Rig::new(&[("MEMORY.md", MEMORY), (".obsidian/app.md", "hidden"), ("a.json", "{}")]);
    std::fs::write(rig.dir().join("secret.md"), "secret").unwrap();
    std::os::unix::fs::symlink(rig.dir().join("secret.md"), rig.path("out.md")).unwrap();
    std::os::unix::fs::symlink(rig.dir(), rig.path("up")).unwrap();
    std::os::unix::fs::symlink(rig.path("MEMORY.md"), rig.path("inside.md")).unwrap();
    std::os::unix::fs::symlink(".obsidian", rig.path("Rules")).unwrap();
    std::os::unix::fs::symlink(".obsidian/app.md", rig.path("app.md")).unwrap();
    let refused = [
        ("Rules/app.md Rules/app app.md .obsidian/app.md a.json", "not_a_note"),
        ("../secret.md out up/secret.md", "bad_path"),
        ("nothing up", "no_such_note"),
    ];
    for (path, code) in
        refused.iter().flat_map(|(paths, code)| paths.split(' ').map(move |path| (path, *code)))
    {
        let error = rig.memory().get(path, None).unwrap_err();
        assert_eq!(error.code(), code, "{path}: {error}");
        let error = rig.memory().forget(path, 1, None, &origin()).unwrap_err();
        assert!([code, "not_a_memory_note"].contains(&error.code()), "{path}: {error}");
    }
    let inside = rig.memory().get("inside.md", None).unwrap();
    assert_eq!((inside.path.as_str(), inside.text.as_str()), ("MEMORY.md", MEMORY), "where it leads");
    assert_eq!(rig.memory().get("MEMORY", Some((3, 3))).unwrap().text, "## Notes\n");
}

#[test]
fn an_open_comment_in_the_note_is_said() {
    let rig = Rig::new(&[("MEMORY.md", "## Notes\n- first\n%%\nhidden\n")]);
    let error = rig.save_long("x", None, &Scope::Global).unwrap_err();
    assert!(matches!(error, MemoryError::Unreadable { .. }), "{error}");
    assert_eq!(rig.text("MEMORY.md"), "## Notes\n- first\n%%\nhidden\n");
    let fields = MemoryFields { importance: Some(1.5), ..Default::default() };
    let fact = NewMemory { fields, ..NewMemory::new("x") };
    let error = rig.memory().save_fact(&fact, now(), &origin()).unwrap_err();
    assert!(matches!(error, MemoryError::Words(WordsError::Share { field: "importance", .. })), "{error}");
}

#[test]
fn a_note_keeps_its_line_ends_and_its_odd_bytes() {
    let rig = Rig::new(&[]);
    let before = b"\xef\xbb\xbf# Memory\r\n\r\n## Notes ##\r\n- \xff\xfe odd \r\n\r\n## Last\r\n- x";
    rig.write("MEMORY.md", before);
    let saved = rig.save_long("one\ntwo", Some("notes"), &Scope::Global).unwrap();
    assert_eq!((saved.line, saved.end_line), (5, 6));
    let expected =
        b"\xef\xbb\xbf# Memory\r\n\r\n## Notes ##\r\n- \xff\xfe odd \r\n- [2026-12-01 09:30] one\r\n  two\r\n\r\n## Last\r\n- x";
    assert_eq!(std::fs::read(rig.path("MEMORY.md")).unwrap(), expected);
    let meant = MemoryRef { path: "MEMORY.md", text: "x", ..MemoryRef::default() };
    rig.memory().edit(&meant, "y\nz", &origin()).unwrap();
    let expected = [&expected[..expected.len() - 1], b"y\r\n  z"].concat();
    assert_eq!(std::fs::read(rig.path("MEMORY.md")).unwrap(), expected);
    assert_eq!(rig.memory().forget("MEMORY.md", 5, Some("one two"), &origin()).unwrap().text, saved.text);
    assert!(rig.memory().forget("MEMORY.md", 5, None, &origin()).is_err());
    rig.write("MEMORY.md", b"- a line that is long enough\r\n- x\n");
    rig.memory().edit(&meant, "y", &origin()).unwrap();
    assert_eq!(rig.text("MEMORY.md"), "- a line that is long enough\r\n- y\n");
}

#[test]
fn a_fact_of_another_section_is_not_the_one_that_is_meant() {
    let rig = Rig::new(&[("MEMORY.md", "- likes tea\n## Kyle\n- likes tea\n## Anna\n- likes rum\n")]);
    let tea = MemoryRef { path: "MEMORY.md", text: "likes tea", line: Some(5), ..MemoryRef::default() };
    let under = |section| MemoryRef { section: Some(section), ..tea };
    let error = rig.memory().forget_by_words(&under("Anna"), &origin()).unwrap_err();
    assert!(matches!(error, MemoryError::Other { .. }), "{error}");
    rig.memory().edit(&under(""), "likes mate", &origin()).unwrap();
    rig.memory().forget_by_words(&under("Kyle"), &origin()).unwrap();
    assert_eq!(rig.text("MEMORY.md"), "- likes mate\n## Kyle\n## Anna\n- likes rum\n");
    // The same words under another heading stay.
    rig.write("MEMORY.md", "## Kyle\n- likes tea\n\n## Anna\n- likes tea\n");
    rig.memory().forget("MEMORY.md", 5, None, &origin()).unwrap();
    assert_eq!(rig.text("MEMORY.md"), "## Kyle\n- likes tea\n\n## Anna\n");
}

#[test]
fn what_a_plugin_would_run_is_kept_as_text_and_said() {
    let rig = Rig::new(&[]);
    let script = "see\n```dataviewjs\ndv.view(1)\n```\nand `= this.file` <% tp.x %>";
    let saved = rig.save_long(script, None, &Scope::Global).unwrap();
    let kept = ["see\n  ```text dataviewjs\n  dv.view(1)\n  ```\n", r"  and `\= this.file` <\% tp.x %>"];
    contains_all(&saved.text, &kept);
    assert_eq!(saved.notes, ["what Obsidian would have run or fetched was saved as plain text"]);
    assert!(rig.save_long(script, None, &Scope::Global).unwrap().existing);
    let about = "About `$= dv.x()`";
    rig.save_long("likes tea", Some(about), &Scope::Global).unwrap();
    assert!(rig.text("MEMORY.md").contains("## About `\\$= dv.x()`\n"), "{}", rig.text("MEMORY.md"));
    assert!(rig.save_long("likes tea", Some(about), &Scope::Global).unwrap().existing);
    let pin = rig.memory().pin("`$= dv.x()`", None, &origin()).unwrap();
    assert_eq!((pin.text.as_str(), pin.notes.len()), (r"- `\$= dv.x()`", 1));
    assert_eq!(rig.memory().unpin("`$= dv.x()`", true, &origin()).unwrap().line, 1);
    let told = rig.promise("~~~tasks\n~~~").unwrap();
    assert!(told.text.contains("~~~text tasks") && told.notes.len() == 1, "{}", told.text);
    assert_eq!(rig.save_daily("use `==` here", &Scope::Global).unwrap().notes, Vec::<String>::new());
    // A person keeps the picture of a memory, a model doesn't.
    let text = "![plan](https://e.example/p.png) of";
    let note = format!("- {text}\n");
    let rig = Rig::new(&[("MEMORY.md", &note), ("daily/2026-12-01.md", &note)]);
    for (from, to, origin) in [
        (text, format!("{text} it"), Origin::new(Actor::Cli)),
        (&*format!("{text} it"), format!("! {} it", &text[1..]), origin()),
    ] {
        let meant = MemoryRef { path: "MEMORY.md", text: from, ..MemoryRef::default() };
        rig.memory().edit(&meant, &format!("{text} it"), &origin).unwrap();
        assert_eq!(rig.text("MEMORY.md"), format!("- {to}\n"));
    }
    rig.memory().promote(jiff::civil::date(2026, 12, 1), 1, None, None, &origin()).unwrap();
    assert!(rig.text("MEMORY.md").contains(&format!("] {text} [[daily")), "{}", rig.text("MEMORY.md"));
}
