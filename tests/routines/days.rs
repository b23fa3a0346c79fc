//! Days and weeks: idle, away, with a brain that is down, and with notes that change while a routine runs.

use vault_agent::template;

use crate::deliver::machines::{EntryChange, Several, StoreEngine, instant};
use crate::deliver::world::{Journal, World};
use crate::routines::rig::*;

/// Every file of the template, all its routines turned on, and a bound channel.
fn shipped(now: &str) -> Rig {
    let rig = Rig::with(now, "[discord]\nchannel_id = 7\n");
    for (path, text) in template::notes() {
        let text = match path.starts_with("routines/") {
            true => text.replace("enabled: false", "enabled: true"),
            // A new vault's sample has fired long ago.
            false => text.lines().filter(|line| !line.contains("date=")).collect::<Vec<_>>().join("\n"),
        };
        rig.write(path, &text);
    }
    rig
}

#[test]
fn thirty_idle_days_cost_nothing() {
    let rig = shipped("2026-12-01T00:00:00Z");
    assert_eq!(names_in(rig.path("routines")).len(), 5);
    rig.respond(|_| Reply::text("I was asked"));
    let (runner, mut looked_at) = (rig.runner(), BTreeMap::new());
    for _ in 0..30 * 96 {
        let step = rig.step_of(&runner);
        assert!(step.driven.is_empty() && step.looked.problems.is_empty(), "{step:?}");
        step.looked.nothing.into_iter().for_each(|name| *looked_at.entry(name).or_insert(0) += 1);
        rig.later(SignedDuration::from_mins(15));
    }
    // Each came when it should, and found that there is nothing to do.
    let expected =
        [("evening", 30), ("morning", 30), ("review", 2880), ("tidy-memory", 4), ("weekly-review", 4)];
    assert_eq!(looked_at.into_iter().collect::<Vec<_>>(), expected.map(|(name, n)| (name.to_owned(), n)));
    assert_eq!((rig.server.requests().len(), rig.told().len()), (0, 0), "no request, no token");
    assert!(!rig.path("logs").exists(), "nothing is logged");
}

#[test]
fn a_shipped_routine_asks_where_there_is_something() {
    let rig = shipped("2026-12-01T00:00:00Z");
    rig.step();
    rig.write("Reminders.md", "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Pay the rent\"\n");
    rig.write("MEMORY.md", "# Memory\n## Anna\n- likes green tea\n- likes green tea very\n");
    rig.respond(|asked| Reply::text(format!("about {} bytes", asked.last_user().len())));
    assert_eq!(rig.at("2026-12-01T08:00:00Z").step().outcomes(), ["morning@2026-12-01T08:00: sent"]);
    let asked = rig.server.requests()[0].clone();
    assert!(asked.last_user().contains("- 09:30 Pay the rent"), "{}", asked.last_user());
    let marked = asked.last_user().find("INJECTED_CONTEXT_RELEVANT_MEMORIES").unwrap();
    assert!(marked < asked.last_user().find("Pay the rent").unwrap(), "what was found is data");
    // The memory changed: it is proposed about once, into a note.
    let tidied = "tidy-memory@2026-12-06T10:00: appended to Memory review.md".to_owned();
    assert!(rig.at("2026-12-06T10:00:00Z").step().outcomes().contains(&tidied));
    contains_all(rig.server.requests().last().unwrap().last_user(), &["MEMORY.md:3 Anna: likes green tea"]);
    assert!(rig.at("2026-12-13T10:00:00Z").step().looked.nothing.contains(&"tidy-memory".to_owned()));
}

#[test]
fn after_an_absence_one_run_comes_and_says_so() {
    let rig = Rig::answering("2026-12-01T07:00:00Z", "Nothing much.");
    rig.routine("log", "schedule: daily 08:00\ndeliver: note\nnote: Log", "What is new?");
    rig.routine("morning", "schedule: daily 08:00", "What is new?");
    rig.step();
    let came = ["log@2026-12-04T08:00: appended to Log.md", "morning@2026-12-04T08:00: sent"];
    assert_eq!(rig.at("2026-12-04T11:00:00Z").step().outcomes(), came);
    let late = "(due 08:00, 3 h late; 3 earlier ones folded in)";
    assert_eq!(rig.told(), [format!("morning {late}:\nNothing much.")]);
    contains_all(rig.text("Log.md"), &[&format!("> [!note] log, 2026-12-04 08:00 {late}\n> Nothing much.")]);
    contains_all(rig.server.requests()[1].last_user(), &["due 08:00, 3 h late; 3 earlier ones folded in"]);
    assert!(rig.step().driven.is_empty());
    // In time there is no such word, and a clock that goes back runs nothing again.
    rig.at("2026-12-05T08:00:20Z").step();
    rig.at("2026-12-04T07:59:00Z").step();
    assert!(rig.at("2026-12-05T08:00:50Z").step().driven.is_empty());
    assert_eq!(rig.told()[1..], ["Nothing much."]);
    contains_all(rig.text("Log.md"), &["> [!note] log, 2026-12-05 08:00\n> Nothing much."]);
    assert_eq!(rig.server.requests().len(), 4);
}

#[test]
fn a_renamed_routine_goes_on_where_it_was() {
    let rig = Rig::answering("2026-12-01T07:00:00Z", "Nothing much.");
    rig.routine("morning", "schedule: daily 08:00", "What is new?");
    assert_eq!(rig.at("2026-12-01T08:00:00Z").step().driven.len(), 1);
    std::fs::rename(rig.path("routines/morning.md"), rig.path("routines/dawn.md")).unwrap();
    assert_eq!(rig.at("2026-12-01T10:00:00Z").step().outcomes(), Vec::<String>::new());
    assert_eq!(rig.at("2026-12-02T08:00:00Z").step().outcomes(), ["dawn@2026-12-02T08:00: sent"]);
    assert_eq!(rig.told()[1..], ["Nothing much."]);
    // Also where another one has its name by the next look.
    std::fs::rename(rig.path("routines/dawn.md"), rig.path("routines/weekday.md")).unwrap();
    rig.routine("dawn", "schedule: monthly 1 06:00", "What is new?");
    assert_eq!(rig.at("2026-12-02T08:06:00Z").step().outcomes(), Vec::<String>::new());
    assert_eq!(rig.at("2026-12-03T08:00:00Z").step().outcomes(), ["weekday@2026-12-03T08:00: sent"]);
}

/// As `cp -p`, an archive or a sync tool leaves it.
#[test]
fn a_copied_note_of_an_old_time_counts_from_when_it_came() {
    let rig = Rig::answering("2026-12-01T14:50:00Z", "Nothing much.");
    rig.step();
    let old = |at: &str| at.parse().unwrap();
    let text = note("schedule: daily 08:00", "What is new?");
    write_at(&rig.path("routines/old.md"), &text, old("2023-01-01T07:00:00Z"));
    // Enabled on another machine this morning.
    write_at(&rig.path("routines/late.md"), &text, old("2026-12-01T07:30:00Z"));
    rig.at("2026-12-01T15:00:00Z").step();
    assert_eq!(rig.told().len(), 1);
    assert!(rig.told()[0].starts_with("late (due 08:00"), "{:?}", rig.told());
    let outcomes = rig.at("2026-12-02T08:00:00Z").step().outcomes();
    assert_eq!(outcomes, ["late@2026-12-02T08:00: sent", "old@2026-12-02T08:00: sent"]);
}

#[test]
fn a_clock_that_was_ahead_for_a_moment_stops_no_routine() {
    // What couldn't be sent then goes out once the time is right.
    for is_unsent in [false, true] {
        let rig = Rig::answering("2026-12-01T07:00:00Z", "Nothing much.");
        rig.routine("morning", "schedule: daily 08:00", "What is new?");
        rig.step();
        if is_unsent {
            rig.place.fault(Fault::Unreachable(None));
        }
        assert_eq!(rig.at("2030-01-05T08:00:30Z").step().driven.len(), 1);
        assert_eq!(rig.at("2026-12-01T07:20:00Z").step().driven.len(), usize::from(is_unsent));
        for day in ["2026-12-01", "2026-12-02"] {
            assert!(rig.at(&format!("{day}T07:30:00Z")).step().driven.is_empty());
            let outcomes = rig.at(&format!("{day}T08:00:10Z")).step().outcomes();
            assert_eq!(outcomes, [format!("morning@{day}T08:00: sent")]);
            assert!(rig.at(&format!("{day}T08:10:00Z")).step().driven.is_empty());
        }
        assert_eq!(rig.told()[1..], ["Nothing much.", "Nothing much."]);
    }
}

/// While a sync tool replaces it, or a person types.
#[test]
fn a_note_that_is_away_or_half_typed_in_its_minute_runs_late() {
    for typed in [None, Some("schedule: daily 08:00\nquiet: tru"), Some("schedule: dai")] {
        let rig = Rig::answering("2026-12-01T07:00:00Z", "Nothing much.");
        rig.routine("a", "schedule: daily 08:00", "What is new?");
        rig.step();
        rig.at("2026-12-01T07:59:50Z");
        typed.map_or_else(|| rig.remove("routines/a.md"), |head| rig.routine("a", head, "What is new?"));
        rig.step();
        rig.at("2026-12-01T08:00:00Z").step();
        rig.at("2026-12-01T08:01:30Z").routine("a", "schedule: daily 08:00", "What is new?");
        assert_eq!(rig.step().outcomes(), ["a@2026-12-01T08:00: sent"], "{typed:?}");
        assert!(rig.later(SignedDuration::from_mins(1)).step().driven.is_empty());
    }
}

#[test]
fn a_remark_about_a_note_costs_no_run() {
    let rig = Rig::answering("2026-12-01T07:00:00Z", "Nothing much.");
    rig.routine("a", "schedule: daily 08:00\nbrain: nobody", "What is new?");
    rig.step();
    rig.at("2026-12-01T07:58:00Z").step();
    assert_eq!(rig.at("2026-12-01T08:05:00Z").step().outcomes(), ["a@2026-12-01T08:00: sent"]);
}

/// As on a computer that has no clock of its own, until the network gives the time.
#[test]
fn a_clock_that_begins_in_1970_forgets_nothing() {
    let rig = Rig::answering("2026-12-01T07:00:00Z", "Nothing much.");
    rig.routine("often", "schedule: every 15m\nonly_if: due", "What is due?");
    rig.step();
    rig.at("2026-12-01T08:00:00Z").step();
    let looked = rig.at("1970-01-01T00:00:20Z").step().looked;
    assert_eq!(looked.problems, ["no routine runs while the clock shows 1970-01-01"]);
    rig.routine("new", "schedule: daily 07:30", "What is new?");
    rig.at("1970-01-01T00:01:00Z").step();
    rig.write("Reminders.md", "- [ ] date=2026-12-01 time=20:00 recur=none msg=\"Pay the rent\"\n");
    rig.at("2026-12-01T09:00:00Z").step();
    assert_eq!(rig.told(), ["often (3 earlier ones folded in):\nNothing much."]);
}

#[test]
fn a_brain_that_is_down_for_a_day_is_answered_for_from_the_notes() {
    let rig = Rig::new("2026-12-01T00:00:00Z");
    rig.routine("noon", "schedule: \"0 */6 * * *\"", "What is due?");
    rig.write("Reminders.md", "- [ ] date=2026-12-01 time=23:30 recur=daily msg=\"Feed the cat\"\n");
    let asks = "---\nid: c-2026-12-01-001\nstatus: pending\n---\nAsk how the interview went.\n";
    rig.write("COMMITMENTS.md", asks);
    rig.respond(|_| Reply::status(503).body("{}"));
    for (at, hour) in ["00", "06", "12", "18"].into_iter().enumerate() {
        let came = rig.at(&format!("2026-12-01T{hour}:00:00Z")).step().outcomes();
        assert_eq!((came, rig.told().len()), (vec![format!("noon@2026-12-01T{hour}:00: sent")], at + 1));
        contains_all(&rig.told()[at], &["local", "- 23:30 Feed the cat", "- Ask how the interview went."]);
    }
    // It is asked again when it is back.
    rig.respond(|_| Reply::text("I am back."));
    rig.at("2026-12-02T12:00:00Z").step();
    assert_eq!(rig.told().last().unwrap(), "noon (2 earlier ones folded in):\nI am back.");
}

#[test]
fn without_any_brain_an_answer_is_true_and_there() {
    let rig = Rig::with("2026-12-01T08:00:00Z", "[assistant]\nchain = []\n");
    rig.routine("a", "schedule: daily 08:00", "What is due?");
    rig.routine("b", "schedule: daily 08:00\nquiet: true", "What is due?");
    let came = ["a@2026-12-01T08:00: sent", "b@2026-12-01T08:00: nothing to report (NONE)"];
    assert_eq!(rig.step().outcomes(), came);
    assert_eq!(rig.told(), ["Nothing is due, nothing was promised, and your notes say nothing about this."]);
    assert_eq!(rig.server.requests().len(), 0);
}

#[test]
fn a_budget_ends_a_run_and_says_so_and_bounds_each_answer() {
    let rig = Rig::with("2026-12-01T08:00:00Z", "[assistant]\nturn_tokens = 100000\n");
    rig.routine("greedy", "schedule: daily 08:00\nbudget: 9000", "Look everywhere.");
    let look =
        |input, output| move |_: &Asked| Reply::tool("look", json!({"q": "x"})).usage(input, 0, output);
    rig.respond(look(5_000, 1_000));
    rig.step();
    assert_eq!(rig.told(), ["I stopped here: this turn used up its 9000 tokens."]);
    let bounds: Vec<u64> =
        rig.server.requests().iter().map(|asked| asked.body["max_tokens"].as_u64().unwrap()).collect();
    assert!(bounds.len() == 2 && bounds[0] < 9_000 && bounds[1] < 3_000, "{bounds:?}");
    // A request that would pass it is not made.
    rig.respond(look(8_980, 10));
    rig.at("2026-12-02T08:00:00Z").step();
    let said = "I stopped here: another request would pass this run's 9000 tokens, of which 8990 are used.";
    assert!(rig.told().last().unwrap().ends_with(said), "{:?}", rig.told().last());
    assert_eq!(rig.server.requests().len(), 3);
}

#[test]
fn where_the_day_s_budget_is_spent_memory_answers() {
    let rig = Rig::with("2026-12-01T08:00:00Z", "[assistant]\nday_tokens = 100\n");
    rig.routine("a", "schedule: every 1h", "What now?");
    rig.respond(|_| Reply::text("asked"));
    rig.step();
    rig.later(SignedDuration::from_hours(1)).step();
    let told = rig.told();
    assert_eq!(told[0], "asked");
    assert!(told[1].starts_with("Today's budget of 100 tokens is used up."), "{told:?}");
    // Once a day, whichever routine says it; also where the run that says it is killed in the middle.
    rig.routine("b", "schedule: every 1h", "And now?");
    rig.later(SignedDuration::from_hours(1)).step();
    let rest = rig.told().split_off(2);
    assert!(rest.len() == 2 && rest.iter().all(|told| !told.contains("budget")), "{rest:?}");
    rig.remove("routines/b.md");
    let day: Timestamp = "2026-12-02T08:00:00Z".parse().unwrap();
    for nth in 0.. {
        let before = rig.told().len();
        rig.at(&(day + SignedDuration::from_hours(24 * nth)).to_string()).step();
        rig.later(SignedDuration::from_hours(1));
        let crashed = rig.step_until(usize::try_from(nth).unwrap()).is_none();
        (0..2).for_each(|_| drop(rig.later(SignedDuration::from_mins(30)).step()));
        let told = rig.told().split_off(before);
        let ends = told.iter().filter(|told| told.contains("is used up.")).count();
        assert_eq!((told.len(), ends), (3, 1), "{nth}: {told:?}");
        if !crashed {
            break;
        }
    }
}

#[test]
fn runs_know_nothing_of_each_other() {
    let rig = Rig::answering("2026-12-01T08:00:00Z", "a secret of this run");
    rig.routine("a", "schedule: every 1h", "What now?");
    rig.step();
    rig.later(SignedDuration::from_hours(1)).step();
    let requests = rig.server.requests();
    assert_eq!(requests.len(), 2);
    assert!(!String::from_utf8_lossy(&requests[1].bytes).contains("a secret of this run"));
    assert_eq!(rig.logs("a").len(), 2, "each has a log of its own");
}

#[test]
fn a_schedule_that_is_edited_while_it_runs_counts_from_then_on() {
    let rig = Rig::new("2026-12-01T08:00:00Z");
    rig.routine("a", "schedule: daily 08:00", "The old question?");
    let (file, now) = (rig.path("routines/a.md"), "2026-12-01T08:00:30Z".parse().unwrap());
    rig.respond(move |asked| {
        if !asked.last_user().contains("The old question?") {
            return Reply::text("to the new one");
        }
        write_at(&file, &note("schedule: daily 07:30", "The new question?"), now);
        Reply::text("to the old one")
    });
    assert_eq!(rig.step().outcomes(), ["a@2026-12-01T08:00: sent"], "it ends as it began");
    assert!(rig.at("2026-12-01T08:01:00Z").step().driven.is_empty(), "07:30 was before the change");
    assert_eq!(rig.at("2026-12-02T07:30:00Z").step().outcomes(), ["a@2026-12-02T07:30: sent"]);
    assert!(rig.at("2026-12-02T08:00:00Z").step().driven.is_empty());
    assert_eq!(rig.told(), ["to the old one", "to the new one"]);
}

#[test]
fn a_routine_that_is_taken_away_or_turned_off_while_it_runs_sends_nothing() {
    for (change, why) in [
        (None, "its note was removed before it had answered"),
        (Some("schedule: daily 08:00\nenabled: false"), "it was disabled before it had answered"),
    ] {
        let rig = Rig::new("2026-12-01T08:00:00Z");
        rig.routine("a", "schedule: daily 08:00", "What now?");
        let file = rig.path("routines/a.md");
        rig.respond(move |_| {
            match change {
                None => std::fs::remove_file(&file).unwrap(),
                Some(head) => std::fs::write(&file, format!("---\n{head}\n---\nWhat now?\n")).unwrap(),
            }
            Reply::text("nobody wants it")
        });
        assert_eq!(rig.step().outcomes(), [format!("a@2026-12-01T08:00: {why}")]);
        assert!(rig.later(SignedDuration::from_mins(1)).step().driven.is_empty());
        assert_eq!(rig.told().len(), 0);
        assert_eq!(rig.runner().turns().latest(1).unwrap().remove(0).state.as_str(), "dropped");
    }
}

#[test]
fn turned_off_and_on_again_it_makes_up_for_nothing() {
    let rig = Rig::daily("now");
    rig.step();
    rig.write("routines/a.md", "---\nenabled: false\nschedule: daily 08:00\n---\nWhat now?\n");
    rig.at("2026-12-03T12:00:00Z").step();
    rig.routine("a", "schedule: daily 08:00", "What now?");
    assert!(rig.later(SignedDuration::from_mins(1)).step().driven.is_empty());
    assert_eq!(rig.at("2026-12-04T08:00:00Z").step().outcomes(), ["a@2026-12-04T08:00: sent"]);
    assert_eq!(rig.told(), ["now", "now"]);
}

/// Another machine, which was away, is the voice now. The other one died before it sent its last answer.
#[test]
fn what_another_machine_ran_is_not_folded_in_and_what_it_left_unsent_is_run() {
    let rig = Rig::daily("now");
    let several = Several::with(|| World::new(&instant("08:00:00"), ""), 1, false);
    let mut workspace = support::workspace(rig.dir(), rig.clock.clone());
    workspace.machines = several.all[0].machines.clone();
    let (journal, turns) = (Journal::open(rig.dir()).unwrap(), TurnJournal::in_memory().unwrap());
    let open = || claim_due_runs(&workspace, &journal, &turns, false).unwrap().open;
    assert!(rig.step().driven.len() == 1 && open().is_empty());
    (2..6).for_each(|day| drop(rig.at(&format!("2026-12-0{day}T08:00:00Z")).step()));
    let claim = r#"{"by":"b","machine":"B","epoch":1,"nonce":"n","until":0,"state":"claimed","at":0}"#;
    let (key, value) = ("claim/a@2026-12-05T08:00/routine".to_owned(), Some(claim.to_owned()));
    block_on(several.engines[0].swap(&[EntryChange { key, expected: None, value }])).unwrap();
    several.ask(0);
    assert_eq!(open(), ["a@2026-12-05T08:00"]);
    assert_eq!(journal.run(&open()[0]).unwrap().unwrap().missed, 0);
}
