//! Recall over small memories of 1 to 30 lines: what answers is given, what doesn't answer is not.
//!
//! `small/held.txt` has questions that no weight was fitted on, `small/fit.txt` those to fit on.
#![allow(clippy::print_stdout)]

use vault_agent::search::MemoryPrompt;

use crate::support::TestVault;

/// Asks all of a set: how many answers were given of how many, how many were given where there is none, of how many.
fn ask(text: &str) -> [usize; 4] {
    let [mut found, mut answerable, mut wrong, mut unanswerable] = [0; 4];
    for set in text.split("\n=== ").skip(1) {
        let (name, rest) = set.split_once('\n').unwrap();
        let (asked, notes): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.starts_with("? "));
        let head = if notes[0].starts_with("//- ") { "" } else { "//- MEMORY.md\n" };
        let (fixture, vault) = (format!("{head}{}\n", notes.join("\n")), TestVault::new(""));
        let after_init = fixture.strip_prefix("//- init\n");
        if after_init.is_some() {
            let _ = vault.run(&["init"]).ok();
        }
        vault.add(after_init.unwrap_or(&fixture));
        let recall = crate::recall::open(&vault.root(), &vault.cache());
        for line in asked {
            let (question, answer) = line[2..].split_once(" => ").unwrap();
            let given = recall.recall(&MemoryPrompt::new(question, 400)).unwrap();
            let digest = given.digest.unwrap_or_default();
            let is_known = answer != "NONE";
            let is_right =
                if is_known { digest.contains(answer) } else { digest.is_empty() && given.hits.is_empty() };
            answerable += usize::from(is_known);
            unanswerable += usize::from(!is_known);
            found += usize::from(is_known && is_right);
            wrong += usize::from(!is_known && !is_right);
            if !is_right {
                println!("{name}: {question} => {answer}, not {digest:?}");
            }
        }
    }
    println!("{found} of {answerable} found, {wrong} of {unanswerable} false");
    [found, answerable, wrong, unanswerable]
}

#[track_caller]
fn holds(text: &str) {
    let [found, answerable, wrong, unanswerable] = ask(text);
    assert!(found * 100 >= answerable * 95, "{found} of {answerable} are found");
    assert!(wrong * 100 <= unanswerable * 5, "{wrong} of {unanswerable} are false");
}

#[test]
fn a_small_memory_answers_what_it_knows_and_nothing_else() {
    holds(include_str!("small/held.txt"));
}

#[test]
fn a_small_memory_answers_the_questions_that_were_fitted_on() {
    holds(include_str!("small/fit.txt"));
}
