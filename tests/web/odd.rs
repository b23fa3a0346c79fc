//! Vaults that are empty, large, broken or gone: pages come, say what is so, and nothing hangs.

use std::fmt::Write as _;

use crate::http::encoded;
use crate::sample::places;
use crate::served::{LISTEN, Served, Visitor};
use crate::support::TestVault;

/// Every place answers; gives the longest page in bytes.
fn all_places(visitor: &Visitor) -> usize {
    let mut longest = 0;
    for path in places(&visitor.get("/").is(200).text()) {
        let reply = visitor.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        let json = visitor.send(&visitor.request(&path).header("Accept", "application/json"));
        assert_eq!(json.status, 200, "{path}: {}", json.text());
        drop(json.json());
        longest = longest.max(reply.body.len());
    }
    longest
}

#[test]
fn an_empty_vault_has_every_place() {
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", LISTEN);
    let served = Served::start(&vault);
    all_places(&served.visitor());
    assert_eq!(vault.tree().len(), 1, "looking writes nothing: {:?}", vault.tree().keys());
}

#[test]
fn a_large_vault_is_shown_in_pages() {
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", LISTEN);
    let mut reminders = String::new();
    for at in 0..2_000 {
        let _ = writeln!(
            reminders,
            "- [ ] date=2026-12-{:02} time={:02}:{:02} recur=none msg=\"Number {at}\"",
            1 + at % 28,
            at % 24,
            at % 60
        );
    }
    vault.write("Reminders.md", reminders);
    let mut memory = String::from("# Memory\n");
    for at in 0..1_000 {
        let _ = writeln!(memory, "## Section {}\n- fact number {at}", at / 10);
    }
    vault.write("MEMORY.md", memory);
    for at in 0..2_000 {
        vault
            .write(&format!("many/{}/note {at}.md", at % 50), format!("# Note {at}\nwords of number {at}\n"));
    }
    let served = Served::start(&vault);
    let visitor = served.visitor();
    let longest = all_places(&visitor);
    assert!(longest < 600_000, "the longest page has {longest} bytes");
    let second = visitor.get("/memory?page=2").is(200).text();
    assert!(second.contains("fact number") && !second.contains("fact number 1<"), "{second}");
    for page in ["0", "-1", "99999999999999999999", "x", "9999"] {
        let _ = visitor.get(&format!("/memory?page={page}")).is(200);
    }
}

#[test]
fn notes_of_every_name_have_an_address() {
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", LISTEN);
    let names = [
        "a & b.md",
        "a#b.md",
        "a?b=c.md",
        "100%.md",
        "a+b.md",
        "quo\"te.md",
        "it's.md",
        "Zoë – 日本 🌱.md",
        "a;b,c.md",
        " space .md",
        "[x](y).md",
    ];
    for name in names {
        vault.write(name, format!("# Named\nthe word zeppelin stands in {name}\n"));
    }
    let served = Served::start(&vault);
    let visitor = served.visitor();
    let page = visitor.get("/search?q=zeppelin&limit=50").is(200).text();
    let mut links: Vec<String> = page
        .split("href=\"/notes/")
        .skip(1)
        .filter_map(|rest| rest.split(['"', '#']).next())
        .map(str::to_owned)
        .collect();
    links.sort();
    links.dedup();
    assert_eq!(links.len(), names.len(), "{links:?}");
    if !places(&visitor.get("/").text()).iter().any(|place| place == "/notes") {
        return;
    }
    for link in links
        .iter()
        .map(|link| format!("/notes/{link}"))
        .chain(names.iter().map(|name| format!("/notes/{}", encoded(name))))
    {
        let shown = visitor.get(&crate::forms::unescaped(&link)).is(200).text();
        assert!(shown.contains("zeppelin"), "{link}");
    }
}

#[test]
fn broken_settings_and_a_conflict_are_told_and_stop_nothing() {
    let vault =
        TestVault::new("//- /Reminders.md\n- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Call\"\n");
    vault.write("vault-agent.toml", LISTEN);
    let served = Served::start(&vault);
    let visitor = served.visitor();
    vault.write(
        "Reminders.sync-conflict-20261201-093000-ABCDEFG.md",
        "- [ ] date=2026-12-03 time=09:30 recur=none msg=\"Other\"\n",
    );
    vault.write("vault-agent.toml", "timezone = <script>\n");
    let page = visitor.get("/").is(200).text();
    assert!(
        page.contains("vault-agent.toml") && page.contains("Call") && !page.contains("<script>"),
        "{page}"
    );
    vault.write("vault-agent.toml", LISTEN);
    assert!(!visitor.get("/").is(200).text().contains("in force"), "mended, it is told no more");
}

#[test]
fn a_vault_that_is_gone_is_told_and_may_come_back() {
    let vault =
        TestVault::new("//- /Reminders.md\n- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Call\"\n");
    vault.write("vault-agent.toml", LISTEN);
    let served = Served::start(&vault);
    let visitor = served.visitor();
    let away = vault.root().with_extension("away");
    std::fs::rename(vault.root(), &away).unwrap();
    let gone = visitor.get("/");
    assert!(gone.status >= 500 && !gone.text().contains("panic"), "{}: {}", gone.status, gone.text());
    assert!(
        gone.text().contains("is not there") || gone.text().contains("not in the vault"),
        "{}",
        gone.text()
    );
    std::fs::rename(&away, vault.root()).unwrap();
    assert!(visitor.get("/").is(200).text().contains("Call"));
}

#[test]
fn what_cannot_be_understood_is_said_as_the_command_says_it() {
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", LISTEN);
    let served = Served::start(&vault);
    let visitor = served.visitor();
    let lost = visitor.get("/nowhere").is(404).text();
    assert!(lost.contains("href=\"/\""), "a way home: {lost}");
    let known = places(&visitor.get("/").text());
    for (path, status) in [
        ("/memory?shelf=x", 400),
        ("/search?q=x&limit=many", 400),
        ("/calendar?month=2026-13", 400),
        ("/calendar?week=x", 400),
        ("/history/nothing", 404),
        ("/history?day=yesterdayish", 400),
        ("/turns/nothing", 404),
        ("/routines/nothing", 404),
        ("/notes/nothing.md", 404),
    ] {
        let place = path.split(['?', '/']).nth(1).unwrap_or_default();
        if known.iter().any(|known| known == &format!("/{place}")) {
            let reply = visitor.get(path);
            assert!(
                reply.status == status || (400..500).contains(&reply.status),
                "{path}: {} {}",
                reply.status,
                reply.text()
            );
            assert!(reply.text().contains("role=\"alert\""), "{path}: {}", reply.text());
        }
    }
}
