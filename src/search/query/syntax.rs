//! Parses a typed query: words, "phrases", prefix\*, -not, and `path:`, `tag:`, `section:`, `kind:`, `role:`,
//! `before:`, `after:`. Also parses a scope: a place, and scopes of memories (`global`, `project:ID`, `agent:ID`,
//! `user:ID`, `custom:NAME`), separated by commas.
//!
//! No input is an error: unreadable syntax is searched as plain words, and the answer says so. A block belongs to the
//! scopes of its tags, or to `global` if it has no such tag ([`crate::memory::Scope`]).

use crate::format::tags::is_sign;
use crate::memory::Scope;
use crate::search::analyze::is_unspaced;
use crate::search::read::{Kind, Role};

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Words as typed; they may hold a compound.
    Words(String),
    /// Words in this order, one behind the other.
    Phrase(String),
    /// Words that begin so.
    Prefix(String),
}

impl Item {
    /// The text without its marks.
    pub fn text(&self) -> &str {
        let (Self::Words(text) | Self::Phrase(text) | Self::Prefix(text)) = self;
        text
    }
}

/// One thing that a block must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// In a file whose path matches: a glob, a folder, or a part of the path.
    Path(String),
    /// Has the tag, or one below it.
    Tag(String),
    /// Under a heading with these words.
    Section(String),
    /// Is of this kind.
    Kind(Kind),
    /// Was spoken so.
    Role(Role),
    /// Is dated before the beginning of this day.
    Before(jiff::civil::Date),
    /// Is dated on this day or later.
    After(jiff::civil::Date),
}

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Syntax {
    /// The items to search; any of them counts.
    pub items: Vec<Item>,
    /// The items that a block must not have.
    pub not: Vec<Item>,
    /// The filters that a block must match, and (true) must not.
    pub filters: Vec<(Filter, bool)>,
    /// The parts that were not understood, for the person.
    pub notes: Vec<String>,
}

impl Syntax {
    /// Whether there is anything that a block must be, must have or must not have.
    pub fn is_filtered(&self) -> bool {
        !self.filters.is_empty() || !self.not.is_empty() || self.phrases().next().is_some()
    }

    /// The phrases that a block must have.
    pub fn phrases(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter(|item| matches!(item, Item::Phrase(_))).map(Item::text)
    }
}

/// Parses `query`.
pub fn parse(query: &str) -> Syntax {
    let mut syntax = Syntax::default();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        // A dash alone is none, and two are a program's option.
        let negative = rest.len() > 1
            && rest.starts_with('-')
            && !rest[1..].starts_with(|c: char| c == '-' || c.is_whitespace());
        let body = if negative { &rest[1..] } else { rest };
        let (key, value) = key(body);
        let (text, quoted, after) = value_of(value, &mut syntax.notes);
        rest = after.trim_start();
        if text.is_empty() {
            continue;
        }
        if let Some(key) = key {
            match filter(key, text) {
                Ok(filter) => add(&mut syntax.filters, (filter, negative)),
                Err(why) => {
                    syntax.notes.push(format!("`{key}:{text}`: {why}; searched as plain words"));
                    syntax.items.push(Item::Words(format!("{key} {text}")));
                }
            }
            continue;
        }
        if let Some(key) = unknown_key(text).filter(|_| !quoted) {
            syntax.notes.push(format!(
                "`{text}`: there is no filter `{key}:`; there are path:, tag:, section:, kind:, role:, before: and \
                 after:; searched as plain words"
            ));
        }
        let item = if quoted {
            Item::Phrase(text.to_owned())
        } else if let Some(stem) =
            text.strip_suffix('*').filter(|stem| stem.chars().any(char::is_alphanumeric))
        {
            // In languages without spaces a word that begins with the text is one that contains it; two characters are a term.
            let is_run = stem.chars().all(is_unspaced) && stem.chars().nth(2).is_some();
            if is_run { Item::Phrase(stem.to_owned()) } else { Item::Prefix(stem.to_owned()) }
        } else {
            Item::Words(text.to_owned())
        };
        let list = if negative { &mut syntax.not } else { &mut syntax.items };
        // A word that is typed twice may be a name.
        if matches!(item, Item::Words(_)) { list.push(item) } else { add(list, item) }
    }
    let has_others = !syntax.items.iter().all(is_sign_alone);
    for sign in syntax.items.iter_mut().filter(|item| is_sign_alone(item)) {
        if has_others {
            syntax
                .notes
                .push(format!("a sign beside words is searched for in quotes alone: `\"{}\"`", sign.text()));
        } else {
            *sign = Item::Phrase(sign.text().to_owned());
        }
    }
    if syntax.items.is_empty() && syntax.filters.is_empty() && !syntax.not.is_empty() {
        syntax.notes.push("nothing to look for beside what to leave out; searched as plain words".to_owned());
        syntax.items = std::mem::take(&mut syntax.not);
    }
    syntax
}

/// Adds what is not there yet: each costs time.
fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Whether an item is a sign without a word, such as an emoji.
fn is_sign_alone(item: &Item) -> bool {
    let text = item.text();
    matches!(item, Item::Words(_)) && text.contains(is_sign) && !text.contains(char::is_alphanumeric)
}

/// Parses a question in words. Its filters and exclusions hold as in any query, but a quoted title and a `*` are plain
/// words. (Required phrases cost 0.7 points of recall@10 in conversations, because an answer needn't contain a title.)
pub fn question(text: &str) -> Syntax {
    let mut syntax = parse(text.trim_end().trim_end_matches('?'));
    for item in &mut syntax.items {
        *item = Item::Words(item.text().to_owned());
    }
    // Notes on filters begin with the typed text.
    syntax.notes.retain(|note| note.starts_with('`'));
    syntax
}

/// Whether a query is a question in words.
pub fn is_question(text: &str) -> bool {
    text.trim_end().ends_with('?') && text.split_whitespace().count() > 2
}

/// A text that looks like the key of a filter and is none: letters before a colon with something behind it that is
/// neither an address nor code.
fn unknown_key(text: &str) -> Option<&str> {
    let (key, value) = text.split_once(':')?;
    let is_word = key.len() > 2 && key.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_value = value.starts_with(char::is_alphanumeric) && !text.contains("://") && !key.eq("mailto");
    (is_word && is_value).then_some(key)
}

/// A known key before a colon, and what follows it.
fn key(body: &str) -> (Option<&'static str>, &str) {
    const KEYS: [&str; 9] = ["path", "file", "tag", "section", "kind", "role", "before", "after", "since"];
    for key in KEYS {
        if let Some((head, value)) = body.split_at_checked(key.len())
            && head.eq_ignore_ascii_case(key)
            && let Some(value) = value.strip_prefix(':')
            && !value.is_empty()
            && !value.starts_with(char::is_whitespace)
            && !value.starts_with("//")
        {
            return (Some(key), value);
        }
    }
    (None, body)
}

/// The word or quoted text at the beginning of `text`, whether it was quoted, and the rest.
fn value_of<'a>(text: &'a str, notes: &mut Vec<String>) -> (&'a str, bool, &'a str) {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '“' | '”'));
    if let Some(quote) = quote {
        let inner = &text[quote.len_utf8()..];
        if let Some(end) = inner.find(['"', '”', '“']) {
            let close = inner[end..].chars().next().map_or(1, char::len_utf8);
            return (inner[..end].trim(), true, &inner[end + close..]);
        }
        notes.push("a quote is not closed; searched as plain words".to_owned());
        return (inner.split_whitespace().next().unwrap_or_default(), false, after_word(inner));
    }
    (text.split_whitespace().next().unwrap_or_default(), false, after_word(text))
}

fn after_word(text: &str) -> &str {
    let text = text.trim_start();
    text.find(char::is_whitespace).map_or("", |end| &text[end..])
}

fn filter(key: &str, text: &str) -> Result<Filter, String> {
    let is_blank = match key {
        "tag" => text.trim_matches(['#', '/']).is_empty(),
        "section" => !text.contains(char::is_alphanumeric),
        _ => false,
    };
    if is_blank {
        return Err("no words".to_owned());
    }
    Ok(match key {
        "path" | "file" => Filter::Path(text.to_owned()),
        "tag" => Filter::Tag(crate::search::analyze::text::fold(
            text.trim_start_matches('#').trim_end_matches('/'),
        )),
        "section" => Filter::Section(text.to_owned()),
        "kind" => {
            let none = || format!("no kind; there are {}", Kind::NAMES.join(", "));
            Filter::Kind(Kind::named(&text.to_lowercase()).ok_or_else(none)?)
        }
        "role" => Filter::Role(match text.to_lowercase().as_str() {
            "assistant" => Role::Agent,
            role => {
                Role::named(role).ok_or_else(|| format!("no role; there are {}", Role::NAMES.join(", ")))?
            }
        }),
        "before" => Filter::Before(date(text)?),
        _ => Filter::After(date(text)?),
    })
}

/// A day, a month or a year; the first day of it.
fn date(text: &str) -> Result<jiff::civil::Date, String> {
    let full = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    full.parse().map_err(|_| "no date; write it as `2026-11-20`, `2026-11` or `2026`".to_owned())
}

/// The most hits of one answer.
pub(in crate::search) const MOST_HITS: usize = 10_000;

/// A parsed scope of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::search) struct SearchScope {
    /// The place, as the index knows it: `memory`, `logs`, a folder.
    pub place: Option<String>,
    /// The scopes of memories; none means all.
    pub scopes: Vec<Scope>,
}

impl SearchScope {
    /// Parses `scope`. Between the scopes of memories at its ends stands a place, commas and all.
    pub fn of(scope: Option<&str>) -> Self {
        let (text, mut scopes) = (scope.unwrap_or_default(), Vec::new());
        let mut is_scope =
            |part: &&str| part.trim().is_empty() || part.parse().map(|found| scopes.push(found)).is_ok();
        let parts: Vec<&str> = text.split(',').collect();
        let from = parts.iter().take_while(|part| is_scope(part)).count();
        let behind = parts[from..].iter().rev().take_while(|part| is_scope(part)).count();
        let place = parts[from..parts.len() - behind].join(",").trim().to_owned();
        let place = if scopes.is_empty() {
            scope.map(str::to_owned)
        } else {
            Some(place).filter(|it| !it.is_empty())
        };
        Self { place, scopes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_taken_apart_as_people_write_them() {
        let syntax = parse(
            "dark \"side bar\" -light conf* path:notes/a tag:#X/Y -kind:code after:2026-11 -\"no way\"",
        );
        assert_eq!(
            syntax.items,
            [Item::Words("dark".into()), Item::Phrase("side bar".into()), Item::Prefix("conf".into())]
        );
        assert_eq!(syntax.not, [Item::Words("light".into()), Item::Phrase("no way".into())]);
        assert_eq!(
            syntax.filters,
            [
                (Filter::Path("notes/a".into()), false),
                (Filter::Tag("x/y".into()), false),
                (Filter::Kind(Kind::Code), true),
                (Filter::After(jiff::civil::date(2026, 11, 1)), false),
            ]
        );
        assert!(syntax.notes.is_empty());
        assert_eq!(parse(&"section:q a* \"b\" ".repeat(900)), parse("section:q a* \"b\""));
        assert_eq!(parse("path:\"My Notes/x\"").filters, [(Filter::Path("My Notes/x".into()), false)]);
        assert_eq!(parse("https://x.org a:b").items.len(), 2);
        assert_eq!(parse("file:///home/ann --release").items.len(), 2);
    }

    #[test]
    fn a_question_keeps_its_filters_and_its_titles_are_words() {
        let syntax = question("What did Ann say of \"Moby Dick\" -whale after:2026-11?");
        assert_eq!(syntax.filters, [(Filter::After(jiff::civil::date(2026, 11, 1)), false)]);
        assert_eq!(syntax.not, [Item::Words("whale".into())]);
        assert!(syntax.items.contains(&Item::Words("Moby Dick".into())) && syntax.notes.is_empty());
        assert!(question("who said \"so before:soon ?").notes[0].starts_with("`before:soon`"));
    }

    #[test]
    fn an_unknown_filter_is_told() {
        for (query, key) in [("author:anna tea", "author"), ("what is in channel:7 today?", "channel")] {
            let notes = parse(query).notes;
            assert!(notes.len() == 1 && notes[0].contains(&format!("no filter `{key}:`")), "{notes:?}");
        }
        for plain in [
            "https://x.org",
            "file:///x",
            "std::vec",
            "10:30",
            "mailto:ann",
            "C:/temp",
            "note: this",
            "\"a:b c:d\"",
        ] {
            assert_eq!(parse(plain).notes, [""; 0], "{plain}");
        }
    }

    #[test]
    fn what_is_no_syntax_is_plain_words_and_said() {
        let syntax = parse("kind:nothing before:soon \"open quote");
        assert_eq!(syntax.notes.len(), 3);
        assert!(syntax.filters.is_empty());
        assert_eq!(syntax.items.len(), 4);
        assert_eq!(parse("-only").items, [Item::Words("only".into())]);
        for odd in ["", " ", "-", "\"", "\"\"", "path:", "*", "- -", "“curly”", "tag:"] {
            let _ = parse(odd);
        }
        let signs = parse("tea section:? -tag:# -section:💡");
        assert_eq!((signs.filters.len(), signs.notes.len()), (0, 3), "{signs:?}");
        assert_eq!(parse("“curly quotes”").items, [Item::Phrase("curly quotes".into())]);
    }

    #[test]
    fn scopes_and_places_are_told_apart() {
        let within = |text| SearchScope::of(Some(text));
        assert_eq!(within("memory"), SearchScope { place: Some("memory".into()), scopes: vec![] });
        assert_eq!(within("Notes, old/"), SearchScope { place: Some("Notes, old/".into()), scopes: vec![] });
        assert_eq!(within("work, private,global").place.as_deref(), Some("work, private"));
        assert_eq!(within("./project:b/,global").scopes, [Scope::Global]);
        let both = within("project:a, global,memory");
        assert_eq!(both.place.as_deref(), Some("memory"));
        assert_eq!(both.scopes, [Scope::Project("a".into()), Scope::Global]);
        assert_eq!(SearchScope::of(None), SearchScope { place: None, scopes: vec![] });
    }
}
