//! Conversations of two people (LoCoMo's file) and logs of a user with an assistant (LongMemEval's) to corpora and
//! questions.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use vault_agent::search::Role;
use vault_agent::search::read::block::{Block, Kind, ParsedNote};
use vault_agent::search::store::corpus::Corpus;

/// So many questions of a collection of logs are asked: each has half a megabyte of its own.
const MOST_LOGS: usize = 80;

/// The categories of questions by number: LoCoMo's, then LongMemEval's.
pub const CATEGORIES: [(u8, &str); 11] = [
    (1, "multi-hop"),
    (2, "temporal"),
    (3, "open-domain"),
    (4, "single-hop"),
    (5, "adversarial"),
    (11, "multi-session"),
    (12, "temporal-reasoning"),
    (13, "single-session-preference"),
    (14, "single-session-user"),
    (15, "single-session-assistant"),
    (16, "knowledge-update"),
];

/// One turn.
pub struct Said {
    pub role: Role,
    pub author: String,
    pub text: String,
}

/// One conversation, or one user's logs: the turns as a corpus, the questions with the slots of their evidence.
pub struct Conversation {
    pub id: String,
    /// Whether a user talks with an assistant.
    pub is_log: bool,
    pub corpus: Corpus,
    pub turns: Vec<Said>,
    pub questions: Vec<Asked>,
}

pub struct Asked {
    pub category: u8,
    pub text: String,
    pub today: Date,
    pub evidence: Vec<usize>,
}

/// LoCoMo's conversations.
pub fn conversations(text: &str) -> Vec<Conversation> {
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    file["conversations"].as_array().unwrap().iter().map(conversation).collect()
}

fn text_of(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or("")
}

/// A turn as a block, by its author.
pub fn turn(said: &Said) -> Block {
    let author = Some(said.author.as_str().into());
    Block { author, ..Block::new(Kind::Turn, 0, 0, said.text.clone()) }
}

/// A note of these blocks.
pub fn note(blocks: impl Iterator<Item = Block>) -> ParsedNote {
    ParsedNote { blocks: blocks.collect(), ..ParsedNote::default() }
}

/// Turns as they come, by session.
#[derive(Default)]
struct Taken {
    corpus: Corpus,
    turns: Vec<Said>,
}

impl Taken {
    /// Takes a session in that began at `start`.
    fn session(&mut self, path: &str, start: i64, turns: Vec<Said>) {
        let blocks = turns.iter().enumerate().map(|(at, said)| Block {
            line: at as u32 * 4 + 8,
            role: Some(said.role),
            time: Some(start + 30 * at as i64),
            ..turn(said)
        });
        self.corpus.put([(path.to_owned(), note(blocks))]).unwrap();
        self.turns.extend(turns);
    }
}

fn conversation(value: &serde_json::Value) -> Conversation {
    let id = text_of(&value["conv_id"]).to_owned();
    let (mut taken, mut slots) = (Taken::default(), HashMap::new());
    for session in value["sessions"].as_array().unwrap() {
        let date = text_of(&session["date"]);
        let start: jiff::Timestamp = date.parse().unwrap();
        let path = format!("logs/discord-channel/{id}/{}_0001.md", date.replace([':', '-'], ""));
        let mut turns = Vec::new();
        for turn in session["turns"].as_array().unwrap() {
            slots.insert(text_of(&turn["dia_id"]).to_owned(), taken.turns.len() + turns.len());
            let mut text = text_of(&turn["text"]).to_owned();
            if let Some(caption) = turn["blip_caption"].as_str() {
                text.push_str(&format!("\n(shares a photo: {caption})"));
            }
            turns.push(Said { role: Role::User, author: text_of(&turn["speaker"]).to_owned(), text });
        }
        taken.session(&path, start.as_second(), turns);
    }
    let questions = value["qa"].as_array().unwrap().iter().filter_map(|qa| {
        let evidence: Vec<usize> =
            qa["evidence"].as_array().unwrap().iter().map(|id| slots[text_of(id)]).collect();
        (!evidence.is_empty()).then(|| Asked {
            category: qa["category"].as_u64().unwrap() as u8,
            text: text_of(&qa["question"]).to_owned(),
            today: jiff::civil::date(2024, 6, 1),
            evidence,
        })
    });
    let questions = questions.collect();
    Conversation { id, is_log: false, corpus: taken.corpus, turns: taken.turns, questions }
}

/// A vault of notes with questions by paraphrase.
pub struct Vault {
    pub name: String,
    pub folder: PathBuf,
    pub questions: Vec<Sought>,
}

/// A question with the notes that answer it; none where no note does.
pub struct Sought {
    pub text: String,
    pub notes: Vec<String>,
}

/// The vaults of notes in a folder.
pub fn vaults(folder: &Path) -> Vec<Vault> {
    let Ok(text) = std::fs::read_to_string(folder.join("questions.jsonl")) else { return Vec::new() };
    let mut vaults: Vec<Vault> = Vec::new();
    for line in text.lines() {
        let question: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = text_of(&question["vault"]);
        if vaults.iter().all(|vault| vault.name != name) {
            let folder = folder.join("vaults").join(name);
            vaults.push(Vault { name: name.to_owned(), folder, questions: Vec::new() });
        }
        let vault = vaults.iter_mut().find(|vault| vault.name == name).unwrap();
        let notes =
            question["notes"].as_array().unwrap().iter().map(|path| text_of(path).to_owned()).collect();
        vault.questions.push(Sought { text: text_of(&question["question"]).to_owned(), notes });
    }
    vaults
}

/// LongMemEval's questions that have an answer, each with its user's logs, from a file of gzipped lines.
pub fn logs(path: &str) -> Vec<Conversation> {
    let Ok(file) = std::fs::File::open(path) else { return Vec::new() };
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    let questions = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap());
    questions.filter_map(|question: serde_json::Value| log(&question)).take(MOST_LOGS).collect()
}

/// "2023/05/20 (Sat) 02:21", which is of no zone.
fn instant(text: &str) -> jiff::civil::DateTime {
    let (day, time) = (text[..10].replace('/', "-"), text[text.len() - 5..].to_owned());
    format!("{day}T{time}:00").parse().unwrap()
}

fn log(value: &serde_json::Value) -> Option<Conversation> {
    let id = text_of(&value["question_id"]).to_owned();
    let kind = text_of(&value["question_type"]);
    let category = CATEGORIES.iter().find(|(_, name)| *name == kind)?.0;
    let (mut taken, mut evidence) = (Taken::default(), Vec::new());
    let dates = value["haystack_dates"].as_array().unwrap();
    for (n, (session, date)) in value["haystack_sessions"].as_array().unwrap().iter().zip(dates).enumerate() {
        let start = instant(text_of(date)).in_tz("UTC").unwrap().timestamp().as_second();
        let mut turns = Vec::new();
        for turn in session.as_array().unwrap() {
            if turn["has_answer"] == true {
                evidence.push(taken.turns.len() + turns.len());
            }
            let (role, author) = match text_of(&turn["role"]) {
                "user" => (Role::User, "user"),
                _ => (Role::Agent, "assistant"),
            };
            turns.push(Said { role, author: author.to_owned(), text: text_of(&turn["content"]).to_owned() });
        }
        taken.session(&format!("logs/discord-channel/{id}/{n:04}.md"), start, turns);
    }
    if evidence.is_empty() || id.ends_with("_abs") {
        return None;
    }
    let asked = Asked {
        category,
        text: text_of(&value["question"]).to_owned(),
        today: instant(text_of(&value["question_date"])).date(),
        evidence,
    };
    Some(Conversation { id, is_log: true, corpus: taken.corpus, turns: taken.turns, questions: vec![asked] })
}
