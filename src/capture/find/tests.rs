//! Measures the rules of capture on labelled messages, whose texts aren't in the repository: see `labels/README.md`.

use std::collections::HashMap;

use serde::Deserialize;

use super::rules;

#[derive(Deserialize)]
struct Message {
    id: String,
    held: bool,
    day: jiff::civil::Date,
    text: String,
}

/// A set's name, the ids in it with their labels.
fn labels() -> Vec<(&'static str, &'static str, &'static str)> {
    let line = |line: &'static str| {
        let mut parts = line.split('\t');
        (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap())
    };
    include_str!("labels/labels.tsv").lines().map(line).collect()
}

#[test]
#[ignore = "a measurement; needs the texts: labels/README.md"]
fn how_much_is_worth_keeping() {
    let Ok(path) = std::env::var("MESSAGES") else { return println!("MESSAGES isn't set") };
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<Message> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_asked = |message: &Message| !rules::extract(&message.text, message.day).is_empty();
    for (name, held) in [("fit", false), ("held out", true)] {
        let messages: Vec<&Message> = all.iter().filter(|message| message.held == held).collect();
        let asked = messages.iter().filter(|message| is_asked(message)).count();
        println!("{name}: {asked} of {} messages asked", messages.len());
    }
    let by_id: HashMap<&str, &Message> = all.iter().map(|message| (message.id.as_str(), message)).collect();
    for set in ["fit", "fit-2", "drawn", "wide", "mixed", "asked", "asked-2"] {
        let of_set = labels().into_iter().filter(|(name, ..)| *name == set);
        let (mut asked, mut right, mut worth) = (0, 0, 0);
        for (_, id, label) in of_set {
            let message = by_id[id];
            worth += usize::from(label == "keep");
            if is_asked(message) {
                asked += 1;
                right += usize::from(label == "keep");
            } else if label == "keep" {
                println!("  missed: {}", message.text.replace('\n', " "));
            }
        }
        println!("{set}: {asked} asked, {right} of them worth keeping; {worth} worth keeping");
    }
}
