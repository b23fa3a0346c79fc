//! Checks that a quote stands in its block; without one a candidate is never asked about. Pure.

/// A quote of fewer letters and digits says nothing.
const FEWEST: usize = 4;

/// Whether these words occur in the message in the same order without a gap.
pub fn is_verbatim(quote: &str, said: &str) -> bool {
    let letters = quote.chars().filter(|c| c.is_alphanumeric()).count();
    let dense = quote.chars().any(super::phrase_match::is_dense);
    letters >= if dense { FEWEST / 2 } else { FEWEST } && said.contains(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_stands_where_it_stands() {
        let said = "I only drink\ngreen tea.";
        assert!(is_verbatim("drink\ngreen", said) && is_verbatim("I only drink", said));
        for quote in ["", "I", "i only drink", "drink green", "green tea!", "  "] {
            assert!(!is_verbatim(quote, said), "{quote:?}");
        }
        assert!(is_verbatim("喜欢茶", "我喜欢茶"));
    }
}
