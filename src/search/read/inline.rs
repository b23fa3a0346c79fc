//! What stands inside a block's text: tags, dates and a trailing block id.

use std::ops::Range;

pub use crate::format::tags::tags;

/// The dates `YYYY-MM-DD` in `text`.
pub fn dates(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut found: Vec<String> = Vec::new();
    for dash in memchr::memchr_iter(b'-', bytes) {
        if dash < 4 || dash + 6 > bytes.len() || (dash > 4 && bytes[dash - 5].is_ascii_digit()) {
            continue;
        }
        let Some(candidate) = text.get(dash - 4..dash + 6) else { continue };
        let digits = candidate
            .bytes()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
        let ends = !bytes.get(dash + 6).is_some_and(u8::is_ascii_digit);
        if digits
            && ends
            && candidate.parse::<jiff::civil::Date>().is_ok()
            && !found.iter().any(|d| d == candidate)
        {
            found.push(candidate.to_owned());
        }
    }
    found
}

/// Takes a trailing ` ^block-id` off `text`.
pub fn take_block_id(text: &mut String) -> Option<String> {
    let trimmed = text.trim_end();
    let at = trimmed.rfind('^')?;
    let id = &trimmed[at + 1..];
    let before = &trimmed[..at];
    if id.is_empty()
        || !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        || !(before.is_empty() || before.ends_with(char::is_whitespace))
    {
        return None;
    }
    let id = id.to_owned();
    let keep = before.trim_end().len();
    text.truncate(keep);
    Some(id)
}

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
    fn dates_are_real_ones() {
        assert_eq!(
            dates("2026-11-20, 2026-02-30, 12026-11-20, v2026-11-201, x2025-01-02."),
            ["2026-11-20", "2025-01-02"]
        );
    }

    #[test]
    fn block_ids_come_off_the_end() {
        let mut text = "a b ^id-1 ".to_owned();
        assert_eq!(take_block_id(&mut text).as_deref(), Some("id-1"));
        assert_eq!(text, "a b");
        assert_eq!(take_block_id(&mut "2^3".to_owned()), None);
    }

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
