//! Ranking where there are many blocks: a shortlist is looked at closely, and it is the same one however the corpus
//! came about.

use jiff::tz::TimeZone;
use vault_agent::embed::BuiltinTable;
use vault_agent::search::query::question::Question;
use vault_agent::search::rank::signal_names::weights;
use vault_agent::search::rank::turn_signals;
use vault_agent::search::rank::turn_signals::{Bounds, Candidates, Near, Prompt, Scores, Vectors, Work};
use vault_agent::search::read::block::{Block, Kind, ParsedNote};
use vault_agent::search::store::corpus::Corpus;
use vault_agent::search::store::matrix::Probe;
use vault_agent::search::weights::NEAR;

const WORDS: [&str; 24] = [
    "garden", "kettle", "bicycle", "window", "letter", "pepper", "river", "engine", "mirror", "basket",
    "carpet", "ladder", "pocket", "candle", "bridge", "hammer", "island", "jacket", "lemon", "marble",
    "needle", "orange", "pillow", "rocket",
];

/// The blocks of note `n`: no chance, but no pattern that a ranking could lean on either.
fn texts(n: usize) -> Vec<String> {
    let word = |seed: usize| WORDS[seed.wrapping_mul(2_654_435_761) / 7 % WORDS.len()];
    let mut texts: Vec<String> = (0..20)
        .map(|block| (0..6).map(|at| word(n * 131 + block * 17 + at * 5)).collect::<Vec<_>>().join(" "))
        .collect();
    if n == 78 {
        texts[3] = "Ann adopted a kitten from the shelter".to_owned();
    }
    texts
}

fn put(corpus: &mut Corpus, n: usize) {
    let kind = if n.is_multiple_of(2) { Kind::Turn } else { Kind::Paragraph };
    let blocks = texts(n).into_iter().zip(1..).map(|(text, line)| Block {
        line,
        author: (kind == Kind::Turn).then(|| "Ann".into()),
        ..Block::new(kind, 0, 0, text)
    });
    let note = ParsedNote { blocks: blocks.collect(), ..ParsedNote::default() };
    corpus.put([(format!("notes/{n:03}.md"), note)]).unwrap();
}

fn best(corpus: &Corpus, text: &str) -> Vec<(String, u32, i64)> {
    let question = Question::new(text, jiff::civil::date(2026, 1, 1));
    let candidates = Candidates::new(corpus, |_| true);
    let probe = Probe::new(&BuiltinTable::builtin().embed(text)).unwrap();
    let mut scores = Scores::new(weights(&question), Near::Cosine(NEAR), corpus.len());
    let vectors = Vectors { matrix: None, probe: &probe };
    let prompt = Prompt {
        corpus,
        candidates: &candidates,
        question: &question,
        vectors: Some(vectors),
        nearest: None,
        others: &[],
        zone: &TimeZone::UTC,
    };
    turn_signals::compute(prompt, &mut Work::default(), &mut scores);
    let place = |slot: u32| (corpus.path_at(slot).to_owned(), corpus.meta(slot).line);
    let hits = scores.best(corpus, &candidates, Bounds::default(), 10).into_iter();
    hits.map(|slot| (place(slot).0, place(slot).1, (scores.of(slot) * 1e3) as i64)).collect()
}

#[test]
fn a_corpus_that_grew_in_another_way_ranks_the_same() {
    let (mut fresh, mut grown) = (Corpus::default(), Corpus::default());
    (0..300).for_each(|n| put(&mut fresh, n));
    (0..300).rev().for_each(|n| put(&mut grown, n));
    (50..120).for_each(|n| put(&mut grown, n));
    for question in ["Who adopted a young cat?", "shelter", "a garden kettle by the window"] {
        let found = best(&fresh, question);
        assert_eq!(found, best(&grown, question), "{question}");
        assert!(question.starts_with("a garden") || found[0].0 == "notes/078.md", "{question}: {found:?}");
    }
    assert_eq!(best(&fresh, "zugzwang"), [], "nothing speaks for any block");
}
