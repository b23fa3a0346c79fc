//! Summaries of a log, killed at every step of their writing: each is there whole or not at all, once, and what goes on
//! writes what an undisturbed run would have written.

use crate::memory::rig::*;
use vault_agent::summary::{DueScope, Summaries, SummaryText};

use crate::vault::help::{CREATE, IN_PLACE};

const LOG: &str = "logs/discord-channel/7/20261101T090000Z_0001.md";
const FOLDER: &str = "summaries/discord-channel/7/20261101T090000Z_0001";

/// Enough for five leaves and one above four of them.
fn log() -> String {
    let mut text = LOG_HEAD.to_owned();
    for at in 0..120 {
        let kind = if at % 2 == 0 { "user" } else { "agent" };
        let filler = "It goes on and on for a while, as talk does. ".repeat(if at < 54 { 180 } else { 1 });
        let minute = format!("2026-11-01T{:02}:{:02}:00Z", 9 + at / 60, at % 60);
        let words = format!("Message {at} says this. {filler}");
        text += &event(&format!("{kind}] {minute} Ann"), &words, &format!("M{at:05}"));
    }
    text
}

fn workspace(root: &Path, now: &str) -> Workspace {
    let workspace = support::workspace(root, Arc::new(ManualClock::new(now.parse().unwrap())));
    workspace.editor.recover().unwrap();
    workspace
}

/// Writes all that is due.
fn settle(workspace: &Workspace) {
    let summaries = Summaries::of(workspace);
    let name = summaries.logs().unwrap().pop().unwrap().0;
    loop {
        let due = summaries.due(&name, DueScope::All).unwrap();
        if due.is_empty() {
            return;
        }
        for one in due {
            summaries.write(&name, &one, &SummaryText::extract(&one), workspace.clock.now()).unwrap();
        }
    }
}

fn root() -> Folder {
    let folder = Folder::new(&[]);
    folder.write(LOG, log());
    folder
}

/// Everything in the folder of summaries, whatever it is called.
fn notes(root: &Path) -> BTreeMap<String, String> {
    let folder = root.join("vault").join(FOLDER);
    let read = |name: String| (name.clone(), std::fs::read_to_string(folder.join(name)).unwrap());
    names_in(&folder).into_iter().map(read).collect()
}

#[test]
fn what_a_plugin_would_run_is_text_in_a_summary() {
    let folder = root();
    let workspace = workspace(folder.dir(), "2026-12-02T09:30:00Z");
    let summaries = Summaries::of(&workspace);
    let name = summaries.logs().unwrap().pop().unwrap().0;
    let due = summaries.due(&name, DueScope::All).unwrap().remove(0);
    let text = "Said:\n```dataviewjs\nx()\n```\n<!-- `$= x()` %%% gone".to_owned();
    let written = SummaryText { text, ..SummaryText::extract(&due) };
    let note = summaries.write(&name, &due, &written, workspace.clock.now()).unwrap();
    assert_eq!(note.summary.text, "Said:\n```text dataviewjs\nx()\n```\n<! -- `\\$= x()` % % % gone");
}

#[test]
fn what_a_person_writes_while_a_summary_is_made_stays() {
    let folder = root();
    let workspace = workspace(folder.dir(), "2026-12-02T09:30:00Z");
    settle(&workspace);
    let gone = format!("deleted [[{}#^M00003]]", LOG.trim_end_matches(".md"));
    folder.write(LOG, log() + &event("system] 2026-12-01T09:00:00Z", &gone, "M99999"));
    let summaries = Summaries::of(&workspace);
    let name = summaries.logs().unwrap().pop().unwrap().0;
    let due = summaries.due(&name, DueScope::All).unwrap().remove(0);
    let note = due.replaces.clone().unwrap().path;
    let mine = folder.read(&note) + "\nMY OWN WORDS\n";
    folder.write(&note, &mine);
    let written = summaries.write(&name, &due, &SummaryText::extract(&due), workspace.clock.now());
    assert!(written.unwrap_err().to_string().contains("stays as it is"));
    assert_eq!(folder.read(&note), mine);
}

#[test]
fn child() {
    let Some((_, root)) = doomed() else { return };
    settle(&workspace(&root, "2026-12-02T09:30:00Z"));
}

/// Kills the child at a step, and looks: what is there is whole and true, and the rest comes.
fn is_whole(prepare: &dyn Fn() -> Folder, points: &str, rounds: &[usize]) -> usize {
    let undisturbed = prepare();
    settle(&workspace(undisturbed.dir(), "2026-12-02T09:30:00Z"));
    let wanted = notes(undisturbed.dir());
    let mut killed = 0;
    for point in points.split(' ') {
        for round in rounds {
            let folder = prepare();
            let before = notes(folder.dir());
            killed += usize::from(killed_at(&child, "settle", point, *round, folder.dir()));
            let workspace = workspace(folder.dir(), "2026-12-02T09:30:00Z");
            let found = notes(folder.dir());
            for (name, text) in &found {
                let is_one = wanted.get(name) == Some(text) || before.get(name) == Some(text);
                assert!(is_one, "{point} {round}: `{name}` is neither as it was nor as wanted:\n{text}");
            }
            let verified = Summaries::of(&workspace).verify().unwrap();
            assert_eq!((verified.bad, verified.summaries), (vec![], found.len()), "{point} {round}");
            settle(&workspace);
            assert_eq!(notes(folder.dir()), wanted, "{point} {round}");
        }
    }
    killed
}

#[test]
fn a_killed_write_leaves_a_whole_summary_or_none() {
    assert_eq!(is_whole(&root, CREATE, &[1, 3, 6]), CREATE.split(' ').count() * 3);
}

#[test]
fn a_killed_rewrite_leaves_the_old_summary_or_the_new_one() {
    // A message was taken back after its summary was made.
    let outdated = || {
        let folder = root();
        settle(&workspace(folder.dir(), "2026-11-20T09:30:00Z"));
        let gone = format!("deleted [[{}#^M00003]]", LOG.trim_end_matches(".md"));
        folder.write(LOG, log() + &event("system] 2026-12-01T09:00:00Z", &gone, "M99999"));
        folder
    };
    let killed = is_whole(&outdated, IN_PLACE, &[1, 2]);
    // What fits into one write is never half written, nor cut.
    assert!(killed >= (IN_PLACE.split(' ').count() - 2) * 2, "{killed}");
}
