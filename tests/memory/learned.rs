//! A line of the inbox that is kept, killed at every step: one fact, one state of the line, whoever goes on.
//!
//! A child of this binary keeps a line by its id, or carries out a tick, and aborts at a failpoint, in the first, second or
//! third edit that passes it. Then the daemon's look ([`Inbox::settle`]) or the person's second try goes on.

use vault_agent::capture::{HUMAN, Inbox, InboxError};
use vault_agent::format::candidate::{self, CandidateState};

use crate::memory::rig::*;
use crate::vault::help::{CREATE, IN_PLACE};

/// What lies between two edits, and nothing.
const BETWEEN: &str = "memory::keep::written capture::keep::between capture::keep::unticked none";

const ID: &str = "cap_K5V4M2J7Q2ZP";
const OTHER: &str = "cap_AAAAAAAAAAAA";
const LINK: &str = "[[logs/a#^X]]";
const FACT: &str = "likes green tea; and coffee";

/// The inbox with a line that is asked, and another that nobody answers.
fn inbox(mark: char, change: &str) -> String {
    let line = |id: &str, mark: char, text: &str, change: &str| {
        format!("- [{mark}] [preferences] Anna: {text} · \"tea\" {LINK}{change} {id}")
    };
    let record = " asked=2026-11-30T09:00:00Z by=rules";
    let (now, asked) = (line(ID, mark, FACT, change), line(ID, ' ', FACT, change));
    let (other, head) =
        (line(OTHER, ' ', "likes bees", ""), "a line that stands here and not above is not asked again");
    format!("# Inbox\n\n{now}\n{other}\n\n%% asked before: {head}\n{asked}{record}\n{other}{record}\n%%\n")
}

/// What a child is: it arms the failpoint and does its work.
#[test]
fn child() {
    let Some((role, root)) = doomed() else { return };
    work(&Rig::at(&root), &role);
}

fn work(rig: &Rig, role: &str) {
    let inbox = Inbox::new(rig.memory());
    if role == "look" {
        let problems = inbox.settle(now()).unwrap().problems;
        assert!(problems.is_empty(), "{problems:?}");
    } else if let Err(error) = inbox.keep(ID, None, HUMAN, now(), &origin()) {
        assert!(matches!(error, InboxError::Over(_, true)), "{error}");
    }
}

/// How often the fact stands in memory, and how the line stands with it.
fn found(rig: &Rig) -> (usize, Option<CandidateState>, usize) {
    let file = candidate::parse(rig.text("Inbox.md").as_bytes());
    let mut all = file.all();
    all.retain(|(_, one)| one.id == ID);
    assert!(all.len() <= 1, "one line: {}", rig.text("Inbox.md"));
    let lines = file.lines.iter().filter(|line| line.candidate.id == ID).count();
    (rig.text("MEMORY.md").matches(FACT).count(), all.first().map(|(state, _)| *state), lines)
}

/// Kills one way of keeping at every step, and lets the other and the same go on.
fn is_once(memory: Option<&str>, mark: char, change: &str, role: &str, wanted: &str) {
    let mut killed = 0;
    for point in [IN_PLACE, CREATE, BETWEEN].iter().flat_map(|points| points.split(' ')) {
        for round in 1..=3 {
            let rig = Rig::new(&[("Inbox.md", &inbox(mark, change))]);
            if let Some(memory) = memory {
                rig.write("MEMORY.md", memory);
            }
            let died = killed_at(&child, role, point, round, rig.dir());
            killed += usize::from(died);
            rig.editor.recover().unwrap();
            let told =
                || format!("{role} {point} {round}\n{}\n{}", rig.text("MEMORY.md"), rig.text("Inbox.md"));
            let (facts, state, lines) = found(&rig);
            assert!(facts <= 1, "doubled: {}", told());
            assert_eq!(state == Some(CandidateState::Kept), lines == 0, "{}", told());
            assert!(facts == 1 || lines == 1, "neither asked nor kept: {}", told());
            // A tick that nobody carried out is carried out; an open line without its fact is still asked.
            ["look", role, "look"].iter().for_each(|again| work(&rig, again));
            assert_eq!(found(&rig), (1, Some(CandidateState::Kept), 0), "{}", told());
            assert_eq!(rig.text("MEMORY.md"), wanted, "{}", told());
            assert!(rig.text("Inbox.md").matches(OTHER).count() == 2, "the other waits: {}", told());
            if !died {
                break;
            }
        }
    }
    assert!(killed > 10, "only {killed} were killed");
}

#[test]
fn a_line_that_is_kept_is_one_fact_whatever_is_killed() {
    let memory = "# Memory\n\n## Anna\n- old\n";
    let wanted = format!("{memory}- [2026-12-01 09:30] {FACT} {LINK}\n");
    is_once(Some(memory), ' ', "", "keep", &wanted);
    is_once(Some(memory), 'x', "", "look", &wanted);
}

#[test]
fn the_first_fact_of_a_vault_is_one_whatever_is_killed() {
    let rig = Rig::new(&[("Inbox.md", &inbox('x', ""))]);
    work(&rig, "look");
    is_once(None, 'x', "", "look", &rig.text("MEMORY.md"));
}

#[test]
fn what_takes_the_place_of_a_fact_does_so_once() {
    let memory = "## Anna\n- likes walks [[logs/b#^Y]]\n";
    let struck = format!("## Anna\n- ~~likes walks [[logs/b#^Y]]~~ until 2026-12-01 {LINK}\n");
    let struck = format!("{struck}- [2026-12-01 09:30] {FACT} {LINK}\n");
    is_once(Some(memory), 'x', " replaces \"likes walks\"", "look", &struck);
    let joined = format!("## Anna\n- likes walks; {FACT} [[logs/b#^Y]] {LINK}\n");
    is_once(Some(memory), ' ', " joins \"likes walks\"", "keep", &joined);
}
