//! Shortens a long text to its head and its tail, and a long list to its newest entries. Pure.

/// The most characters of a tool's result in its turn, in the log and in later requests. It is the same limit
/// everywhere, so that a shortened result is not shortened again and a request begins like the one before it.
pub const MOST_RESULT: usize = 30_000;

/// Shortens a text to at most `most` characters: its head and tail with a marker for the omitted part between. A text
/// that was cut before keeps a single marker, which counts everything missing in the unit of the first cut.
pub fn shorten(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let (before, missing, unit, after) = cut_before(text).unwrap_or((text, 0, "characters", ""));
    let is_one = after.is_empty();
    let head: String = before.chars().take(half).collect();
    let behind = if is_one { before } else { after };
    let kept = behind.chars().count().min(half);
    let tail: String = behind.chars().skip(behind.chars().count() - kept).collect();
    let measure = |text: &str| if unit == "bytes" { text.len() } else { text.chars().count() };
    let there = if is_one { measure(text) } else { measure(before) + measure(after) };
    let missing = missing + there.saturating_sub(measure(&head) + measure(&tail)) as u64;
    format!("{}\n[… {missing} {unit} left out …]\n{tail}", head.trim_end_matches('\n'))
}

/// The newest of a list that have at most `most` tokens together, in their order.
pub fn newest<T>(mut all: Vec<T>, most: u64, tokens: impl Fn(&T) -> u64) -> Vec<T> {
    let mut left = Some(most);
    let fits = |one: &&T| {
        left = left.and_then(|left| left.checked_sub(tokens(one)));
        left.is_some()
    };
    let kept = all.iter().rev().take_while(fits).count();
    all.split_off(all.len() - kept)
}

/// The first line of a text that says what a cut left out: the text before it, how much of which unit, the text behind.
fn cut_before(text: &str) -> Option<(&str, u64, &str, &str)> {
    text.match_indices("[… ").find_map(|(at, opens)| {
        let line = text[at + opens.len()..].lines().next()?.strip_suffix(" left out …]")?;
        let (missing, unit) = line.split_once(' ')?;
        let end = at + opens.len() + line.len() + " left out …]".len();
        let after = text[end..].trim_start_matches('\n');
        let is_alone = (at == 0 || text[..at].ends_with('\n')) && !after.is_empty();
        let missing = missing.parse().ok().filter(|_| is_alone && matches!(unit, "bytes" | "characters"))?;
        Some((&text[..at], missing, unit, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_cut_before_has_one_marker_with_the_true_count() {
        let lines = |from: usize, to: usize| (from..to).map(|n| format!("{n}\n")).collect::<String>();
        let (whole, head, tail) = (lines(1000, 9000), lines(1000, 4000), lines(6000, 9000));
        let cut = format!("{head}[… {} bytes left out …]\n{tail}", whole.len() - head.len() - tail.len());
        for most in [20_000, 2_000, 101] {
            let text = shorten(&cut, most);
            assert_eq!(text.matches("left out").count(), 1, "{text}");
            let (before, rest) = text.split_once("\n[… ").unwrap();
            let (said, after) = rest.split_once(" bytes left out …]\n").unwrap();
            let missing = whole.len() - before.len() - after.len();
            // The line break before the marker may count to either side.
            assert!(missing.abs_diff(said.parse().unwrap()) <= 1, "{said} of {missing}");
            assert!(whole.starts_with(before) && whole.ends_with(after));
        }
    }

    #[test]
    fn a_long_text_keeps_head_and_tail() {
        let text = shorten(&"ä".repeat(100), 10);
        assert!(text.starts_with("äääää\n") && text.ends_with("\näääää") && text.contains("90 characters"));
    }
}
