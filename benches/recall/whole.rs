//! The same questions through the whole program: a vault of logs, its index, `Recall::search`; and vaults of notes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use vault_agent::clock::SystemClock;
use vault_agent::config::Settings;
use vault_agent::format::log::{self, EventKind, LogEvent, LogHeader};
use vault_agent::search::{Index, Query, Recall, Role};
use vault_agent::vault::Vault;

use crate::data::{self, Conversation};
use crate::metrics::{self, Metrics};

/// A vault in a temporary folder with its index, gone with it.
pub struct Built {
    dir: PathBuf,
    pub recall: Recall,
    /// Where each conversation's turns stand.
    slots: HashMap<(String, u32), usize>,
}

impl Drop for Built {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

impl Built {
    fn new(fill: impl FnOnce(&Path) -> HashMap<(String, u32), usize>) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("vault-agent-recall-{}-{n}", std::process::id()));
        std::fs::create_dir_all(dir.join("vault")).unwrap();
        let slots = fill(&dir.join("vault"));
        let (settings, clock) = (Settings::default(), Arc::new(SystemClock));
        let vault = Vault::open(&dir.join("vault")).unwrap();
        let index = Index::of(vault, &settings, &dir.join("cache"), clock).unwrap();
        let recall = Recall::new(Arc::new(index), &settings);
        Self { dir, recall, slots }
    }

    /// The logs of conversations.
    pub fn of(conversations: &[&Conversation]) -> Self {
        Self::new(|vault| {
            let mut slots = HashMap::new();
            conversations.iter().for_each(|conversation| write(conversation, vault, &mut slots));
            slots
        })
    }

    /// A copy of a folder of notes.
    pub fn copy(folder: &Path) -> Self {
        Self::new(|vault| {
            copy(folder, vault);
            HashMap::new()
        })
    }

    /// The paths of the first hits.
    pub fn found(&self, question: &str, limit: usize) -> Vec<String> {
        let hits = self.recall.search(&Query::new(question).limit(limit)).unwrap().hits;
        hits.into_iter().map(|hit| hit.path).collect()
    }

    /// Each of a conversation's questions, changed so, asked of a place or of the whole vault.
    pub fn ask(&self, of: &Conversation, whole: bool, change: impl Fn(&str) -> String) -> Vec<Metrics> {
        let sessions: Vec<u32> = (0..of.turns.len()).map(|slot| of.corpus.meta(slot as u32).file).collect();
        let ask = |asked: &data::Asked| {
            let mut query = Query::new(change(&asked.text)).limit(50);
            if !whole {
                query.scope = Some(format!("logs/discord-channel/{}/", of.id));
            }
            let hits = self.recall.search(&query).unwrap().hits;
            let own = |path: &str| path.contains(&format!("/{}/", of.id));
            // A turn of another conversation takes its rank, too.
            let nowhere = sessions.len();
            let order: Vec<usize> = hits
                .iter()
                .map(|hit| {
                    let slot = self.slots.get(&(hit.path.clone(), hit.line)).copied();
                    slot.filter(|_| own(&hit.path)).unwrap_or(nowhere)
                })
                .collect();
            metrics::of(&order, &asked.evidence, &[&sessions[..], &[u32::MAX][..]].concat())
        };
        of.questions.iter().map(ask).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

fn write(conversation: &Conversation, vault: &Path, slots: &mut HashMap<(String, u32), usize>) {
    let corpus = &conversation.corpus;
    for file in corpus.notes() {
        let started = jiff::Timestamp::from_second(corpus.meta(file.slots.start).time).ok();
        let (surface, context_id) = ("discord-channel".to_owned(), conversation.id.clone());
        let mut text = log::render_header(&LogHeader { surface, context_id, started, title: None });
        for slot in file.slots.clone() {
            let said = &conversation.turns[slot as usize];
            let kind = if said.role == Role::Agent { EventKind::Agent } else { EventKind::User };
            let (author, content) = (said.author.clone(), said.text.clone());
            let at = jiff::Timestamp::from_second(corpus.meta(slot).time).unwrap();
            let id = Some(format!("turn-{slot}"));
            text.push_str(&log::render_event(&LogEvent { kind, at, author, content, id }));
        }
        for (block, slot) in log::parse(text.as_bytes()).blocks.iter().zip(file.slots.clone()) {
            slots.insert((file.row.path.to_string(), block.line as u32), slot as usize);
        }
        let path = vault.join(&*file.row.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// All conversations in one vault, each asked in its own place.
pub fn measure(conversations: &[Conversation]) -> Vec<Metrics> {
    let built = Built::of(&conversations.iter().collect::<Vec<_>>());
    conversations.iter().flat_map(|of| built.ask(of, false, str::to_owned)).collect()
}

/// Two neighbouring letters of the longest word swapped.
fn typo(text: &str) -> String {
    let Some(word) = text.split_whitespace().max_by_key(|word| word.len()) else { return text.to_owned() };
    let mut letters: Vec<char> = word.chars().collect();
    let at = letters.len() / 2;
    if at + 1 < letters.len() {
        letters.swap(at, at + 1);
    }
    text.replacen(word, &letters.into_iter().collect::<String>(), 1)
}

/// What a manner of asking is called, whether the whole vault is asked, and what it makes of a question.
type Manner = (&'static str, bool, fn(&str) -> String);

/// How questions are typed, and where they are asked: what that costs.
pub fn manners(conversations: &[Conversation]) {
    let built = Built::of(&conversations.iter().collect::<Vec<_>>());
    println!(
        "\n| two people's conversations | recall@5 | recall@10 | recall@20 | MRR | nDCG@10 | session@5 |\n|---|---|---|---|---|---|---|"
    );
    let manners: [Manner; 6] = [
        ("own scope", false, str::to_owned),
        ("whole vault", true, str::to_owned),
        ("one sentence, please", false, |text| format!("{text} Please answer in one sentence.")),
        ("greeted", false, |text| format!("Hi! Could you tell me {text} Thanks a lot!")),
        ("lower case", false, str::to_lowercase),
        ("two letters swapped", false, typo),
    ];
    for (name, whole, change) in manners {
        let all: Vec<Metrics> = conversations.iter().flat_map(|of| built.ask(of, whole, change)).collect();
        println!("| {name} {}", metrics::line(&all));
    }
}

/// Notes by paraphrase: note recall@5, @10 and MRR.
pub fn notes(vaults: &[data::Vault]) {
    println!("\n| notes | questions | recall@5 | recall@10 | MRR |\n|---|---|---|---|---|");
    let mut all = Vec::new();
    for vault in vaults {
        let built = Built::copy(&vault.folder);
        let mut ranks = Vec::new();
        for question in vault.questions.iter().filter(|question| !question.notes.is_empty()) {
            let mut notes: Vec<String> = Vec::new();
            for path in built.found(&question.text, 100) {
                if !notes.contains(&path) {
                    notes.push(path);
                }
            }
            ranks.push(notes.iter().position(|path| question.notes.contains(path)).map_or(0, |at| at + 1));
        }
        show(&vault.name, &ranks);
        all.extend(ranks);
    }
    show("all", &all);
}

fn show(name: &str, ranks: &[usize]) {
    let n = ranks.len().max(1) as f64;
    let at = |k: usize| ranks.iter().filter(|rank| (1..=k).contains(*rank)).count() as f64 / n;
    let mrr: f64 = ranks.iter().filter(|rank| **rank > 0).map(|rank| 1.0 / *rank as f64).sum::<f64>() / n;
    println!("| {name} | {} | {:.3} | {:.3} | {mrr:.3} |", ranks.len(), at(5), at(10));
}
