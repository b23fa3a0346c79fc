//! Every conformance vector of `grammar/vectors/`.

use crate::support::prelude::*;

use std::string::FromUtf8Error;

use data_encoding::BASE64;
use jiff::civil::{Date, Time};
use serde_json::Map;
use vault_agent::format::{
    Finding, ReminderId, approval, candidate, commitment, daily, lines, log, memory, pinned,
    reminder::{self, ParsedLine, Reminder},
    routine, skill, summary, working_memory,
};

/// Runs `check` on every vector of a file; it returns what was expected and what came.
fn each(file: &str, check: impl Fn(&Value, &[u8]) -> (Value, Value)) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("grammar/vectors").join(file);
    let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        let input = match (&vector["input"], &vector["base64"]) {
            (Value::String(text), _) => text.as_bytes().to_vec(),
            (_, Value::String(text)) => BASE64.decode(text.as_bytes()).unwrap(),
            _ => panic!("{vector} has no input"),
        };
        let (expected, found) = check(&vector, &input);
        assert_eq!(found, expected, "{file}: {}\n{}", vector["name"], String::from_utf8_lossy(&input));
    }
}

/// What a vector expects, under the one of these keys that it has; and what came under which.
fn one_of(vector: &Value, keys: &[&str], key: &str, found: Value) -> (Value, Value) {
    let expected = keys.iter().find(|key| !vector[**key].is_null()).unwrap();
    (json!([expected, vector[*expected]]), json!([key, found]))
}

/// An object without what is null or empty.
fn object<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    let kept = pairs.into_iter().filter(|(_, value)| !value.is_null() && *value != json!([]));
    Value::Object(kept.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}

/// An object of fields by their own names, without what is null or empty.
macro_rules! fields {
    ($of:ident => $($field:ident),+ $(; $($key:literal: $value:expr),+)?) => {
        object([$((stringify!($field), json!($of.$field)),)+ $($(($key, json!($value)),)+)?])
    };
}

fn places(findings: &[Finding]) -> Value {
    findings.iter().map(|finding| json!([finding.line, finding.column])).collect()
}

fn places_if_any(findings: &[Finding]) -> Option<Value> {
    (!findings.is_empty()).then(|| places(findings))
}

fn clock(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

fn reminder_value(reminder: &Reminder) -> Value {
    let (date, time) = (reminder.date.to_string(), clock(reminder.time));
    fields!(reminder => recur, day, msg, id, block_id; "date": date, "time": time)
}

#[test]
fn reminder_lines() {
    each("reminder-lines.json", |vector, input| {
        let (key, found) = match reminder::parse_line(input) {
            ParsedLine::Reminder(reminder) => {
                assert_eq!(json!(reminder.to_line()), vector["canonical"], "{}", vector["name"]);
                ("value", reminder_value(&reminder))
            }
            ParsedLine::NearMiss(Finding { column, reason, suggestion, .. }) => {
                let mut found = json!({"column": column});
                // The wording is given only where it is of interest.
                if vector["near_miss"]["reason"].is_string() {
                    found["reason"] = json!(reason);
                    found["suggestion"] = json!(suggestion);
                }
                ("near_miss", found)
            }
            ParsedLine::Ticked => ("ticked", json!(true)),
            ParsedLine::Other => ("other", json!(true)),
        };
        one_of(vector, &["value", "near_miss", "ticked", "other"], key, found)
    });
}

#[test]
fn reminder_files() {
    each("reminder-files.json", |vector, input| {
        let file = reminder::parse(input);
        for line in &file.reminders {
            let own = lines(input).nth(line.line - 1).unwrap();
            assert_eq!((own.text, !own.terminator.is_empty()), (&line.text[..], line.terminated));
        }
        let reminders: Value =
            file.reminders.iter().map(|line| json!([line.line, line.reminder.msg])).collect();
        (json!([vector["reminders"], vector["near_misses"]]), json!([reminders, places(&file.near_misses)]))
    });
}

#[test]
fn reminder_edits() {
    each("reminder-edits.json", |vector, input| {
        let after = match &vector["with_id"] {
            Value::String(id) => reminder::with_id(input, &ReminderId::from_bytes(id.as_bytes()).unwrap()),
            _ => {
                let new = &vector["with_schedule"];
                let date: Date = new["date"].as_str().unwrap().parse().unwrap();
                let time = new["time"].as_str().map(|time| time.parse().unwrap());
                reminder::with_schedule(input, date, time, new["day"].as_i64().map(|day| day as i8))
            }
        };
        (vector["output"].clone(), json!(String::from_utf8(after).unwrap()))
    });
}

#[test]
fn commitments() {
    each("commitments.json", |vector, input| {
        let file = commitment::parse(input);
        let blocks = file.blocks.iter().map(|block| {
            let (c, line, end_line) = (&block.commitment, block.line, block.end_line);
            fields!(c => id, status, precision, due, scope, created, source, text; "line": line, "end_line": end_line)
        });
        // Each block goes from its first line to the next block, or to the end.
        let ends = file.blocks.iter().skip(1).map(|next| next.range.start).chain([input.len()]);
        for (block, end) in file.blocks.iter().zip(ends) {
            let before = input[..block.range.start].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!((before + 1, block.range.end), (block.line, end), "{}", vector["name"]);
        }
        let edited = vector["set_status"].as_object().and_then(|edit| {
            let word = |key: &str| edit[key].as_str().unwrap();
            let status = |key: &str| commitment::CommitmentStatus::named(word(key)).unwrap();
            let after = commitment::set_status(input, word("id"), status("expect"), status("to"))?;
            let base64 = |error: FromUtf8Error| format!("base64:{}", BASE64.encode(error.as_bytes()));
            Some(String::from_utf8(after).unwrap_or_else(base64))
        });
        let found = json!([blocks.collect::<Vec<_>>(), places(&file.findings), edited]);
        (json!([vector["blocks"], vector["findings"], vector["output"]]), found)
    });
}

/// The bullets of each vector of a file.
fn bullets(file: &str, read: impl Fn(&[u8]) -> Vec<Value>) {
    each(file, |vector, input| (vector["bullets"].clone(), json!(read(input))));
}

#[test]
fn memories_days_and_pins() {
    bullets("memory.json", |input| {
        let bullets = memory::parse(input).bullets;
        bullets.iter().map(|it| fields!(it => line, end_line, section, timestamp, text, fields)).collect()
    });
    bullets("daily.json", |input| {
        let bullets = daily::parse(input).bullets;
        bullets.iter().map(|it| fields!(it => line, end_line, text; "time": it.time.map(clock))).collect()
    });
    bullets("pinned.json", |input| {
        let target = |it: &pinned::PinnedBullet| {
            it.target.as_ref().map(|target| fields!(target => path, block_id, heading))
        };
        let pins = pinned::parse(input);
        pins.iter().map(|it| fields!(it => line, end_line, text; "target": target(it))).collect()
    });
}

#[test]
fn working_memory() {
    each("working.json", |vector, input| {
        let found = working_memory::parse(input, vector["now"].as_str().unwrap().parse().unwrap());
        let found = found.map(|w| json!({"updated": w.updated, "expires": w.expires, "text": w.text}));
        (vector["value"].clone(), json!(found))
    });
}

#[test]
fn logs() {
    each("logs.json", |vector, input| {
        let file = log::parse(input);
        let events = events(&file);
        let header = |of: &log::LogHeader| {
            let (surface, context_id) = (&of.surface, &of.context_id);
            json!({ "surface": surface, "context_id": context_id, "started": of.started, "title": of.title })
        };
        if vector["written"] == true {
            let mut written = file.header.as_ref().map(log::render_header).unwrap_or_default();
            written.extend(file.blocks.iter().map(|block| log::render_event(&block.event)));
            let read = log::parse(written.as_bytes());
            let events = |of: &log::LogFile| of.blocks.iter().map(|it| it.event.clone()).collect::<Vec<_>>();
            assert_eq!((events(&read), &read.header), (events(&file), &file.header));
            if vector["header"].is_null() {
                assert_eq!(written.as_bytes(), input, "{}", vector["name"]);
            }
        }
        (json!([vector["header"], vector["events"]]), json!([file.header.as_ref().map(header), events]))
    });
}

fn events(file: &log::LogFile) -> Vec<Value> {
    let events = file.blocks.iter().map(|block| {
        let event = &block.event;
        let mut value = json!({
            "line": block.line, "end_line": block.end_line, "kind": event.kind, "at": event.at,
            "author": event.author, "content": event.content, "id": event.id,
        });
        if event.said() != event.content {
            let (said, facts) = log::split_facts(&event.content);
            value["said"] = json!(said);
            value["facts"] = facts.into_iter().map(|(key, fact)| (key.to_owned(), json!(fact))).collect();
        }
        value
    });
    events.collect()
}

#[test]
fn transcripts() {
    each("transcripts.json", |vector, input| {
        let file = log::parse_headings(input);
        let found = file.map(|file| {
            let context = file.header.as_ref().map_or("", |header| header.context_id.as_str());
            json!({ "context": context, "events": events(&file) })
        });
        (vector["transcript"].clone(), json!(found))
    });
}

#[test]
fn approvals() {
    each("approvals.json", |vector, input| {
        let (key, found) = match approval::parse_line(input) {
            approval::ParsedBox::Line(a) => {
                let it = fields!(a => mark, id, until, brain, run, hash, why, always, turn, state, block_id);
                let again = approval::parse_line(a.to_line().as_bytes());
                assert_eq!(again, approval::ParsedBox::Line(a), "{}", vector["name"]);
                ("value", it)
            }
            approval::ParsedBox::NearMiss(finding) => ("near_miss", json!(finding.column)),
            approval::ParsedBox::Other => ("other", json!(true)),
        };
        one_of(vector, &["value", "near_miss", "other"], key, found)
    });
}

#[test]
fn candidates() {
    each("candidates.json", |vector, input| {
        let (key, found) = match candidate::parse_line(input) {
            candidate::ParsedBox::Line(c) => {
                let (replaces, joins) = match &c.change {
                    Some(candidate::FactChange::Replaces(words)) => (Some(words), None),
                    Some(candidate::FactChange::Joins(words)) => (None, Some(words)),
                    None => (None, None),
                };
                let record = c.record.as_ref().map(|record| fields!(record => asked, by, kept, on));
                let value = fields!(
                    c => mark, category, section, text, quote, id, block_id;
                    "ref": c.source(), "replaces": replaces, "joins": joins, "record": record
                );
                let again = candidate::parse_line(c.to_line().as_bytes());
                assert_eq!(again, candidate::ParsedBox::Line(c), "{}", vector["name"]);
                ("value", value)
            }
            candidate::ParsedBox::NearMiss(finding) => ("near_miss", json!(finding.column)),
            candidate::ParsedBox::Other => ("other", json!(true)),
        };
        one_of(vector, &["value", "near_miss", "other"], key, found)
    });
}

#[test]
fn skills() {
    each("skill.json", |vector, input| {
        let (read, findings) = skill::parse(input, vector["folder"].as_str().unwrap());
        let found = fields!(read => name, description, license, compatibility, secrets, allowed_tools, body);
        (json!([vector["value"], vector["findings"]]), json!([found, places(&findings)]))
    });
}

#[test]
fn summaries() {
    each("summaries.json", |vector, input| {
        let (found, findings) = summary::parse(input);
        let found = found.map(|it| {
            assert_eq!(summary::parse(summary::render(&it).as_bytes()), (Some(it.clone()), vec![]));
            fields!(it => id, kind, depth, covers, sources, log, sha256, tokens, brain, by, at, text)
        });
        (json!([vector["summary"], vector["findings"]]), json!([found, places_if_any(&findings)]))
    });
}

#[test]
fn routines() {
    each("routines.json", |vector, input| {
        let (found, findings) = routine::parse(input);
        let found = found.map(|it| {
            fields!(
                it => scope, enabled, brain, skills, mcp, budget, note, prompt;
                "schedule": it.schedule.to_string(),
                "only_if": it.only_if.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "quiet": if it.quiet { json!(true) } else { Value::Null }, "deliver": it.deliver.as_str()
            )
        });
        (json!([vector["routine"], vector["findings"]]), json!([found, places_if_any(&findings)]))
    });
}
