//! Recall over small memories of 1 to 30 lines: what answers is given, what doesn't answer is not.
//!
//! `small/held.txt` has questions that no weight was fitted on, `small/fit.txt` those to fit on.
#![allow(clippy::print_stdout)]

use vault_agent::search::MemoryPrompt;

use crate::support::TestVault;

/// A question, and the words that its answer holds; none where the memory knows no answer.
struct Asked<'a> {
    question: &'a str,
    answer: Option<&'a str>,
}

/// The vaults of a set with their questions: name, fixture, questions.
fn sets(text: &str) -> Vec<(&str, String, Vec<Asked<'_>>)> {
    let mut sets = Vec::new();
    for set in text.split("\n=== ").skip(1) {
        let (name, rest) = set.split_once('\n').unwrap();
        let (mut notes, mut asked) = (String::new(), Vec::new());
        for line in rest.lines() {
            match line.strip_prefix("? ") {
                Some(line) => {
                    let (question, answer) = line.split_once(" => ").unwrap();
                    asked.push(Asked { question, answer: Some(answer).filter(|answer| *answer != "NONE") });
                }
                None => notes.extend([line, "\n"]),
            }
        }
        if !notes.starts_with("//- ") {
            notes.insert_str(0, "//- MEMORY.md\n");
        }
        sets.push((name, notes, asked));
    }
    sets
}

/// Asks all of a set: how many answers were given of how many, how many were given where there is none, of how many.
fn ask(text: &str) -> [usize; 4] {
    let [mut found, mut answerable, mut wrong, mut unanswerable] = [0; 4];
    for (name, notes, asked) in sets(text) {
        let (is_new, notes) = match notes.strip_prefix("//- init\n") {
            Some(notes) => (true, notes.to_owned()),
            None => (false, notes),
        };
        let vault = TestVault::new("");
        if is_new {
            let _ = vault.run(&["init"]).ok();
        }
        for note in notes.split("//- ").filter(|note| !note.trim().is_empty()) {
            let (path, text) = note.split_once('\n').unwrap();
            vault.write(path, text);
        }
        let recall = crate::recall::open(&vault.root(), &vault.cache());
        for Asked { question, answer } in asked {
            let given = recall.recall(&MemoryPrompt::new(question, 400)).unwrap();
            let digest = given.digest.unwrap_or_default();
            if let Some(answer) = answer {
                answerable += 1;
                if digest.contains(answer) {
                    found += 1;
                } else {
                    println!("{name}: {question} => {answer}, not {digest:?}");
                }
            } else {
                unanswerable += 1;
                if !digest.is_empty() || !given.hits.is_empty() {
                    wrong += 1;
                    println!("{name}: {question} => NONE, not {digest:?}");
                }
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
