//! Reads and writes the facts at the end of an agent's event, and detects answers that are made of memory alone.
//!
//! `%% brain=claude model=claude-opus-5 in=5210 out=212 usd=0.004 ms=2100 %%` is a line of its own behind the event's
//! text. Obsidian doesn't show it.

/// An answer that begins so consists of excerpts from notes.
pub const FOUND: &str = "From your notes (excerpts, found by search):";
/// The answer where nothing was found.
pub const FOUND_NOTHING: &str = "I found nothing about that in your notes.";
/// An answer that begins so says how to ask.
pub const ANSWERED_WITH_HELP: &str = "Ask me about your notes, or use ";

/// The event's text, and the facts behind it as keys and values; no facts if the last line is no line of facts, whose
/// first is `brain`.
pub fn split_facts(content: &str) -> (&str, Vec<(&str, &str)>) {
    let (said, line) = content.rsplit_once('\n').unwrap_or(("", content));
    match facts(line) {
        Some(facts) => (said, facts),
        None => (content, Vec::new()),
    }
}

fn facts(line: &str) -> Option<Vec<(&str, &str)>> {
    let inner = line.trim_end().strip_prefix("%% ")?.strip_suffix(" %%")?;
    let fact = |word: &'_ str| -> Option<usize> {
        let key = word.find('=')?;
        let is_key =
            key > 0 && word[..key].bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        (is_key && !word.contains('%')).then_some(key)
    };
    let facts: Option<Vec<(&str, &str)>> = inner
        .split_ascii_whitespace()
        .map(|word| fact(word).map(|at| (&word[..at], &word[at + 1..])))
        .collect();
    facts.filter(|facts| facts.first().is_some_and(|(key, _)| *key == "brain"))
}

/// Whether an agent's content is made of memory alone, or of help.
pub(super) fn is_made_of_recall(content: &str) -> bool {
    let (said, facts) = split_facts(content);
    let said = said.trim();
    facts.contains(&("brain", "memory"))
        || said.starts_with(FOUND)
        || said.starts_with(ANSWERED_WITH_HELP)
        || said == FOUND_NOTHING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_no_part_of_what_was_said() {
        let whole = "Green tea.\n50%% off\n%% brain=claude usd=0.004 ctx= %%";
        let facts = vec![("brain", "claude"), ("usd", "0.004"), ("ctx", "")];
        assert_eq!(split_facts(whole), ("Green tea.\n50%% off", facts));
        assert_eq!(split_facts("%% brain=x %%"), ("", vec![("brain", "x")]));
        for none in [
            "Green tea.",
            "a\n%% model=x brain=y %%",
            "a\n%% brain=x",
            "a %% brain=x %%",
            "a\n%% brain=x y %%",
        ] {
            assert_eq!(split_facts(none), (none, Vec::new()));
        }
    }

    #[test]
    fn answers_from_memory_are_known() {
        for made in [
            "From your notes (excerpts, found by search):\n- tea",
            "I found nothing about that in your notes.",
            "Green tea.\n%% brain=memory ms=3 %%",
        ] {
            assert!(is_made_of_recall(made), "{made}");
        }
        for own in [
            "I found nothing about that in your notes. But",
            "Green tea.\n%% brain=claude %%",
            "brain=memory",
        ] {
            assert!(!is_made_of_recall(own), "{own}");
        }
    }
}
