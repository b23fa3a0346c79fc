//! What `persist` promises, case by case.

use super::*;
use crate::search::analyze::days::About;
use crate::search::store::corpus::blocks::Passage;

fn put(corpus: &mut Corpus, path: &str, texts: &[&str]) {
    let passages = texts.iter().zip(1..).map(|(text, line)| Passage {
        line,
        is_turn: true,
        role: None,
        author: Some("Ann"),
        time: Some(7),
        about: About::of("yesterday", jiff::civil::date(2026, 11, 21)),
        head: "",
        text,
    });
    corpus.put(path, 3, passages);
}

fn of() -> Option<Stamp> {
    Some(Stamp { epoch: -7, generation: 3, committed: i64::MAX, docs: 5 })
}

fn corpus() -> Corpus {
    let mut corpus = Corpus::new();
    put(&mut corpus, "a.md", &["The dentist, Ann", "is closed?"]);
    put(&mut corpus, "b.md", &["x", ""]);
    put(&mut corpus, "a.md", &["anew, the dentist", "y"]);
    corpus
}

fn postings(corpus: &Corpus, term: &str) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    corpus.each(term, |slot, count| out.push((slot, count)));
    out
}

#[test]
fn what_was_saved_is_loaded_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recall.bin");
    let mut corpus = corpus();
    let before: Vec<_> =
        (0..6).map(|slot| (corpus.meta(slot), corpus.hash(slot), corpus.vector(slot))).collect();
    let dentist = postings(&corpus, "dentist");
    assert_eq!(dentist, [(0, 1), (4, 1)]);
    save(&mut corpus, of(), "utc", &path).unwrap();
    let (loaded, stamp) = whole(load(&path, "utc", false)).unwrap();
    assert_eq!(stamp, of());
    for corpus in [&corpus, &loaded] {
        let after: Vec<_> =
            (0..6).map(|slot| (corpus.meta(slot), corpus.hash(slot), corpus.vector(slot))).collect();
        assert_eq!(after, before);
        assert_eq!((postings(corpus, "dentist"), postings(corpus, "ann").len()), (dentist.clone(), 6));
        assert_eq!(
            (corpus.file("a.md").unwrap().slots.clone(), corpus.authors()),
            (4..6, &["ann".to_owned()][..])
        );
        assert_eq!((corpus.has(5), corpus.has(6), corpus.blocks()), (true, false, 6));
    }
    assert!(matches!(load(&path, "other", false), Saved::Nothing));
}

#[test]
fn what_comes_later_joins_the_last_layer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recall.bin");
    save(&mut corpus(), of(), "utc", &path).unwrap();
    let mut loaded = whole(load(&path, "utc", false)).unwrap().0;
    put(&mut loaded, "c.md", &["another dentist", "is closed?"]);
    assert_eq!(loaded.file("c.md").unwrap().slots, 65_536..65_538);
    assert_eq!(postings(&loaded, "dentist"), [(0, 1), (4, 1), (65_536, 1)]);
    save(&mut loaded, None, "utc", &path).unwrap();
    let (again, stamp) = whole(load(&path, "utc", true)).unwrap();
    assert_eq!(stamp, None);
    for corpus in [&loaded, &again] {
        assert_eq!(corpus.file("c.md").unwrap().slots, 6..8);
        assert_eq!(postings(corpus, "dentist"), [(0, 1), (4, 1), (6, 1)]);
        // The same text has one vector.
        assert_eq!((corpus.row_of(7), corpus.file_at(7).path.as_str()), (corpus.row_of(1), "c.md"));
    }
    let files = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(files, 2, "the head and one layer");
}

fn whole(saved: Saved) -> Option<(Corpus, Option<Stamp>)> {
    match saved {
        Saved::Whole(corpus, of) => Some((*corpus, of)),
        _ => None,
    }
}

#[test]
fn a_damaged_file_is_known_for_that() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("recall.bin");
    let mut corpus = corpus();
    save(&mut corpus, of(), "utc", &path).unwrap();
    let layer = dir.path().join(&corpus.layers[0].name.as_ref().unwrap().0);
    drop(corpus);
    for file in [path.clone(), layer] {
        let bytes = std::fs::read(&file).unwrap();
        let put = |bytes: &[u8]| {
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, bytes).unwrap();
        };
        for cut in (0..bytes.len()).step_by(97) {
            put(&bytes[..cut]);
            assert!(matches!(load(&path, "utc", false), Saved::Damaged(_)), "{cut}");
        }
        for at in (0..bytes.len()).step_by(7) {
            let mut torn = bytes.clone();
            torn[at] ^= 0x81;
            put(&torn);
            assert!(matches!(load(&path, "utc", false), Saved::Damaged(_)), "{at}");
        }
        put(&bytes);
        assert!(whole(load(&path, "utc", false)).is_some(), "as it was, in another file");
    }
}
