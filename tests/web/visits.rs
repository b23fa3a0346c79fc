//! The page in a real browser, as a person uses it: with scripts and without, by mouse and by keys, narrow and dark; and
//! a journey through place after place, in each of these ways.

use vault_agent::confine::{self, Helper};

use crate::hand::{ENTER, Person, RIGHT, TAB, Way};
use crate::sample::*;

#[test]
fn an_open_page_follows_the_notes_and_takes_nothing_from_whoever_reads_or_types() {
    let Some((sample, served, tab)) = Sample::still().in_browser() else { return };
    let vault = &sample.vault;
    let remind = |words: &str| {
        vault.write("Reminders.md", format!("- [ ] date=2026-12-02 time=09:30 recur=none msg=\"{words}\"\n"));
    };
    // What was done is said on.
    tab.go("/");
    tab.fill("input[name=write]", &format!("tomorrow 7am: Once{ENTER}"));
    tab.press("Add", "");
    tab.wait(".said");
    remind("From the editor");
    tab.wait_for("From the editor");
    assert_eq!(tab.count(".said"), 1, "{}", tab.main());
    // What is open stays open, and what has the focus keeps it.
    tab.go("/memory");
    tab.press("is allergic to peanuts by person", "");
    tab.press("Forget", "is allergic to peanuts");
    vault.write("MEMORY.md", vault.read("MEMORY.md") + "- has a new line\n");
    tab.wait_for("has a new line");
    assert_eq!(tab.count("details.ask[open]"), 1, "{}", tab.main());
    assert_eq!(tab.eval("document.activeElement.textContent"), "Forget");
    vault.write("MEMORY.md", vault.read("MEMORY.md").replacen("\n- ", "\n- has a line above\n- ", 1));
    tab.wait_for("has a line above");
    assert_eq!(tab.eval("document.activeElement.textContent"), "Forget");
    // What is being typed stays.
    tab.go("/");
    tab.fill("input[name=write]", "tomorrow 8am: half a sent");
    vault.write("Reminders.md", "");
    tab.wait_text("#live", "what you typed is kept");
    assert_eq!(tab.value("input[name=write]"), "tomorrow 8am: half a sent");
    // Also where the browser brought it back.
    tab.go("/calendar");
    tab.back();
    tab.wait("input[name=write]");
    if tab.value("input[name=write]").is_empty() {
        tab.fill("input[name=write]", "tomorrow 8am: half a sent");
    }
    remind("Once more");
    tab.wait_text("#live", "what you typed is kept");
    assert_eq!(tab.value("input[name=write]"), "tomorrow 8am: half a sent");
    // Once it is cleared the change is shown.
    (0..30).for_each(|_| tab.send("input[name=write]", "\u{e003}"));
    tab.wait_for("Once more");
    // And that the program is gone is said.
    served.kill();
    tab.wait_text("#live", "lost");
}

#[test]
fn a_stream_that_is_refused_is_asked_for_again() {
    let Some((vault, served, tab)) = Tab::over(with_call()) else { return };
    let visitor = served.visitor_of(&tab);
    // As a proxy refuses it while the program behind it is away.
    tab.go_to("about:blank");
    let mut followed = Vec::new();
    while followed.len() < 64 {
        followed.extend(Some(visitor.follow()).filter(|(_, status)| status == "200"));
    }
    tab.go("/memory");
    vault.write("MEMORY.md", "## Ann\n- has a new line\n");
    tab.wait_for("has a new line");
    drop(followed);
    tab.wait_text("#live", "restored");
}

/// Widths in pixels, in light and dark.
const LOOKS: [(u32, bool); 6] =
    [(360, true), (1440, false), (360, false), (768, false), (768, true), (1440, true)];
/// How many pixels lie beyond the right edge.
const BEYOND: &str = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
/// The cells of tables that are squeezed to a few letters.
const SQUEEZED: &str = "[...document.querySelectorAll('main table:not(.month) td')].filter(cell => cell.textContent.trim() && \
     cell.clientWidth < 5 * parseFloat(getComputedStyle(cell).fontSize)).map(cell => cell.textContent.slice(0, 40))";

#[test]
fn every_place_is_for_everybody() {
    let Some((_sample, served, tab)) = Sample::new().in_browser() else { return };
    let mut all = places(&tab.source());
    assert!(all.len() > 1, "{all:?}");
    let listed = all.len();
    let more = "/routines/morning /calendar?week=2026-12-01 /calendar?month=2026-12";
    all.extend(more.split(' ').map(str::to_owned));
    let large = all.len();
    let more = "/search?q=tomatoes /memory?kind=pins /inbox?all=1 /nowhere /?write=tomorrow%209am%3A%20Tea \
                /?write=nonsense /notes/Projects/Garden.md?n=2 /notes/Projects/Garden.md?n=2&view=side";
    all.extend(more.split(' ').map(str::to_owned));
    let visitor = served.visitor_of(&tab);
    for list in ["/turns", "/history"] {
        let id = visitor.json(list)[0]["id"].as_str().unwrap().to_owned();
        all.extend([format!("{list}/{id}"), format!("{list}/{id}?plan=undo")]);
    }
    let origin = format!("http://{}/", served.address);
    let (mut found, mut complaints) = (Vec::new(), Vec::new());
    for (at, path) in all.iter().enumerate() {
        tab.go(path);
        tab.wait("h1");
        // What lies below a place is looked at twice.
        let looks = if at < listed { &LOOKS[..] } else { &LOOKS[..2] };
        for &(width, dark) in looks {
            tab.look(width, dark);
            found.extend(tab.axe().iter().map(|line| format!("{path} {width} {dark}: {line}")));
            if tab.eval(BEYOND) != 0 {
                found.push(format!("{path}: {} px beyond the right edge at {width}", tab.eval(BEYOND)));
            }
        }
        complaints.extend(tab.complaints());
        found.extend(tab.asked().into_iter().filter(|url| !url.starts_with(&origin)));
        // Where text is twice as large, too, nothing sticks out, and no cell is squeezed.
        for width in [360, 768, 1024].into_iter().filter(|_| at < large) {
            tab.look(width, false);
            tab.eval("(document.documentElement.style.fontSize = '200%', true)");
            let wrong = (tab.eval(BEYOND), tab.eval(SQUEEZED));
            if wrong != (json!(0), json!([])) {
                found.push(format!("{path}, large, at {width}: beyond the edge, and squeezed: {wrong:?}"));
            }
        }
    }
    complaints.retain(|line: &String| !line.contains("/nowhere") && !line.contains("nonsense"));
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// That all can be reached by keys is what the journey by keys shows.
#[test]
fn the_first_key_leads_past_the_navigation_and_the_focus_is_seen() {
    let Some((_vault, _served, tab)) = Tab::over(with_call()) else { return };
    tab.go("/");
    tab.keys(TAB);
    assert_eq!(tab.eval("document.activeElement.className"), "skip");
    tab.tab_to("document.querySelector('input[name=write]')");
    assert_ne!(tab.eval("getComputedStyle(document.activeElement).outlineStyle"), "none");
    // A screen reader says only what is put into a region that it knew before.
    assert_ne!(tab.eval("getComputedStyle(document.querySelector('#live')).display"), "none");
    // A line from right to left is set so.
    tab.go("/notes/Reminders.md");
    assert_eq!(tab.eval("getComputedStyle(document.querySelector('.note li')).unicodeBidi"), "plaintext");
}

const WEEK: &str = "/calendar?week=2026-12-01";
/// What the scripted model wants to run: its words don't hold what it says.
const COMMAND: &str = "echo $((6*7))-ran";

#[test]
fn a_journey_by_mouse() {
    journey(Way::Mouse);
}

#[test]
fn a_journey_without_scripts() {
    journey(Way::WithoutScripts);
}

#[test]
fn a_journey_by_keys_alone() {
    journey(Way::Keys);
}

fn journey(way: Way) {
    let Some((sample, served, tab)) = Sample::new().in_browser() else { return };
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
    let line = "date=2026-12-04 time=15:00 recur=none msg=\"Ann's cake\"";
    contains_all(person.sample.vault.read("Reminders.md"), &[line]);
}

fn the_calendar_is_touched(person: &Person<'_>) {
    let notes = || person.sample.vault.read("Reminders.md");
    let press = |words: &str, near: &str| {
        person.go(WEEK);
        person.press(words, near);
    };
    let field =
        |id: &str, action: &str| format!("#change-rid_{id} form:has(input[value={action}]) input[name=when]");
    press("Done", "Call Anna about the flat");
    person.is_told("Done: ");
    contains_none(notes(), &["Call Anna"]);
    press("Skip this occurrence", "Bins out");
    person.is_told("Skipped");
    contains_all(notes(), &["date=2026-12-09 time=08:30 recur=weekly msg=\"Bins out\""]);
    press("Change", "Water the tomatoes");
    person.fill(&field("AAAAAAAAAAAA", "snooze"), &format!("2026-12-01 18:00{ENTER}"));
    person.is_told("Snoozed until");
    contains_all(notes(), &["time=18:00"]);
    press("Change", "Pay the rent");
    person.fill(&field("DDDDDDDDDDDD", "move"), "2026-12-06 11:00");
    person.press("Move", "Pay the rent");
    person.is_told("Moved");
    contains_all(notes(), &["date=2026-12-06 time=11:00"]);
}

fn a_line_comes_back_out_of_last_week(person: &Person<'_>) {
    person.go("/notes/Projects/Garden.md");
    person.keys_to("input[name=n]", &RIGHT.repeat(2));
    person.press("Show", "");
    person.tab.wait_for("Differences from the current version");
    person.tab.wait_for("24 Nov");
    person.press("Restore", "The tomatoes want water each morning.");
    person.tab.wait_for("Preview of the restore");
    let note = || person.sample.vault.read("Projects/Garden.md");
    assert!(note().contains("each evening"), "a look changes nothing");
    person.press("Restore now", "");
    person.is_told("is restored");
    // The line is back, and the one that a person wrote since stays beside it.
    contains_all(note(), &["each morning", "each evening"]);
}

fn an_operation_is_undone(person: &Person<'_>, visitor: &Visitor) {
    let saved = |one: &&Value| one["actor"] == "cli" && one["paths"] == json!(["MEMORY.md"]);
    let all = visitor.json("/history?actor=cli");
    let id = all.as_array().unwrap().iter().find(saved).expect("what was saved")["id"].as_str().unwrap();
    person.go("/history");
    person.press_css(&format!("main a[href='/history/{id}']"));
    person.tab.wait_for("Snapshot");
    person.press("Preview undo", "");
    person.tab.wait_for("Changes that would be undone");
    assert!(person.sample.vault.read("MEMORY.md").contains("spare key"), "a look changes nothing");
    person.press("Undo", "");
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
    person.press("Pause all automatic work", "");
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
