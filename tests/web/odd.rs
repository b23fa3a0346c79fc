//! Vaults that are empty, large, broken or gone: pages come, say what is so, and nothing hangs.

use crate::sample::*;

/// Every place answers.
fn all_places(visitor: &Visitor) {
    for path in places(&visitor.get("/").is(200).text()) {
        let reply = visitor.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        visitor.json(&path);
    }
}

#[test]
fn an_empty_vault_has_every_place() {
    let vault = listening("");
    all_places(&Served::start(&vault).visitor());
    assert_eq!(vault.tree().len(), 1, "looking writes nothing: {:?}", vault.tree().keys());
}

#[test]
fn what_is_long_is_shown_in_pages() {
    let vault = listening("");
    let line = |at: usize| format!("- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Number {at}\"\n");
    vault.write("Reminders.md", (0..700).map(line).collect::<String>());
    (0..70).for_each(|at| drop(vault.run(&["memory", "save", &format!("fact number {at}")]).ok()));
    let (_served, visitor) = Served::visited(&vault);
    all_places(&visitor);
    for (path, pages, first, last) in [
        ("/memory?", 2, "fact number 0<", "fact number 69<"),
        ("/history?actor=cli&", 2, "fact number 69", "fact number 0"),
        ("/notes/Reminders.md?", 3, "Number 0&quot;", "Number 699&quot;"),
        // As it reads, too: the words there have no escapes.
        ("/notes/Reminders.md?", 3, "msg=\"Number 0\"", "msg=\"Number 699\""),
    ] {
        for (page, words, other) in [(1, first, last), (pages, last, first)] {
            let text = visitor.get(&format!("{path}page={page}")).is(200).text();
            assert!(text.contains(words) && !text.contains(other), "{path} {page}: {words:?} {text}");
            assert!(text.contains("aria-label=\"Pages\""), "{path} {page}");
        }
    }
    for (pages, status) in [("0 -1 99999999999999999999 x", 400), ("9999 18446744073709551615", 200)] {
        for page in pages.split(' ') {
            let get = |place| visitor.get(&format!("/{place}?page={page}")).is(status);
            let _ = ["memory", "history", "turns", "inbox"].map(get);
        }
    }
}

#[test]
fn notes_of_every_name_have_an_address() {
    let vault = listening("");
    let names = "a & b|a#b|a?b=c|100%|a+b|quo\"te|it's|Zoë – 日本 🌱|a;b,c| space |[x](y)";
    let names: Vec<String> = names.split('|').map(|name| format!("{name}.md")).collect();
    names.iter().for_each(|name| vault.write(name, format!("# Named\nthe word zeppelin stands in {name}\n")));
    let (_served, visitor) = Served::visited(&vault);
    let page = visitor.get("/search?q=zeppelin&limit=50").is(200).text();
    let address = |rest: &str| crate::forms::unescaped(rest.split(['"', '#']).next().unwrap());
    let links: BTreeSet<String> = page.split("href=\"/notes/").skip(1).map(address).collect();
    assert_eq!(links.len(), names.len(), "{links:?}");
    for link in links.into_iter().chain(names.iter().map(|name| encoded(name))) {
        contains_all(visitor.get(&format!("/notes/{link}")).is(200).text(), &["zeppelin"]);
    }
}

#[test]
fn broken_settings_and_a_conflict_are_told_and_stop_nothing() {
    let (vault, _served, visitor) = Served::over(with_call());
    let other = "- [ ] date=2026-12-03 time=09:30 recur=none msg=\"Other\"\n";
    vault.write("Reminders.sync-conflict-20261201-093000-ABCDEFG.md", other);
    vault.write("deep/down/Plan.md", "# Plan\n");
    let copy = "deep/down/Plan.sync-conflict-20261201-093000-ABCDEFG.md";
    let problems = || visitor.json("/")["problems"].to_string();
    assert!(problems().contains("Reminders.sync-conflict") && !problems().contains(copy));
    vault.write(copy, "# Plan B\n");
    assert!(problems().contains(copy), "a copy of any note is told: {}", problems());
    vault.remove(copy);
    assert!(!problems().contains(copy));
    vault.write("vault-agent.toml", "timezone = <script>\n");
    let page = visitor.get("/").is(200).text();
    contains_all(&page, &["vault-agent.toml", "Call"]);
    contains_none(&page, &["<script>"]);
    vault.write("vault-agent.toml", "");
    contains_all(problems(), &["is gone or empty"]);
    vault.write("vault-agent.toml", LISTEN);
    assert!(!visitor.get("/").is(200).text().contains("stay in use"), "mended, it is told no more");
    contains_none(problems(), &["gone or empty"]);
    vault.remove("Reminders.md");
    fs::create_dir(vault.path("Reminders.md")).unwrap();
    assert_eq!(problems().matches("is a folder, where").count(), 1, "{}", problems());
}

#[test]
fn a_vault_that_is_gone_is_told_and_may_come_back() {
    let (vault, _served, visitor) = Served::over(with_call());
    let away = vault.root().with_extension("away");
    fs::rename(vault.root(), &away).unwrap();
    let gone = visitor.get("/");
    let text = gone.text();
    assert!(gone.status >= 500 && !text.contains("panic"), "{}: {text}", gone.status);
    assert!(text.contains("is not there") || text.contains("not in the vault"), "{text}");
    fs::rename(&away, vault.root()).unwrap();
    assert!(visitor.get("/").is(200).text().contains("Call"));
}

#[test]
fn what_cannot_be_understood_is_said_as_the_command_says_it() {
    let (_vault, _served, visitor) = Served::over(listening("//- /a.md\n# A\n"));
    let lost = visitor.get("/nowhere").is(404).text();
    assert!(lost.contains("href=\"/\""), "a way home: {lost}");
    let wrong = "/memory?kind=x /search?q=x&limit=many /calendar?month=2026-13 /calendar?week=x \
                 /history?day=yesterdayish /usage?days=many /usage?by=x /notes/a.md?n=x";
    let none = "/history/nothing /turns/nothing /routines/nothing /notes/nothing.md";
    for (paths, status) in [(wrong, 400), (none, 404)] {
        for path in paths.split(' ') {
            let reply = visitor.get(path).is(status);
            assert!(reply.text().contains("role=\"alert\""), "{path}: {}", reply.text());
        }
    }
}

/// A file that is no note is shown as it stands, or named; what can't be shown has no link.
#[test]
fn other_files_are_no_notes_and_no_link_leads_nowhere() {
    let vault = listening(
        "//- /Notes/T.md\n# Same\na\n# Same\nb\n# Once\nc ^b1\n//- /Notes/q\\n.md\nx\n//- /.obsidian/app.json\n{}\n//- /Inbox.md\n",
    );
    fs::write(vault.path("pic.bin"), b"\x89PNG\0\x01").unwrap();
    drop(vault.run(&["history"]).ok());
    vault.write("Notes/T.md", vault.read("Notes/T.md") + "more\n");
    drop(vault.run(&["history"]).ok());
    let (_served, visitor) = Served::visited(&vault);
    let page = |path: &str| visitor.get(path).is(200).text();
    let settings = page("/notes/vault-agent.toml");
    assert!(settings.contains("<pre>timezone") && !settings.contains("id=\"note-"), "{settings}");
    assert!(page("/notes/pic.bin").contains("is no text"));
    assert!(!page("/history").contains("href=\"/notes/.obsidian"));
    assert!(!page("/notes/Notes").contains("q%5Cn"));
    // The address stays that of this version, whatever is written later.
    let version = visitor.get("/notes/Notes/T.md?n=2").is(302).header("location").to_owned();
    let then = page(&version);
    assert!(then.contains("section%3AOnce") && !then.contains("section%3ASame"), "{then}");
    assert_eq!(visitor.get("/notes/Notes/T.md?block=b1").is(302).header("location"), "/notes/Notes/T.md#L6");
    assert_eq!(visitor.get("/notes/T.md?block=b1").is(302).header("location"), "/notes/Notes/T.md?block=b1");
    let _ = visitor.get("/?answer=zz").is(404);
}
