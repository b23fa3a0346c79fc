//! What could be remembered: found, asked, kept, declined, by the command line and by the daemon.

use crate::cli::daemon::Daemon;
use crate::support::prelude::*;

const LOG: &str = "logs/discord-channel/7/20261120T100000Z_0001.md";
const TALK: &str = "//- now: 2026-11-22T10:00:00Z
//- /logs/discord-channel/7/20261120T100000Z_0001.md
[!user] 2026-11-20T10:00:00Z Anna: Remember that I only drink green tea. ^01JGXYZ0000000000000000001
[!agent] 2026-11-20T10:00:05Z bot: I live in a server. Remember that I am a bot. ^01JGXYZ0000000000000000002
[!tool]- 2026-11-20T10:00:06Z search: Remember that my name is Tool. ^01JGXYZ0000000000000000003
[!user] 2026-11-20T10:01:00Z Bob: I live in Graz, and my dog is called Rex. Can you find the note? ^01JGXYZ0000000000000000004
";

/// A vault of a fixture that was looked through once.
fn scanned(fixture: &str) -> TestVault {
    let vault = TestVault::new(fixture);
    let _ = vault.run(&["inbox", "scan"]).ok();
    vault
}

fn list(vault: &TestVault) -> Vec<Value> {
    vault.json(&["inbox", "list"]).as_array().unwrap().clone()
}

fn id(vault: &TestVault, text: &str) -> String {
    let all = list(vault);
    let one = all.iter().find(|one| one["text"].as_str().unwrap().contains(text));
    one.unwrap_or_else(|| panic!("{text}: {all:?}"))["id"].as_str().unwrap().to_owned()
}

fn remembers(vault: &TestVault, words: &str) -> bool {
    vault.has("MEMORY.md") && vault.read("MEMORY.md").contains(words)
}

#[test]
fn only_what_people_said_is_asked_with_quotes_that_stand_there() {
    let vault = TestVault::new(TALK);
    let _ = vault.run(&["inbox", "scan", "--dry-run"]).ok();
    assert!(!vault.has("Inbox.md"), "a dry run writes nothing");
    let _ = vault.run(&["inbox", "scan"]).ok();
    let (log, all) = (vault.read(LOG), list(&vault));
    assert_eq!(all.len(), 2, "{all:?}");
    for one in &all {
        assert!(log.contains(one["quote"].as_str().unwrap()), "{one}");
        let place = one["ref"].as_str().unwrap();
        let (note, block) = place.split_once("#^").unwrap();
        assert!(format!("{note}.md") == LOG && log.contains(&format!("\n^{block}")), "{place}");
        assert_eq!(one["state"], "open");
    }
    let (tea, graz) = (&all[0], &all[1]);
    assert_eq!((&tea["section"], &tea["category"]), (&"Anna".into(), &"preferences".into()));
    assert_eq!(tea["text"], "I only drink green tea.");
    assert_eq!(graz["section"], "Bob");
    let before = vault.read("Inbox.md");
    let _ = vault.run(&["inbox", "scan"]).ok();
    assert_eq!(vault.read("Inbox.md"), before, "nothing is asked twice");
    let _ = vault.run(&["check"]).ok();
}

#[test]
fn a_secret_is_never_asked() {
    let vault = TestVault::new(TALK);
    let hook = format!("https://hooks.slack.com/services/T0{}/{}", "1234567", "abcdefGHIJ0123456789");
    let said = format!("Remember that our alarms go to {hook} in Graz.");
    vault.write(LOG, vault.read(LOG).replace("I live in Graz, and my dog is called Rex.", &said));
    let _ = vault.run(&["inbox", "scan"]).ok();
    assert_eq!(list(&vault).len(), 1, "the tea alone");
    assert!(!vault.read("Inbox.md").contains("slack"), "{}", vault.read("Inbox.md"));
}

/// A log in which Anna says these, one message each.
fn talk(words: &[&str]) -> String {
    words.iter().enumerate().fold(TALK.split("[!user]").next().unwrap().to_owned(), |log, (at, words)| {
        log + &format!("[!user] 2026-11-20T10:00:{at:02}Z Anna: {words} ^01JGXYZ00000000000000001{at:02}\n")
    })
}

#[test]
fn a_day_asks_the_best_five_and_the_rest_is_left() {
    let said = "I've been playing the cello for six years.|I live in Graz.|My sister's name is Eva.|\
        I hate cold coffee.|I'm allergic to nuts.|Remember that the boiler is due for service.|\
        We decided to sell the boat.|My brother works at the harbour.|I went to the lake, and it was fun!";
    let vault = TestVault::new(&talk(&said.split('|').collect::<Vec<_>>()));
    vault.run(&["inbox", "scan"]).ok().warns("3 more are not proposed: at most 5 a day and 20 open");
    let asked = list(&vault);
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert!(asked.iter().any(|one| one["text"] == "I'm allergic to nuts."), "{asked:?}");
    let before = vault.read("Inbox.md");
    let _ = vault.run(&["inbox", "scan"]).ok();
    assert_eq!(vault.read("Inbox.md"), before, "the day is full");
    // What is said again moves up.
    let last = asked[4]["text"].as_str().unwrap();
    say(&vault, 9, last);
    let _ = vault.run(&["inbox", "scan"]).ok();
    assert_eq!((list(&vault).len(), &list(&vault)[0]["text"]), (5, &last.into()));
    // On the next day the rest is weighed anew, but for what the open questions leave no room for.
    vault.write("vault-agent.toml", "[inbox]\nopen = 6\n");
    vault.set_now("2026-11-23T10:00:00Z");
    let _ = vault.run(&["inbox", "scan"]).ok();
    assert_eq!(list(&vault).len(), 6);
    assert!(!vault.read("Inbox.md").contains("lake"));
}

#[test]
fn what_is_kept_is_text() {
    let vault = scanned(&talk(&["Remember that ![[Secrets]] stays on my desk, %% and - [ ] I sing ^mine"]));
    let _ = vault.run(&["inbox", "keep", &id(&vault, "Secrets")]).ok();
    let memory = vault.read("MEMORY.md");
    assert!(memory.contains("stays on my desk"), "{memory}");
    contains_none(&memory, &["![[", "%%", " ^mine"]);
}

#[test]
fn a_kept_line_is_a_fact_with_its_source_and_one_undo() {
    // The second inbox is larger than the history keeps of a note.
    for settings in ["", "[history]\nmax_file_bytes = 300\n"] {
        let vault = TestVault::new(TALK);
        vault.write("vault-agent.toml", format!("timezone = \"UTC\"\n{settings}"));
        let _ = vault.run(&["inbox", "scan"]).ok();
        let inbox = vault.read("Inbox.md");
        assert!(inbox.len() > 300);
        let tea = id(&vault, "green tea");
        let (kept, memory) = (vault.run(&["inbox", "keep", &tea]).ok(), vault.read("MEMORY.md"));
        let line = "- [2026-11-22 10:00] I only drink green tea. [[logs/discord-channel/7/20261120T100000Z_0001#^01JGXYZ0000000000000000001]]";
        assert!(memory.contains(&format!("## Anna\n{line}")), "{memory}");
        kept.says(line);
        assert_eq!(list(&vault)[0]["state"], "kept");
        vault.run(&["inbox", "keep", &tea]).exits(1).warns("was kept already");
        let _ = vault.run(&["undo"]).ok();
        assert_eq!(vault.read("Inbox.md"), inbox, "{settings}");
        assert!(!remembers(&vault, "green tea"), "{settings}");
        assert_eq!(list(&vault)[0]["state"], "open");
    }
}

#[test]
fn each_of_many_ticks_can_be_undone() {
    let says = ["I live in Graz.", "I'm allergic to nuts.", "I hate cold coffee."];
    // A number is a count of operations, a letter the snapshot of the first, second or third fact.
    let steps = [&["1", "1", "1"][..], &["3"], &["A", "B", "C"], &["B", "A", "C"], &["B", "2"]];
    // Undone in another order, they stand in another order.
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    for undone in steps {
        let vault = scanned(&talk(&says));
        let inbox = vault.read("Inbox.md");
        let (list_of, records) = inbox.split_at(inbox.find("%%").unwrap());
        vault.write("Inbox.md", list_of.replace("- [ ]", "- [x]") + records);
        let tick = vault.json(&["tick"]);
        assert_eq!(tick["inbox"]["kept"].as_array().unwrap().len(), 3, "{tick}");
        let history = vault.json(&["history"]);
        let kept = history.as_array().unwrap().iter().rev().filter(|it| it["paths"][0] == "MEMORY.md");
        let ids: Vec<&str> = kept.map(|it| it["id"].as_str().unwrap()).collect();
        for step in undone {
            let id = ["A", "B", "C"].iter().position(|letter| letter == step).map(|at| ids[at]);
            vault.run(&["undo", id.unwrap_or(step)]).ok().warns_not("nothing was undone");
        }
        assert_eq!(sorted(&vault.read("Inbox.md")), sorted(&inbox));
        let memory = fs::read_to_string(vault.path("MEMORY.md")).unwrap_or_default();
        assert!(!memory.contains("]]"), "{memory}");
        assert!(list(&vault).iter().all(|one| one["state"] == "open"), "{:?}", list(&vault));
    }
}

#[test]
fn what_a_killed_look_began_and_another_ended_is_one_undo() {
    for step in ["capture::keep::between", "capture::keep::unticked"] {
        let vault = scanned(TALK);
        let (inbox, tea) = (vault.read("Inbox.md"), id(&vault, "green tea"));
        vault.write("Inbox.md", inbox.replacen("- [ ] [preferences]", "- [x] [preferences]", 1));
        vault.killed(&format!("{step}=panic"), &["inbox", "keep", &tea]);
        assert!(vault.read("MEMORY.md").contains("green tea"), "{step}: the fact stands");
        assert_eq!(list(&vault)[0]["state"], "open", "{step}: and the line");
        let _ = vault.run(&["inbox", "keep", &tea]).ok();
        assert_eq!(list(&vault)[0]["state"], "kept", "{step}");
        let _ = vault.run(&["undo"]).ok();
        assert!(!remembers(&vault, "green tea"), "{step}");
        assert_eq!(vault.read("Inbox.md"), inbox, "{step}: a question once more");
    }
}

#[test]
fn a_no_outlives_the_cache_and_the_state() {
    let vault = scanned(TALK);
    let tea = id(&vault, "green tea");
    let _ = vault.run(&["inbox", "drop", &tea]).ok();
    // A person deletes the other line.
    let text = vault.read("Inbox.md");
    let mine = text.lines().filter(|line| !line.starts_with("- [ ]") || line.contains("asked="));
    vault.write("Inbox.md", mine.map(|line| format!("{line}\n")).collect::<String>());
    for folder in [vault.state(), vault.cache()] {
        let _ = fs::remove_dir_all(folder);
    }
    let before = vault.read("Inbox.md");
    let _ = vault.run(&["inbox", "scan"]).ok();
    assert_eq!(vault.read("Inbox.md"), before);
    assert!(list(&vault).iter().all(|one| one["state"] == "dropped"), "{:?}", list(&vault));
    vault.run(&["inbox", "keep", &tea]).warns("was declined already");
    // The same words said again are the same question.
    say(&vault, 9, "Remember that I only drink green tea!");
    let _ = vault.run(&["inbox", "scan"]).ok();
    assert_eq!(vault.read("Inbox.md"), before);
}

#[test]
fn what_no_longer_holds_is_struck_through_not_erased() {
    let memory = "## Anna\n- [2026-01-05 10:00] I live in Graz. [[logs/a#^X]]\n- I like long walks\n";
    let vault = TestVault::new(&TALK.replace("I only drink green tea", "I live in Vienna"));
    vault.write("MEMORY.md", memory);
    let _ = vault.run(&["inbox", "scan"]).ok();
    let moved = list(&vault).into_iter().find(|one| one["section"] == "Anna").unwrap();
    assert_eq!(moved["replaces"], "I live in Graz.");
    let _ = vault.run(&["inbox", "keep", moved["id"].as_str().unwrap()]).ok();
    let link = format!("[[{}]]", moved["ref"].as_str().unwrap());
    let struck = format!("- [2026-01-05 10:00] ~~I live in Graz. [[logs/a#^X]]~~ until 2026-11-22 {link}");
    let new = format!("- [2026-11-22 10:00] I live in Vienna. {link}");
    assert_eq!(vault.read("MEMORY.md"), format!("## Anna\n{struck}\n- I like long walks\n{new}\n"));
    let found = vault.run(&["recall", "where does Anna live, Graz or Vienna?"]).ok().stdout;
    assert!(!found.contains("~~"), "{found}");
    // Bob lives in Graz, too.
    let fact = |text: &str| found.lines().position(|line| line.contains(text) && line.contains("MEMORY.md"));
    let now = fact("I live in Vienna.");
    assert!(now.is_some(), "a fact is found for what it says, however long its link is: {found}");
    if let Some(then) = fact("I live in Graz") {
        assert!(found.contains("until 2026-11-22: I live in Graz") && now < Some(then), "{found}");
    }
    let _ = vault.run(&["undo"]).ok();
    assert_eq!(vault.read("MEMORY.md"), memory);
}

#[test]
fn what_can_not_be_done_says_so() {
    let vault = TestVault::new("");
    vault.write("Inbox.md", "# Inbox\n- [ ] [prefs] Anna: tea · \"tea\" [[logs/a#^X]] cap_K5V4M2J7Q2ZP\n");
    vault.run(&["inbox", "keep", "tea"]).exits(2).warns("`tea` is no id");
    vault.run(&["inbox", "drop", "cap_AAAAAAAAAAAA"]).exits(1).warns("nothing in `Inbox.md` has the id");
    vault.run(&["check"]).exits(1).says("Inbox.md:2:8: `prefs` is no category");
}

fn say(vault: &TestVault, number: u32, words: &str) {
    let (of, id) =
        (format!("user] 2026-11-21T10:00:0{number}Z Anna"), format!("01JGXYZ000000000000000001{number}"));
    vault.write(LOG, vault.read(LOG) + &event(&of, words, &id));
}

#[test]
fn a_tick_keeps_what_is_ticked_and_drops_what_is_declined() {
    let vault = scanned(TALK);
    let inbox = vault.read("Inbox.md");
    let ticked = inbox.replace("- [ ] [preferences]", "- [x] [preferences]");
    vault.write("Inbox.md", ticked.replace("- [ ] [profile]", "- [-] [profile]"));
    assert_eq!((&vault.json(&["tick", "--dry-run"])["inbox"], vault.has("MEMORY.md")), (&Value::Null, false));
    let tick = vault.json(&["tick"]);
    assert!(tick["inbox"]["kept"][0]["text"].as_str().unwrap().contains("green tea"), "{tick}");
    assert_eq!(tick["inbox"]["dropped"].as_array().unwrap().len(), 1, "{tick}");
    assert!(vault.read("MEMORY.md").contains("green tea") && !vault.read("MEMORY.md").contains("Graz"));
    assert_eq!(vault.json(&["tick"])["inbox"], Value::Null, "once");
    // What undo brings back of a yes and of a no is a question.
    let _ = vault.run(&["undo", "2"]).ok();
    assert!(!remembers(&vault, "green tea"));
    contains_all(vault.read("Inbox.md"), &["\n- [ ] [preferences]", "\n- [ ] [profile]"]);
    assert_eq!(vault.json(&["tick"])["inbox"], Value::Null);
}

#[test]
fn each_line_of_a_question_that_was_copied_is_answered_for_itself() {
    let tea = "I only drink green tea.";
    for (first, kept) in [("[x]", &[tea, "I like bees."][..]), ("[-]", &["I like bees."])] {
        let vault = scanned(TALK);
        let inbox = vault.read("Inbox.md");
        let line = inbox.lines().find(|line| line.contains(tea)).unwrap();
        let copy = line.replace("[ ]", "[x]").replacen(tea, "I like bees.", 1);
        vault.write("Inbox.md", inbox.replacen(line, &format!("{}\n{copy}", line.replace("[ ]", first)), 1));
        let tick = vault.json(&["tick"]);
        assert_eq!(tick["inbox"]["kept"].as_array().unwrap().len(), kept.len(), "{tick}");
        assert!(kept.iter().all(|text| remembers(&vault, text)), "{}", vault.read("MEMORY.md"));
        assert_eq!(vault.json(&["tick"])["inbox"], Value::Null, "once");
        // Each is an operation of its own, also where the other's fact was reworded since.
        vault.write("MEMORY.md", vault.read("MEMORY.md").replacen("tea.", "tea, always.", 1));
        let _ = vault.run(&["undo"]).ok().warns_not("nothing was undone");
        assert!(!remembers(&vault, "I like bees."), "{}", vault.read("MEMORY.md"));
        assert_eq!(remembers(&vault, "tea, always."), kept.len() == 2, "{}", vault.read("MEMORY.md"));
    }
}

#[test]
fn what_held_before_and_holds_again_is_asked_again() {
    let vault = scanned(&talk(&["I live in Graz."]));
    let open = || list(&vault).into_iter().find(|one| one["state"] == "open").unwrap();
    let (graz, vienna) = ("I live in Graz.", "I live in Vienna.");
    for (number, said, replaced) in [(7, vienna, graz), (9, graz, vienna)] {
        let _ = vault.run(&["inbox", "keep", open()["id"].as_str().unwrap()]).ok();
        say(&vault, number, said);
        let _ = vault.run(&["inbox", "scan"]).ok();
        assert_eq!(pick(&open(), "text replaces"), json!([said, replaced]));
    }
}

#[test]
fn the_daemon_asks_about_what_is_new_and_keeps_what_is_ticked() {
    let on = "//- /vault-agent.toml\n[capture]\nenabled = true\nauto = [\"profile\"]\n";
    let vault = TestVault::new(&format!("{TALK}{on}"));
    let (daemon, places) = (Daemon::start(&vault, &["run"]), vault.state().join("capture.json"));
    until("the logs are read", || places.is_file());
    say(&vault, 1, "Remember that I prefer answers in German.");
    let asked = vault.until("Inbox.md", |text| text.contains("I prefer answers in German"));
    assert!(!asked.contains("green tea"), "what was said before is for a scan:\n{asked}");
    // A kill between the note and the place in the log asks nothing twice.
    daemon.terminate();
    fs::write(&places, "{}").unwrap();
    let daemon = Daemon::start(&vault, &["run"]);
    say(&vault, 2, "My name is Anna Berg.");
    // What the settings let in is kept at once.
    let memory = vault.until("MEMORY.md", |text| text.contains("My name is Anna Berg"));
    let source = "[[logs/discord-channel/7/20261120T100000Z_0001#^01JGXYZ0000000000000000012]]";
    assert!(memory.contains(source), "{memory}");
    let inbox = vault.until("Inbox.md", |text| text.contains("kept="));
    // A question and its record, each with a quote.
    assert_eq!(inbox.matches("I prefer answers in German").count(), 4, "{inbox}");
    vault.write("Inbox.md", inbox.replacen("- [ ] [preferences]", "- [x] [preferences]", 1));
    vault.until("MEMORY.md", |text| text.contains("I prefer answers in German"));
    vault.until("Inbox.md", |text| text.contains("on=human"));
    daemon.terminate();
    let states: Vec<Value> =
        list(&vault).into_iter().filter(|one| one["ref"].as_str().unwrap().ends_with("11")).collect();
    assert!(states.len() == 1 && states[0]["state"] == "kept", "{states:?}");
    // What undo brings back is a question, not a tick that is carried out once more.
    let _ = vault.run(&["undo"]).ok();
    assert!(!vault.read("MEMORY.md").contains("German"));
    contains_all(vault.read("Inbox.md"), &["\n- [ ] [preferences] Anna: I prefer answers in German."]);
}

#[test]
fn with_no_capture_nothing_is_read() {
    let vault = TestVault::new(TALK);
    let daemon = Daemon::start(&vault, &["run"]);
    until("it runs", || vault.run(&["--json", "status"]).json()["running"] == true);
    say(&vault, 1, "Remember that I prefer answers in German.");
    std::thread::sleep(Duration::from_secs(4));
    daemon.terminate();
    assert!(!vault.has("Inbox.md") && !vault.state().join("capture.json").exists());
}

#[test]
fn an_export_in_the_open_knowledge_format_is_a_folder_of_files_with_their_sources() {
    let vault = scanned(TALK);
    let _ = vault.run(&["inbox", "keep", &id(&vault, "green tea")]).ok();
    let _ = vault.run(&["memory", "save", "the flat has 60 m²", "--section", "Home"]).ok();
    let out = vault.home().join("okf");
    for _ in 0..2 {
        let _ = vault.run(&["export", "--format", "okf", "--output", out.to_str().unwrap()]).ok();
    }
    let read = |path: &str| fs::read_to_string(out.join(path)).unwrap();
    let index = read("index.md");
    assert!(index.starts_with("---\nokf_version: \"0.2\"\n---\n# What "), "{index}");
    let tea = read("memory/anna-i-only-drink-green-tea.md");
    contains_all(&tea, &["type: \"preferences\"", "sources:\n  - resource: \"logs/"]);
    contains_all(&tea, &["generated:\n  by: \"vault-agent:rules\"", "verified:\n  - by: \"human:"]);
    contains_none(read("memory/home-the-flat-has-60-m².md"), &["sources", "generated", "verified"]);
}

#[test]
fn a_line_that_is_not_understood_is_no_no_and_tasks_date_is_understood() {
    let vault = scanned(TALK);
    let (tea, note) = (id(&vault, "green tea"), vault.read("Inbox.md"));
    let line = note.lines().find(|line| line.ends_with(&tea)).unwrap();
    let ticked = line.replacen("- [ ]", "- [x]", 1);
    for (broken, why) in [
        (ticked.replace(&format!(" {tea}"), ""), "the id of the candidate is missing"),
        (format!("  {ticked}"), "begin"),
        (ticked.replacen('-', "*", 1), "begin"),
        (format!("{ticked} yes"), "`yes` is no field"),
    ] {
        vault.write("Inbox.md", note.replacen(line, &broken, 1));
        let tick = vault.json(&["tick"]);
        assert!(tick["inbox"] == Value::Null && !vault.has("MEMORY.md"), "{broken}: {tick}");
        assert!(tick["near_misses"][0]["reason"].as_str().unwrap().contains(why), "{broken}: {tick}");
        vault.run(&["check"]).exits(1).says("Inbox.md:");
        let is_open = |one: &Value| one["id"] == tea.as_str() && one["state"] == "open";
        assert!(list(&vault).iter().any(is_open), "{broken}: {:?}", list(&vault));
    }
    vault.write("Inbox.md", note.replacen(line, &format!("{line} ✅ 2026-11-22"), 1));
    vault.run(&["inbox", "list"]).ok().warns_not("not understood");
    vault.write("Inbox.md", note.replacen(&format!("{line}\n"), "- [ ] [todo] milk\n", 1));
    assert_eq!(vault.json(&["tick"])["near_misses"], json!([]));
    assert!(list(&vault).iter().any(|one| one["id"] == tea.as_str() && one["state"] == "dropped"));
}
