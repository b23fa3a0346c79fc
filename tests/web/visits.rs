//! The page in a real browser, as a person uses it: with scripts and without, by mouse and by keys, narrow and dark.

use crate::sample::{Sample, places};
use crate::served::{Served, with_call};
use crate::tab::Tab;

/// Writes a reminder by words, reads what was understood, and adds it.
fn add(tab: &Tab, words: &str) {
    tab.go("/");
    tab.fill("input[name=write]", &format!("{words}\u{e007}"));
    tab.press("Add", "");
    tab.wait(".said");
}

#[test]
fn what_can_not_be_understood_is_said_and_stays_in_the_field() {
    let vault = with_call();
    let served = Served::start(&vault);
    let Some(tab) = Tab::enter(&served) else { return };
    for scripts in [true, false] {
        tab.scripts(scripts);
        tab.go("/");
        tab.fill("input[name=write]", "someday maybe: Bob & Co\u{e007}");
        tab.wait(".hint");
        assert_eq!(tab.value("input[name=write]"), "someday maybe: Bob & Co");
    }
    tab.scripts(true);
    assert_eq!(vault.read("Reminders.md").matches("msg=").count(), 1);
}

#[test]
fn an_open_page_follows_the_notes_and_takes_nothing_from_whoever_reads_or_types() {
    let sample = Sample::still();
    let vault = &sample.vault;
    let served = sample.serve();
    let Some(tab) = Tab::enter(&served) else { return };
    // What was done is said on.
    add(&tab, "tomorrow 7am: Once");
    vault.write("Reminders.md", "- [ ] date=2026-12-02 time=09:30 recur=none msg=\"From the editor\"\n");
    tab.wait_for("From the editor");
    assert_eq!(tab.count(".said"), 1, "{}", tab.main());
    // What is open stays open, and what has the focus keeps it.
    tab.go("/memory");
    tab.press("is allergic to peanuts", "");
    tab.press("Forget", "is allergic to peanuts");
    vault.write("MEMORY.md", vault.read("MEMORY.md") + "- has a new line\n");
    tab.wait_for("has a new line");
    assert_eq!(tab.count("details.ask[open]"), 1, "{}", tab.main());
    assert_eq!(tab.eval("document.activeElement.textContent"), "Forget");
    // What is being typed stays.
    tab.go("/");
    tab.fill("input[name=write]", "tomorrow 8am: half a sent");
    vault.write("Reminders.md", "");
    tab.wait_text("#live", "what you typed is kept");
    assert_eq!(tab.value("input[name=write]"), "tomorrow 8am: half a sent");
    // And that the program is gone is said.
    served.kill();
    tab.wait_text("#live", "gone");
}

/// Widths in pixels, in light and dark.
const LOOKS: [(u32, bool); 6] =
    [(360, true), (1440, false), (360, false), (768, false), (768, true), (1440, true)];

#[test]
fn every_place_is_for_everybody() {
    let sample = Sample::new();
    let served = sample.serve();
    let Some(tab) = Tab::enter(&served) else { return };
    let mut all = places(&tab.source());
    assert!(all.len() > 1, "{all:?}");
    let listed = all.len();
    all.extend(["/calendar?week=2026-12-01", "/search?q=tomatoes", "/memory?kind=pins"].map(str::to_owned));
    all.extend(["/?write=tomorrow%209am%3A%20Tea", "/?write=nonsense", "/nowhere"].map(str::to_owned));
    all.extend(
        ["/notes/Projects/Garden.md?n=2", "/notes/Projects/Garden.md?n=2&view=side"].map(str::to_owned),
    );
    all.extend(["/routines/morning", "/calendar?month=2026-12", "/inbox?all=1"].map(str::to_owned));
    let visitor = served.visitor_of(&tab);
    for list in ["/turns", "/history"] {
        let id = visitor.json(list)[0]["id"].as_str().unwrap().to_owned();
        all.extend([format!("{list}/{id}"), format!("{list}/{id}?plan=undo")]);
    }
    let mut found = Vec::new();
    let mut complaints = Vec::new();
    for (at, path) in all.iter().enumerate() {
        tab.go(path);
        tab.wait("h1");
        // What lies below a place is looked at twice.
        let looks = if at < listed { &LOOKS[..] } else { &LOOKS[..2] };
        for &(width, dark) in looks {
            tab.look(width, dark);
            found.extend(tab.axe().iter().map(|line| format!("{path} {width} {dark}: {line}")));
            let wide =
                tab.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            if wide.as_i64() != Some(0) {
                found.push(format!("{path}: {wide} px beyond the right edge at {width}"));
            }
        }
        complaints.extend(
            tab.complaints()
                .into_iter()
                .filter(|line| !line.contains("/nowhere") && !line.contains("nonsense")),
        );
        let origin = format!("http://{}/", served.address);
        found.extend(tab.asked().into_iter().filter(|url| !url.starts_with(&origin)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Nothing sticks out, and no cell of a table is squeezed to a few letters, where text is twice as large.
#[test]
fn text_of_twice_the_size_has_room() {
    const SQUEEZED: &str = "[...document.querySelectorAll('main table:not(.month) td')].filter(cell => cell.textContent.trim() && \
         cell.clientWidth < 5 * parseFloat(getComputedStyle(cell).fontSize)).map(cell => cell.textContent.slice(0, 40))";
    let sample = Sample::new();
    let served = sample.serve();
    let Some(tab) = Tab::enter(&served) else { return };
    let mut found = Vec::new();
    for path in places(&tab.source())
        .iter()
        .map(String::as_str)
        .chain(["/routines/morning", "/calendar?week=2026-12-01"])
    {
        for width in [360, 768, 1024] {
            tab.look(width, false);
            tab.go(path);
            tab.wait("h1");
            tab.eval("(document.documentElement.style.fontSize = '200%', true)");
            let wide =
                tab.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            let squeezed = tab.eval(SQUEEZED);
            if wide.as_i64() != Some(0) || squeezed.as_array().is_none_or(|cells| !cells.is_empty()) {
                found.push(format!("{path} at {width}: {wide} px beyond the edge; squeezed: {squeezed}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn by_keys_alone() {
    let vault = with_call();
    let served = Served::start(&vault);
    let Some(tab) = Tab::enter(&served) else { return };
    tab.go("/");
    // The first stop of the Tab key is the way past the navigation.
    tab.keys("\u{e004}");
    assert!(tab.eval("document.activeElement.className === 'skip'").as_bool().unwrap());
    tab.keys("\u{e007}");
    let mut steps = 0;
    while tab.eval("document.activeElement.name").as_str() != Some("write") {
        tab.keys("\u{e004}");
        steps += 1;
        assert!(steps < 20, "the line to write into can't be reached");
    }
    assert!(tab.eval("getComputedStyle(document.activeElement).outlineStyle").as_str() != Some("none"));
    tab.keys("tomorrow 7am: By keys\u{e007}");
    tab.wait("section.plan");
    steps = 0;
    while !tab.eval("document.activeElement.closest('section.plan') !== null").as_bool().unwrap() {
        tab.keys("\u{e004}");
        steps += 1;
        assert!(steps < 40, "the plan's button can't be reached");
    }
    tab.keys("\u{e007}");
    tab.wait(".said");
    assert!(vault.read("Reminders.md").contains("By keys"));
}
