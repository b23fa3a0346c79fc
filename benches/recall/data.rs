//! LoCoMo's file to corpora and questions.

use std::collections::HashMap;

use vault_agent::recall::corpus::{Corpus, Passage};

/// One conversation: its turns as a corpus, its questions with the slots of their evidence.
pub struct Conversation {
    pub id: String,
    pub corpus: Corpus,
    pub turns: Vec<(String, String)>,
    pub questions: Vec<Asked>,
}

pub struct Asked {
    pub category: u8,
    pub text: String,
    pub evidence: Vec<usize>,
}

pub fn read(text: &str) -> Vec<Conversation> {
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    file["conversations"].as_array().unwrap().iter().map(conversation).collect()
}

fn text_of(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or("")
}

fn conversation(value: &serde_json::Value) -> Conversation {
    let id = text_of(&value["conv_id"]).to_owned();
    let (mut corpus, mut turns, mut slots) = (Corpus::new(), Vec::new(), HashMap::new());
    for session in value["sessions"].as_array().unwrap() {
        let date = text_of(&session["date"]);
        let start: jiff::Timestamp = date.parse().unwrap();
        let path = format!("logs/discord-channel/{id}/{}_0001.md", date.replace([':', '-'], ""));
        let first = turns.len();
        for turn in session["turns"].as_array().unwrap() {
            slots.insert(text_of(&turn["dia_id"]).to_owned(), turns.len());
            let mut said = text_of(&turn["text"]).to_owned();
            if let Some(caption) = turn["blip_caption"].as_str() {
                said.push_str(&format!("\n(shares a photo: {caption})"));
            }
            turns.push((text_of(&turn["speaker"]).to_owned(), said));
        }
        let passages = turns[first..].iter().enumerate().map(|(at, (author, text))| Passage {
            line: at as u32 * 4 + 8,
            is_turn: true,
            role: None,
            author: Some(author),
            time: Some(start.as_second() + 30 * at as i64),
            head: "",
            text,
        });
        corpus.put(&path, 0, passages);
    }
    let questions = value["qa"].as_array().unwrap().iter().filter_map(|qa| {
        let evidence: Vec<usize> =
            qa["evidence"].as_array().unwrap().iter().map(|id| slots[text_of(id)]).collect();
        (!evidence.is_empty()).then(|| Asked {
            category: qa["category"].as_u64().unwrap() as u8,
            text: text_of(&qa["question"]).to_owned(),
            evidence,
        })
    });
    let questions = questions.collect();
    Conversation { id, corpus, turns, questions }
}
