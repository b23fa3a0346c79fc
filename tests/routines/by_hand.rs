//! `routine`, and what other commands say of routines: the real binary over a hermetic vault, the daemon beside its reminders,
//! and `kill -9` in the middle of ticks.

use crate::cli::daemon::Daemon;
use crate::deliver::world::{id, line};
use crate::routines::rig::*;

pub struct Served {
    pub vault: TestVault,
    pub server: ModelServer,
    runtime: tokio::runtime::Runtime,
}

const MORNING: &str =
    "---\nschedule: weekdays 08:00\nenabled: false # later\nbrain: local\nonly_if: due\n---\nWhat is due?\n";

/// A vault at this time, on a Tuesday, with a brain and the routine `morning`.
pub fn served(now: &str, more: &str) -> Served {
    let (runtime, server) = ModelServer::alone();
    let settings = format!("{more}\n{}", server.brain("local", "chat", ""));
    let vault = TestVault::new(&format!(
        "//- now: {now}\n//- /vault-agent.toml\n{settings}//- /routines/morning.md\n{MORNING}//- /Reminders.md\n\
         - [ ] date=2026-12-01 time=17:30 recur=none msg=\"Pay the rent\" id=rid_AAAAAAAAAAAA\n"
    ));
    Served { vault, server, runtime }
}

impl Served {
    /// A routine with this head, which says "Go."
    pub fn routine(&self, name: &str, head: &str) {
        self.vault.write(format!("routines/{name}.md"), format!("---\n{head}\n---\nGo.\n"));
    }

    /// So many turns were made, and the request of each is made again from the notes as it was.
    pub fn is_made_again(&self, count: usize) {
        let turns = self.vault.json(&["turns"]);
        assert_eq!(turns.as_array().unwrap().len(), count, "{turns}");
        for turn in turns.as_array().unwrap() {
            let request = self.vault.json(&["turns", turn["id"].as_str().unwrap(), "--request"]);
            assert_eq!(request["equal"], true, "{request}");
        }
    }
}

#[test]
fn a_conflict_copy_of_a_routine_never_runs_and_is_said() {
    let it = served("2026-12-01T08:30:00Z", "");
    let enabled = MORNING.replace("enabled: false", "enabled: true").replace("only_if: due\n", "");
    it.vault.write("routines/morning.md", &enabled);
    for copy in crate::history::conflicts::COPIES {
        it.vault.write(format!("routines/morning{copy}.md"), &enabled);
    }
    it.vault.write("routines/evening 2.md", &enabled);
    let coming = it.vault.json(&["routine", "preview", "--count", "1"]);
    // A number at the end of a name without a namesake is a part of it.
    assert_eq!(pick(&coming, "0/name 1/name 2/name"), json!(["evening 2", "morning", null]));
    let said = "is named as a conflict copy of another one";
    it.vault.run(&["routine", "list"]).exits(1).warns(format!("morning 2: line 1: the note {said}"));
    it.vault.run(&["check"]).exits(1).says(said);
    it.vault.run(&["routine", "enable", "morning 2"]).exits(1).warns(said);
}

#[test]
fn a_routine_is_listed_turned_on_and_off_and_previewed() {
    let it = served("2026-12-01T07:00:00Z", "");
    let list = |fields| pick(&it.vault.json(&["routine", "list"])[0], fields);
    let morning = json!(["morning", "weekdays 08:00", false, null, null, "local"]);
    assert_eq!(list("name schedule enabled next last brain"), morning);
    it.vault.run(&["routine", "enable", "Morning"]).ok().says("`morning` is now enabled; next run 08:00");
    assert_eq!(it.vault.read("routines/morning.md"), MORNING.replace("enabled: false", "enabled: true"));
    assert_eq!(list("next"), json!(["2026-12-01T08:00:00+00:00"]));
    it.vault.run(&["routine", "preview", "--count", "10001"]).exits(2).warns("1..=10000");
    it.vault.write("routines/odd.md", "---\nschedule: dayly\n---\nx\n");
    it.vault.run(&["routine", "preview", "odd"]).exits(1).warns("the routine `odd` is not understood");
    fs::remove_file(it.vault.path("routines/odd.md")).unwrap();
    let ends = json!(["2026-12-01T08:00:00+00:00", "2026-12-07T08:00:00+00:00", null]);
    assert_eq!(pick(&it.vault.json(&["routine", "preview", "--count", "5"]), "0/at/0 0/at/4 0/at/5"), ends);
    it.vault.run(&["status"]).says("routine   morning: next 08:00");
    drop(it.vault.run(&["routine", "disable", "morning"]).ok());
    assert_eq!(it.vault.read("routines/morning.md"), MORNING);
    // Of two names that differ in their letter case the exact one is meant.
    if !it.vault.has("routines/MORNING.md") {
        it.routine("Morning", "schedule: daily 09:00\nenabled: false");
        it.vault.run(&["routine", "enable", "morning"]).says("`morning` is now enabled");
        drop(it.vault.run(&["routine", "disable", "morning"]).ok());
        std::fs::remove_file(it.vault.path("routines/Morning.md")).unwrap();
    }
    it.vault.run(&["routine", "enable", "mornin"]).exits(1).warns("did you mean `morning`?");
    assert_eq!(it.server.requests().len(), 0);
}

#[test]
fn a_request_is_made_again_though_its_turn_changed_a_note_of_every_request_in_the_same_second() {
    // Also where the history has no settings.
    for more in ["", "timezone = \"Asia/Tokyo\"\n[history]\nexclude = [\"vault-agent.toml\"]\n"] {
        let it = served("2026-12-01T07:00:00Z", &format!("{more}[assistant]\ntools = [\"vault\"]\n"));
        drop(it.vault.run(&["memory", "pin", "there before"]).ok());
        for pin in ["pin me", "me, too"] {
            let pins = Reply::tool("memory_pin", json!({"content": pin}));
            it.server.script(vec![pins, Reply::text("Pinned.")]);
            assert_eq!(it.vault.run(&["routine", "run", "morning"]).ok().stdout, "Pinned.\n");
        }
        contains_all(it.vault.read("Pinned.md"), &["pin me", "me, too"]);
        it.is_made_again(2);
    }
}

#[test]
fn a_run_by_hand_answers_now_and_leaves_the_schedule() {
    let it = served("2026-12-01T07:00:00Z", "");
    drop(it.vault.run(&["routine", "enable", "morning"]).ok());
    let dry = it.vault.run(&["routine", "run", "morning", "--dry-run"]).ok();
    dry.says("What is due?").says("17:30 Pay the rent");
    dry.says("brain: local").says("to: where reminders go (console)");
    assert_eq!(it.server.requests().len(), 0, "nobody is asked");
    assert!(!it.vault.has("logs/routines"));
    it.server.respond(|_| Reply::text("The rent."));
    assert_eq!(it.vault.run(&["routine", "run", "morning"]).ok().stdout, "The rent.\n");
    // By its schedule it comes all the same, once.
    it.vault.set_now("2026-12-01T08:00:00Z");
    let ran = it.vault.json(&["tick"])["routines"]["ran"][0].clone();
    assert_eq!(pick(&ran, "run outcome"), json!(["morning@2026-12-01T08:00", "sent"]));
    assert_eq!(it.vault.json(&["tick"])["routines"], Value::Null);
    assert_eq!(it.server.requests().len(), 2);
    // It is a channel of its own to those who count.
    let usage = it.vault.json(&["usage", "--by", "channel"]);
    assert_eq!(pick(&usage, "by/0/key by/0/calls by/0/input"), json!(["routine:morning", 2, 240]));
    assert_eq!(pick(&it.vault.json(&["turns"]), "0/channel 0/state"), json!(["routine:morning", "done"]));
    it.is_made_again(2);
    // While the settings are wrong, the last good ones count, for its tools too.
    it.vault.write("vault-agent.toml", "half = [");
    it.vault.write("Reminders.md", "- [ ] date=2026-12-02 time=17:30 recur=none msg=\"Pay the tax\"\n");
    it.vault.set_now("2026-12-02T08:00:00Z");
    it.vault.run(&["tick"]).exits(1).warns("the last valid ones are used").lacks("lacks tools");
    let tools = |at: usize| it.server.requests()[at].body["tools"].clone();
    assert!(tools(1).as_array().is_some_and(|tools| tools.len() > 9) && tools(2) == tools(1), "{}", tools(2));
}

#[test]
fn an_answer_in_a_note_is_taken_back_with_its_turn() {
    let it = served("2026-12-01T07:00:00Z", "");
    it.routine("m", "schedule: daily 08:00\nenabled: true\ndeliver: note\nnote: Out");
    it.vault.write("Out.md", "mine\n");
    let save = json!({"scope": "long", "content": "Anna drinks oolong."});
    it.server.script(vec![Reply::tool("memory_save", save), Reply::text("The answer.")]);
    drop(it.vault.run(&["routine", "run", "m"]).ok());
    assert!(it.vault.read("Out.md").contains("The answer.") && it.vault.read("MEMORY.md").contains("oolong"));
    let turn = it.vault.json(&["turns"])[0]["id"].as_str().unwrap().to_owned();
    drop(it.vault.run(&["undo", "--turn", &turn]).ok());
    assert_eq!(it.vault.read("Out.md"), "mine\n");
    assert!(!it.vault.has("MEMORY.md") || !it.vault.read("MEMORY.md").contains("oolong"));
}

/// Its answer waits where a person sees it, and is paid for once.
#[test]
fn an_answer_that_cannot_be_written_is_shown_and_no_further_run_begins() {
    let it = served("2026-12-01T08:00:30Z", "");
    it.routine("t", "schedule: \"* * * * *\"\nenabled: true\ndeliver: note\nnote: Journal.md");
    it.vault.write("Journal.md", "mine\n");
    let copy = "Journal.sync-conflict-20261201-093000-ABCDEFG.md";
    it.vault.write(copy, "yours\n");
    it.server.respond(|_| Reply::text("An entry."));
    (1..4).for_each(|minute| drop(it.vault.tick_at(&format!("2026-12-01T08:0{minute}:30Z"))));
    assert_eq!((it.server.requests().len(), it.vault.read("Journal.md")), (1, "mine\n".to_owned()));
    let why = format!("an answer is not delivered yet: `{copy}` is a conflicting copy of `Journal.md`");
    it.vault.run(&["status"]).says(format!("routine   t: {why}"));
    it.vault.run(&["routine", "list"]).warns(format!("t: {why}"));
    assert!(it.vault.doctor("routines")[0]["detail"].as_str().unwrap().starts_with(&format!("t: {why}")));
    let ran = it.vault.json(&["agenda", "--days", "1"])["entries"].to_string();
    contains_all(ran, &["is a conflicting copy"]);
    std::fs::remove_file(it.vault.path(copy)).unwrap();
    drop(it.vault.run(&["tick"]).ok());
    assert_eq!(it.vault.read("Journal.md").matches("An entry.").count(), 1);
    it.vault.run(&["status"]).lacks("not delivered");
    drop(it.vault.run(&["tick"]).ok());
    assert_eq!(it.server.requests().len(), 2, "those that came meanwhile are one");
}

#[test]
fn a_run_and_a_question_are_told_who_asks_and_what_was_worked_on_until_it_expires() {
    let it = served("2026-12-01T07:00:00Z", "[memory]\nuser_namespace = \"user\"\n");
    it.vault.write("user/profile.md", "# Profile\n\n- Name: Anna of the mill\n");
    let head = "# Working Memory\nUpdated: 2026-11-30T09:00:00Z\nExpires: 2026-12-02T00:00:00Z";
    it.vault.write("user/working.md", format!("{head}\n\nThe mill's roof.\n"));
    it.server.respond(|_| Reply::text("Yes."));
    for day in ["2026-12-01T07:00:00Z", "2026-12-02T07:00:00Z"] {
        it.vault.set_now(day);
        drop(it.vault.run(&["routine", "run", "morning"]).ok());
        drop(it.vault.run(&["ask", "Who am I?"]).ok());
    }
    let tells = |asked: &Arc<Asked>| {
        let text = String::from_utf8_lossy(&asked.bytes).into_owned();
        ["Anna of the mill", "The mill's roof."].map(|what| text.matches(what).count() == 1)
    };
    let told: Vec<_> = it.server.requests().iter().map(tells).collect();
    assert_eq!(told, [[true, true], [true, true], [true, false], [true, false]]);
    it.is_made_again(2);
}

#[test]
fn what_is_not_understood_is_shown_and_does_not_run() {
    let it = served("2026-12-01T08:00:00Z", "");
    it.routine("odd", "schedule: daily 08:00\nenabled: true\nbudgett: 5");
    it.routine("lost", "schedule: now and then\nenabled: true");
    it.vault.write("routines/notes.md", "Only words on routines.\n");
    assert_eq!(it.vault.json(&["tick"])["routines"], Value::Null);
    let check = it.vault.run(&["check"]);
    check.exits(1).says("routines/odd.md:4:1: `budgett` is no key of a routine; did you mean `budget`?");
    check.says("routines/lost.md:2:11: `now and then` is not a schedule");
    it.vault.run(&["routine", "list"]).exits(1).says("doesn't run");
}

#[test]
fn another_host_fires_none() {
    let it = served("2026-12-01T08:00:00Z", "[schedule]\nhost = \"somewhere-else\"");
    it.routine("a", "schedule: daily 08:00\nenabled: true");
    drop(it.vault.run(&["tick"]).ok());
    assert_eq!(it.server.requests().len(), 0);
    assert!(!it.vault.has("logs"));
}

#[test]
fn a_tick_that_is_dry_says_what_would_run() {
    let it = served("2026-12-01T08:00:00Z", "");
    it.routine("a", "schedule: every 1m\nenabled: true");
    assert_eq!(it.vault.json(&["tick", "--dry-run"])["routines"]["ran"][0]["run"], "a");
    it.server.respond(|_| Reply::text("ok"));
    assert_eq!(it.vault.json(&["tick"])["routines"]["ran"][0]["outcome"], "sent");
}

#[test]
fn a_run_by_hand_that_could_be_put_nowhere_ends_before_anybody_is_asked() {
    let it = served("2026-12-01T08:00:00Z", "");
    it.routine("bad", "schedule: daily 09:00\nenabled: true\ndeliver: note\nnote: MEMORY.md");
    it.vault.run(&["routine", "run", "bad"]).exits(1).warns("may not be appended to `MEMORY.md`");
    assert_eq!(it.server.requests().len(), 0, "nothing is spent");
    assert_eq!(it.vault.json(&["tick"])["routines"], Value::Null, "it is not tried for ever");
}

#[test]
fn a_routine_that_hangs_keeps_no_reminder_and_a_new_daemon_takes_it_up() {
    let Served { vault, server, runtime } = served("2026-12-01T08:00:00Z", "");
    vault.write("routines/a.md", note("schedule: daily 08:00\ndeliver: note\nnote: Log", "What now?"));
    server.respond(|_| Reply::hang());
    let daemon = Daemon::start(&vault, &["run"]);
    runtime.block_on(server.wait_for(1));
    // The brain is silent; what is due comes.
    vault.write("Reminders.md", line("2026-12-01", "08:00", "none", "Pay the rent", &id('A')));
    daemon.hear("Pay the rent");
    drop(daemon);
    server.respond(|_| Reply::text("the answer"));
    vault.set_now("2026-12-01T08:10:00Z");
    let daemon = Daemon::start(&vault, &["run"]);
    until("the run is taken up", || vault.has("Log.md"));
    assert_eq!(vault.read("Log.md").matches("> the answer").count(), 1);
    // One that is written while the daemon runs is seen at once.
    vault.write("routines/b.md", note("schedule: 10 8 * * *", "And now?"));
    daemon.hear("the answer");
}

#[test]
fn kill_nine_in_the_middle_of_ticks_leaves_each_run_once() {
    let Served { vault, server, runtime: _runtime } = served("2026-12-01T00:00:00Z", "");
    let text = note("schedule: daily 08:00\ndeliver: note\nnote: Log", "A line?");
    write_at(&vault.path("routines/log.md"), &text, vault.now());
    let mut count = 0;
    server.respond(move |_| {
        count += 1;
        Reply::text(format!("line {count}"))
    });
    drop(vault.run(&["tick"]).ok());
    let days = 12;
    for day in 1..=days {
        vault.set_now(&format!("2026-12-{day:02}T08:00:00Z"));
        for round in 0..3u64 {
            vault.spawn(&["tick"]).kill_after(Duration::from_millis(3 + (day * 31 + round * 47) % 110));
        }
        drop(vault.run(&["tick"]).ok());
    }
    let log = vault.read("Log.md");
    assert_eq!(log.matches("\n^run-").count() as u64, days, "{log}");
    let mut names = names_in(vault.path("logs/routines/log"));
    // A file that was being made when the kill came is hidden, and none of the runs.
    names.retain(|name| !name.starts_with('.'));
    assert_eq!(names.len() as u64, days, "{names:?}");
    // Nothing of the vault or of the journals is left half-way.
    let turns = vault.json(&["turns"]);
    assert!(turns.as_array().unwrap().iter().all(|turn| turn["state"] == "done"), "{turns}");
}
