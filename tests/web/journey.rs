//! What a person does with the page, place after place: three times, by mouse, without scripts and by keys alone.

use serde_json::json;
use vault_agent::confine::{self, Helper};

use crate::hand::{ENTER, Person, RIGHT, Way};
use crate::models::Reply;
use crate::sample::Sample;
use crate::served::Visitor;
use crate::tab::Tab;

const WEEK: &str = "/calendar?week=2026-12-01";
/// What the scripted model wants to run: its words don't hold what it says.
const COMMAND: &str = "echo $((6*7))-ran";

#[test]
fn by_mouse() {
    journey(Way::Mouse);
}

#[test]
fn without_scripts() {
    journey(Way::WithoutScripts);
}

#[test]
fn by_keys_alone() {
    journey(Way::Keys);
}

fn journey(way: Way) {
    let sample = Sample::new();
    let served = sample.serve();
    let Some(tab) = Tab::enter(&served) else { return };
    let visitor = served.visitor_of(&tab);
    let person = Person::new(&tab, &sample, way);
    a_reminder_is_written(&person);
    the_calendar_is_touched(&person);
    a_line_comes_back_out_of_last_week(&person);
    an_operation_is_undone(&person, &visitor);
    the_inbox_is_decided(&person);
    a_fact_is_forgotten(&person);
    everything_is_paused_and_goes_on(&person);
    a_turn_is_read(&person);
    a_command_is_approved_and_runs(&person);
    tab.scripts(true);
}

fn a_reminder_is_written(person: &Person<'_>) {
    person.go("/");
    person.keys_to("input[name=write]", &format!("friday 3pm: Ann's cake{ENTER}"));
    person.tab.wait("section.plan");
    person.press("Add", "");
    person.is_told("Ann's cake");
    let note = person.sample.vault.read("Reminders.md");
    assert!(note.contains("date=2026-12-04 time=15:00 recur=none msg=\"Ann's cake\""), "{note}");
}

fn the_calendar_is_touched(person: &Person<'_>) {
    let notes = || person.sample.vault.read("Reminders.md");
    person.go(WEEK);
    person.press("Done", "Call Anna about the flat");
    person.is_told("Done: ");
    assert!(!notes().contains("Call Anna"), "{}", notes());
    person.go(WEEK);
    person.press("Skip this one", "Bins out");
    person.is_told("Skipped");
    assert!(notes().contains("date=2026-12-09 time=08:30 recur=weekly msg=\"Bins out\""), "{}", notes());
    person.go(WEEK);
    person.press("Change", "Water the tomatoes");
    let field = "#change-rid_AAAAAAAAAAAA form:has(input[value=snooze]) input[name=when]";
    person.fill(field, &format!("2026-12-01 18:00{ENTER}"));
    person.is_told("Snoozed until");
    assert!(notes().contains("time=18:00"), "{}", notes());
    person.go(WEEK);
    person.press("Change", "Pay the rent");
    let field = "#change-rid_DDDDDDDDDDDD form:has(input[value=move]) input[name=when]";
    person.fill(field, "2026-12-06 11:00");
    person.press("Move", "Pay the rent");
    person.is_told("Moved");
    assert!(notes().contains("date=2026-12-06 time=11:00"), "{}", notes());
}

fn a_line_comes_back_out_of_last_week(person: &Person<'_>) {
    person.go("/notes/Projects/Garden.md");
    person.keys_to("input[name=n]", &RIGHT.repeat(2));
    person.press("Show", "");
    person.tab.wait_for("Then and now");
    person.tab.wait_for("24 Nov");
    person.press("Bring back", "The tomatoes want water each morning.");
    person.tab.wait_for("What would be brought back");
    assert!(
        person.sample.vault.read("Projects/Garden.md").contains("each evening"),
        "a look changes nothing"
    );
    person.press("Bring it back", "");
    person.is_told("is back");
    // The line is back, and the one that a person wrote since stays beside it.
    let note = person.sample.vault.read("Projects/Garden.md");
    assert!(note.contains("each morning") && note.contains("each evening"), "{note}");
}

fn an_operation_is_undone(person: &Person<'_>, visitor: &Visitor) {
    let saved = |one: &&serde_json::Value| one["actor"] == "cli" && one["paths"] == json!(["MEMORY.md"]);
    let all = visitor.json("/history?actor=cli");
    let id = all.as_array().unwrap().iter().find(saved).expect("what was saved")["id"].as_str().unwrap();
    person.go("/history");
    person.press_css(&format!("main a[href='/history/{id}']"));
    person.tab.wait_for("Snapshot");
    person.press("What would taking it back change?", "");
    person.tab.wait_for("Taking this back would undo");
    assert!(person.sample.vault.read("MEMORY.md").contains("spare key"), "a look changes nothing");
    person.press("Take it back", "");
    person.is_told("Undone");
    assert!(!person.sample.vault.read("MEMORY.md").contains("spare key"));
}

fn the_inbox_is_decided(person: &Person<'_>) {
    person.go("/inbox");
    person.press("Keep", "I live in Graz");
    person.is_told("Kept");
    assert!(person.sample.vault.read("MEMORY.md").contains("I live in Graz"));
    person.go("/inbox");
    person.press("Drop", "green tea");
    person.is_told("Declined");
    let inbox = person.sample.vault.read("Inbox.md");
    assert!(!inbox.split("%%").next().unwrap().contains("green tea"), "{inbox}");
}

fn a_fact_is_forgotten(person: &Person<'_>) {
    person.go("/memory");
    person.press("is allergic to peanuts by person", "");
    person.press("Forget", "is allergic to peanuts");
    person.press_css("details[open] details.ask[open] button");
    person.is_told("Forgotten");
    assert!(!person.sample.vault.read("MEMORY.md").contains("peanuts"));
}

fn everything_is_paused_and_goes_on(person: &Person<'_>) {
    let settings = || person.sample.vault.read("vault-agent.toml");
    person.go("/routines");
    person.press("Pause everything that is done by itself", "");
    person.fill("input[name=until]", "tomorrow 9am");
    person.press("Pause", "");
    person.is_told("Paused");
    let says = |line: &str| settings().lines().any(|one| one.starts_with(line));
    assert!(says("paused_until = \"2026-12-02 09:00\""), "{}", settings());
    person.press("Resume", "");
    person.is_told("Resumed");
    assert!(!says("paused_until"), "{}", settings());
}

fn a_turn_is_read(person: &Person<'_>) {
    person.go("/turns");
    person.press_css("main tbody a[href^='/turns/']");
    for words in ["The tomatoes, at nine.", "reminder_list", "scripted", "Log"] {
        person.tab.wait_for(words);
    }
}

/// Asks the assistant; the scripted model wants to run a command with the network, and says `answer` after it.
fn ask(person: &Person<'_>, answer: &str) {
    let call = Reply::tool("bash", json!({"command": COMMAND, "network": true}));
    person.sample.server.script(vec![call, Reply::text(answer)]);
    person.go("/");
    person.keys_to("input[name=write]", &format!("Run it, please{ENTER}"));
    person.tab.wait("section.plan");
    person.press("Ask", "");
    person.sees(answer);
}

fn a_command_is_approved_and_runs(person: &Person<'_>) {
    Helper::new(env!("CARGO_BIN_EXE_vault-agent")).install();
    if !confine::enforcement().is_whole() {
        // No command runs on a machine that can't build the whole box.
        return;
    }
    let results = || person.sample.server.requests().last().unwrap().results().join("\n");
    ask(person, "It waits for a word.");
    assert!(!results().contains("42-ran"), "{}", results());
    person.go("/approvals");
    person.press("Allow once", COMMAND);
    person.is_told("once");
    ask(person, "It has run.");
    assert!(results().contains("42-ran"), "{}", results());
    person.go("/approvals");
    person.tab.wait_for("used");
}
