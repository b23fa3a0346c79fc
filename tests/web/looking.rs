//! What a person looks for from the first page: what comes, what is late, what waits; and links that lead there.

use crate::sample::*;

const NOTES: &str = include_str!("looking.txt");

fn visited(settings: &str) -> (TestVault, Served, Visitor) {
    let vault = TestVault::new(NOTES);
    vault.write("vault-agent.toml", format!("{settings}{LISTEN}"));
    Served::over(vault)
}

#[test]
fn today_has_all_that_comes_what_is_late_and_what_is_wrong() {
    let (_vault, _served, visitor) = visited("");
    let today = visitor.json("/");
    let of = |list: &str| -> Vec<String> {
        let all = today[list].as_array().unwrap().iter();
        all.map(|one| format!("{} {} {}", one["date"], one["kind"], one["msg"]).replace('"', "")).collect()
    };
    assert_eq!(of("late"), ["2026-11-30 reminder Call the bank"]);
    let next = of("next");
    assert_eq!(next.iter().filter(|one| one.ends_with("Pills")).count(), 7, "{next:?}");
    assert_eq!(next.iter().filter(|one| one.contains("routine")).count(), 7, "{next:?}");
    assert!(next.contains(&"2026-12-03 follow-up Ask Bob about the key".to_owned()), "{next:?}");
    contains_all(today["problems"].to_string(), &["Reminders.md:3", "someday", "daemon: not running"]);
}

#[test]
fn a_pause_is_told_on_every_page() {
    let (_vault, _served, visitor) = visited("paused_until = \"2027-01-04T08:00\"\npause_reminders = true\n");
    for place in ["/", "/calendar", "/memory"] {
        let page = visitor.get(place).is(200).text();
        contains_all(format!("{place}: {page}"), &["paused until", "2027-01-04"]);
    }
}

#[test]
fn a_time_may_stand_behind_the_words_and_two_meanings_are_both_said() {
    let (vault, _served, visitor) = visited("");
    let written = |text: &str| visitor.get(&format!("/?write={}", encoded(text))).is(200).text();
    contains_all(written("call mum tomorrow at 9:00"), &["Add this reminder?", "Ask the assistant?"]);
    visitor.submit(&visitor.writing("call mum tomorrow at 9:00", "add")).is(303);
    assert!(vault.read("Reminders.md").contains("date=2026-12-02 time=09:00 recur=none msg=\"call mum\""));
    let page = written("next friday call bob");
    // What was typed stays.
    contains_all(&page, &["can be", "value=\"next friday call bob\""]);
    contains_none(&page, &["Add this reminder?"]);
    assert!(!written("tomorrow 9am: call mum").contains("Ask the assistant?"));
    // Nothing else is made of a time that is over.
    for past in ["today 08:00: call mum", "2026-12-01 08:15: call mum", "call mum yesterday 8:00"] {
        let page = written(past);
        assert!(page.contains("is in the past") && !page.contains("Add this reminder?"), "{past}: {page}");
    }
    assert!(written("2026-11-01 invoice: pay tomorrow 9am").contains("Add this reminder?"));
    // A question as long as may be asked arrives.
    assert!(written(&"why ".repeat(4_000)).contains("Ask the assistant?"));
}

#[test]
fn folders_are_listed_and_no_link_leads_out_of_the_vault() {
    let (vault, _served, visitor) = visited("");
    let all = visitor.json("/notes");
    assert!(all["top"]["folders"].to_string().contains("\"Projects\""), "{all}");
    let folder = visitor.json("/notes/Projects");
    assert_eq!(pick(&folder, "folders notes"), json!([["Projects/deep"], ["Projects/overview.md"]]));
    assert!(visitor.get("/notes/Projects/").is(200).text().contains("/notes/Projects/deep"));
    std::os::unix::fs::symlink("/", vault.root().join("outside")).unwrap();
    contains_none(visitor.get("/notes/outside/etc").text(), &["passwd"]);
}

#[test]
fn a_restore_whose_plan_is_old_brings_nothing_back() {
    let (sample, _served, visitor) = Sample::new().visited();
    let note = visitor.json("/notes/Projects/Garden.md");
    let oldest = note["snapshots"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap();
    let plan = format!("/notes/Projects/Garden.md?plan=section:Garden&at={oldest}");
    let form = visitor.form(&plan, "restore", "");
    let now = sample.vault.read("Projects/Garden.md") + "a new line\n";
    sample.vault.write("Projects/Garden.md", &now);
    contains_all(visitor.submit(&form).is(409).text(), &["changed after the preview"]);
    assert_eq!(sample.vault.read("Projects/Garden.md"), now);
    visitor.submit(&visitor.form(&plan, "restore", "")).is(303);
    assert!(sample.vault.read("Projects/Garden.md").contains("each morning"));
}

#[test]
fn links_to_where_something_was_said_and_done_lead_there() {
    let (sample, _served, visitor) = Sample::new().visited();
    let links = |page: &str, to: &str| -> Vec<String> {
        let all = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        all.filter(|link| link.starts_with(to)).map(str::to_owned).collect()
    };
    let inbox = visitor.get("/inbox?all=1").is(200).text();
    let logs = links(&inbox, "/notes/logs/");
    assert!(!logs.is_empty(), "{inbox}");
    for link in &logs {
        let to = visitor.get(link).is(302).header("location").to_owned();
        let (path, line) = to.split_once('#').expect("a line of the log");
        assert!(visitor.get(path).is(200).text().contains(&format!("id=\"{line}\"")), "{to}");
    }
    // Where a line is further down it is on a later page.
    let long: String = (1..=700).map(|at| format!("line {at}\n\n")).collect();
    sample.vault.write("long.md", long);
    let found = visitor.get("/search?q=%22line%20450%22").is(200).text();
    assert_eq!(links(&found, "/notes/long.md").remove(0), "/notes/long.md?page=3#L899");
    let _ = sample.vault.run(&["history"]).ok();
    assert!(visitor.get("/notes/long.md?page=3").is(200).text().contains("id=\"L899\""));
}

/// Obsidian's links name a file by its name alone, in whatever folder it stands.
#[test]
fn a_link_and_a_picture_lead_to_the_file_in_another_folder() {
    let vault = listening(NOTES);
    vault.write("attachments/pic.png", "png");
    vault.write("Root.md", "root\n");
    let links = "![[pic.png]] [[overview]] [[Plan]] ![[deep/plan]] [[nothing]] [[Dr. Smith]]\n";
    vault.write("Projects/garden.md", links);
    vault.write("Projects/Dr. Smith.md", "a dentist\n");
    let links = "[a](Root.md) [b](overview) [c](Projects/garden.md) [d](none.md) [e](here.md)\n";
    vault.write("Other/herbs.md", links);
    vault.write("Other/here.md", "here\n");
    vault.write("here.md", "another\n");
    let (_served, visitor) = Served::visited(&vault);
    let page = visitor.get("/notes/Projects/garden.md").is(200).text();
    for (link, to) in [
        ("/files/Projects/pic.png", "/files/attachments/pic.png"),
        ("/notes/overview.md", "/notes/Projects/overview.md"),
        ("/notes/Plan.md", "/notes/Projects/deep/plan.md"),
        ("/notes/deep/plan.md", "/notes/Projects/deep/plan.md"),
        // What stands behind a dot needn't be an ending.
        ("/notes/Dr.%20Smith", "/notes/Projects/Dr.%20Smith.md"),
    ] {
        assert!(page.contains(&format!("\"{link}\"")), "{link}: {page}");
        assert_eq!(visitor.get(link).is(302).header("location"), to);
    }
    assert_eq!(visitor.get("/files/attachments/pic.png").is(200).body, b"png");
    visitor.get("/notes/nothing.md").is(404);
    // A Markdown link leads beside its note first, then to the root, then to a name.
    let page = visitor.get("/notes/Other/herbs.md").is(200).text();
    for (link, to) in [
        ("Root.md", "/notes/Root.md"),
        ("overview.md", "/notes/Projects/overview.md"),
        ("Projects/garden.md", "/notes/Projects/garden.md"),
    ] {
        let address = format!("/notes/Other/{link}?link={link}");
        assert!(page.contains(&format!("\"{address}\"")), "{address}: {page}");
        assert_eq!(visitor.get(&address).is(302).header("location"), to);
    }
    visitor.get("/notes/Other/none.md?link=none.md").is(404);
    assert!(!visitor.get("/notes/Other/here.md?link=here.md").is(200).text().contains("another"));
    visitor.get("/notes/Other/Root.md").is(404);
}
