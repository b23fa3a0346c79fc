//! `import` of workspaces and projects, and of dated tasks and reminder lines of other notes (`--from tasks`).

use crate::support::prelude::*;

/// A vault, and a folder outside it with these files.
fn set_up(fixture: &str, files: &[(&str, &str)]) -> (TestVault, PathBuf, String) {
    let vault = TestVault::new(fixture);
    let root = vault.home().join("workspace");
    files.iter().for_each(|(name, text)| vault.write(root.join(name), text));
    let shown = root.to_string_lossy().into_owned();
    (vault, root, shown)
}

const WORKSPACE: &[(&str, &str)] = &[
    (
        "MEMORY.md",
        "# Long-term memory\n\n- no heading\n\n## People\n- Anna likes tea\n  - green\n\nA paragraph\nof two lines.\n\n### Work\n1. Bob writes Go\n\n<!-- nothing -->\n",
    ),
    ("USER.md", "# User\n\n- Name: Kyle\n"),
    ("SOUL.md", "You are a pirate.\n"),
    ("memory/2026-11-20.md", "# Friday\n\n- met Anna\n"),
    ("memory/2026-11-21.md", "# Saturday\n\n- met Bob\n- slept\n"),
    ("memory/projects/flat.md", "# Flat\n\nThird floor.\n"),
    (".git/config", "x\n"),
];

#[test]
fn an_openclaw_workspace_comes_in() {
    let fixture = "//- /MEMORY.md\n# Memory\n\n## People\n- Anna likes tea\n  - green\n\n//- /daily/2026-11-21.md\n- 09:00 slept\n- slept\n";
    let (vault, _, root) = set_up(fixture, WORKSPACE);
    let before = vault.tree();
    vault.run(&["import", &root]).ok().says("8 added, 2 there already");
    insta::assert_snapshot!(vault.read("MEMORY.md"), @r"
    # Memory

    ## People
    - Anna likes tea
      - green
    - A paragraph
      of two lines.

    ## OpenClaw
    - no heading

    ## People / Work
    - Bob writes Go
    ");
    assert_eq!(vault.read("daily/2026-11-21.md"), "- 09:00 slept\n- slept\n- met Bob\n");
    assert_eq!(vault.read("daily/2026-11-20.md"), "# Friday\n\n- met Anna\n");
    assert_eq!(vault.read("user/profile.md"), "# User\n\n- Name: Kyle\n");
    assert_eq!(vault.read("imported/openclaw/memory/projects/flat.md"), "# Flat\n\nThird floor.\n");
    assert_eq!(vault.read("Assistant.md"), "You are a pirate.\n");
    let newest = &vault.json(&["history"])[0];
    assert_eq!((&newest["actor"], &newest["trailers"]["Client"]), (&json!("cli"), &json!("openclaw")));

    let (imported, again) = (vault.tree(), vault.json(&["import", &root]));
    assert_eq!((&again["added"], &again["notes"]), (&json!(0), &json!([])));
    assert_eq!(vault.tree(), imported);
    // All of it is one undo, and no file with the text is left beside.
    vault.run(&["undo"]).ok().says("undid: imported from openclaw");
    assert_eq!(vault.tree(), before);
    assert!(vault.json(&["history"])[0]["paths"].as_array().unwrap().len() >= 5);
}

#[test]
fn a_basic_memory_project_comes_in() {
    let coffee = "---\ntitle: Coffee\ntype: note\npermalink: coffee\n---\n# Coffee\n\n- [method] Pour over #brewing (at home)\n- relates_to [[Beans]]\n";
    let files = [("drinks/Coffee.md", coffee), ("Beans.md", "Just words.\n")];
    let (vault, root, shown) = set_up("//- /MEMORY.md\n# Memory\n", &files);
    let (before, run) = (vault.tree(), vault.run(&["import", &shown, "--dry-run"]).ok());
    run.says("imported/workspace/Beans.md would be made:\n+ Just words.\n");
    run.says("2 would be added, 0 there already");
    assert_eq!(vault.tree(), before);
    let _ = vault.run(&["import", &shown, "--from", "basic-memory"]).ok();
    assert_eq!(vault.read("imported/workspace/drinks/Coffee.md"), coffee);
    assert_eq!(vault.read("imported/workspace/Beans.md"), "Just words.\n");
    // Its observations stand once: in the note.
    assert_eq!(vault.read("MEMORY.md"), "# Memory\n");

    // A note that was changed here stays as it is; what is new there comes.
    vault.write("imported/workspace/Beans.md", "My own words.\n");
    std::fs::write(root.join("Tea.md"), "- [kind] Green\n").unwrap();
    let run = vault.run(&["import", &shown]).ok();
    run.says("1 added, 1 there already").warns("Beans.md: a note with other words is there already");
    assert_eq!(vault.read("imported/workspace/Beans.md"), "My own words.\n");
    let _ = vault.run(&["import", &shown, "--into", "elsewhere"]).ok();
    assert_eq!(vault.read("elsewhere/Beans.md"), "Just words.\n");
}

#[test]
fn another_vault_of_this_program_is_no_openclaw_workspace() {
    let settings = ("vault-agent.toml", "timezone = \"UTC\"\n");
    let (vault, _, root) = set_up("", &[settings, ("MEMORY.md", "# Memory\n"), ("Tea.md", "Green.\n")]);
    let _ = vault.run(&["import", &root]).ok().warns_not("OpenClaw").says("Tea.md");
}

#[test]
fn what_openclaw_is_and_does_has_a_place_or_is_named() {
    let files = [
        ("MEMORY.md", "- about #project/x and `#agent/y`\n"),
        ("IDENTITY.md", "Name: Claw\n"),
        ("SOUL.md", "You are a pirate.\n"),
        ("AGENTS.md", "Obey.\n"),
        ("TOOLS.md", "ssh home\n"),
        ("HEARTBEAT.md", "# Checklist\n\n- Look at the mail\n"),
        ("skills/tides/SKILL.md", "---\nname: tides\ndescription: Tides.\n---\nHow.\n"),
        ("skills/tides/scripts/tides.sh", "echo\n"),
    ];
    let (vault, root, shown) = set_up("", &files);
    let _ = vault.run(&["init"]).ok();
    let run = vault.run(&["import", &shown, "--from", "openclaw"]).ok();
    run.says("4 added, 0 there already").warns("AGENTS.md: it is about OpenClaw itself").warns("TOOLS.md: ");
    run.warns("skills/tides: it has files beside its notes, such as scripts; copy them yourself");
    assert_eq!(vault.read("Assistant.md"), "Name: Claw\n\nYou are a pirate.\n");
    // What marked no scope there marks none here.
    assert!(vault.read("MEMORY.md").contains("- about \\#project/x and `#agent/y`\n"));
    let routines = vault.json(&["routine", "list"]);
    let heartbeat = routines.as_array().unwrap().iter().find(|it| it["name"] == "heartbeat").unwrap();
    assert_eq!(heartbeat["enabled"], false);
    assert!(vault.read("routines/heartbeat.md").ends_with("# Checklist\n\n- Look at the mail\n"));
    assert!(vault.run(&["skill", "list"]).ok().stdout.contains("tides"));
    // A persona that somebody wrote stays, and a checklist without anything on it asks for nothing.
    std::fs::write(root.join("SOUL.md"), "You are a parrot.\n").unwrap();
    let again = vault.run(&["import", &shown, "--from", "openclaw"]).ok();
    again.warns("SOUL.md: a note with other words is there already");
    let empty = ("HEARTBEAT.md", "# Nothing yet\n\n<!-- add tasks -->\n");
    let (vault, _, shown) = set_up("", &[("MEMORY.md", "- x\n"), empty]);
    let _ = vault.run(&["import", &shown]).ok();
    assert!(!vault.has("routines/heartbeat.md"));
}

#[test]
fn the_graph_of_the_mcp_reference_server_comes_in() {
    let graph = [
        r#"{"type":"entity","name":"Anna","entityType":"person","observations":["likes #project/tea","born in Kiel"]}"#,
        r#"{"type":"relation","from":"Anna","to":"Acme","relationType":"works_at"}"#,
        r#"{"type":"entity","name":"Acme","entityType":"","observations":[]}"#,
        r#"{"type":"entity","observations":["lost"]}"#,
        "{\"type\":\"entity\",\"na",
    ];
    let (vault, root, _) = set_up("//- /MEMORY.md\n# Memory\n", &[("memory.jsonl", &graph.join("\n"))]);
    let file = root.join("memory.jsonl").to_string_lossy().into_owned();
    let run = vault.run(&["import", &file]);
    run.exits(1).says("4 added, 0 there already");
    run.warns("line 4: left out: it has no `name`").warns("line 5: left out: it is no JSON");
    let anna = "## Anna\n- Type: person\n- likes \\#project/tea\n- born in Kiel\n- works_at Acme\n";
    assert_eq!(vault.read("MEMORY.md"), format!("# Memory\n\n{anna}"));
    let again = vault.run(&["migrate", "memory-json", &file, "--dry-run", "--json"]).json();
    assert_eq!(pick(&again, "added duplicates"), json!([0, 4]));
}

#[test]
fn a_profile_that_somebody_wrote_stays() {
    let (vault, _, root) = set_up("//- /user/profile.md\nMine.\n", WORKSPACE);
    let run = vault.run(&["import", &root]).ok();
    run.warns("USER.md: a note with other words is there already");
    assert_eq!(vault.read("user/profile.md"), "Mine.\n");
    // One that nobody has filled in counts as none.
    let (vault, _, root) = set_up("", WORKSPACE);
    let _ = vault.run(&["init"]).ok();
    let _ = vault.run(&["import", &root]).ok();
    assert_eq!(vault.read("user/profile.md"), "# User\n\n- Name: Kyle\n");
}

#[test]
fn what_it_is_must_be_clear() {
    let (vault, _, root) = set_up("", &[("note.md", "Just words.\n")]);
    let run = vault.run(&["import", &format!("{root}/note.md")]);
    run.exits(2).warns("can't tell what `[HOME]/workspace/note.md` is from");
    run.warns("say it with `--from openclaw`");
    assert_eq!(vault.run(&["import", "/nowhere"]).code, 2);
    assert_eq!(vault.run(&["import", ".", "--from", "openclaw"]).code, 2, "the vault itself");
    vault.run(&["import", ".."]).exits(2).warns("and the vault lie in one another");
    assert_eq!(vault.run(&["import", &root, "--into", "../out"]).code, 2);
    assert_eq!(vault.run(&["import", &root, "--from", "jsonl"]).code, 2);
}

const HOUSE: &str = "# House\n\n- [ ] Pay rent 🔁 every month 📅 2026-12-05\n  - [ ] Call Bob (@2026-12-02 15:00) ^bob\n\
                     - [ ] Bins 🔁 every 2 weeks 📅 2026-12-03\n- [ ] Late 📅 2026-11-01\n- [x] Done 📅 2026-12-05\n\
                     - [ ] No date\r\n- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Stray\" id=rid_AAAAAAAAAAAA\nlast";

fn vault() -> TestVault {
    TestVault::new(&format!("//- /Reminders.md\nmine\n//- /Projects/House.md\n{HOUSE}"))
}

/// Takes the tasks of all notes over.
fn take(vault: &TestVault) -> Run {
    vault.run(&["import", "--from", "tasks", "--yes"])
}

#[test]
fn what_would_become_ours_is_shown_and_nothing_is_changed() {
    let vault = vault();
    let (before, run) = (vault.tree(), vault.run(&["import", "--from", "tasks"]).ok());
    run.says("Projects/House.md:3: - [ ] Pay rent").says("  stays: - [ ] Pay rent\n");
    run.says("date=2026-12-05 time=09:00 recur=monthly msg=\"Pay rent\"");
    run.warns("Projects/House.md:5: left as it is: it comes again `every 2 weeks`");
    run.warns("Projects/House.md:6: left as it is: it was due 2026-11-01 09:00");
    run.warns("nothing is changed; `--yes`");
    assert_eq!(vault.tree(), before);
    let json = vault.json(&["import", "--from", "tasks", "Projects"]);
    assert_eq!((json["dry_run"].as_bool(), json["taken"].as_array().unwrap().len()), (Some(true), 3));
}

#[test]
fn with_yes_they_are_ours_and_one_undo_takes_it_back() {
    let vault = vault();
    let before = vault.tree();
    let _ = take(&vault).ok();
    let rent = "- [ ] date=2026-12-05 time=09:00 recur=monthly msg=\"Pay rent\"\n";
    let call = "- [ ] date=2026-12-02 time=15:00 recur=none msg=\"Call Bob\"\n";
    let stray = "- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Stray\" id=rid_AAAAAAAAAAAA\n";
    contains_all(vault.read("Reminders.md"), &[rent, call, stray]);
    let without_dates = HOUSE.replace(stray, "").replace(" 🔁 every month 📅 2026-12-05", "");
    assert_eq!(vault.read("Projects/House.md"), without_dates.replace(" (@2026-12-02 15:00)", ""));
    take(&vault).ok().says("no line can be turned into a reminder");
    let _ = vault.run(&["undo"]).ok();
    assert_eq!(vault.tree(), before);
}

#[test]
fn equal_lines_days_that_months_lack_and_snoozes_mean_what_they_meant() {
    let vault = TestVault::new("//- /Reminders.md\n");
    vault.write(
        "N.md",
        "- [ ] Cat 📅 2026-12-06\n- [ ] Cat 📅 2026-12-06\n- [ ] Ends 🔁 every month on the 31st 📅 2026-12-31\n\
         - [ ] Water ⏰ 2026-12-10 17:45 🔁 every week 📅 2026-12-05\n\
         - [ ] Mow ⏰ 2026-12-01 09:00 🔁 every week 📅 2026-11-28\n\
         - [ ] Vet @remind(2026-12-03 15:30) @snooze(2026-12-02 09:10) @repeat(weekly)\n\
         - [ ] Two (@2026-12-03 09:30 🔁 every week) 📅 2026-12-05\n- [ ] Soon [due:: soon] 📅 2026-12-07\n\
         - [ ] Rent @remind(2027-03-01 09:00) @before(1d) @repeat(monthly)\n\
         - [ ] Last @remind(2027-01-31 09:00) @before(1d) @repeat(monthly)\n\
         - [ ] Bins @remind(2027-03-05 09:00) @before(1d) @repeat(monthly)\n",
    );
    let run = take(&vault).ok();
    run.warns("7 lines are in `Reminders.md` now").warns_not("meanwhile");
    run.warns("N.md:3: left as it is: it comes again `every month on the 31st`");
    run.warns("N.md:7: left as it is: it has dates in the forms of two plugins");
    for line in [9, 10] {
        run.warns(format!("N.md:{line}: left as it is: it is due days before a monthly date"));
    }
    let reminders = vault.read("Reminders.md");
    let mut lines: Vec<&str> = reminders.lines().filter_map(|line| line.strip_prefix("- [ ] ")).collect();
    lines.dedup();
    assert_eq!(
        lines,
        [
            "date=2026-12-06 time=09:00 recur=none msg=\"Cat\"",
            "date=2026-12-10 time=17:45 recur=none msg=\"Water\"",
            "date=2026-12-12 time=09:00 recur=weekly msg=\"Water\"",
            "date=2026-12-05 time=09:00 recur=weekly msg=\"Mow\"",
            "date=2026-12-02 time=09:10 recur=none msg=\"Vet\"",
            "date=2026-12-03 time=15:30 recur=weekly msg=\"Vet\"",
            "date=2026-12-07 time=09:00 recur=none msg=\"Soon\"",
            "date=2027-03-04 time=09:00 recur=monthly msg=\"Bins\"",
            "date=2027-03-05 time=09:00 recur=monthly msg=\"Bins\"",
        ]
    );
    let left = "- [ ] Cat\n- [ ] Cat\n- [ ] Ends 🔁 every month on the 31st 📅 2026-12-31\n- [ ] Water\n- [ ] Mow\n- [ ] Vet\n\
                - [ ] Two (@2026-12-03 09:30 🔁 every week) 📅 2026-12-05\n- [ ] Soon [due:: soon]\n\
                - [ ] Rent @remind(2027-03-01 09:00) @before(1d) @repeat(monthly)\n\
                - [ ] Last @remind(2027-01-31 09:00) @before(1d) @repeat(monthly)\n- [ ] Bins\n";
    assert_eq!(vault.read("N.md"), left);
}

#[test]
fn what_is_due_and_not_told_yet_stays_until_it_was() {
    let vault = TestVault::new("//- now: 2026-11-29T12:00:00Z\n//- /Reminders.md\n");
    vault.write("vault-agent.toml", "[reminders]\nalso = [\"tasks\"]\n[notify]\nquiet = \"22:00-10:00\"\n");
    let line = "- [ ] weekly 📅 2026-12-01 🔁 every week\n";
    vault.write("T.md", line);
    let _ = vault.run(&["tick"]).ok();
    let import = |now: &str| {
        vault.set_now(now);
        take(&vault).ok()
    };
    let reason = "T.md:1: left as it is: it was due 2026-12-01 09:00 and is not delivered yet: run this again once it is";
    import("2026-12-01T09:30:00Z").warns(reason);
    assert_eq!((vault.read("T.md"), vault.read("Reminders.md")), (line.to_owned(), String::new()));
    vault.set_now("2026-12-01T10:01:00Z");
    vault.run(&["tick"]).ok().says("weekly");
    let _ = import("2026-12-01T10:02:00Z");
    assert_eq!(vault.read("T.md"), "- [ ] weekly\n");
    assert!(vault.read("Reminders.md").contains("date=2026-12-08 time=09:00 recur=weekly msg=\"weekly\""));
}

#[test]
fn what_the_note_of_reminders_cannot_take_stays_where_it_is() {
    // The note ends inside a comment: whatever is added to it would be dead.
    let vault = vault();
    vault.write("Reminders.md", "mine\n%% not closed\n");
    let (before, run) = (vault.tree(), vault.run(&["import", "--from", "tasks"]));
    run.exits(1).warns("Projects/House.md:3: left as it is: the note ends inside");
    let run = vault.run(&["--json", "import", "--from", "tasks", "--yes"]);
    assert_eq!((run.code, run.json()["changed"].as_array().unwrap().len()), (1, 0));
    assert_eq!(vault.tree(), before);
    // A stray line whose id another reminder has: it comes without it, and isn't lost.
    let vault = self::vault();
    let taken = "- [ ] date=2026-12-24 time=09:30 recur=none msg=\"Mine\" id=rid_AAAAAAAAAAAA\n";
    vault.write("Reminders.md", taken);
    let _ = take(&vault).ok();
    let reminders = vault.read("Reminders.md");
    assert!(reminders.starts_with(taken), "{reminders}");
    assert!(reminders.contains("- [ ] date=2026-12-09 time=09:30 recur=none msg=\"Stray\"\n"), "{reminders}");
}

#[test]
fn a_note_that_cannot_be_written_keeps_its_lines_and_gets_no_reminders() {
    let name = "Projects/House.sync-conflict-20261201-093000-ABCDEFG.md";
    let copy = |vault: &TestVault| vault.write(name, HOUSE);
    let marked = format!("{HOUSE}\n<<<<<<< a\n=======\n>>>>>>> b\n");
    let mark = |vault: &TestVault| vault.write("Projects/House.md", &marked);
    let protect = |vault: &TestVault| set_mode(vault.path("Projects/House.md"), 0o444);
    for (block, reason) in [
        (&copy as &dyn Fn(&TestVault), "is a conflicting copy of"),
        (&mark, "begins a merge conflict"),
        (&protect, "it is read-only"),
    ] {
        let vault = vault();
        vault.write("Other.md", "- [ ] Feed the cat 📅 2026-12-06\n");
        block(&vault);
        let before = vault.read("Projects/House.md");
        let run = vault.run(&["import", "--from", "tasks"]).ok();
        run.warns("Projects/House.md:3: left as it is: ").warns(reason).warns("turns these 1 lines into");
        let run = take(&vault).ok();
        run.warns("Projects/House.md:3: left as it is: ").warns("1 lines are in `Reminders.md` now");
        assert_eq!(vault.read("Projects/House.md"), before);
        assert_eq!(vault.read("Other.md"), "- [ ] Feed the cat\n");
        assert!(!vault.read("Reminders.md").contains("Pay rent"), "{}", vault.read("Reminders.md"));
    }
}

#[test]
fn a_note_that_stays_open_elsewhere_is_said_line_by_line() {
    // Another program could write it at any moment: that is known when the reminders are written already.
    let vault = vault();
    let before = vault.tree();
    let open = std::fs::File::options().append(true).open(vault.path("Projects/House.md")).unwrap();
    let run = take(&vault);
    run.exits(1).warns("Projects/House.md:3: is still there, in addition to the reminder: ");
    run.warns("3 lines are in `Reminders.md` now; `vault-agent undo` takes it all back");
    drop(open);
    let _ = vault.run(&["undo"]).ok();
    assert_eq!(vault.tree(), before);
}

#[test]
fn a_task_that_is_told_within_minutes_is_left_to_be_told() {
    let vault = TestVault::new(
        "//- now: 2026-12-01T09:30:00Z\n//- vault-agent.toml\n[reminders]\nalso = [\"tasks\"]\n//- /Reminders.md\n\
         //- /N.md\n- [ ] Soon ⏰ 2026-12-01 09:33\n- [ ] Now 🔁 every day ⏰ 2026-12-01 09:29\n\
         - [ ] Own (@2026-12-01 09:33)\n- [ ] Later ⏰ 2026-12-01 09:36\n",
    );
    let run = take(&vault).ok();
    run.warns("N.md:1: left as it is: it is due 2026-12-01 09:33, too near to now");
    run.warns("N.md:2: left as it is: it is due 2026-12-01 09:29, too near to now");
    // Nothing tells what another plugin alone goes by.
    run.warns("2 lines are in `Reminders.md` now");
}

#[test]
fn two_imports_of_tasks_at_once_take_each_line_once() {
    let vault = vault();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut one = vault.command(&["import", "--from", "tasks", "--yes"]);
            scope.spawn(move || {
                Run::of(&mut one).ok().warns_not("besides");
            });
        }
    });
    assert_eq!(vault.read("Reminders.md").matches("Pay rent").count(), 1);
}

#[test]
fn lines_that_have_got_ids_since_are_taken_back_with_their_import() {
    let (note, taken) = ("- [ ] Feed the cat 📅 2026-12-06\n", "Feed the cat\" id=rid_");
    let vault = TestVault::new(&format!("//- now: 2026-12-01T08:00:00Z\n//- /Other.md\n{note}"));
    let _ = take(&vault).ok();
    let _ = vault.run(&["tick"]).ok();
    assert!(vault.read("Reminders.md").contains(taken), "{}", vault.read("Reminders.md"));
    let _ = vault.run(&["undo"]).ok();
    assert!(vault.read("Other.md") == note && !vault.read("Reminders.md").contains("cat"));
}

#[test]
fn two_reminders_with_one_id_both_come_and_one_that_is_taken_is_named() {
    let line = |day: u32, msg: &str| {
        format!("- [ ] date=2026-12-0{day} time=09:30 recur=none msg=\"{msg}\" id=rid_BBBBBBBBBBBB\n")
    };
    let vault = TestVault::new("//- now: 2026-11-20T08:00:00Z\n");
    vault.write("Reminders.md", line(1, "Tree") + &line(2, "Call"));
    let file = vault.home().join("all.jsonl");
    let _ = vault.run(&["export", "--format", "jsonl", "-o", file.to_str().unwrap()]).ok();
    let import = |vault: &TestVault| vault.run(&["import", file.to_str().unwrap()]);
    let empty = TestVault::new("//- now: 2026-11-20T08:00:00Z\n");
    import(&empty).ok().says("2 added, 0 there already");
    let written = empty.read("Reminders.md");
    assert!(written.contains(line(1, "Tree").trim()) && written.contains("msg=\"Call\"\n"), "{written}");
    import(&empty).ok().says("0 added, 2 there already");
    let other = written.replace("Tree", "Bush");
    empty.write("Reminders.md", &other);
    import(&empty).warns("another reminder has the id `rid_BBBBBBBBBBBB`");
    assert_eq!(empty.read("Reminders.md"), other);
}
