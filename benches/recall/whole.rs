//! The same questions through the whole program: a vault of logs, its index, `Recall::search`.

use std::collections::HashMap;
use std::sync::Arc;

use vault_agent::clock::SystemClock;
use vault_agent::config::Settings;
use vault_agent::format::log::{self, Event, EventKind, LogHeader};
use vault_agent::index::{Index, Query};
use vault_agent::recall::Recall;
use vault_agent::vault::Vault;

use crate::data::Conversation;
use crate::metrics::{self, Metrics};

pub fn measure(conversations: &[Conversation]) -> Vec<Metrics> {
    let dir = std::env::temp_dir().join(format!("vault-agent-recall-{}", std::process::id()));
    let mut slots: HashMap<(String, u32), usize> = HashMap::new();
    for conversation in conversations {
        let corpus = &conversation.corpus;
        for file in corpus.files() {
            let started = jiff::Timestamp::from_second(corpus.meta(file.slots.start).time).ok();
            let (surface, context_id) = ("discord-channel".to_owned(), conversation.id.clone());
            let mut text = log::render_header(&LogHeader { surface, context_id, started, title: None });
            for slot in file.slots.clone() {
                let (author, content) = conversation.turns[slot as usize].clone();
                let at = jiff::Timestamp::from_second(corpus.meta(slot).time).unwrap();
                let id = Some(format!("turn-{slot}"));
                text.push_str(&log::render_event(&Event { kind: EventKind::User, at, author, content, id }));
            }
            for (block, slot) in log::parse(text.as_bytes()).blocks.iter().zip(file.slots.clone()) {
                slots.insert((file.path.clone(), block.line as u32), slot as usize);
            }
            let path = dir.join("vault").join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    let (settings, clock) = (Settings::default(), Arc::new(SystemClock));
    let vault = Vault::open(&dir.join("vault")).unwrap();
    let index = Index::of(vault, &settings, &dir.join("cache"), clock.clone()).unwrap();
    let recall = Recall::new(Arc::new(index), &settings, clock);
    let mut out = Vec::new();
    for conversation in conversations {
        for asked in &conversation.questions {
            let query =
                Query::new(&asked.text).scope(format!("logs/discord-channel/{}/", conversation.id)).limit(50);
            let hits = recall.search(&query).unwrap().hits;
            let order: Vec<usize> =
                hits.iter().filter_map(|hit| slots.get(&(hit.path.clone(), hit.line)).copied()).collect();
            out.push(metrics::of(&order, &asked.evidence));
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    out
}
