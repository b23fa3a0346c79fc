//! `kill -9` in the middle of each kind of change, and the same form again: nothing half made, nothing twice.

use crate::doors::moved;
use crate::sample::*;

/// A kind of change: where its form stands, what it does, a part of one of its values, and what is typed.
type Change = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const CHANGES: &[Change] = &[
    ("/?write=tomorrow%209am%3A%20Tea", "add", "Tea", &[]),
    ("/calendar?week=2026-12-01", "done", "rid_CCCCCCCCCCCC", &[]),
    ("/calendar?week=2026-12-01", "skip", "rid_BBBBBBBBBBBB", &[]),
    ("/calendar?week=2026-12-01", "move", "rid_CCCCCCCCCCCC", &[("when", "2026-12-04 15:00")]),
    ("/calendar?week=2026-12-01", "edit", "rid_CCCCCCCCCCCC", &[("message", "Call Anna")]),
    ("/calendar?week=2026-12-01", "remove", "rid_CCCCCCCCCCCC", &[]),
    ("/inbox", "keep", "", &[]),
    ("/inbox", "drop", "", &[]),
    ("/inbox", "edit", "", &[("text", "lives in Graz")]),
    ("/memory", "add", "", &[("text", "the bins go out on Wednesdays")]),
    ("/memory", "edit", "is allergic to peanuts", &[("text", "eats no peanuts")]),
    ("/memory", "forget", "is allergic to peanuts", &[]),
    ("/memory", "pin-line", "is allergic to peanuts", &[]),
    ("/memory?kind=pins", "pin", "", &[("text", "Speak English.")]),
    ("/approvals", "once", "ap_K5V4M2J7Q2ZP", &[]),
    ("/approvals", "always", "ap_K5V4M2J7Q2ZP", &[]),
    ("/approvals", "no", "ap_K5V4M2J7Q2ZP", &[]),
    ("/routines", "enable", "morning", &[]),
    ("/routines", "pause", "", &[("until", "tomorrow 9am")]),
    (UNDO, "undo", "", &[]),
    (RESTORE, "restore", "", &[]),
];

/// The plan that takes back the newest change at the command line.
const UNDO: &str = "undo";
/// The plan that brings a note back as it was first.
const RESTORE: &str = "restore";

/// The address of a page; those of plans have an id in them.
fn address(path: &str, visitor: &Visitor) -> String {
    let id = |list: &str, which: fn(&[Value]) -> Option<&Value>| {
        let all = visitor.json(list);
        which(all.as_array().unwrap()).expect("a change")["id"].as_str().unwrap().to_owned()
    };
    match path {
        UNDO => format!("/history/{}?plan=undo", id("/history?actor=cli&note=MEMORY.md", <[_]>::first)),
        RESTORE => {
            let first = id("/history?note=Projects%2FGarden.md", <[_]>::last);
            format!("/notes/Projects/Garden.md?at={first}&plan=note")
        }
        path => path.to_owned(),
    }
}

fn claims(sample: &Sample) -> i64 {
    let file = sample.vault.state().join("page.sqlite");
    let read =
        || rusqlite::Connection::open(file)?.query_row("SELECT count(*) FROM forms", [], |row| row.get(0));
    read().unwrap_or(0)
}

/// The vault without what is being written beside its notes.
fn notes(sample: &Sample) -> BTreeMap<String, String> {
    let mut notes = sample.vault.tree();
    notes.retain(|path, _| path.split('/').all(|part| !part.starts_with('.')));
    notes
}

/// Sends a form to a program that stops at `step`, and kills it there.
fn killed(sample: &Sample, visitor: &Visitor, form: &Form, step: &str) -> (Served, Visitor) {
    let served = Served::start_with(&sample.vault, &[("FAILPOINTS", &format!("{step}=pause"))]);
    let at = moved(visitor, &served);
    let (before, claimed) = (notes(sample), claims(sample));
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| at.sending(form).send(at.address).is_ok());
        let is_there =
            || if step == "web::claimed" { claims(sample) > claimed } else { notes(sample) != before };
        until("the change is where it is to be killed", is_there);
        served.kill();
        assert!(!sent.join().unwrap(), "an answer came from a program that was killed");
    });
    let again = Served::start(&sample.vault);
    let visitor = moved(&at, &again);
    (again, visitor)
}

#[test]
fn a_change_that_was_killed_is_made_once_or_not_at_all() {
    for (path, action, holding, typed) in CHANGES {
        let sample = if [UNDO, RESTORE].contains(path) { Sample::new() } else { Sample::still() };
        let (sample, mut served, mut visitor) = sample.visited();
        let path = &address(path, &visitor);
        let fresh = |visitor: &Visitor| {
            let form = visitor.form(path, action, holding);
            typed.iter().fold(form, |form, (name, value)| form.with(name, value))
        };
        let before = notes(&sample);
        // Killed before the change, it isn't made; killed after it, it is made once. The same form again says so.
        for (step, is_made) in [("web::claimed", false), ("web::done", true)] {
            let form = fresh(&visitor);
            served.kill();
            (served, visitor) = killed(&sample, &visitor, &form, step);
            let after = notes(&sample);
            assert_eq!(after != before, is_made, "{path} {action} {step}");
            assert_eq!(visitor.submit(&form).status, 409, "{path} {action} {step}");
            assert_eq!(notes(&sample), after, "{path} {action} {step}: made twice");
        }
        let _ = visitor.get(path).is(200);
    }
}

/// A run that a form began is claimed on disk: killed beside its answer it ends once, and the form begins no second one.
#[test]
fn a_run_that_was_killed_ends_once() {
    let sample = Sample::still();
    sample.server.script(vec![Reply::text("Nothing today."); 2]);
    let (sample, served, visitor) = sample.visited();
    let runs = |visitor: &Visitor| visitor.json("/routines/morning")["runs"].as_array().map_or(0, Vec::len);
    let before = runs(&visitor);
    // Before the run is claimed: there is none.
    let form = visitor.form("/routines/morning", "run", "morning");
    served.kill();
    let (served, visitor) = killed(&sample, &visitor, &form, "web::claimed");
    assert_eq!(visitor.submit(&form).status, 409);
    assert_eq!(runs(&visitor), before);
    // In its midst: whoever passes next ends it.
    let form = visitor.form("/routines/morning", "run", "morning");
    served.kill();
    let served = Served::start_with(&sample.vault, &[("FAILPOINTS", "routines::after-question=pause")]);
    let visitor = moved(&visitor, &served);
    let _ = visitor.submit(&form).is(303);
    until("the run is claimed", || runs(&visitor) == before + 1);
    served.kill();
    drop(sample.vault.run(&["tick"]).ok());
    let served = Served::start(&sample.vault);
    let visitor = moved(&visitor, &served);
    let all = visitor.json("/routines/morning");
    assert_eq!(all["runs"][0]["answer"], "Nothing today.", "{all}");
    let _ = visitor.submit(&form).is(303);
    assert_eq!(runs(&visitor), before + 1, "the form began a second run");
}
