//! Prints figures of summaries. Run it with `cargo test --lib summary::tests -- --ignored --nocapture`.
//!
//! One figure is the share of LoCoMo's questions whose evidence is in the request. It needs LoCoMo's data
//! (`LOCOMO=locomo-dev.json`).

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::window::SummaryNote;
use super::{DueScope, DueSummary, Summaries, SummaryText, Window};
use crate::brain::{Message, MessagePart, Request};
use crate::clock::SystemClock;
use crate::config::Dirs;
use crate::format::log::{self, EventKind, LogBlock, LogEvent};
use crate::format::summary::{Summary, render};
use crate::turn::assemble::{RequestMaterial, RequestQuestion, assemble};
use crate::turn::past_context::PastSummary;
use crate::vault::Vault;
use crate::workspace::Workspace;

const WORDS: [&str; 12] = [
    "mast", "painted", "Anna", "blue", "dentist", "Friday", "because", "the", "garden", "oolong", "we", "12",
];

/// A log of so many messages of about fifty tokens.
fn log(messages: usize) -> String {
    let mut text = String::from("---\nsurface: s\ncontext_id: c\n---\n");
    for at in 0..messages {
        let kind = if at % 2 == 0 { EventKind::User } else { EventKind::Agent };
        let words: Vec<&str> =
            (0..36).map(|word| WORDS[(at * 7 + word * word + word) % WORDS.len()]).collect();
        let at_time = Timestamp::from_second(1_790_000_000 + 60 * i64::try_from(at).unwrap()).unwrap();
        let content = format!("{} {at}.", words.join(" "));
        let event =
            LogEvent { kind, at: at_time, author: "Ann".into(), content, id: Some(format!("M{at:06}")) };
        let _ = write!(text, "{}", log::render_event(&event));
    }
    text
}

fn note(due: DueSummary) -> SummaryNote {
    let SummaryText { text, brain, by } = SummaryText::extract(&due);
    let summary = Summary {
        tokens: crate::turn::history::estimate(&text),
        brain,
        by,
        at: "2027-01-01T00:00:00Z".parse().unwrap(),
        text,
        ..due.summary
    };
    SummaryNote {
        path: format!("d{}-{:04}", summary.depth, due.before + 1),
        line: 1,
        is_edited: false,
        summary,
    }
}

/// The notes of a log, made without any brain.
fn settled(bytes: &str, scope: DueScope) -> Vec<SummaryNote> {
    let mut notes: Vec<SummaryNote> = Vec::new();
    loop {
        let blocks = log::parse(bytes.as_bytes()).blocks;
        let window =
            Window::new("s/c/w", "logs/s/c/w", Some(bytes.as_bytes().to_vec()), blocks, notes.clone());
        let due = window.due(scope, &TimeZone::UTC);
        if due.is_empty() {
            return notes;
        }
        notes.extend(due.into_iter().map(note));
    }
}

fn request(blocks: &[LogBlock], past: &[PastSummary], text: &str, budget: u64) -> Request {
    let now = "2027-01-01T00:00:00+00:00[UTC]".parse().unwrap();
    let question = RequestQuestion { text: text.into(), ..RequestQuestion::default() };
    assemble(RequestMaterial {
        blocks,
        summaries: past,
        questions: vec![question],
        now,
        budget,
        ..RequestMaterial::default()
    })
}

fn size(request: &Request) -> u64 {
    request.messages.iter().map(crate::turn::history::tokens).sum::<u64>()
        + crate::turn::history::estimate(&request.system)
}

#[test]
#[ignore = "a measurement"]
fn what_summaries_save() {
    for messages in [100, 1_000, 10_000] {
        let text = log(messages);
        let blocks = log::parse(text.as_bytes()).blocks;
        let began = Instant::now();
        let notes = settled(&text, DueScope::New);
        let took = began.elapsed();
        let count = notes.len();
        let window = Window::new("s/c/w", "logs/s/c/w", Some(text.into_bytes()), blocks.clone(), notes);
        let past = window.past_summaries();
        let raw: u64 = blocks.iter().map(|block| super::window::size(block).tokens + 4).sum();
        let with = size(&request(&blocks, &past, "And now?", 1_000_000));
        let asked = size(&request(&blocks, &past, "Which dentist on Friday?", 1_000_000));
        println!(
            "{messages} messages: {raw} tokens whole, {with} with {} of {count} summaries, {asked} where the question hits; made in {took:?}",
            past.len()
        );
    }
}

#[test]
#[ignore = "a measurement"]
fn a_hundred_thousand_messages_are_read_from_notes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("vault");
    std::fs::create_dir_all(root.join("logs/s/c")).unwrap();
    std::fs::create_dir_all(root.join("summaries/s/c/w")).unwrap();
    let text = log(100_000);
    std::fs::write(root.join("logs/s/c/w.md"), &text).unwrap();
    let notes = settled(&text, DueScope::New);
    for note in &notes {
        std::fs::write(root.join(format!("summaries/s/c/w/{}.md", note.path)), render(&note.summary))
            .unwrap();
    }
    let vault = Vault::open(&root).unwrap();
    let dirs = Dirs { state: dir.path().join("state"), cache: dir.path().join("cache") };
    let workspace = Workspace::open_in(vault, dirs, Arc::new(SystemClock)).unwrap();
    let summaries = Summaries::of(&workspace);
    let name = summaries.logs().unwrap().pop().unwrap().0;
    let timed = |what: &str, work: &dyn Fn()| {
        let began = Instant::now();
        work();
        println!("{what}: {:?}", began.elapsed());
    };
    let log_bytes = text.len();
    println!("{} summaries over {log_bytes} bytes of log", notes.len());
    timed("the DAG from its notes", &|| {
        assert_eq!(summaries.all_logs().unwrap()[&name].notes.len(), notes.len());
    });
    timed("the DAG and its log", &|| {
        assert_eq!(summaries.window(&name).unwrap().notes().count(), notes.len());
    });
    timed("proving all", &|| assert_eq!(summaries.verify().unwrap().bad, []));
    let window = summaries.window(&name).unwrap();
    timed("planning the whole window", &|| assert_eq!(window.due(DueScope::New, &TimeZone::UTC).len(), 0));
    let blocks = log::parse(text.as_bytes()).blocks;
    timed("what a request tells", &|| {
        assert!(!summaries.past_summaries("logs/s/c/w.md", blocks.clone()).0.unwrap().is_empty());
    });
    let short = log(1_000);
    let blocks = log::parse(short.as_bytes()).blocks;
    let window = Window::new(
        "s/c/w",
        "logs/s/c/w",
        Some(short.clone().into_bytes()),
        blocks,
        settled(&short, DueScope::New),
    );
    timed("planning a window of 1,000 messages", &|| {
        assert_eq!(window.due(DueScope::New, &TimeZone::UTC).len(), 0);
    });
}

#[test]
#[ignore = "a measurement; needs LoCoMo"]
fn how_much_evidence_stands_in_a_request() {
    let Ok(path) = std::env::var("LOCOMO") else { return println!("LOCOMO isn't set") };
    let data: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (mut whole, mut cut, mut total, mut tokens) = (0, 0, 0, 0);
    let mut missed = Vec::new();
    for conversation in data["conversations"].as_array().unwrap() {
        let mut text = String::from("---\nsurface: s\ncontext_id: c\n---\n");
        for session in conversation["sessions"].as_array().unwrap() {
            let date = session["date"].as_str().unwrap();
            let day: Timestamp = date.parse().or_else(|_| format!("{date}Z").parse()).unwrap();
            for turn in session["turns"].as_array().unwrap() {
                let caption = turn["blip_caption"].as_str().map(|words| format!(" [photo: {words}]"));
                let event = LogEvent {
                    kind: EventKind::User,
                    at: day,
                    author: turn["speaker"].as_str().unwrap().into(),
                    content: format!("{}{}", turn["text"].as_str().unwrap(), caption.unwrap_or_default()),
                    id: Some(turn["dia_id"].as_str().unwrap().replace(':', "-")),
                };
                text.push_str(&log::render_event(&event));
            }
        }
        let blocks = log::parse(text.as_bytes()).blocks;
        let notes = settled(&text, DueScope::Pressed);
        let window = Window::new("s/c/w", "logs/s/c/w", Some(text.into_bytes()), blocks.clone(), notes);
        let past = window.past_summaries();
        for question in conversation["qa"].as_array().unwrap() {
            let evidence: Vec<&str> =
                question["evidence"].as_array().into_iter().flatten().filter_map(|id| id.as_str()).collect();
            if evidence.is_empty() {
                continue;
            }
            let asked = question["question"].as_str().unwrap();
            let holds = |request: &Request| {
                let texts: Vec<&str> = request
                    .messages
                    .iter()
                    .flat_map(|message| match message {
                        Message::User { parts } => parts
                            .iter()
                            .filter_map(|part| match part {
                                MessagePart::Text { text } => Some(text.as_str()),
                                MessagePart::Image { .. } => None,
                            })
                            .collect(),
                        Message::Assistant { text, .. } => vec![text.as_str()],
                        Message::ToolResults { .. } => vec![],
                    })
                    .collect();
                let stands = |id: &&str| {
                    let id = id.replace(':', "-");
                    let block = blocks.iter().find(|block| block.event.id.as_deref() == Some(id.as_str()));
                    block.is_some_and(|block| {
                        texts.iter().any(|text| text.contains(block.event.content.trim()))
                    })
                };
                evidence.iter().all(stands)
            };
            total += 1;
            let made = request(&blocks, &past, asked, 8_000);
            tokens += size(&made);
            let with = holds(&made);
            whole += usize::from(with);
            cut += usize::from(holds(&request(&blocks, &[], asked, 8_000)));
            if !with {
                missed.push(question["qid"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    println!(
        "{total} questions: all evidence in {whole} requests with summaries, in {cut} without; {} tokens on average",
        tokens / total.max(1)
    );
    if let Ok(path) = std::env::var("LOCOMO_MISSED") {
        std::fs::write(path, missed.join("\n")).unwrap();
    }
}
