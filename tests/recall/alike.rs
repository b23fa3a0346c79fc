//! Ranking: what has a word as it was typed stands above all that merely resembles it, the bounds of a query hold for both,
//! and a shortlist of many blocks is the same however the corpus came about.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use vault_agent::embed::BuiltinTable;
use vault_agent::search::rank::turn_signals::{
    Bounds, Candidates, CorpusScope, Occurrences, RankingInput, Scores, Vectors,
};
use vault_agent::search::read::block::{Block, Kind, ParsedNote};
use vault_agent::search::store::{corpus::Corpus, vector_code::Probe};
use vault_agent::search::{Answer, Hit, Query, Recall, query::question::Question, weights::weights};

use crate::recall::recall_of;
use crate::support::prelude::*;

/// A made-up word.
fn word(random: &mut Rng) -> String {
    let letter =
        |at| if at % 2 == 0 { b"bdgklmnprt"[random.usize(..10)] } else { b"aiou"[random.usize(..4)] };
    String::from_utf8((0..7).map(letter).collect()).unwrap()
}

/// Notes and a log of made-up words, in short lines and long ones, below headings of such words; and the words, each with
/// one that differs in its first letter alone.
fn made_up() -> (Vec<String>, Vec<(String, String)>) {
    let mut random = Rng::with_seed(7);
    let words: Vec<String> = (0..60).map(|_| word(&mut random)).collect();
    let alike = |word: &str| format!("z{}", &word[1..]);
    let line = |random: &mut Rng, most: usize| {
        let some = |random: &mut Rng| {
            let word = &words[random.usize(..words.len())];
            if random.usize(..3) == 0 { alike(word) } else { word.clone() }
        };
        (0..=random.usize(..most)).map(|_| some(random)).collect::<Vec<_>>().join(" ")
    };
    let short = words.iter().enumerate();
    let mut notes: Vec<_> =
        short.map(|(at, word)| (format!("short{at}.md"), format!("# S\n\n- {}\n", alike(word)))).collect();
    for note in 0..40 {
        let mut text = format!("# {}\n", words[random.usize(..60)]);
        for _ in 0..6 {
            let most = [2, 4, 60][random.usize(..3)];
            let _ = write!(text, "\n- {}\n", line(&mut random, most));
        }
        notes.push((format!("n{note}.md"), text));
    }
    (words, notes)
}

/// A note of each line.
fn in_notes(lines: &[&str]) -> (Folder, Recall) {
    recall_of(lines.iter().enumerate().map(|(at, line)| (format!("n{at}.md"), line)))
}

fn texts(answer: &Answer) -> Vec<(&str, bool)> {
    answer.hits.iter().map(|hit| (hit.text.as_str(), hit.alike)).collect()
}

#[test]
fn each_line_with_the_word_stands_above_what_is_like_it() {
    let (words, notes) = made_up();
    let (_dir, recall) = recall_of(notes);
    for word in &words {
        for limit in [3, 10, 500] {
            let answer = recall.search(&Query::new(word).limit(limit)).unwrap();
            let has = |hit: &&Hit| hit.text.split_whitespace().any(|own| own == word);
            let with = answer.hits.iter().take_while(has).count();
            let behind = &answer.hits[with..];
            assert!(!behind.iter().any(|hit| has(&hit)), "{word}: {:?}", texts(&answer));
            assert!(answer.hits[..with].iter().all(|hit| !hit.alike), "{word}");
            let is_below = |hit: &Hit| hit.section.as_deref().is_some_and(|section| section.contains(word));
            assert!(behind.iter().all(|hit| hit.alike != is_below(hit)), "{word}: {:?}", texts(&answer));
            assert!(answer.notes.is_empty(), "{:?}", answer.notes);
            let exact = recall.search(&Query { exact: true, ..Query::new(word).limit(limit) }).unwrap();
            let typed = answer.hits.iter().filter(|hit| !hit.alike);
            assert_eq!(exact.hits, typed.cloned().collect::<Vec<_>>(), "{word}");
        }
    }
}

#[test]
fn a_word_that_stands_nowhere_is_named_and_what_is_like_it_is_marked() {
    let (_dir, recall) = recall_of([("a.md", "- buy milk\n\n- the kettle whistles\n")]);
    let answer = recall.search(&Query::new("milkx")).unwrap();
    assert_eq!(texts(&answer), [("buy milk", true)]);
    let nowhere = "stands nowhere here; hits marked ≈ have similar words or a similar meaning";
    assert_eq!(answer.notes, [format!("`milkx` {nowhere}")]);
    let both = recall.search(&Query::new("milkx kettle")).unwrap();
    assert_eq!(texts(&both), [("the kettle whistles", false), ("buy milk", true)]);
    assert!(recall.search(&Query { exact: true, ..Query::new("milkx") }).unwrap().hits.is_empty());
    // Another form of a word is the word.
    assert_eq!(texts(&recall.search(&Query::new("kettles")).unwrap()), [("the kettle whistles", false)]);
}

#[test]
fn what_was_typed_is_found_in_any_script_with_its_accents_signs_and_operators() {
    let lines = [
        "the great war of 1914",
        "his will was read",
        "über den Wolken",
        "Zürich is far",
        "Zu\u{308}rich by tram",
        "Herr Müller rang",
        "call getUserName() twice",
        "see [[Kelp forest|the plan]]",
        "Muller has a cafe",
        // Korean words have particles, and a lone character is a word.
        "서울에서 만나자",
        "회의록을 정리했다",
        "犬と遊ぶ",
        "我喜欢喝茶",
        "ﾃｽﾄ文書 ﾊﾞﾅﾅ",
        "私は猫が好き",
        "ขนมปังอร่อย",
        "ポケットの中",
        "party 🎉 tonight",
        "party plain",
        "- [ ] rent 📅 2026-11-20",
        "warm ❤\u{fe0f}",
    ];
    let (_dir, recall) = in_notes(&lines);
    for (queries, found) in [
        (&["war", "great war"][..], &[0][..]),
        (&["will"], &[1]),
        (&["über"], &[2]),
        (&["Zürich", "zurich", "Zu\u{308}rich"], &[3, 4]),
        (&["muller", "Müller"], &[5, 8]),
        (&["user", "name"], &[6]),
        (&["kelp"], &[7]),
        (&["café"], &[8]),
        (&["서울", "\"서울\"", "서*"], &[9]),
        (&["회의록", "회의록*"], &[10]),
        (&["犬", "\"犬\""], &[11]),
        (&["茶", "\"茶\""], &[12]),
        (&["テスト", "バナナ", "ﾊﾞﾅﾅ"], &[13]),
        (&["猫", "猫 kettle"], &[14]),
        (&["猫 茶"], &[12, 14]),
        (&["ขนมปัง"], &[15]),
        (&["ﾎﾟｹｯﾄ"], &[16]),
        (&["\"party 🎉\"", "\"party tonight\"", "🎉"], &[17]),
        (&["party -🎉", "party -\"🎉\""], &[18]),
        (&["📅"], &[19]),
        (&["❤\u{fe0f}", "\"warm ❤\"", "\"warm ❤\u{fe0f}\""], &[20]),
        (&["鳥", "부산", "🎈", "\"party 🎈\"", "warm -❤\u{fe0f}"], &[]),
    ] {
        let wanted: Vec<String> = found.iter().map(|at| format!("n{at}.md")).collect();
        for (query, exact) in queries.iter().flat_map(|query| [(*query, true), (*query, false)]) {
            let answer = recall.search(&Query { exact, ..Query::new(query) }).unwrap();
            let typed = answer.hits.iter().take_while(|hit| !hit.alike);
            let mut typed: Vec<&str> = typed.map(|hit| hit.path.as_str()).collect();
            let alike = &answer.hits[typed.len()..];
            assert!(alike.iter().all(|hit| hit.alike && !exact), "{query}: {answer:?}");
            typed.sort_unstable();
            assert_eq!(typed, wanted, "{query}: {answer:?}");
            let named = answer.notes.iter().any(|note| note.contains("nowhere"));
            assert!(!named || query.contains("kettle") || found.is_empty(), "{query}: {:?}", answer.notes);
        }
    }
    let notes = recall.search(&Query::new("party 🎉")).unwrap().notes;
    assert_eq!(notes, ["a sign beside words is searched for in quotes alone: `\"🎉\"`"]);
}

#[test]
fn of_a_script_without_spaces_all_that_was_typed_is_named() {
    let (_dir, recall) = recall_of([("a.md", "# 米\n\n寿司的米要凉\n")]);
    let notes = recall.search(&Query::new("寿司卷 米醋").limit(5)).unwrap().notes;
    let nowhere = "stand nowhere here; hits marked ≈ have similar words or a similar meaning";
    assert_eq!(notes, [format!("`寿司卷`, `米醋` {nowhere}")]);
    // A run of characters is one word, which has all of its pairs.
    let long = format!("{} bubapak", "filler ".repeat(120));
    let (_dir, recall) = in_notes(&["京都に行きました", "東京都の天気", &long, "dabapak dubapak"]);
    assert_eq!(typed(&recall, &Query { exact: true, ..Query::new("東京都") }).0, ["n1.md"]);
    let (found, notes) = typed(&recall, &Query::new("大東京都庁"));
    assert!(found.is_empty() && notes.starts_with("`大東京都庁` stands nowhere"), "{found:?} {notes}");
    let (found, notes) = typed(&recall, &Query::new("bubapak 나자차라"));
    assert_eq!(found, ["n2.md"]);
    assert!(notes.starts_with("`나자차라` stands nowhere"), "{notes}");
    assert_eq!(recall.search(&Query::new("bubapak 나자차라")).unwrap().hits[0].path, "n2.md");
    // A long run is a sentence: what has the most of it is first.
    let (_dir, recall) =
        in_notes(&["昨天我在北京买了一本书，封面很蓝。", "蓝色的天空很美。", "他喜欢蓝色。"]);
    assert_eq!(recall.search(&Query::new("我昨天在北京买的那本书，蓝色")).unwrap().hits[0].path, "n0.md");
}

#[test]
fn whether_another_project_s_memories_have_a_word_is_not_told() {
    let mine = "- The zugodam machine stands in the hall #project/alpha\n";
    for others in ["", "- The zugodum code is 1 #project/beta\n"] {
        let (_dir, recall) = recall_of([("MEMORY.md", format!("{mine}{others}"))]);
        let query = Query { scope: Some("project:alpha".to_owned()), ..Query::new("zugodum") };
        let (found, notes) = typed(&recall, &query);
        assert!(found.is_empty() && notes.starts_with("`zugodum` stands nowhere here"), "{others}{notes}");
        // Nor is a word corrected by theirs: the hits are the same with and without them.
        let slip = Query { text: "zugdoum".to_owned(), ..query };
        assert!(recall.search(&slip).unwrap().hits.is_empty(), "{others}");
    }
}

/// The paths of hits that have a typed word, and what was said of the query.
fn typed(recall: &Recall, query: &Query) -> (Vec<String>, String) {
    let answer = recall.search(query).unwrap();
    let typed = answer.hits.iter().filter(|hit| !hit.alike);
    (typed.map(|hit| hit.path.clone()).collect(), answer.notes.join("; "))
}

#[test]
fn a_lone_character_beside_a_word_is_found_wherever_in_a_run_it_stands() {
    let lines = ["我喜欢喝茶", "茶很好", "他的茶很好", "I like green tea"];
    let (_dir, recall) = recall_of([("a.md", lines.join("\n\n"))]);
    let answer = recall.search(&Query::new("茶 green")).unwrap();
    let mut found = texts(&answer);
    found.sort_unstable();
    assert_eq!(found, [(lines[3], false), (lines[2], false), (lines[0], false), (lines[1], false)]);
}

#[test]
fn accents_of_titles_headings_and_names_don_t_count() {
    let (_dir, recall) = recall_of([
        ("Häuser Öltrund.md", "the roof\n"),
        ("a.md", "# Müller\n\ncalls at noon\n"),
        ("b.md", "---\naliases: [Çelik]\n---\nthe steel\n"),
        ("Gro\u{308}ßenwahn U\u{308}berquol.md", "too much\n"),
        ("c.md", "# Zu\u{308}rich\n\nby tram\n"),
        ("d.md", "# Cafe\n\nopens late\n"),
    ]);
    for (query, text) in [
        ("oltrund", "the roof"),
        ("öltrund", "the roof"),
        ("muller", "calls at noon"),
        ("celik", "the steel"),
        ("größenwahn", "too much"),
        ("grossenwahn", "too much"),
        ("zürich", "by tram"),
        ("zurich", "by tram"),
        ("café", "opens late"),
    ] {
        let answer = recall.search(&Query { exact: true, ..Query::new(query) }).unwrap();
        assert!(texts(&answer).contains(&(text, false)), "{query}: {answer:?}");
        assert_eq!(answer.notes, [""; 0], "{query}");
        // A heading's word is no word of what stands below it.
        assert!(recall.search(&Query::new(format!("{text} -{query}"))).unwrap().hits[0].text == text);
    }
}

#[test]
fn the_operators_of_a_long_query_hold() {
    let (_dir, recall) = recall_of([("a.md", "party mirtol\n\nparty with a mirtol\n\nparty\n")]);
    for (operator, found) in [("-mirtol", "party"), ("\"party mirtol\"", "party mirtol")] {
        let answer = recall.search(&Query::new("party ".repeat(1500) + operator)).unwrap();
        assert_eq!(texts(&answer), [(found, false)]);
        assert!(answer.notes.join("").contains("only its first 4000 bytes are ranked"), "{:?}", answer.notes);
    }
}

#[test]
fn the_bounds_of_a_query_hold_for_what_is_like_its_words() {
    let tea = "- green tea with sugar\n\n- green tea alone\n\n- green leaves and black tea\n\n- kettles\n";
    let shop = "- a kettle #buy\n\n- kettlebell rack\n";
    let (_dir, recall) = recall_of([("tea.md", tea), ("shop/list.md", shop)]);
    let found = |text: &str| {
        let answer = recall.search(&Query::new(text).limit(50)).unwrap();
        answer.hits.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
    };
    assert_eq!(found("\"green tea\" -sugar"), ["green tea alone"]);
    assert_eq!(found("kettle \"green tea\" -sugar"), ["green tea alone"]);
    assert_eq!(found("kettle path:shop"), ["a kettle #buy", "kettlebell rack"]);
    assert_eq!(found("kettle tag:buy"), ["a kettle #buy"]);
    assert_eq!(found("kettle -kettlebell path:shop"), ["a kettle #buy"]);
    assert!(found("kettle after:2026-01-01").is_empty());
    // A title that a question quotes is words.
    assert!(!found("Which kettle is for \"black coffee\"?").is_empty());
}

#[test]
fn the_end_of_a_very_long_note_is_found() {
    let mut text = String::new();
    (0..66_000).for_each(|at| _ = writeln!(text, "- item {at}"));
    let (_dir, recall) = recall_of([("long.md", text + "- the last kettle\n- another one\n")]);
    let answer = recall.search(&Query::new("kettle").limit(3)).unwrap();
    assert_eq!(texts(&answer), [("the last kettle", false)]);
    assert_eq!(texts(&recall.search(&Query::new("item 65999").limit(1)).unwrap()), [("item 65999", false)]);
    assert!(answer.notes.is_empty(), "{:?}", answer.notes);
}

const WORDS: [&str; 24] = [
    "garden", "kettle", "bicycle", "window", "letter", "pepper", "river", "engine", "mirror", "basket",
    "carpet", "ladder", "pocket", "candle", "bridge", "hammer", "island", "jacket", "lemon", "marble",
    "needle", "orange", "pillow", "rocket",
];

/// The blocks of note `n`: no chance, but no pattern that a ranking could lean on either.
fn texts_of(n: usize) -> Vec<String> {
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
    let blocks = texts_of(n).into_iter().zip(1..).map(|(text, line)| Block {
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
    let mut scores = Scores::new(weights(&question), true, corpus.len());
    let vectors = Vectors { matrix: None, probe: &probe };
    let scope = CorpusScope { corpus, candidates: &candidates, occurrences: &Occurrences::default() };
    let prompt = RankingInput {
        scope,
        question: &question,
        vectors: Some(vectors),
        nearest: None,
        others: &[],
        zone: &TimeZone::UTC,
    };
    prompt.compute(&mut scores);
    let place = |slot: u32| (corpus.path_at(slot).to_owned(), corpus.meta(slot).line);
    let hits = scores.best(scope, Bounds::default(), 10).into_iter();
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
