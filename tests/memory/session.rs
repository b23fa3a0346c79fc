//! Working memory and identity: off until asked for, then given at a session's start until it expires.

use crate::memory::rig::*;
use vault_agent::memory::session_context;
use vault_agent::memory::working::{read_working, reader, write_working};

fn rig(settings: &str, notes: &[(&str, &str)]) -> Rig {
    let mut rig = Rig::new(notes);
    rig.settings = Settings::parse(settings).unwrap();
    rig
}

const ON: &str = "[memory]\nuser_namespace = \"user\"\n";
const WORKING: &str =
    "# Working Memory\nUpdated: 2026-11-25T11:30:00Z\nExpires: 2026-12-09T11:30:00Z\n\nPacking boxes.\n";

#[test]
fn without_a_namespace_nothing_happens() {
    let rig = rig("", &[("user/working.md", WORKING), ("user/profile.md", "Name: Anna\n")]);
    assert_eq!(session_context(&rig.vault, &rig.settings, now()), None);
    assert_eq!(read_working(&rig.settings, now(), &reader(&rig.vault)), None);
    let error = write_working(&rig.editor, &rig.settings, "x", now(), &origin()).unwrap_err();
    assert!(matches!(error, MemoryError::WorkingOff));
    assert_eq!(rig.read("user/working.md"), WORKING);
    // It stays in the vault.
    for wrong in ["../out", "/etc", ""] {
        let error = Settings::parse(&format!("[memory]\nuser_namespace = \"{wrong}\"\n")).unwrap_err();
        assert!(error.to_string().contains("memory.user_namespace"), "{error}");
    }
}

#[test]
fn a_control_in_a_conversation_keeps_no_working_memory_away() {
    let rig = rig(ON, &[]);
    let text = "- \u{1b}[31mred\u{7}\tand\r\n- blue";
    let written = write_working(&rig.editor, &rig.settings, text, now(), &origin()).unwrap();
    assert_eq!(written.text, "- [31mred\tand\n- blue");
}

#[test]
fn a_session_is_given_profile_and_working_memory() {
    let profile = "---\ntags: me\n---\n# Anna\n- vegetarian\n";
    let rig = rig(ON, &[("user/working.md", WORKING), ("user/profile.md", profile)]);
    let profile = "--- Who you're talking to ---\n# Anna\n- vegetarian";
    let both = format!("{profile}\n\n--- Recent context ---\nPacking boxes.");
    assert_eq!(session_context(&rig.vault, &rig.settings, now()).unwrap(), both);
    let greeting = Settings::parse(&format!("{ON}proactive_session_greeting = true\n")).unwrap();
    let told = session_context(&rig.vault, &greeting, now()).unwrap();
    assert!(told.starts_with(&both) && told.lines().last().unwrap().starts_with("[If relevant, briefly"));
    let expired = "2026-12-09T11:30:00Z".parse().unwrap();
    assert_eq!(session_context(&rig.vault, &rig.settings, expired).unwrap(), profile);
    // Nothing to say is nothing even with a greeting.
    rig.write("user/profile.md", include_str!("../../vault-template/user/profile.md"));
    rig.write("user/working.md", "no headers here\n");
    assert_eq!(session_context(&rig.vault, &greeting, now()), None);
}

#[test]
fn the_profile_that_is_there_is_found() {
    let rig = rig("[memory]\nuser_namespace = \"me\"\n", &[("user/profile.md", "# Anna\n")]);
    for name in ["Anna", "Bob"] {
        let given = session_context(&rig.vault, &rig.settings, now()).unwrap();
        assert_eq!(given, format!("--- Who you're talking to ---\n# {name}"));
        rig.write("me/profile.md", "# Bob\n");
    }
}

#[test]
fn what_is_written_is_cut_to_the_budget_and_expires() {
    let settings = format!("{ON}working_memory_max_tokens = 100\nworking_memory_ttl_days = 2\n");
    let (rig, long) = (rig(&settings, &[]), "word ".repeat(1_000));
    let written = write_working(&rig.editor, &rig.settings, &long, now(), &origin()).unwrap();
    assert_eq!((written.text.len(), written.text.ends_with("word")), (399, true));
    assert_eq!(written.expires.to_string(), "2026-12-03T09:30:00Z");
    assert_eq!(read_working(&rig.settings, now(), &reader(&rig.vault)), Some(written.clone()));
    assert_eq!(read_working(&rig.settings, written.expires, &reader(&rig.vault)), None);
    // Replaced as a whole, by less; what a person writes over the budget is cut where it is read.
    let short = write_working(&rig.editor, &rig.settings, "Boxes.", now(), &origin()).unwrap();
    assert!(rig.read("user/working.md").ends_with("\n\nBoxes.\n") && short.text == "Boxes.");
    rig.write("user/working.md", WORKING.replace("Packing boxes.", &long));
    assert_eq!(read_working(&rig.settings, now(), &reader(&rig.vault)).unwrap().text.len(), 399);
}

#[test]
fn from_the_command_line() {
    let vault = TestVault::new("//- /vault-agent.toml\n[memory]\nuser_namespace = \"me\"\n");
    vault.run(&["memory", "working"]).ok().warns("there is no working memory, or it has expired");
    let set = vault.run_with(&["memory", "working", "--set", "-"], "Packing boxes.\n").ok();
    set.says("Packing boxes.\n").warns("good until 2026-12-15T09:30:01Z");
    let all = json!({
        "path": "me/working.md", "text": "Packing boxes.", "updated": "2026-12-01T09:30:01Z",
        "expires": "2026-12-15T09:30:01Z",
    });
    assert_eq!(vault.json(&["memory", "working"]), all);
    drop(vault.run(&["memory", "working", "--clear"]).ok());
    assert!(!vault.has("me/working.md"));
    TestVault::new("").run(&["memory", "working"]).exits(1).warns("`memory.user_namespace` is not set");
}

#[test]
fn working_memory_that_expired_is_never_given_and_found_as_what_held() {
    let vault = TestVault::new(&format!("//- /vault-agent.toml\n{ON}//- /user/working.md\n{WORKING}"));
    vault.write("Garden.md", "The apple tree needs packing straw in winter.\n");
    let recalled = || vault.run(&["recall", "Where are the boxes that I am packing?"]);
    let found = || {
        let hits = vault.json(&["search", "packing"])["hits"].clone();
        let hits = hits.as_array().unwrap().iter();
        hits.map(|hit| format!("{} {}", hit["path"], hit["snippet"])).collect::<Vec<_>>()
    };
    recalled().says("Packing boxes.");
    let before = found();
    assert!(before.iter().any(|hit| hit.contains("working.md") && !hit.contains("until")), "{before:?}");
    vault.set_now("2026-12-09T11:30:00Z");
    recalled().lacks("Packing boxes.");
    let after = found();
    assert_eq!(after.len(), before.len());
    assert!(after.last().unwrap().contains("until 2026-12-09: Packing boxes."), "{after:?}");
}

#[test]
fn check_says_why_working_memory_can_not_be_read() {
    let vault = TestVault::new(&format!("//- /vault-agent.toml\n{ON}//- /user/working.md\n{WORKING}"));
    let _ = vault.run(&["check"]).ok();
    vault.write("user/working.md", WORKING.replace("Expires: 2026-12-09T11:30:00Z", "Expires: next week"));
    let why = "user/working.md:3:1: this working memory is ignored: `next week` is no instant";
    for args in [&["check"][..], &["check", "user/working.md"]] {
        vault.run(args).exits(1).says(why);
    }
}
