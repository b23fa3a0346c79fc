//! Finds tags, dates and a trailing block id in a block's text.

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
}
