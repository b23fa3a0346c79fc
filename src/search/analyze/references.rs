//! Strips references to blocks from a text, because they name a place and no content.
//!
//! Every fact that was learned from a conversation has such a reference, longer than the fact itself. If it were
//! counted and embedded, the fact would resemble any text about files. Pure.

use std::borrow::Cow;

use crate::search::analyze::authors::without_names;

/// The mark of a reference to a block: `note#^id`, in brackets or not.
pub(in crate::search) const MARK: &str = "#^";

/// `text` without the words that are references to blocks; text that is nothing else stays as it is.
pub(in crate::search) fn without_references(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return text.into();
    }
    let (mut out, mut kept) = (String::with_capacity(text.len()), false);
    for word in text.split_inclusive(char::is_whitespace) {
        if !word.contains(MARK) {
            kept |= !word.trim().is_empty();
            out.push_str(word);
        } else if word.ends_with('\n') {
            out.push('\n');
        }
    }
    if kept { out.into() } else { text.into() }
}

/// The part of a block's text that a model embeds: without references and without the words in `names`. Vectors are kept by its hash, so
/// whoever embeds or looks one up asks here.
pub(in crate::search) fn embedded<'t>(text: &'t str, names: &[String]) -> Cow<'t, str> {
    match without_references(text) {
        Cow::Borrowed(text) => without_names(text, names),
        Cow::Owned(text) => without_names(&text, names).into_owned().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_go_and_all_else_stays() {
        let fact =
            "I live in Vienna. [[logs/discord-channel/7/20261120T100000Z_0001#^01JGXYZ0000000000000000001]]";
        assert_eq!(without_references(fact), "I live in Vienna. ");
        assert_eq!(without_references("seen logs/a#^X\nand b#^c then"), "seen \nand then");
        assert_eq!(without_references("[[logs/a#^X]]"), "[[logs/a#^X]]");
        assert_eq!(without_references("C# and [[a note]] ^id"), "C# and [[a note]] ^id");
        assert_eq!(without_references(""), "");
    }
}
