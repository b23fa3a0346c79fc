//! A corpus that follows a vault's changes answers as one made of the vault as it is, and goes in step with the index alone.

use proptest::prelude::*;
use vault_agent::search::{Hit, Query, Recall, follow::follower::Follower};

use crate::recall::{open, recall_of};
use crate::support::prelude::*;

const WORDS: [&str; 8] = ["kitten", "shelter", "garden", "kettle", "river", "letter", "adopted", "cat"];

/// What happens to a vault of six notes.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<usize>),
    Append(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    /// Being written while somebody asks: read past the index, and taken back unless `stays`.
    Typed(usize, usize, bool),
    /// A process of its own asks next.
    Cold,
    /// The index is made anew.
    Reindex,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (note, word) = (0..6_usize, 0..WORDS.len());
    let step = prop_oneof![
        4 => (note.clone(), prop::collection::vec(word.clone(), 1..6)).prop_map(|(n, words)| Step::Write(n, words)),
        2 => (note.clone(), word.clone()).prop_map(|(n, word)| Step::Append(n, word)),
        2 => note.clone().prop_map(Step::Remove),
        1 => (note.clone(), note.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        3 => (note, word, any::<bool>()).prop_map(|(n, word, stays)| Step::Typed(n, word, stays)),
        1 => Just(Step::Cold),
        1 => Just(Step::Reindex),
    ];
    prop::collection::vec(step, 1..14)
}

fn found(recall: &Recall) -> Vec<Hit> {
    // Two hits are often what words alone find, ten hardly ever.
    let ask =
        |(text, limit): (&str, usize)| recall.search(&Query { limit, ..Query::new(text) }).unwrap().hits;
    let texts = ["kitten shelter", "who adopted a cat?", "river"];
    texts.into_iter().flat_map(|text| [(text, 2), (text, 10)]).flat_map(ask).collect()
}

/// A follower that has looked at everything once.
fn follow(recall: &Recall) -> Follower {
    let follower = Follower::start(Arc::clone(recall.index())).unwrap();
    until("the first look", || follower.following().following);
    follower
}

/// Tells it of these notes, and waits until it has committed them.
fn settled(follower: &Follower, notes: impl Iterator<Item = String>) {
    follower.changed(notes);
    until("the commit", || follower.following().behind == 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn it_answers_as_one_made_anew(steps in steps()) {
        let name = |n: usize| format!("n{n}.md");
        let (vault, mut recall) = recall_of([(name(0), "the first kitten\n")]);
        let (root, cache) = (vault.root(), vault.cache());
        let at = |n: usize| root.join(name(n));
        let settle = |follower: &Follower, notes: &[usize]| settled(follower, notes.iter().map(|n| name(*n)));
        let mut follower = follow(&recall);
        for (round, step) in steps.into_iter().enumerate() {
            match step {
                Step::Write(n, words) => {
                    let lines = words.iter().map(|word| format!("the {} {round}\n\n", WORDS[*word]));
                    std::fs::write(at(n), lines.collect::<String>()).unwrap();
                    settle(&follower, &[n]);
                }
                Step::Append(n, word) => {
                    let text = std::fs::read_to_string(at(n)).unwrap_or_default();
                    std::fs::write(at(n), format!("{text}\na {}\n", WORDS[word])).unwrap();
                    settle(&follower, &[n]);
                }
                Step::Remove(n) => {
                    let _ = std::fs::remove_file(at(n));
                    settle(&follower, &[n]);
                }
                Step::Rename(from, to) => {
                    let _ = std::fs::rename(at(from), at(to));
                    settle(&follower, &[from, to]);
                }
                Step::Typed(n, word, stays) => {
                    let before = std::fs::read(at(n)).ok();
                    std::fs::write(at(n), format!("typing {} {round}\n", WORDS[word])).unwrap();
                    follower.changing([name(n)]);
                    let _ = found(&recall);
                    match before {
                        _ if stays => {}
                        Some(before) => std::fs::write(at(n), before).unwrap(),
                        None => std::fs::remove_file(at(n)).unwrap(),
                    }
                    settle(&follower, &[n]);
                }
                Step::Cold => {
                    drop(follower);
                    recall = open(&root, &cache);
                    follower = follow(&recall);
                }
                Step::Reindex => {
                    recall.index().reindex(&|_| {}, &std::sync::atomic::AtomicBool::new(false)).unwrap();
                }
            }
            let anew = open(&root, &vault.dir().join(format!("anew{round}")));
            let (found, expected) = (found(&recall), found(&anew));
            prop_assert_eq!(&found, &expected, "after step {}", round);
            prop_assert!(found.iter().all(|hit| hit.score.is_finite()));
        }
    }
}

#[test]
fn what_was_read_before_it_was_committed_and_taken_back_is_forgotten() {
    let (vault, recall) = recall_of([("a.md", "the kitten\n")]);
    let texts = |recall: &Recall| {
        let hits = recall.search(&Query::new("kitten zebra")).unwrap().hits;
        hits.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
    };
    let follower = follow(&recall);
    assert_eq!(texts(&recall), ["the kitten"]);
    // Being typed, and not settled: read directly.
    vault.write("a.md", "the zebra\n");
    follower.changing(["a.md".to_owned()]);
    assert_eq!(texts(&recall), ["the zebra"]);
    // Taken back before anything was committed: the index never knew of it.
    vault.write("a.md", "the kitten\n");
    settled(&follower, ["a.md".to_owned()].into_iter());
    assert_eq!(texts(&recall), ["the kitten"]);
    // A process that begins with what this one saved finds the same.
    assert_eq!(texts(&open(&vault.root(), &vault.cache())), ["the kitten"]);
}

#[test]
fn few_hits_are_the_first_of_many() {
    let words = ["kitten", "shelter", "garden", "kettle", "river", "adopted", "a cat", "young dog"];
    let (_vault, recall) = recall_of((0..60).map(|n| {
        let of = |by: usize| words[n * by % words.len()];
        let folder = if n % 3 == 0 { "some/" } else { "" };
        let text =
            format!("# {}\n\nthe {} and the {}\n\n%% {} %%\n\n- {}\n", of(1), of(3), of(5), of(7), of(7));
        (format!("{folder}{n}.md"), text)
    }));
    let places = |text: &str, scope: Option<&str>, limit: usize| -> Vec<(String, u32)> {
        let query = Query { limit, scope: scope.map(str::to_owned), ..Query::new(text) };
        recall.search(&query).unwrap().hits.into_iter().map(|hit| (hit.path, hit.line)).collect()
    };
    for text in ["kitten shelter", "who adopted a cat?", "kettle by the river"] {
        for scope in [None, Some("some")] {
            // So many that words alone don't find them all.
            let all = places(text, scope, 1000);
            assert!(all.len() >= 10, "{text}: {}", all.len());
            for limit in (1..all.len()).step_by(3) {
                assert_eq!(places(text, scope, limit), all[..limit], "{text} in {scope:?}");
            }
        }
    }
}

#[test]
fn others_memories_don_t_crowd_out_what_is_seen() {
    let far = "a kitten, in a long text about many other things that makes the one word count for little";
    let others = (0..250).map(|n| (format!("{n}.md"), "kitten shelter #project/x\n".to_owned()));
    let seen =
        [("seen.md".to_owned(), format!("{far}\n")), ("own.md".to_owned(), format!("{far} #project/y\n"))];
    let (_vault, recall) = recall_of(others.chain(seen));
    for limit in [1, 2, 10] {
        for (scope, path) in [("global", "seen.md"), ("project:Y", "own.md")] {
            for text in ["kitten shelter", "kitt* shelt*"] {
                let query = Query { limit, scope: Some(scope.to_owned()), ..Query::new(text) };
                let hits = recall.search(&query).unwrap().hits;
                let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
                assert_eq!(paths, [path], "{text} in {scope}, {limit}");
            }
        }
    }
}
