//! Assigns numbers to the speakers of conversations, one number for each name. Also strips from a text the names of
//! speakers and the references to blocks, which are no part of its content.
//!
//! Every fact that was learned from a conversation has a reference to a block, which is longer than the fact. With the
//! reference, the fact would resemble any text about files.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::search::analyze::{word_list, words};

/// The different names of speakers, numbered as they come.
#[derive(Debug, Clone, Default)]
pub struct Authors {
    names: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Authors {
    /// Their words, lower case, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of a speaker's name.
    pub fn of(&mut self, name: &str) -> u32 {
        self.of_key(&word_list(name).join(" "))
    }

    /// The number of a name as [`Authors::names`] has it.
    pub fn of_key(&mut self, key: &str) -> u32 {
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(key.to_owned());
        self.ids.insert(key.to_owned(), id);
        id
    }
}

/// The different words of the given names, lower case.
pub fn names_of<'a>(authors: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for author in authors {
        words(author, |word| {
            if word.len() > 1 && !names.iter().any(|name| name == word) {
                names.push(word.to_owned());
            }
        });
    }
    names
}

/// `text` without the words in `names` (and a possessive `'s` behind one).
///
/// A question that names a speaker is otherwise nearest to the turns that *address* that speaker, not to
/// those that the speaker wrote.
pub fn without_names<'t>(text: &'t str, names: &[String]) -> Cow<'t, str> {
    if names.is_empty() {
        return text.into();
    }
    let is_name = |word: &str| {
        names.iter().any(|name| {
            name.len() == word.len() && name.eq_ignore_ascii_case(word) || word.to_lowercase() == *name
        })
    };
    let (mut out, mut kept, mut start) = (String::new(), 0, None);
    let end = [(text.len(), ' ')];
    for (at, c) in text.char_indices().chain(end) {
        if c.is_alphanumeric() {
            start.get_or_insert(at);
        } else if let Some(from) = start.take()
            && is_name(&text[from..at])
        {
            out.push_str(text[kept..from].trim_end_matches([' ', ',']));
            let is_behind = |possessive: &&&str| text[at..].starts_with(**possessive);
            kept = at + ["'s", "’s"].iter().find(is_behind).map_or(0, |possessive| possessive.len());
        }
    }
    if kept == 0 && out.is_empty() {
        return text.into();
    }
    out.push_str(&text[kept..]);
    out.into()
}

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

/// The part of a block's text that a model embeds: without references and without the words in `names`. Vectors are
/// stored by its hash, so all code that embeds a block or looks up its vector calls this.
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
    fn names_go_with_their_comma_and_their_possessive() {
        let names = names_of(["Caroline", "Mel B", "Caroline"].into_iter());
        assert_eq!(names, ["caroline", "mel"]);
        assert_eq!(without_names("Wow, Caroline! Mel's cat", &names), "Wow! cat");
        assert_eq!(without_names("carolines melody", &names), "carolines melody");
        assert_eq!(without_names("", &names), "");
    }

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
