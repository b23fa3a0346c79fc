//! Compiles the path patterns of the settings: `[history]` and `[index]` `include` and `exclude`, `[reminders] from`.
//!
//! A pattern names files or folders; a folder stands for all that is in it. A `/` at the beginning or end is ignored. A
//! pattern with a `/` inside begins at the vault's root; any other pattern is found at any depth. The signs:
//! - `*`: any characters of a name; `?`: one character of a name; `**`: any folders;
//! - `{a,b}`: one of several texts; `[ab]`: one character of a set;
//! - a backslash: the next sign stands for itself.
//!
//! A pattern with brackets or braces also matches names that contain these characters literally. Case and accents are
//! ignored.

use std::fmt;

use globset::{Glob, GlobBuilder, GlobSet};
use percent_encoding::percent_decode_str;
use regex_lite::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Patterns of which one has to fit.
#[derive(Clone, Default)]
pub struct PathPatterns {
    globs: Vec<Glob>,
    /// All, for ASCII paths.
    set: GlobSet,
    /// Those without `?` and `[`, for other paths, and an expression of those with them.
    by_byte: GlobSet,
    by_character: Option<Regex>,
}

/// As a list of globs: an index is made anew where this text is another one.
impl fmt::Debug for PathPatterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.globs.iter().map(Glob::glob)).finish()
    }
}

impl PathPatterns {
    /// The patterns of settings that were read, and so are valid.
    pub fn of(texts: &[String]) -> Self {
        Self::new(texts).expect("the settings' patterns are validated when they are read")
    }

    /// # Errors
    /// One is no pattern: it, and why.
    pub(crate) fn new(texts: &[String]) -> Result<Self, (String, String)> {
        let mut globs = Vec::new();
        for text in texts {
            let wrong = |error: globset::Error| (text.clone(), error.kind().to_string());
            let plain = fold(text.trim_start_matches("./").trim_matches('/'));
            if plain.is_empty() {
                return Err((text.clone(), "it names nothing".to_owned()));
            }
            let at_any_depth = if plain.contains('/') { "" } else { "**/" };
            let plain = format!("{at_any_depth}{plain}");
            globs.push(glob(&plain, true).map_err(wrong)?);
            if plain.contains(['[', ']', '{', '}', '\\']) {
                globs.push(glob(&with_literal_brackets(&plain), false).map_err(wrong)?);
            }
        }
        let wrong = |error: globset::Error| (texts.join(", "), error.kind().to_string());
        let set = GlobSet::new(&globs).map_err(wrong)?;
        let (wide, by_byte): (Vec<_>, Vec<_>) =
            globs.iter().partition(|glob| glob.glob().contains(['?', '[']));
        let by_byte = GlobSet::new(by_byte).map_err(wrong)?;
        let by_character = (!wide.is_empty()).then(|| matched_by_character(wide)).transpose();
        let by_character = by_character.map_err(|error| (texts.join(", "), error.to_string()))?;
        Ok(Self { globs, set, by_byte, by_character })
    }

    /// Whether one fits the file at `path`, or a folder that it is in.
    pub fn matches(&self, path: &str) -> bool {
        let path = if self.globs.is_empty() { return false } else { fold(path) };
        let mut ends = path.match_indices('/').map(|(end, _)| &path[..end]).chain([&*path]);
        if path.is_ascii() {
            return ends.any(|path| self.set.is_match(path));
        }
        let by_character = |path| self.by_character.as_ref().is_some_and(|one| one.is_match(path));
        ends.any(|path| self.by_byte.is_match(path) || by_character(path))
    }
}

/// Globs as one expression over characters. globset's own is over bytes, so `?` and a set are one byte there; it is
/// quicker, and says the same of ASCII paths.
///
/// # Errors
/// One is nested too deeply.
pub fn matched_by_character<'g>(
    globs: impl IntoIterator<Item = &'g Glob>,
) -> Result<Regex, regex_lite::Error> {
    let expression = |glob: &Glob| {
        // Bytes beyond ASCII stand there as `\xE6`.
        let bytes = glob.regex().trim_start_matches("(?-u)").replace('%', "%25");
        let bytes = bytes.replace(r"\\", "%5C%5C").replace(r"\x", "%");
        percent_decode_str(&bytes).decode_utf8_lossy().into_owned()
    };
    let any = globs.into_iter().map(expression).collect::<Vec<_>>().join("|");
    RegexBuilder::new(&any).dot_matches_new_line(true).build()
}

fn glob(text: &str, has_escapes: bool) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).backslash_escape(has_escapes).build()
}

/// The pattern with brackets and braces that stand for themselves.
pub fn with_literal_brackets(text: &str) -> String {
    let one = |c| if "[]{}".contains(c) { format!("[{c}]") } else { String::from(c) };
    text.chars().map(one).collect()
}

fn fold(text: &str) -> String {
    text.nfd().filter(|c| !is_combining_mark(*c)).nfc().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_the_same_in_every_table() {
        let (page, secret) = ("Private/p.md", "Private/sub/x.secret.md");
        for (pattern, fits, not) in [
            ("{Private,Diary}/**", &[page, secret][..], &["private.md"][..]),
            ("[PD]*/**", &[page, "diary/x.md"], &["Other/x.md"]),
            ("Private", &[page, secret, "a/private/x.md", "Private"], &["Privately/x.md"]),
            ("private/", &[page, secret], &["Privat/x.md"]),
            ("private/*", &[page, secret], &["a/private/x.md"]),
            ("*.secret.md", &[secret, "y.secret.md"], &[page]),
            ("/É.md", &["e\u{301}.MD", "a/é.md"], &["f.md"]),
            ("[draft] *.md", &["a/[Draft] x.md", "d y.md"], &["draft y.md"]),
            ("tag ?.md", &["tag 日.md", "Tag é.md", "tag 한.md", "tag 💡.md"], &["tag 日本.md", "tag .md"]),
            ("?日/*", &["本日/x.md"], &["日/x.md", "本日本/x.md"]),
            ("[日é]?[а-я%].md", &["日本ж.md", "E\u{301}xя.md", "é日%.md"], &["本日ж.md", "日本z.md"]),
            ("[!日]\\\\x41?.md", &["本\\x41日.md"], &["日\\x41日.md", "本A日.md"]),
            ("a/**/{x}?.md", &["a/b/c/{x}y.md", "a/xy.md"], &["a/b/y.md"]),
            ("**", &["a", "b/c.md"], &[]),
            // A full-width slash is a part of a name.
            ("Private/*.md", &["Private/A／B.md"], &["A／B.md"]),
            ("AC", &["AC/x.md"], &["AC／DC.md"]),
        ] {
            let one = PathPatterns::of(&[pattern.to_owned()]);
            assert!(fits.iter().all(|path| one.matches(path)), "{pattern}");
            assert!(!not.iter().any(|path| one.matches(path)), "{pattern}");
        }
        assert!(!PathPatterns::default().matches("a.md"));
        assert_eq!(format!("{:?}", PathPatterns::default()), "[]");
        for wrong in ["Private/{a,**", "a[", "", "/"] {
            assert!(PathPatterns::new(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
