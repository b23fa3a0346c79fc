//! What a text and a question cost.

use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use vault_agent::embed::BuiltinTable;
use vault_agent::search::query::question::Question;
use vault_agent::search::rank::turn_signals;
use vault_agent::search::rank::turn_signals::{
    Candidates, CorpusScope, Occurrences, RankingInput, Scores, Vectors,
};
use vault_agent::search::read::block::{Block, ParsedNote};
use vault_agent::search::store::corpus::Corpus;
use vault_agent::search::store::vector_code::Probe;
use vault_agent::search::weights::weights;

use crate::data::{Conversation, Said, note, turn};

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

pub fn report(conversations: &[Conversation], blocks: usize) {
    let table = BuiltinTable::builtin();
    let words: Vec<&str> =
        conversations[0].turns.iter().flat_map(|said| said.text.split_whitespace()).collect();
    let texts: Vec<String> = words.chunks(50).map(|words| words.join(" ")).collect();
    let times = texts.iter().map(|text| {
        let start = Instant::now();
        std::hint::black_box(table.embed(text));
        start.elapsed()
    });
    println!("\nembedding 50 words: {:?}", median(times.collect()));

    let mut corpus = Corpus::default();
    let start = Instant::now();
    for copy in 0.. {
        if corpus.len() >= blocks {
            break;
        }
        let notes = conversations.iter().flat_map(|conversation| {
            let path = |at: usize| format!("logs/discord-channel/{}-{copy}/{at:04}.md", conversation.id);
            let sessions = conversation.turns.chunks(24).enumerate();
            sessions.map(move |(at, turns)| {
                (path(at), session(turns, 1_600_000_000 + 3600 * (copy * 100 + at as i64)))
            })
        });
        corpus.put(notes).unwrap();
    }
    println!("{} blocks taken in: {:?}", corpus.len(), start.elapsed());
    let (mut vectors_only, mut whole) = (Vec::new(), Vec::new());
    let mut cosines: Vec<Option<f32>> = Vec::new();
    for asked in conversations.iter().flat_map(|conversation| conversation.questions.iter().step_by(20)) {
        let start = Instant::now();
        let question = Question::new(&asked.text, jiff::civil::date(2024, 6, 1));
        let probe = Probe::new(&table.embed(&asked.text)).unwrap();
        let candidates = Candidates::new(&corpus, |_| true);
        let mut scores = Scores::new(weights(&question), true, corpus.len());
        let vectors = Vectors { matrix: None, probe: &probe };
        let scope =
            CorpusScope { corpus: &corpus, candidates: &candidates, occurrences: &Occurrences::default() };
        let prompt = RankingInput {
            scope,
            question: &question,
            vectors: Some(vectors),
            nearest: None,
            others: &[],
            zone: &TimeZone::UTC,
        };
        prompt.compute(&mut scores);
        std::hint::black_box(scores.best(scope, turn_signals::Bounds::default(), 24));
        whole.push(start.elapsed());
        let start = Instant::now();
        cosines.clear();
        let sums = probe.sums.as_ref().unwrap();
        cosines.extend(candidates.slots().map(|slot| Some(sums.cosine(&corpus.code(slot)?))));
        vectors_only.push(start.elapsed());
    }
    let least = |times: &[Duration]| times.iter().min().copied().unwrap_or_default();
    let (all, vectors) = (least(&whole), least(&vectors_only));
    println!(
        "a question over {} blocks: median {:?} (least {all:?}); the cosines of all vectors: {:?} ({vectors:?})",
        corpus.len(),
        median(whole),
        median(vectors_only)
    );
}

/// The turns of a session, all of one time.
fn session(turns: &[Said], time: i64) -> ParsedNote {
    note(turns.iter().zip(1..).map(|(said, line)| Block { line, time: Some(time), ..turn(said) }))
}
