//! Provides a macro that declares an enum with one word for each variant. The word is the same on disk, in JSON, in
//! settings and on the command line. Also reads files of word lists.

use std::collections::HashMap;

/// Declares an enum with its words, as in `pub enum Status, name { Pending = "pending", }`. `name` gives a variant's
/// word, `named` the variant of a word; `ALL` and `NAMES` list all variants and words in order. A value is shown,
/// serialized and deserialized as its word.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident, $method:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $name {
            $($(#[$variant_attribute])* $variant,)+
        }

        #[allow(dead_code)]
        impl $name {
            /// All of them, in their order.
            $visibility const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Their words, in the same order.
            $visibility const NAMES: [&'static str; Self::ALL.len()] = [$($word),+];

            /// Its word.
            $visibility const fn $method(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The one with this word.
            $visibility fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.$method() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.$method())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$method())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::named(&word).ok_or_else(|| serde::de::Error::unknown_variant(&word, &Self::NAMES))
            }
        }
    };
}

pub(crate) use words;

/// The lists of a file of words, by their names.
pub type WordLists = HashMap<&'static str, Vec<&'static str>>;

/// Reads a file of words: `[name]` begins a list, commas and line ends separate its phrases, and a line that begins
/// with `#` is a comment.
pub fn word_lists(file: &'static str) -> WordLists {
    let (mut lists, mut name) = (WordLists::new(), "");
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(next) => name = next,
            None => {
                let phrases = line.split(',').map(str::trim).filter(|phrase| !phrase.is_empty());
                lists.entry(name).or_default().extend(phrases);
            }
        }
    }
    lists
}
