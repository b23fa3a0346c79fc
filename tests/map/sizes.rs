//! Folders and files stay small enough to be read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::modules::Modules;

/// More source files than this in one folder want inner folders, beside its `mod.rs`.
const FILES_IN_A_FOLDER: usize = 15;
/// A longer file is two.
const LINES_OF_A_FILE: usize = 400;

#[test]
fn a_folder_has_no_more_files_than_one_sees() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in Modules::all().files.values() {
        let (folder, name) = file.rsplit_once('/').expect("a folder");
        if name != "mod.rs" {
            *counts.entry(folder.to_owned()).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > FILES_IN_A_FOLDER);
    assert!(counts.is_empty(), "files in a folder: {counts:#?}");
}

#[test]
fn a_file_has_no_more_lines_than_one_reads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in Modules::all().files.values() {
        let lines = fs::read_to_string(root.join(file)).expect("a source file").lines().count();
        assert!(lines <= LINES_OF_A_FILE, "{file} has {lines} lines");
    }
}

/// The lines of code of each room: without tests, comments and blank lines. One is raised only with a reason beside it.
/// Names that say what a thing is are longer, and rustfmt breaks more lines: that raised eleven of them by 50 or 100.
const CODE_LINES: &[(&str, usize)] = &[
    ("agenda", 450),
    // A request that no brain answered is made again from the journal; one that can't be made again says why.
    // What others said, in logs and in memories, counts as read.
    // A brain that was still being asked at a turn's end has failed, too.
    // Working memory and a turn ask the same code what is untrusted, and a stopped call counts.
    // A program's key stays out of its calls, too.
    ("agent", 5560),
    // Ids of calls that another server repeats are told apart, and a key is found behind JSON's escapes.
    // Signs of life are told from a part of an answer.
    // A request is made again with the settings of its time, and a login that is missing is asked for again.
    ("brain", 3900),
    // What `undo` brings back of a "no" is a question, too.
    // A sentence doesn't end with an abbreviation.
    ("capture", 1750),
    // `status` lists what is late.
    // `run` knows a vault that isn't mounted, and what can't be written is named.
    // A pipe that nobody writes to is refused before a call.
    // What can't be made of a template doesn't stop the rest, and a current folder that was deleted is named.
    // What can't be read hides nothing else from `status`, `check`, `agenda` and `tick`.
    // A zone that isn't this machine's is said, and no vault holds its own state.
    // Each command that writes reminders confirms them.
    // A path that isn't there, a folder that may not be read and a broken routine are told apart from having nothing.
    ("cli", 7450),
    // The rule for a brain's address moved here from `doctor`, since `setup` keeps it, too.
    // The state of a vault that was moved is found.
    // The patterns of three tables are read here, and a list in a table's place is refused.
    // The rule for paths moved here from `vault`, since the settings keep it, too; each path belongs to one setting.
    // A pipe in the place of a state file is refused, and a state directory is its owner's alone.
    // The variables of this program's own keys are listed here alone.
    // A provider of vectors is checked as a reranker's is, and the settings are no link out of the vault.
    // A key that stands twice is named.
    ("config", 2510),
    ("confine", 1750),
    // A line counts as removed only where the copy surely had it.
    // A reminder that one side moved and the other reworded is one line.
    // A merge that was killed isn't made again, and a follow-up is merged as one.
    ("conflicts", 400),
    // A running turn outlives changed settings.
    ("daemon", 2000),
    // What a place gets in two messages is told there once.
    // A run says why its answer is not delivered yet.
    // A machine that can't use a notifier leaves it to the others.
    // A place that refuses an answer for good ends it; a button acts once.
    // A task that stands ticked in another note wasn't moved from there.
    // The words that another machine told are known by their hash, and a key depends on no line of one copy alone.
    // A conflict copy of the reminders, or their note under a name in other letters, is a notification.
    // Confirmations are sent alone by what isn't the scheduler, and several lines in one.
    // A line that stood in the note before its minute is on time, and a clock that went back looks a day further.
    // A copy that waited for a later pass says how late it is.
    ("deliver", 5860),
    // The bot carries out `/status`, `/undo` and `/routine` itself; the daemon, which did, is the smaller for it.
    // Refusals for good, interactions and presses that come twice, and progress messages that stay have an end.
    // Nobody else stands in a log under an owner's name.
    // An edit stands in the window of its message, and a lane that ends writes what the log alone has.
    ("discord", 4900),
    // It names the state of a vault that was moved, and why the history is not pushed.
    // A notifier that is left to other machines is named.
    // What would fail only when it is used is named: folders, followed folders, the reranker, keys of skills, hooks.
    // It names a note of reminders that was moved, and a state file that may not be written.
    // A note called `Reminders.md` is ours only with reminders in it.
    // What can't be read of a restore or of the files left out is named, and takes no other finding with it; notes that
    // are only named like copies are named.
    // An instant is shown in the vault's zone.
    ("doctor", 1330),
    ("embed", 1220),
    // A file whose lines end with CR alone is read; a change of line endings is said. What makes text of a model harmless
    // moved here from `memory`, since reminders use it, too. JSON that other programs cut by the letter is read; a question
    // that lost its id is a near miss.
    // Halves of a character in two events of an answer are joined. Fences follow the lists and quotes that they stand in.
    // The line ends of a note are those of what comes back, and a model's text holds no task.
    // Hours before a task's time are counted on instants, and a follow-up's number may be a hash.
    // A property of TaskNotes bears any name, and what a message says now is read from its log's events.
    // The rules for local times at changes of the clocks moved here from `schedule`, since task lines keep them, too.
    // Kanban's dates are written as they were read, and code behind a formula's signs is judged.
    ("format", 6450),
    // Commits are ruled out by their raw message, so that a filtered page of history walks quickly. A part that comes back
    // has its blank lines, and a note is brought back only if it is still the one that the form was made for.
    // An undo finds a line's place by the lines around it that still stand, and leaves a heading that others use.
    // A commit names what it holds of a restore, and the next restore finds what was missed.
    // A walk goes through joined histories, too; an undo tells follow-ups apart, and a time that was set back is seen.
    // An undo tells bullets with alike lines below them apart.
    // `audit` knows a log that a person moved.
    // Notes that wait for a merge are left alone by restores and undos.
    ("history", 5500),
    // A setting of ours is told from the file as it was.
    // A log is found in any folder, a late sub-agent too, and keys are masked in text of any encoding.
    // A pin gives the whole block, list or table that it links to.
    ("hooks", 3500),
    // A state directory that was deleted is named.
    ("instance", 170),
    // The loop that takes connections is one for the page and MCP, and came from `web`.
    ("listen", 200),
    // What another machine dropped is named with it.
    // The hash of told words is in a claim.
    ("machines", 3200),
    // What notes say is marked in errors, too, and nothing invisible is left in it.
    ("mcp", 3110),
    // A form about an older follow-up changes nothing; one about a fact means its exact words, and no edit loses bytes.
    // Working memory says whether its conversation read what others wrote.
    // A pin goes along with the memory that is promoted.
    ("memory", 2250),
    // Escapes before a token are no part of its word, and no text takes quadratic time.
    // Names of passwords in more languages, and five more commands.
    ("redact", 1200),
    // A task that was snoozed becomes two reminders: its snooze, and its own days. A time that is due and was not told yet is
    // the next one of what comes again.
    // What was told and is snoozed keeps an id by which a second Snooze and Done find it.
    // A line that stands twice is named.
    ("reminders", 850),
    ("rerank", 200),
    // A copied note is told from a new one.
    ("routines", 1500),
    ("schedule", 550),
    // Each answer names the folders that could not be read, and is given after a look at the open files. Signs, tools'
    // words and lone characters are found, pins leave room for finds, and the operators of a long query hold.
    // A question over many blocks keeps to threads that share it out, and what every block of a note has is bounded.
    // So is each note that can't be read, which is tried again with each question.
    // What another process has made anew is left, a run of characters is one word, and what comes along with a memory
    // passes the filters.
    // Rows of the catalog have checksums, since SQLite doesn't sum up its log again.
    ("search", 10450),
    ("setup", 1400),
    // `words.rs` declares the enums of all rooms, and `sqlite.rs` opens the database files of three.
    // A notifier that this machine can't use keeps its name among several machines.
    // A journal asks for room on its disk.
    // A notifier whose place the console took is named.
    ("src", 1300),
    // What a summary was made from stands in its head as a hash, and a note that a person edited is left.
    ("summary", 1600),
    // Lines of a note with the same words are told apart, and a time is left out with all dates of its line.
    // An alarm that would be over is left out of a next line.
    ("tasks", 1100),
    // What can't be read in a followed folder is no deletion.
    ("transfer", 2050),
    // Results of tools are shortened until a request fits its brain.
    ("turn", 2250),
    // The edit journal keeps the form that older builds wrote. Each edit lets go what swaps kept for their minute.
    // A note whose lines may still be on their way is known. What both sides of a merge added stays whole.
    // A note without its name keeps its journal entry, and no hard links are needed.
    // Copies of rclone and Unison, and names in other letters, are known.
    ("vault", 3950),
    // Counting bits is inlined into both versions, and waits for memory go on at once: an eighth of a question's time.
    ("vector_loops", 110),
    // So it is with the questions that are asked on the page.
    // Links of notes lead to headings, footnotes and blocks, and files that are no notes are shown as they are.
    // What was said back is what is saved, a deleted state ends all sessions, and a form is refused with what was typed.
    // A process ends open questions of others once, and connections have a bound.
    // A form that is sent again says so, an old version keeps its address, and nothing typed is lost with a session.
    ("web", 4720),
    ("when", 1650),
    // The last good settings are told from defaults that are meant.
    ("workspace", 240),
];

#[test]
fn a_room_has_no_more_code_than_is_known() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for file in Modules::all().files.values().filter(|file| !file.ends_with("tests.rs")) {
        let room =
            file.strip_prefix("src/").and_then(|file| file.split_once('/')).map_or("src", |(room, _)| room);
        let text = fs::read_to_string(root.join(file)).expect("a source file");
        *found.entry(room.to_owned()).or_default() += code_lines(&text);
    }
    let known: BTreeMap<&str, usize> = CODE_LINES.iter().copied().collect();
    let more: Vec<String> = found
        .iter()
        .filter(|(room, lines)| known.get(room.as_str()).is_none_or(|most| *lines > most))
        .map(|(room, lines)| format!("{room}: {lines}, and at most {:?} are known", known.get(room.as_str())))
        .collect();
    assert!(more.is_empty(), "lines of code:\n{}", more.join("\n"));
}

/// The lines of a file that are neither blank, nor a comment, nor part of a `#[cfg(test)]` item.
fn code_lines(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test") {
            let Some(item) = lines.find(|line| !line.trim_start().starts_with("#[")) else { break };
            let indent = &item[..item.len() - item.trim_start().len()];
            if !item.ends_with(';') {
                lines.find(|line| line.strip_prefix(indent) == Some("}"));
            }
        } else if !code.is_empty() && !code.starts_with("//") {
            count += 1;
        }
    }
    count
}
