//! Checks the text of a memory (length, control and invisible characters), formats it as a bullet, and normalizes it
//! for comparison. Text that Obsidian or a plugin would run or fetch is turned into plain text before it is saved; so
//! are the tasks in a text that a model wrote.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::format::harmless::{harmless, without_tasks};
use crate::format::{invisible, lines, memory, shortened, tags};
use crate::memory::{Origin, Scope};
use crate::vault::Actor;
use crate::words::words;

/// The most bytes that one memory has.
pub const MOST_BYTES: usize = 64 * 1024;
/// The most characters that a section's name has.
const LONGEST_SECTION: usize = 200;
/// The kind of a control character in an error.
const CONTROL: &str = "a control";

/// Text that can't be kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// There is nothing in it.
    #[error("there is nothing to keep: the text is empty")]
    Empty,
    /// It is too long for a bullet.
    #[error("the text has {0} bytes; a memory has at most {MOST_BYTES}")]
    TooLong(usize),
    /// A control character or an invisible one stands in it.
    #[error("the {what} has {kind} character ({}) at character {}", found.1.escape_unicode(), found.0 + 1)]
    Character {
        /// `text` or `section`.
        what: &'static str,
        /// `a control` or `an invisible`.
        kind: &'static str,
        /// The character and its position, from 0.
        found: (usize, char),
    },
    /// It can't be the name of a section.
    #[error("{shown} can't be a section's name: {reason}")]
    Section {
        /// The name, cut and escaped.
        shown: String,
        /// Why.
        reason: &'static str,
    },
    /// A number is no share of 1.
    #[error("`{field}` is {value}, which is not between 0 and 1")]
    Share {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
    },
}

impl WordsError {
    /// A stable name for programs, and a remedy.
    pub(super) fn code_and_hint(&self) -> (&'static str, &'static str) {
        match self {
            Self::Empty => ("empty", "give the words that are to be kept"),
            Self::TooLong { .. } => {
                ("too_long", "keep the facts alone, or write a note and save a link to it")
            }
            Self::Character { kind: CONTROL, .. } => {
                ("control_character", "leave it out; line breaks and tabs are fine in a text")
            }
            Self::Character { .. } => (
                "invisible_character",
                "leave it out: what is kept is what a person sees, and it can hide words or turn their order",
            ),
            Self::Section { .. } => ("bad_section", "give one line of words, such as `Preferences`"),
            Self::Share { .. } => ("bad_field", "give a number such as 0.8"),
        }
    }
}

words! {
    /// The tier of a memory, by how long it stays relevant; its word is that of the field `[tier:: core]`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum MemoryTier, as_str {
        /// The user's own traits: fades hardly.
        Core = "core",
        /// The usual: fades over months.
        #[default]
        Working = "working",
        /// Fades soon.
        Peripheral = "peripheral",
    }
}

words! {
    /// Whether a fact may change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Temporal, as_str {
        /// It holds.
        Static = "static",
        /// It may change, and fades three times as fast.
        Dynamic = "dynamic",
    }
}

/// The weights that a memory's own inline fields give it, at the bullet's end.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryFields {
    /// `[importance:: 0.8]`, 0 to 1.
    pub importance: Option<f64>,
    /// `[confidence:: 0.9]`, 0 to 1.
    pub confidence: Option<f64>,
    /// `[tier:: core]`.
    pub tier: Option<MemoryTier>,
    /// `[temporal:: dynamic]`.
    pub temporal: Option<Temporal>,
}

impl MemoryFields {
    /// As it stands in the note; empty where there are none.
    ///
    /// # Errors
    /// A number is not between 0 and 1.
    pub(super) fn render(&self) -> Result<String, WordsError> {
        let mut out = Vec::new();
        for (field, value) in [("importance", self.importance), ("confidence", self.confidence)] {
            let Some(value) = value else { continue };
            if !(0.0..=1.0).contains(&value) {
                return Err(WordsError::Share { field, value: value.to_string() });
            }
            let shown = format!("{value:.3}");
            out.push(format!("[{field}:: {}]", shown.trim_end_matches('0').trim_end_matches('.')));
        }
        out.extend(self.tier.map(|tier| format!("[tier:: {tier}]")));
        out.extend(self.temporal.map(|temporal| format!("[temporal:: {temporal}]")));
        Ok(out.join(" "))
    }
}

/// The text as it can be kept: as [`readable`], with code that an Obsidian plugin would run as plain text.
///
/// # Errors
/// As [`readable`].
pub fn checked(text: &str) -> Result<String, WordsError> {
    Ok(harmless(&readable(text)?).into_owned())
}

/// The text with line ends as LF and nothing blank around it.
///
/// # Errors
/// It is blank, too long, or has an invisible or a control character that is no tab or line break.
pub(super) fn readable(text: &str) -> Result<String, WordsError> {
    if text.len() > MOST_BYTES {
        return Err(WordsError::TooLong(text.len()));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    no_controls("text", &text, &['\n', '\t'])?;
    let kept = text.trim_end().trim_start_matches(['\n', ' ']).trim_start_matches('\t');
    // An invisible mark alone is nothing, too.
    if invisible::strip(kept).trim().is_empty() {
        return Err(WordsError::Empty);
    }
    check_visible("text", &text)?;
    Ok(kept.to_owned())
}

/// The same for a text of this origin in the place of `before`: a model's tasks but those of `before` become text, since
/// a task is a person's own. A person keeps the pictures and the code of a text that has some.
///
/// # Errors
/// As [`checked`].
pub(super) fn checked_of(text: &str, before: &str, origin: &Origin) -> Result<String, WordsError> {
    let is_models = matches!(origin.actor, Actor::Assistant | Actor::Mcp);
    if !is_models && matches!(harmless(before), Cow::Owned(_)) {
        return readable(text);
    }
    let text = checked(text)?;
    Ok(if is_models { without_tasks(&text, before) } else { text })
}

/// Hints for the person about a text that was changed before it was saved.
pub(super) fn notes(given: &str, kept: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if matches!(harmless(given), Cow::Owned(_)) && matches!(harmless(kept), Cow::Borrowed(_)) {
        notes.push("what Obsidian would have run or fetched was saved as plain text".to_owned());
    }
    if kept.matches("\\[").count() > given.matches("\\[").count() {
        notes.push(
            "a task was saved as plain text: a task is the user's own, a reminder can be added instead"
                .to_owned(),
        );
    }
    if kept.matches("\\#").count() > given.matches("\\#").count() {
        notes.push(
            "a tag of another scope was saved as plain text: the scope is the one that was asked for"
                .to_owned(),
        );
    }
    notes
}

/// The name of a section, without `##` before it, and with code that an Obsidian plugin would run as plain text.
///
/// # Errors
/// It is blank, has more than one line or a control character, is too long, or would not read back as a heading.
pub fn section(name: &str) -> Result<String, WordsError> {
    let bad = |reason| WordsError::Section { shown: crate::format::quote(name), reason };
    if name.trim_end().contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']) {
        return Err(bad("it has more than one line"));
    }
    no_controls("section", name.trim_end(), &[])?;
    check_visible("section", name)?;
    let level = name.trim().bytes().take_while(|b| *b == b'#').count();
    let bare = match &name.trim()[level..] {
        rest if (1..=6).contains(&level) && rest.starts_with(' ') => rest.trim(),
        _ => name.trim(),
    };
    let bare = harmless(bare);
    if bare.is_empty() {
        return Err(bad("it is empty"));
    }
    if bare.chars().count() > LONGEST_SECTION {
        return Err(bad("it is longer than 200 characters"));
    }
    let line = format!("## {bare}");
    if lines::closing_line(line.as_bytes()).is_some() {
        return Err(bad("it opens a comment"));
    }
    if memory::heading(line.as_bytes()) != Some((2, bare.to_string())) {
        return Err(bad("it would not read back as a heading"));
    }
    Ok(bare.into_owned())
}

fn no_controls(what: &'static str, text: &str, allowed: &[char]) -> Result<(), WordsError> {
    let found = text.chars().enumerate().find(|(_, c)| c.is_control() && !allowed.contains(c));
    found.map_or(Ok(()), |found| Err(WordsError::Character { what, kind: CONTROL, found }))
}

fn check_visible(what: &'static str, text: &str) -> Result<(), WordsError> {
    let found = invisible::first(text);
    found.map_or(Ok(()), |found| Err(WordsError::Character { what, kind: "an invisible", found }))
}

/// A bullet with its last line's end: `lead` is the text before it (a time), `marks` the text behind it (fields, a
/// scope's tag). A block id stays last; constructs that the text leaves open are closed before the marks.
pub(super) fn bullet(lead: &str, text: &str, marks: &str) -> String {
    let item = memory::render_item(&format!("{lead}{text}"));
    if marks.is_empty() {
        return item;
    }
    let (body, id) = memory::split_block_id(item.trim_end());
    let gap = if body.contains('\n') { "\n  " } else { " " };
    let id = id.map(|id| format!(" ^{id}")).unwrap_or_default();
    format!("{}{gap}{marks}{id}\n", body.trim_end())
}

/// Fields and the scope's tag, as they are written after a text that doesn't have the tag yet.
pub(super) fn marks(text: &str, fields: &MemoryFields, scope: &Scope) -> Result<String, WordsError> {
    let tag = scope.tag().filter(|_| !Scope::of_text(text).contains(scope));
    let parts = [Some(fields.render()?).filter(|fields| !fields.is_empty()), tag];
    Ok(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// The inline fields of a text, without those that weigh it ([`MemoryFields`]).
pub(super) fn fields(text: &str) -> Vec<(String, String)> {
    let mut fields = memory::fields(text);
    fields.retain(|(name, _)| !["importance", "confidence", "tier", "temporal"].contains(&name.as_str()));
    fields
}

/// Whether two texts have the same words, fields and scopes; the fields that weigh a memory may differ. Without words a
/// text is the same only to the letter.
pub(super) fn say_the_same(one: &str, other: &str) -> bool {
    // A person may have written what is made harmless.
    let (one, other) = (&*harmless(one), &*harmless(other));
    let words = normal(one);
    let alike =
        || fields(one) == fields(other) && Scope::are_same(&Scope::of_text(one), &Scope::of_text(other));
    one == other || (!words.is_empty() && words == normal(other) && alike())
}

/// The normal form of a text, by which two texts are compared: without fields, block id, tags of scopes and a full stop
/// at the end, with one space between words, and in lower case for words of letters alone (a name in code or a token
/// may differ by case alone).
pub fn normal(text: &str) -> String {
    let plain = memory::plain(text);
    let words = plain.split_whitespace().filter(|word| {
        let is_tag = tags::tags(word, &[]).first().is_some_and(|tag| tag.len() + 1 == word.len());
        !(is_tag && Scope::of_tag(word).is_some())
    });
    let words: Vec<String> = words
        .map(|word| {
            let word: String = word.nfc().collect();
            let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
            let is_plain = inner.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'));
            let mixed =
                inner.chars().skip(1).any(char::is_uppercase) && inner.chars().any(char::is_lowercase);
            if is_plain && !mixed { word.to_lowercase() } else { word }
        })
        .collect();
    let joined = words.join(" ");
    joined.strip_suffix('.').filter(|rest| !rest.ends_with('.')).unwrap_or(&joined).to_owned()
}

/// The first line of a text, short enough for a subject or a message.
pub(super) fn summary(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    shortened(first, 60).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_can_not_be_kept_says_why() {
        let said = |result: Result<String, WordsError>| result.unwrap_err().to_string();
        insta::assert_snapshot!(said(checked(" \n\u{feff}")), @"there is nothing to keep: the text is empty");
        insta::assert_snapshot!(said(checked("a\u{1b}[31m")), @r"the text has a control character (\u{1b}) at character 2");
        insta::assert_snapshot!(said(checked(&"x".repeat(65_537))), @"the text has 65537 bytes; a memory has at most 65536");
        insta::assert_snapshot!(said(section("A\n## B")), @r"`A\n## B` can't be a section's name: it has more than one line");
        insta::assert_snapshot!(said(section("##")), @"`##` can't be a section's name: it would not read back as a heading");
        insta::assert_snapshot!(said(section("a <!-- b")), @"`a <!-- b` can't be a section's name: it opens a comment");
        insta::assert_snapshot!(said(section("a #")), @"`a #` can't be a section's name: it would not read back as a heading");
        insta::assert_snapshot!(said(checked("pay \u{202e}tneg")), @r"the text has an invisible character (\u{202e}) at character 5");
        insta::assert_snapshot!(said(section("a\u{200b}")), @r"the section has an invisible character (\u{200b}) at character 2");
        assert!(section("a\u{7}").is_err() && section(" ").is_err() && section(&"x".repeat(201)).is_err());
        assert_eq!(section(" ## Kyle \n").unwrap(), "Kyle");
        assert_eq!(section("C#").unwrap(), "C#");
        assert_eq!(section("Facts `$= evil()` <%* x %>").unwrap(), "Facts `\\$= evil()` <\\%* x %>");
        assert!(checked("a\r\n\tb\r\n").is_ok_and(|text| text == "a\n\tb"));
    }

    #[test]
    fn marks_stand_where_they_are_read() {
        let scope = Scope::Project("a".into());
        let fields =
            MemoryFields { importance: Some(0.8), tier: Some(MemoryTier::Core), ..MemoryFields::default() };
        let put = |text: &str| bullet("[2026-12-01] ", text, &marks(text, &fields, &scope).unwrap());
        assert_eq!(
            put("likes tea"),
            "- [2026-12-01] likes tea [importance:: 0.8] [tier:: core] #project/a\n"
        );
        assert_eq!(
            put("x #Project/A ^id"),
            "- [2026-12-01] x #Project/A [importance:: 0.8] [tier:: core] ^id\n"
        );
        assert_eq!(
            put("see\n```\ncode"),
            "- [2026-12-01] see\n  ```\n  code\n  ```\n  [importance:: 0.8] [tier:: core] #project/a\n"
        );
        let wrong = MemoryFields { confidence: Some(f64::NAN), ..MemoryFields::default() };
        assert!(matches!(wrong.render(), Err(WordsError::Share { field: "confidence", .. })));
    }

    #[test]
    fn the_same_in_other_words_is_the_same() {
        for (one, other) in [
            ("Likes  green\ntea.", "likes GREEN tea [importance:: 0.8] #project/a ^x"),
            ("Café", "Cafe\u{301}"),
            ("“Anna’s”, he said", "“anna’s”, he said"),
        ] {
            assert_eq!(normal(one), normal(other), "{one}");
        }
        for (one, other) in
            [("key aB3", "key ab3"), ("userName", "username"), ("#tea", "tea"), ("and so on...", "and so on")]
        {
            assert_ne!(normal(one), normal(other), "{one}");
        }
    }

    proptest! {
        #[test]
        fn a_bullet_says_what_was_meant(text in "[a-zA-Z][a-z .#^\\[\\]:`~<!>%\\n-]{0,40}[a-z]", id in "[a-z]{1,8}") {
            let text = checked(&text).unwrap();
            let scope = Scope::Project(id);
            let made = bullet("[2026-12-01] ", &text, &marks(&text, &MemoryFields::default(), &scope).unwrap());
            let file = memory::parse(format!("{made}- next\n").as_bytes());
            prop_assert_eq!(file.bullets.len(), 2, "{}", made);
        }
    }
}
