//! Grammar and parser can't drift apart: sentences made from the ABNF files parse as what they were made of,
//! and near them nothing panics.
//!
//! Where a grammar can't say something (a date exists, a field stands once), the sentence is thrown away by a
//! rule of this file's own, not by the parser under test.

use crate::support::prelude::*;
use jiff::civil::{Date, DateTime};
use vault_agent::format::{
    approval, candidate, commitment, daily, log, memory, pinned,
    reminder::{self, ParsedLine},
    routine, skill, summary, working_memory,
};

use super::abnf::{Generator, Grammar, Sentence};

/// Checks `count` sentences of a rule that hold to what the grammar can't say.
fn sentences(rule: &str, count: usize, holds: impl Fn(&Sentence) -> bool, check: impl Fn(&Sentence)) {
    let grammar = Grammar::of_this_repository();
    let mut generator = Generator::new(&grammar, 20_261_120);
    let random = (0..count * 2_000).map(|_| generator.sentence(rule));
    let mut holding = random.filter(|sentence| dates_exist(sentence) && holds(sentence));
    for checked in 0..count {
        check(&holding.next().unwrap_or_else(|| panic!("only {checked} sentences of {rule} hold")));
    }
}

/// Checks `count` sentences of a rule.
fn every(rule: &str, count: usize, check: impl Fn(&Sentence)) {
    sentences(rule, count, |_| true, check);
}

/// Every date of a sentence is in the calendar, and in the years where instants can be, too.
fn dates_exist(sentence: &Sentence) -> bool {
    let exists = |date: &&str| date.parse::<Date>().is_ok_and(|date| (1..9999).contains(&date.year()));
    sentence.all("date").iter().all(exists)
}

fn once(sentence: &Sentence, rules: &[&str]) -> bool {
    rules.iter().all(|rule| sentence.all(rule).len() == 1)
}

fn at_most_once(sentence: &Sentence, rules: &[&str]) -> bool {
    rules.iter().all(|rule| sentence.all(rule).len() <= 1)
}

/// What stands between the quotes, by the words of the grammar.
fn unescaped(sentence: &Sentence) -> String {
    // A lone backslash and the escape after it may have met: `\` `x` is itself, `\` before `\"` is not.
    let parts = sentence.all("msg-char").into_iter();
    parts.map(|part| if matches!(part, "\\\"" | "\\\\") { &part[1..] } else { part }).collect()
}

#[test]
fn reminder_lines() {
    let holds = |s: &Sentence| {
        once(s, &["date-field", "time-field", "recur-field", "msg-field"])
            && at_most_once(s, &["id-field", "day-field"])
    };
    sentences("reminder-line", 400, holds, |sentence| {
        let ParsedLine::Reminder(read) = reminder::parse_line(sentence.text.as_bytes()) else {
            panic!("{}: {:?}", sentence.text, reminder::parse_line(sentence.text.as_bytes()));
        };
        assert_eq!(Some(read.date.to_string().as_str()), sentence.first("date"));
        assert_eq!(Some(read.time.strftime("%H:%M").to_string().as_str()), sentence.first("time"));
        assert_eq!(Some(read.recur.name()), sentence.first("recur"));
        assert_eq!(read.msg, unescaped(sentence), "{}", sentence.text);
        assert_eq!(read.id.map(|id| id.to_string()).as_deref(), sentence.first("reminder-id"));
        assert_eq!(read.day.map(|day| format!("day={day}")).as_deref(), sentence.first("day-field"));
        assert_eq!(read.block_id.as_deref(), sentence.first("block-id"));
    });
}

#[test]
fn canonical_lines_are_written_as_they_were() {
    let plain = |s: &Sentence| !s.text.contains('\\');
    sentences("canonical-line", 400, plain, |sentence| {
        let ParsedLine::Reminder(read) = reminder::parse_line(sentence.text.as_bytes()) else {
            panic!("{}", sentence.text);
        };
        assert_eq!(read.to_line(), sentence.text);
    });
}

#[test]
fn sentences_that_break_a_rule_are_no_reminders() {
    let breaks = |s: &Sentence| {
        let fields = ["date-field", "time-field", "recur-field", "msg-field"];
        !once(s, &fields) || !at_most_once(s, &["id-field", "day-field"])
    };
    sentences("reminder-line", 400, breaks, |sentence| {
        let read = reminder::parse_line(sentence.text.as_bytes());
        assert!(matches!(read, ParsedLine::NearMiss(_) | ParsedLine::Other), "{}: {read:?}", sentence.text);
    });
}

#[test]
fn commitments() {
    let others = ["precision-entry", "due-entry", "scope-entry", "created-entry", "source-entry"];
    let holds = |s: &Sentence| {
        let text = s.first("text").unwrap_or_default();
        once(s, &["id-entry", "status-entry"])
            && at_most_once(s, &others)
            && text.chars().any(|c| c.is_ascii_graphic())
    };
    sentences("commitment", 150, holds, |sentence| {
        let file = commitment::parse(sentence.text.as_bytes());
        assert_eq!(file.findings, [], "{}", sentence.text);
        assert_eq!(file.blocks.len(), 1, "{}", sentence.text);
        let (block, words) = (&file.blocks[0], |entry| sentence.within(entry, "word").concat());
        let read = &block.commitment;
        assert_eq!(vec![read.id.as_str()], words("id-entry"));
        assert_eq!(read.source.as_deref().into_iter().collect::<Vec<_>>(), words("source-entry"));
        assert_eq!(Some(read.status.name()), sentence.first("status"));
        assert_eq!(read.scope.as_deref(), sentence.first("scope"));
        let due = sentence.within("due-entry", "instant").concat();
        assert_eq!(read.due, due.first().map(|due| due.parse::<Timestamp>().unwrap()));
        assert_eq!(block.range, 0..sentence.text.len());
        let to = commitment::CommitmentStatus::ALL.into_iter().find(|to| *to != read.status).unwrap();
        let after = commitment::set_status(sentence.text.as_bytes(), &read.id, read.status, to).unwrap();
        assert_eq!(commitment::parse(&after).blocks[0].commitment.status, to);
    });
}

#[test]
fn bullets_of_memory() {
    let one = |s: &Sentence| !s.text.contains("--");
    sentences("bullet", 300, one, |sentence| {
        let file = memory::parse(sentence.text.as_bytes());
        assert_eq!(file.bullets.len(), 1, "{}", sentence.text);
        let bullet = &file.bullets[0];
        assert_eq!(bullet.timestamp.as_deref(), sentence.first("timestamp"));
        assert_eq!(bullet.fields.len(), sentence.all("inline-field").len(), "{}", sentence.text);
    });
    let named = |s: &Sentence| s.first("name").is_some_and(|n| !n.trim().is_empty());
    sentences("section-line", 100, named, |sentence| {
        let file = memory::parse(sentence.text.as_bytes());
        assert_eq!(file.sections[0].name, sentence.first("name").unwrap().trim());
    });
}

#[test]
fn bullets_of_a_day() {
    every("daily-bullet", 200, |sentence| {
        let file = daily::parse(sentence.text.as_bytes());
        assert_eq!(file.bullets.len(), 1, "{}", sentence.text);
        let time = file.bullets[0].time.map(|time| time.strftime("%H:%M").to_string());
        assert_eq!(time.as_deref(), sentence.first("time"), "{}", sentence.text);
    });
    every("daily-name", 100, |sentence| {
        let date = daily::date_of(&sentence.text).map(|date| date.to_string());
        assert_eq!(date.as_deref(), sentence.first("date"));
    });
}

#[test]
fn pins() {
    every("pinned-bullet", 300, |sentence| {
        let pins = pinned::parse(sentence.text.as_bytes());
        assert_eq!(pins.len(), 1, "{}", sentence.text);
        let target = pins[0].target.as_ref();
        assert_eq!(target.map(|t| t.path.as_str()), sentence.first("link-path"), "{}", sentence.text);
        let block = sentence.within("link", "block-id").concat();
        assert_eq!(target.and_then(|t| t.block_id.as_deref()), block.first().copied());
    });
}

#[test]
fn working_memory() {
    every("working", 150, |sentence| {
        let read = working_memory::read(sentence.text.as_bytes()).expect(&sentence.text);
        let instant = |rule| sentence.within(rule, "instant").concat()[0].parse::<Timestamp>().unwrap();
        assert_eq!((read.updated, read.expires), (instant("updated"), instant("expires")));
    });
}

#[test]
fn logs() {
    every("log", 150, |sentence| {
        let file = log::parse(sentence.text.as_bytes());
        let header = file.header.unwrap_or_else(|| panic!("{}", sentence.text));
        let surface = sentence.first("surface").or_else(|| sentence.first("agent-surface"));
        assert_eq!(Some(header.surface.as_str()), surface);
        assert_eq!(header.title.is_some(), sentence.text.contains("\ntitle: "));
        let authors: Vec<_> = file.blocks.iter().map(|block| block.event.author.as_str()).collect();
        let written = sentence.within("event", "author");
        let written = written.iter().map(|a| a.first().copied().unwrap_or_default());
        assert_eq!(authors, written.collect::<Vec<_>>());
        let contents: Vec<_> = file.blocks.iter().map(|block| block.event.content.clone()).collect();
        let (lines, facts) =
            (sentence.within("event", "content-line"), sentence.within("event", "fact-line"));
        let written = lines.iter().zip(&facts).map(|(lines, facts)| {
            let lines = lines.iter().chain(facts).map(|line| line[2..].trim_end_matches(['\r', '\n']));
            lines.collect::<Vec<_>>().join("\n")
        });
        assert_eq!(contents, written.collect::<Vec<_>>());
        for (block, facts) in file.blocks.iter().zip(facts) {
            let found = log::split_facts(&block.event.content).1;
            assert!(facts.is_empty() || found[0].0 == "brain", "{}", sentence.text);
        }
        assert!(file.blocks.is_empty() || file.end.offset == sentence.text.len());
    });
    let exists = |at: &str| DateTime::strptime("%Y%m%dT%H%M%SZ", at).is_ok_and(|at| at.year() < 9999);
    let real = |s: &Sentence| s.first("window-start").is_some_and(exists);
    sentences("log-path", 100, real, |sentence| {
        let path = log::LogPath::parse("logs", &format!("logs/{}", sentence.text)).unwrap();
        assert_eq!(path.to_string(), sentence.text);
    });
    every("session-path", 50, |sentence| {
        let path = log::SessionPath::parse("logs", &format!("logs/{}", sentence.text)).unwrap();
        assert_eq!(path.to_string(), sentence.text);
    });
}

#[test]
fn summaries() {
    every("summary", 300, |sentence| {
        let (read, findings) = summary::parse(sentence.text.as_bytes());
        let read = read.unwrap_or_else(|| panic!("{}: {findings:?}", sentence.text));
        assert_eq!(Some(read.id.as_str()), sentence.first("summary-id"), "{}", sentence.text);
        assert_eq!(Some(read.sha256.as_str()), sentence.first("sha256"));
        assert_eq!(Some(read.by.as_str()), sentence.first("producer"));
        assert_eq!(read.sources, sentence.all("summary-id")[1..]);
        let ids = sentence.all("block-id");
        assert_eq!(read.covers, ids.first().map(|first| ((*first).to_owned(), ids[1].to_owned())));
        assert_eq!(summary::parse(summary::render(&read).as_bytes()), (Some(read), vec![]));
    });
}

#[test]
fn routines() {
    every("routine", 200, |sentence| {
        let (read, findings) = routine::parse(sentence.text.as_bytes());
        assert_eq!(findings, [], "{}", sentence.text);
        let read = read.unwrap_or_else(|| panic!("{}", sentence.text));
        assert_eq!(read.enabled, sentence.text.contains("\nenabled: true"));
        let written = sentence.first("schedule").or_else(|| sentence.first("starred")).unwrap();
        assert_eq!(written.parse(), Ok(read.schedule.clone()));
        assert_eq!(read.scope.as_deref(), sentence.first("routine-scope"));
        assert_eq!(read.budget, sentence.first("budget").map(|tokens| tokens.parse().unwrap()));
        let conditions: Vec<String> = read.only_if.iter().map(ToString::to_string).collect();
        let written = sentence.all("condition").into_iter().map(|item| item.trim_matches('"'));
        assert_eq!(conditions, written.collect::<Vec<_>>());
        let lists = sentence.within("word-list", "routine-word");
        assert_eq!(read.skills.iter().chain(&read.mcp).collect::<Vec<_>>(), lists.concat());
    });
}

#[test]
fn skills() {
    let short = |s: &Sentence| s.first("skill-name").is_some_and(|name| name.len() <= 64);
    sentences("skill", 200, short, |sentence| {
        let name = sentence.first("skill-name").unwrap();
        let (read, findings) = skill::parse(sentence.text.as_bytes(), name);
        assert_eq!(findings, [], "{}", sentence.text);
        assert_eq!(read.name, name);
        assert_eq!(read.description, sentence.within("description", "skill-words").concat()[0]);
        let mut seen = BTreeSet::new();
        let unique: Vec<&str> = sentence.all("secret").into_iter().filter(|one| seen.insert(*one)).collect();
        assert_eq!(read.secrets, unique, "{}", sentence.text);
        assert_eq!(read.license.is_some(), sentence.text.contains("\nlicense: "));
    });
}

#[test]
fn near_a_sentence_nothing_panics() {
    let grammar = Grammar::of_this_repository();
    let mut generator = Generator::new(&grammar, 7);
    let rules = "reminder-line commitment memory-line pinned-bullet working log routine skill summary";
    for rule in rules.split(' ').cycle().take(400) {
        let mut bytes = generator.sentence(rule).text.into_bytes();
        for _ in 0..generator.below(4) {
            let at = generator.below(bytes.len() as u64 + 1) as usize;
            match generator.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, generator.below(256) as u8),
                2 if at < bytes.len() => bytes[at] ^= 1 << generator.below(8),
                _ => bytes.extend_from_within(at..),
            }
        }
        super::fuzz::everything(&bytes);
    }
}

/// Every number of an escape is that of such a character.
fn numbers(sentence: &Sentence, is_meant: impl Fn(char) -> bool) -> bool {
    sentence.all("approval-number").iter().all(|number| {
        let digits = number.trim_start_matches("u{").trim_end_matches('}');
        u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).is_some_and(&is_meant)
    })
}

#[test]
fn candidate_lines() {
    let holds = |s: &Sentence| {
        let solid = |rule| s.first(rule).is_some_and(|text| !text.contains('\u{a0}') && text.trim() == text);
        numbers(s, |c| !c.is_whitespace()) && solid("candidate-section") && solid("candidate-text")
    };
    for rule in ["candidate-line", "candidate-record"] {
        sentences(rule, 200, holds, |sentence| {
            let candidate::ParsedBox::Line(read) = candidate::parse_line(sentence.text.as_bytes()) else {
                panic!("{}: {:?}", sentence.text, candidate::parse_line(sentence.text.as_bytes()));
            };
            assert_eq!(Some(read.id.as_str()), sentence.first("candidate-id"));
            assert_eq!(Some(read.category.name()), sentence.first("category"));
            assert_eq!(Some(format!("[[{}]]", read.source()).as_str()), sentence.first("candidate-link"));
            assert_eq!(read.block_id.is_some(), sentence.all("block-id").len() > 1, "{}", sentence.text);
            assert_eq!(read.record.is_some(), rule == "candidate-record");
            let again = candidate::parse_line(read.to_line().as_bytes());
            assert_eq!(again, candidate::ParsedBox::Line(read), "{}", sentence.text);
        });
    }
}

#[test]
fn approval_lines() {
    let needed = ["until-field", "brain-field", "run-field"];
    let others = ["hash-field", "why-field", "always-field", "turn-field", "state-field"];
    let holds = |s: &Sentence| once(s, &needed) && at_most_once(s, &others) && numbers(s, |_| true);
    for rule in ["approval-line", "canonical-approval"] {
        sentences(rule, 200, holds, |sentence| {
            let approval::ParsedBox::Line(read) = approval::parse_line(sentence.text.as_bytes()) else {
                panic!("{}: {:?}", sentence.text, approval::parse_line(sentence.text.as_bytes()));
            };
            assert_eq!(Some(read.id.as_str()), sentence.first("approval-id"));
            assert_eq!(Some(read.until.strftime("%Y-%m-%d").to_string().as_str()), sentence.first("date"));
            assert_eq!(read.block_id.as_deref(), sentence.first("block-id"));
            assert_eq!(read.state.map(|s| format!("state={s}")).as_deref(), sentence.first("state-field"));
            let again = approval::parse_line(read.to_line().as_bytes());
            assert_eq!(again, approval::ParsedBox::Line(read), "{}", sentence.text);
        });
    }
    let breaks = |s: &Sentence| !once(s, &needed) || !at_most_once(s, &others);
    sentences("approval-line", 200, breaks, |sentence| {
        let read = approval::parse_line(sentence.text.as_bytes());
        assert!(matches!(read, approval::ParsedBox::NearMiss(_)), "{}: {read:?}", sentence.text);
    });
}

#[test]
fn task_lines() {
    use vault_agent::format::task::{self, Rules, TaskFormat};
    let rules = Rules::default();
    let forms = [
        ("tasks-fields", TaskFormat::Tasks, "tasks-told tasks-due tasks-scheduled tasks-start"),
        ("dataview-fields", TaskFormat::Dataview, "dataview-date"),
        ("reminder-mark", TaskFormat::Reminder, "date"),
        ("toast-marks", TaskFormat::Reminder, "date"),
        ("kanban-marks", TaskFormat::Kanban, "date"),
    ];
    let form = |s: &Sentence| *forms.iter().find(|(rule, ..)| s.first(rule).is_some()).unwrap();
    let is_dated = |s: &Sentence| form(s).2.split(' ').any(|rule| s.first(rule).is_some());
    sentences("task-line", 600, is_dated, |sentence| {
        let read = task::read_line(&sentence.text, &rules);
        let task = read.unwrap_or_else(|| panic!("no task: {}", sentence.text));
        assert_eq!(task.format, form(sentence).1, "{}", sentence.text);
        let words: Vec<&str> = sentence.first("task-words").unwrap().split_whitespace().collect();
        assert_eq!(task.words, words.join(" "), "{}", sentence.text);
        // Of Tasks' fields the first of the weightiest kind says when.
        let told = form(sentence).2.split(' ').find_map(|rule| sentence.first(rule)).unwrap();
        // A snooze beside it may be earlier.
        let mut own = task.notification_times.iter().filter(|time| time.lead == 0);
        if task.format != TaskFormat::Dataview {
            let is_told = own.any(|time| told.contains(&time.at.date().to_string()));
            assert!(is_told, "{}: {:?}", sentence.text, task.notification_times);
        }
    });
    let is_dateless = |s: &Sentence| !is_dated(s);
    sentences("task-line", 200, is_dateless, |sentence| {
        assert_eq!(task::read_line(&sentence.text, &rules), None, "{}", sentence.text);
    });
}
