//! Cuts a block that is too long: at the end of a sentence, else of a line, else of a word.
//!
//! Text comes in; ranges of its bytes go out. Pure.

use std::ops::Range;

/// Cuts `text` into pieces of at most about `most` bytes: at sentence ends, else at line ends, else at
/// words. The pieces' ranges cover `text` without gaps.
pub fn pieces(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while text.len() - start > most {
        let mut limit = start + most;
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let window = &text[start..limit];
        let half = window.len() / 2;
        let cut = sentence_end(window)
            .filter(|at| *at > half)
            .or_else(|| window.rfind('\n').map(|at| at + 1).filter(|at| *at > half))
            .or_else(|| window.rfind(char::is_whitespace).map(|at| at + 1).filter(|at| *at > half))
            .unwrap_or(window.len())
            .max(1);
        let mut cut = start + cut;
        while !text.is_char_boundary(cut) {
            cut += 1;
        }
        pieces.push(start..cut);
        start = cut;
    }
    if start < text.len() || pieces.is_empty() {
        pieces.push(start..text.len());
    }
    pieces
}

/// The byte behind the last sentence end in `window`.
fn sentence_end(window: &str) -> Option<usize> {
    let ascii = window
        .rmatch_indices(['.', '!', '?'])
        .map(|(at, _)| at + 1)
        .find(|at| window[*at..].starts_with(char::is_whitespace));
    let wide = window.rmatch_indices(['。', '！', '？']).next().map(|(at, mark)| at + mark.len());
    ascii.max(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_sentences_and_whole() {
        let text = "One sentence here. Another one there! ".repeat(40);
        let cut = pieces(&text, 200);
        assert!(cut.iter().all(|range| range.len() <= 200));
        assert!(
            cut[..cut.len() - 1].iter().all(|range| text[range.clone()].trim_end().ends_with(['.', '!']))
        );
        assert_eq!(cut.iter().map(|range| &text[range.clone()]).collect::<String>(), text);
        let wide = "字".repeat(500);
        assert_eq!(pieces(&wide, 100).iter().map(|r| &wide[r.clone()]).collect::<String>(), wide);
    }
}
