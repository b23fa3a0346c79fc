//! Cuts out the part of a block's text that matches a query.

use std::collections::HashSet;

use crate::search::analyze::text::Analyzer;

/// Longer texts are cut, in bytes.
const MOST: usize = 280;

/// The stretch of `text` with the most of `stems` (stems and exact forms of the query's words), on one
/// line; `…` marks a cut.
pub fn snippet(analyzer: &mut Analyzer, text: &str, stems: &HashSet<String>) -> String {
    if text.len() <= MOST {
        return one_line(text);
    }
    let mut hits: Vec<usize> = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let mut found = false;
        analyzer.terms(word, &mut |_, exact, stem| {
            found = found || stems.contains(exact) || stem.is_some_and(|stem| stems.contains(stem));
        });
        if found {
            hits.push(at);
        }
        at += word.len();
    }
    let inside = |start: usize| hits.iter().filter(|hit| (start..start + MOST).contains(*hit)).count();
    let best = hits.iter().copied().max_by_key(|hit| (inside(*hit), std::cmp::Reverse(*hit))).unwrap_or(0);
    let mut start = best.saturating_sub(40);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    if start > 0 {
        // Begin at a word.
        start = text[start..best].find(char::is_whitespace).map_or(best, |space| start + space + 1);
        while !text.is_char_boundary(start) {
            start += 1;
        }
    }
    let mut end = (start + MOST).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end < text.len()
        && let Some(space) = text[start..end].rfind(char::is_whitespace).filter(|space| *space > MOST / 2)
    {
        end = start + space;
    }
    let mut cut = one_line(&text[start..end]);
    if start > 0 {
        cut.insert(0, '…');
    }
    if end < text.len() {
        cut.push('…');
    }
    cut
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_what_was_asked() {
        let text = format!("{} the needle stands running here {}", "word ".repeat(200), "tail ".repeat(200));
        let stems = HashSet::from(["needl".to_owned(), "run".to_owned()]);
        let cut = snippet(&mut Analyzer::new(), &text, &stems);
        assert!(cut.contains("needle stands running") && cut.starts_with('…') && cut.ends_with('…'), "{cut}");
        assert_eq!(snippet(&mut Analyzer::new(), "a\n b", &stems), "a b");
        let wide = "字".repeat(400);
        assert!(snippet(&mut Analyzer::new(), &wide, &stems).ends_with('…'));
    }
}
