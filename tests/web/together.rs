//! Two tabs and an editor at the same line: nobody's words are lost, and each is told what is so now.

use crate::sample::Sample;
use crate::served::Visitor;
use crate::tab::Tab;

/// The fact's form of a tab, with other words typed into it.
fn typed(visitor: &Visitor, words: &str) -> crate::forms::Form {
    visitor.form("/memory", "edit", "is allergic to peanuts").with("text", words)
}

#[test]
fn what_an_editor_wrote_meanwhile_wins_and_what_was_typed_stays() {
    let (sample, _served, visitor) = Sample::still().visited();
    let (first, second) = (typed(&visitor, "eats no nuts at all"), typed(&visitor, "eats only walnuts"));
    let edited =
        sample.vault.read("MEMORY.md").replace("is allergic to peanuts", "is allergic to peanuts and sesame");
    sample.vault.write("MEMORY.md", &edited);
    for (form, words) in [(&first, "eats no nuts at all"), (&second, "eats only walnuts")] {
        let reply = visitor.submit(form);
        assert!(matches!(reply.status, 400 | 404 | 409), "{}", reply.status);
        assert!(reply.text().contains("sesame"), "it says what is there now: {}", reply.text());
        assert!(reply.text().contains(words) || reply.text().contains("role=\"alert\""), "{}", reply.text());
        assert_eq!(sample.vault.read("MEMORY.md"), edited);
    }
}

#[test]
fn of_two_tabs_the_first_one_wins_and_the_second_is_told() {
    let (sample, _served, visitor) = Sample::still().visited();
    let (first, second) = (typed(&visitor, "eats no nuts"), typed(&visitor, "eats walnuts"));
    let _ = visitor.submit(&first).is(303);
    let after = sample.vault.read("MEMORY.md");
    assert!(after.contains("eats no nuts"));
    let late = visitor.submit(&second);
    assert!(late.status >= 400 && late.text().contains("eats no nuts"), "{}: {}", late.status, late.text());
    assert_eq!(sample.vault.read("MEMORY.md"), after);
}

#[test]
fn what_was_refused_stays_on_the_page_while_notes_change() {
    let sample = Sample::still();
    let served = sample.serve();
    let Some(tab) = Tab::enter(&served) else { return };
    tab.go("/memory");
    tab.press("is allergic to peanuts", "");
    let field = "details[open] textarea[name=text]";
    tab.fill(field, "eats no nuts at all");
    let edit = |words: &str| {
        let note = sample.vault.read("MEMORY.md");
        sample.vault.write("MEMORY.md", note.replace("is allergic to peanuts", words));
    };
    edit("is allergic to peanuts and sesame");
    // The line that says so moves the page down: a click before it may miss the button.
    tab.wait_text("#live", "what you typed is kept");
    tab.click("details[open] form:has(textarea) button");
    tab.wait_text("div.refused", "sesame");
    assert_eq!(tab.value(field), "eats no nuts at all");
    edit("is allergic to peanuts, walnuts");
    tab.wait_text("#live", "what you typed is kept");
    assert_eq!(tab.value(field), "eats no nuts at all");
    assert!(sample.vault.read("MEMORY.md").contains("walnuts and sesame"));
}

#[test]
fn a_second_tab_follows_what_the_first_one_does() {
    let sample = Sample::still();
    let served = sample.serve();
    let Some(tab) = Tab::enter(&served) else { return };
    tab.go("/inbox");
    tab.wait_for("green tea");
    let (first, second) = tab.second();
    tab.go("/inbox");
    tab.wait_for("green tea");
    tab.press("Drop", "green tea");
    tab.wait(".said");
    tab.switch(&first);
    tab.wait_until("the entry is gone from the first tab", |main| {
        !main.is_empty() && !main.contains("green tea")
    });
    tab.switch(&second);
    let inbox = sample.vault.read("Inbox.md");
    assert!(!inbox.split("%%").next().unwrap().contains("green tea"), "{inbox}");
}
