//! The tokenizer against the reference implementation (`tokenizers` 0.23, all-MiniLM-L6-v2): texts and their
//! token numbers in `tokens.json`, and the built-in table's own soundness. One difference is meant: a text that
//! says `[CLS]` is text here, not a special token.

use vault_agent::embed::BuiltinTable;
use vault_agent::embed::wordpiece::{TokenVocabulary, tokens};

#[test]
fn tokens_are_those_of_the_reference() {
    let cases: Vec<(String, Vec<u32>)> = serde_json::from_str(include_str!("tokens.json")).unwrap();
    let table = BuiltinTable::builtin();
    assert!(cases.len() > 15);
    for (text, expected) in cases {
        let mut found = Vec::new();
        tokens(&table, &text, 10_000, |token| found.push(token));
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn the_table_is_whole() {
    let table = BuiltinTable::builtin();
    assert!(table.piece("dentist", false).is_some() && table.piece("ing", true).is_some());
    assert_ne!(table.piece("ing", true), table.piece("ing", false));
    assert_eq!(table.piece("dentistically", false), None);
    let vector = table.embed("The cat sat on the mat.");
    assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
    assert!(table.embed("").iter().all(|x| *x == 0.0));
    let near: Vec<&str> = table.neighbours("dentist").map(|(word, _)| word).collect();
    assert!(near.contains(&"dental"), "{near:?}");
    let like =
        |a: &str, b: &str| -> f32 { table.embed(a).iter().zip(table.embed(b)).map(|(x, y)| x * y).sum() };
    assert!(
        like("She adopted a kitten", "They got a new cat")
            > like("She adopted a kitten", "The invoice is overdue") + 0.2
    );
}
