//! Tests `text`.

use super::*;

fn exact(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::default().terms(text, &mut |_, term, _| terms.push(term.to_owned()));
    terms
}

fn stems(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::default().terms(text, &mut |_, term, stem| terms.push(stem.unwrap_or(term).to_owned()));
    terms
}

#[test]
fn words_fold_case_accents_and_forms() {
    assert_eq!(exact("Ünïcode CAFÉ ﬁne Straße Łódź"), ["unicode", "cafe", "fine", "strasse", "lodz"]);
    assert_eq!(exact("Йод Ёлка ΟΔΟΣ"), ["иод", "елка", "οδοσ"]);
    assert_eq!(exact("ｆｕｌｌ １２"), ["full", "12"]);
    assert_eq!((exact("❤\u{fe0f} b\u{fe0e}"), fold("❤\u{fe0f}")), (vec!["b".to_owned()], "❤".to_owned()));
}

#[test]
fn stems_stand_beside_the_exact_form() {
    assert_eq!(stems("running notes of Kyle's don't"), ["run", "note", "of", "kyle", "don't"]);
    assert_eq!(exact("Kyle\u{2019}s"), ["kyle's"]);
}

#[test]
fn compounds_give_their_parts_and_themselves() {
    assert_eq!(exact("camelCase"), ["camelcase", "camel", "case"]);
    assert_eq!(exact("HTTPServer"), ["httpserver", "http", "server"]);
    assert_eq!(exact("snake_case_id"), ["snake", "case", "id", "snake_case_id"]);
    assert_eq!(exact("rid_K5V4M2J9Q2ZP"), ["rid", "k5v4m2j9q2zp", "rid_k5v4m2j9q2zp"]);
    assert_eq!(exact("2026-11-20 14:02"), ["2026", "11", "20", "2026-11-20", "14", "02", "14:02"]);
    assert_eq!(exact("src/index/mod.rs"), ["src", "index", "mod", "rs", "src/index/mod.rs"]);
    assert_eq!(exact("https://docs.rs/x."), ["https", "docs", "rs", "x", "https://docs.rs/x"]);
    assert_eq!(exact("a -b c. 3.14, O'Brien"), ["a", "b", "c", "3", "14", "3.14", "o", "brien", "o'brien"]);
}

#[test]
fn scripts_without_spaces_give_pairs() {
    assert_eq!(exact("时间复杂度"), ["时间", "间复", "复杂", "杂度", "度"]);
    assert_eq!(exact("猫"), ["猫"]);
    assert_eq!(exact("ノート リンク"), ["ノー", "ート", "ト", "リン", "ンク", "ク"]);
    assert_eq!(exact("ﾉｰﾄ"), exact("ノート"));
    assert_eq!(exact("が"), exact("か\u{3099}"));
}

#[test]
fn signs_are_terms_of_the_index_alone() {
    let text = "a→b “c” 🎉!❤\u{fe0f} ∯ ₋ 1\u{20e3}";
    let mut signs = String::new();
    Splitter::default().split(text, &mut |form, term, _| {
        signs += if form == Form::Sign { term } else { "" };
    });
    assert_eq!(signs, fold(text).chars().filter(|c| is_sign(*c)).collect::<String>());
    assert_eq!(signs, "→🎉❤∮∮−");
    assert!(exact(text).iter().all(|term| !term.contains(is_sign)));
}

#[test]
fn plain_words_are_taken_as_any_other() {
    // The quick way and the whole one.
    for text in ["Word", "wORD", "ABc", "ABCd", "x1Y", "end.", "a::b", "a:", "it's", "it'", "tail-", "é-x"] {
        let (mut quick, mut whole) = (Vec::new(), Vec::new());
        Splitter::default().split(text, &mut |form, term, _| quick.push((form, term.to_owned())));
        Splitter::default().chunk(text, 0, &mut |form, term, _| whole.push((form, term.to_owned())));
        assert_eq!(quick[..whole.len()], whole[..], "{text}");
    }
    assert_eq!(exact(&format!("{} x", "y".repeat(65))), [&"y".repeat(64), "x"]);
}

#[test]
fn odd_input_gives_no_panic() {
    for text in
        ["", "'", "''s", "a'", "://", "\u{301}", "a\u{301}\u{301}'s", "#%+_-", "🙂emoji🙂", &"x".repeat(500)]
    {
        let _ = exact(text);
    }
    assert_eq!(exact(&"é".repeat(100)).len(), 1);
}
