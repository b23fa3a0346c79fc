//! The commands as a person and a program see them.

use crate::deliver::world::{id, line};
use crate::support::prelude::*;

/// 2026-12-01 09:30 in London.
fn vault(reminders: &str) -> TestVault {
    TestVault::new(&format!("//- now: 2026-12-01T09:30:00Z\n//- /Reminders.md\n{reminders}"))
}

#[test]
fn a_message_that_is_a_text_is_refused_and_a_long_line_of_a_person_is_kept() {
    let line = |length| line("2026-12-03", "08:00", "none", &"x".repeat(length), &id('A'));
    let (vault, long) = (vault(&line(9000)), "ü".repeat(2001));
    let why =
        "it has 2001 characters, and a reminder at most 2000; write the text into a note, and remind of that";
    for command in ["remind add 'tomorrow 9am'", "remind edit rid_AAAAAAAAAAAA --message"] {
        let run = vault.sh(&format!("{command} {long}"));
        assert!(run.exits(2).stderr.contains(why) && run.stderr.len() < 400, "{}", run.stderr);
    }
    let run = vault.run(&["remind", "add", "tomorrow 9am", "pay \u{202e}tneg"]);
    run.warns("an invisible character (\\u{202e}) at character 5");
    assert_eq!(vault.read("Reminders.md"), line(9000));
    let _ = vault.run(&["remind", "add", "tomorrow 9am", &"ü".repeat(2000)]).ok();
    let _ = vault.sh("remind edit rid_AAAAAAAAAAAA --recur weekly").ok();
    assert!(vault.read("Reminders.md").contains(&"x".repeat(9000)));
}

#[test]
fn a_told_reminder_that_is_snoozed_is_found_by_its_id_again() {
    for recur in ["none", "weekly"] {
        let vault = vault(&line("2026-12-01", "09:30", recur, "Call", &id('A')));
        let told = || vault.json(&["tick"])["fired"].as_array().unwrap().len();
        let run =
            |verb: &str, how: &str| vault.sh(&format!("remind {verb} rid_AAAAAAAAAAAA {how}")).ok().stdout;
        let snoozed = || vault.read("Reminders.md").matches("recur=none").count();
        assert_eq!(told(), 1);
        for _ in 0..2 {
            run("snooze", "--minutes 10");
            let line = run("snooze", "--until 'tomorrow 9am'");
            assert!(line.contains("date=2026-12-02 time=09:00 recur=none") && snoozed() == 1, "{line}");
            assert_eq!((run("done", ""), snoozed()), (line, 0), "the line that goes");
        }
        run("snooze", "--minutes 10");
        vault.set_now("2026-12-01T09:45:00Z");
        assert_eq!((told(), told(), snoozed()), (1, 0, 0), "{recur}");
        run("snooze", "--minutes 10");
        vault.set_now("2026-12-01T10:00:00Z");
        assert_eq!((told(), snoozed()), (1, 0), "{recur}");
        assert_eq!(vault.read("Reminders.md").contains("weekly"), recur == "weekly");
    }
}

#[test]
fn remind_add_prints_the_exact_line() {
    let vault = vault("# Reminders\n");
    let run = vault.run(&["remind", "add", "tomorrow 9am", "Call \"Mum\"", "--recur", "weekly"]);
    insta::assert_snapshot!(without_random(&run.shown()), @r#"
    - [ ] date=2026-12-02 time=09:00 recur=weekly msg="Call \"Mum\"" id=rid_[ID]
    --- stderr
    Wed 2 Dec 09:00, tomorrow, then weekly
    "#);
    assert_eq!(vault.read("Reminders.md"), format!("# Reminders\n{}", run.stdout));
    let added = vault.json(&["remind", "add", "in 20 minutes", "Tea"]);
    assert_eq!(vault.read("Reminders.md").lines().last().unwrap(), added["line_text"].as_str().unwrap());
    assert!(added["line_text"].as_str().unwrap().ends_with(&format!("id={}", added["id"].as_str().unwrap())));
    let empty = TestVault::new("");
    let added = empty.sh("remind add '2026-12-01 09:31' Tea").ok().stdout;
    assert_eq!(empty.read("Reminders.md"), added, "the note is made");
}

#[test]
fn a_time_is_taken_as_people_say_it_and_one_with_two_meanings_is_refused_with_both() {
    let vault = vault("");
    let run = vault.run(&["remind", "add", "every friday 17:00", "Bins"]).ok();
    run.says("date=2026-12-04 time=17:00 recur=weekly msg=\"Bins\"");
    assert_eq!(run.stderr, "Fri 4 Dec 17:00, in 3 days, then weekly\n");
    assert_eq!(vault.sh("remind add 'morgen um 8 Uhr' Tee").ok().stderr, "Wed 2 Dec 08:00, tomorrow\n");
    let before = vault.read("Reminders.md");
    let both = "`next friday` can be `Fri 4 Dec 09:00` (in 3 days) or `Fri 11 Dec 09:00` (in 10 days)";
    vault.run(&["remind", "add", "next friday", "x"]).exits(2).warns(both);
    let run = vault.run(&["remind", "add", "every friday", "x", "--recur", "daily"]);
    run.warns("it comes weekly, and the recurrence that was given is `daily`");
    for command in [
        &["commitment", "add", "every friday", "x"][..],
        &["remind", "snooze", "rid_AAAAAAAAAAAA", "--until", "every friday"],
        &["memory", "save", "--to", "commitment", "x", "--due", "every friday"],
    ] {
        vault.run(command).warns("`every friday` comes again and again");
    }
    assert_eq!(vault.read("Reminders.md"), before);
    let run = vault.run(&["memory", "save", "--to", "commitment", "Ask", "--due", "tonight"]).ok();
    assert!(run.stderr.starts_with("Tue 1 Dec 19:00, in 9 h "), "{}", run.stderr);
}

#[test]
fn remind_add_refuses_what_makes_no_reminder() {
    let vault = vault("mine\n");
    for (when, message, why) in [
        ("2020-01-01 09:00", "x", "`2020-01-01 09:00` is in the past: that is 2020-01-01 09:00, and it is"),
        ("someday", "x", "can't read `someday` as a time"),
        ("tomorrow", " ", "that is no message for a reminder: it is empty"),
        ("tomorrow", "two\nlines", "it holds a line break, and a reminder is one line of text"),
    ] {
        vault.run(&["remind", "add", when, message]).exits(2).warns(why);
    }
    vault.sh("remind add tomorrow x --recur dayly").exits(2).warns("did you mean `daily`?");
    assert_eq!(vault.read("Reminders.md"), "mine\n");
    // Neither does a line, or the moved time of one that comes again, where it would never fire.
    let weekly =
        "- [ ] date=2026-12-01 time=09:00 recur=weekly msg=\"weekly\" id=rid_AAAAAAAAAAAA\n\n%% open\n";
    vault.write("Reminders.md", weekly);
    for command in ["add tomorrow x", "move weekly '2026-12-02 10:00'", "snooze weekly --minutes=90"] {
        let run = vault.sh(&format!("remind {command}"));
        run.exits(1).warns("ends inside a comment, a code block or its frontmatter");
        assert_eq!(vault.read("Reminders.md"), weekly);
    }
}

#[test]
fn a_note_that_is_half_saved_is_said_to_be_open() {
    let vault = vault(&line("2026-12-02", "09:30", "none", "One", &id('A')));
    let asks = "---\nid: c-2026-12-01-001\nstatus: pending\ncreated: 2026-11-20T14:00:00Z\n---\nAsk Bob\n";
    vault.write("COMMITMENTS.md", asks);
    let halves = ["Reminders.md", "COMMITMENTS.md"].map(|note| {
        let mut half = std::fs::File::create(vault.path(note)).unwrap();
        half.write_all(b"%%\n").unwrap();
        half
    });
    for args in [
        &["remind", "edit", "rid_AAAAAAAAAAAA", "--message", "Two"][..],
        &["remind", "add", "tomorrow", "x"],
        &["commitment", "done", "c-2026-12-01-001"],
    ] {
        contains_all(vault.run(args).shown(), &["was open in another program"]);
    }
    drop(halves);
    assert_eq!((&*vault.read("Reminders.md"), &*vault.read("COMMITMENTS.md")), ("%%\n", "%%\n"));
}

const LINES: &str = "\
- [ ] date=2026-12-02 time=09:30 recur=none msg=\"One\" id=rid_AAAAAAAAAAAA
- [ ] time=01:30 date=2027-03-28 recur=daily id=rid_BBBBBBBBBBBB  msg=\"Gap\" ^block
- [ ] date=2026-02-28 time=08:00 recur=monthly day=31 msg=\"Rent\"
- [x] date=2026-02-28 time=08:00 recur=monthly msg=\"Ticked\"
";

#[test]
fn remind_list() {
    // An instant before the zones is in UTC.
    let old = vault("- [ ] date=1026-12-01 time=09:30 recur=none msg=\"typo\"\n");
    assert_eq!(old.json(&["remind", "list"])[0]["next"], "1026-12-01T09:31:15+00:00");
    let vault = vault(LINES);
    insta::assert_snapshot!(vault.run(&["remind", "list"]).shown(), @r"
    rid_[ID]  2026-12-02 09:30  once     One
    rid_[ID]  2027-03-28 01:30  daily    Gap
    (no id yet)       2026-02-28 08:00  monthly  Rent
    ");
    let listed = vault.json(&["remind", "list"]);
    insta::assert_snapshot!(listed, @r#"[{"date":"2026-12-02","day":null,"id":"rid_AAAAAAAAAAAA","line":1,"msg":"One","next":"2026-12-02T09:30:00+00:00","recur":"none","time":"09:30"},{"date":"2027-03-28","day":null,"id":"rid_BBBBBBBBBBBB","line":2,"msg":"Gap","next":"2027-03-28T02:00:00+01:00","recur":"daily","time":"01:30"},{"date":"2026-02-28","day":31,"id":null,"line":3,"msg":"Rent","next":"2026-12-31T08:00:00+00:00","recur":"monthly","time":"08:00"}]"#);
}

#[test]
fn remind_preview() {
    let vault = vault(LINES);
    let two = json!(["2027-03-28T02:00:00+01:00", "2027-03-29T01:30:00+01:00"]);
    let gap = vault.json(&["remind", "preview", "rid_BBBBBBBBBBBB", "--count", "2"]);
    assert_eq!(gap, json!([{"id": "rid_BBBBBBBBBBBB", "msg": "Gap", "occurrences": two}]));
    let (from, until) = ("2026-12-02 09:30", "2027-02-28T08:00:00Z");
    let all = vault.json(&["remind", "preview", "--from", from, "--until", until]);
    let rent = ["2026-12-31T08:00:00+00:00", "2027-01-31T08:00:00+00:00", "2027-02-28T08:00:00+00:00"];
    assert_eq!(all[0]["occurrences"], json!(["2026-12-02T09:30:00+00:00"]));
    assert_eq!((&all[1]["occurrences"], &all[2]["occurrences"]), (&json!([]), &json!(rent)));
}

#[test]
fn another_time_of_the_same_day_keeps_the_day_of_the_month() {
    let line = "- [ ] date=2027-02-28 time=09:30 recur=monthly day=31 msg=\"Rent\" id=rid_AAAAAAAAAAAA\n";
    let vault = vault(line);
    let edit = |when: &str| vault.sh(&format!("remind edit rid_AAAAAAAAAAAA --when '{when}'")).ok().stdout;
    assert_eq!(edit("2027-02-28 10:00"), line.replace("09:30", "10:00"));
    let day_before = line.replace("28 time=09:30", "27 time=10:00").replace(" day=31", "");
    assert_eq!(edit("2027-02-27 10:00"), day_before);
}

#[test]
fn remind_edit_and_rm_change_one_line() {
    let vault = vault(LINES);
    let edited = vault.run(&["--json", "remind", "edit", "rid_BBBBBBBBBBBB", "--when", "2027-04-01 10:15"]);
    edited.warns("Thu 1 Apr 10:15, in 121 days, then daily");
    let line = "- [ ] time=10:15 date=2027-04-01 recur=daily id=rid_BBBBBBBBBBBB  msg=\"Gap\" ^block";
    assert_eq!(edited.json(), json!({"id": "rid_BBBBBBBBBBBB", "line_text": line}));
    let args = ["remind", "edit", "rid_BBBBBBBBBBBB", "--message", "Mind the gap", "--recur", "none"];
    let line =
        "- [ ] date=2027-04-01 time=10:15 recur=none msg=\"Mind the gap\" id=rid_BBBBBBBBBBBB ^block\n";
    assert_eq!(vault.run(&args).ok().stdout, line);
    let (one, rest) = LINES.split_once('\n').unwrap();
    assert_eq!(vault.sh("remind rm rid_AAAAAAAAAAAA").ok().stdout, format!("{one}\n"));
    let rest = rest.split_once('\n').unwrap().1;
    assert_eq!(vault.read("Reminders.md"), format!("{line}{rest}"));
    vault.run(&["remind", "rm", "rid_BBBBBBBBBBBX"]).exits(1).warns("did you mean `rid_BBBBBBBBBBBB`?");
    vault.run(&["remind", "edit", "rid_BBBBBBBBBBBB"]).exits(2).warns("nothing to change");
}

#[test]
fn an_id_in_two_lines_is_nobodys() {
    let [one, two] = ["One", "Two"].map(|msg| line("2026-12-02", "09:30", "none", msg, &id('A')));
    let vault = vault(&format!("{one}{two}"));
    vault.sh("remind rm rid_AAAAAAAAAAAA").exits(1).warns(format!("  line 1: {one}  line 2: {two}"));
    assert_eq!(vault.read("Reminders.md"), one + &two);
}

#[test]
fn tick_prints_what_fires() {
    let text = line("2026-12-01", "09:00", "daily", "Pills", "") + &line("x", "09:00", "none", "y", "");
    let vault = vault(&text);
    let near_miss = "Reminders.md:2:12: `x` is not a date as YYYY-MM-DD";
    let dry = vault.run(&["tick", "--dry-run"]).ok();
    dry.says("would fire: 2026-12-01T09:00:00+00:00 Pills (rid_").warns(near_miss);
    assert_eq!(vault.read("Reminders.md"), text);
    let run = vault.run(&["tick"]).ok();
    assert_eq!(run.stdout, "2026-12-01 09:00 Pills (due 09:00, 30 min late; next Wed 2 Dec 09:00)\n");
    run.warns(near_miss);
    assert_eq!(vault.run(&["tick"]).ok().shown(), "");
    let run = vault.run(&["tick", "--json", "--now", "2026-12-03T09:00:01Z"]).ok();
    let mut said = run.json();
    // What differs from run to run.
    said["took_ms"] = 0.into();
    insta::assert_snapshot!(without_random(&said.to_string()), @r#"{"dry_run":false,"failed":[],"fired":[{"due":"2026-12-03T09:00:00+00:00","id":"rid_[ID]","kind":"reminder","late_seconds":1,"missed":1,"next":"2026-12-04","text":"Pills"}],"ids_added":[],"near_misses":[],"now":"2026-12-03T09:00:01+00:00","problems":[],"read_only":null,"removed_again":[],"took_ms":0,"waiting":0}"#);
    assert_eq!(run.stderr, "2026-12-03 09:00 Pills (1 earlier one folded in; next Fri 4 Dec 09:00)\n");
    let left = line("2026-12-04", "09:00", "daily", "Pills", "[ID]") + &line("x", "09:00", "none", "y", "");
    assert_eq!(without_random(&vault.read("Reminders.md")), left);
    vault.run(&["tick", "--now", "soon"]).exits(2).warns("`soon` is no instant");
}

#[test]
fn check_shows_lines_that_look_meant() {
    let vault = vault(
        "- [ ] date=2026-12-01 time=24:00 recur=none msg=\"y\"\nplain\n- [ ] date=2026-12-01\u{a0}time=09:00 recur=none msg=\"y\"\n",
    );
    vault.write("COMMITMENTS.md", "---\nid: c-1\nstatus: maybe\ndue: 2026-12-01T09:30:00Z\n---\nHello\n");
    let run = vault.run(&["check"]);
    run.exits(1).warns("3 lines have problems").says("; write `time=00:00` with the date of the next day\n");
    let places: Vec<&str> = run.stdout.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(places, ["Reminders.md:1:28", "Reminders.md:3:22", "COMMITMENTS.md:3:9"]);
    let run = vault.run(&["check", "--json", "Reminders.md"]);
    assert_eq!(pick(&run.exits(1).json(), "0/line 1/line"), json!([1, 3]));
    vault.write("Reminders.md", "");
    let _ = vault.run(&["check", "Reminders.md"]).ok();
    assert_eq!(["../elsewhere.md", "missing.md"].map(|note| vault.run(&["check", note]).code), [2, 1]);
}

#[test]
fn follow_ups_that_differ_in_a_field_or_scope_are_two() {
    let vault = TestVault::new("");
    for text in ["Call [phone:: 1]", "Call [phone:: 2]", "Call #project/a", "Call", "^a", "[tier:: core]"] {
        for existing in [false, true] {
            assert_eq!(vault.json(&["commitment", "add", "17:00", text])["existing"], existing, "{text}");
        }
    }
}

#[test]
fn commitments_are_added_listed_and_ended() {
    let vault = TestVault::new("//- /COMMITMENTS.md\n# Follow-ups");
    let soft = "--scope channel:42 --precision soft";
    let added = vault.sh(&format!("commitment add 'in 20 minutes' 'Ask Kyle' {soft}")).ok();
    assert_eq!(added.stdout, "c-2026-12-01-001  pending    2026-12-01T09:50:00+00:00  Ask Kyle\n");
    assert_eq!(added.stderr, "Tue 1 Dec 09:50, in 20 min\n");
    let _ = vault.run(&["commitment", "add", "tomorrow", "Second\n---\nid: x\n---\nfake"]).ok();
    let kyle = "status: pending\nprecision: soft\ndue: 2026-12-01T09:50:00Z\nscope: channel:42\n\
                created: 2026-12-01T09:30:00Z\n---\nAsk Kyle\n";
    let second = "status: pending\ndue: 2026-12-02T09:00:00Z\ncreated: 2026-12-01T09:30:01Z\n---\nSecond\n***\n\
                  id: x\n---\nfake\n";
    let blocks = format!("---\nid: c-2026-12-01-001\n{kyle}\n---\nid: c-2026-12-01-002\n{second}");
    assert_eq!(vault.read("COMMITMENTS.md"), format!("# Follow-ups\n\n{blocks}"));
    let again = vault.sh(&format!("commitment add '2026-12-01 09:50' 'ask Kyle.' {soft}"));
    again.ok().says("c-2026-12-01-001").warns("nothing written: it waits in `COMMITMENTS.md`, line 3");
    assert_eq!(vault.json(&["commitment", "list"]).as_array().unwrap().len(), 2);
    let _ = vault.sh("commitment edit c-2026-12-01-002 --text Third --when '2026-12-07 12:00'").ok();
    contains_all(vault.read("COMMITMENTS.md"), &["due: 2026-12-07T12:00:00Z", "\n---\nThird\n"]);
    let _ = vault.run(&["commitment", "cancel", "c-2026-12-01-002"]).ok();
    let done = vault.json(&["commitment", "done", "c-2026-12-01-001"]);
    assert_eq!((&done["id"], &done["status"]), (&json!("c-2026-12-01-001"), &json!("delivered")));
    assert_eq!(vault.json(&["commitment", "list"]), json!([]));
    for (command, code, why) in [
        ("done c-2026-12-01-001", 1, "the follow-up `c-2026-12-01-001` is delivered already"),
        ("done c-9", 1, "no follow-up in `COMMITMENTS.md` has the id `c-9`"),
        ("add tomorrow x --scope dm:4", 2, "`dm:4` is no scope: write `channel:ID`"),
    ] {
        vault.sh(&format!("commitment {command}")).exits(code).warns(why);
    }
}

#[test]
fn dated_lines_that_nobody_tells_are_said() {
    let vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n//- /Reminders.md\n# Reminders\n");
    let tasks =
        "# Work\n\n- [ ] Pay rent 📅 2026-12-01\n- [x] Done 📅 2026-12-01\n- [ ] Call (@2026-12-02 09:30)\n";
    vault.write("Tasks.md", tasks);
    vault.write("logs/a.md", "- [ ] said 📅 2026-12-01\n");
    let found = |also: &str| {
        let settings = format!("timezone = \"Europe/London\"\n[reminders]\nalso = [{also}]\n");
        vault.write("vault-agent.toml", settings);
        vault.run(&["--json", "check"]).json().as_array().unwrap().clone()
    };
    let [none] = &found("")[..] else { panic!("one of both") };
    assert_eq!(pick(none, "path line column"), json!(["Tasks.md", 3, 16]));
    let reason =
        "2 tasks with dates of other programs are not delivered, from this line on (`📅 2026-12-01`)";
    assert_eq!(none["reason"], reason);
    vault.run(&["check"]).ok().warns("tasks of other programs are left to them; this is not an error");
    let [rent] = &found("\"reminder\"")[..] else { panic!("one alone") };
    assert_eq!(rent["reason"], "a task with a date of another program (`📅 2026-12-01`) is not delivered");
    let both = "\"tasks\", \"reminder\"";
    let [rent] = &found(both)[..] else { panic!("what is told with a time is no finding") };
    assert_eq!(rent["reason"], "a task that has a date and no time is delivered at 09:00");
    // A date that there isn't is the reason, not the setting.
    vault.write("Leap.md", "- [ ] Sweep 🔁 every year ⏳ 2026-02-28 📅 2026-02-30\n");
    let all = found(both);
    let leap = all.iter().find(|one| one["path"] == "Leap.md").unwrap();
    let reason = "`📅 2026-02-30` is a date that does not exist, so this task is not delivered";
    assert_eq!(pick(leap, "column reason"), json!([39, reason]));
    let line = line("2026-12-02", "09:30", "none", "Water", "");
    vault.write("Garden.md", format!("# Beds\n{line}```\n{line}```\n"));
    let never = "this reminder is never delivered: only those in `Reminders.md` are";
    let run = vault.run(&["check", "Garden.md"]);
    run.exits(1).says(format!("Garden.md:2:1: {never}")).says("`vault-agent import --from tasks` does it");
    // `import` leaves the agent's own notes alone.
    vault.write("COMMITMENTS.md", format!("# Follow-ups\n\n{line}"));
    vault.run(&["check"]).says(format!("COMMITMENTS.md:3:1: {never}; move the line to `Reminders.md`\n"));
}
