//! Quotes a text on one line, so that a person sees all of it, and parses it back byte for byte.
//!
//! A backslash before a punctuation character stands for that character, as in Markdown, so a command is never
//! displayed as a link, a comment or markup. `\n`, `\r`, `\t` and `\u{…}` stand for line ends, tabs and invisible
//! characters.

use crate::format::invisible;

/// Characters of Markdown that could hide text behind them.
const MARKUP: &str = "\"\\`*_~<>[]&$";

/// The text between quotes.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut before = '"';
    for c in text.chars() {
        // `%%` hides, `==` and `||` are markup; one alone is itself.
        let doubled = c == before && matches!(c, '%' | '=' | '|');
        if MARKUP.contains(c) || doubled {
            out.push('\\');
            out.push(c);
        } else {
            spell(&mut out, c, false);
        }
        before = c;
    }
    out.push('"');
    out
}

/// The text as a person is shown it where no Markdown is read: in full, with what can't be seen spelled out. Line
/// ends stay line ends.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| spell(&mut out, c, true));
    out
}

fn spell(out: &mut String, c: char, with_lines: bool) {
    match c {
        '\n' if with_lines => out.push('\n'),
        '\n' | '\r' | '\t' => out.extend(c.escape_default()),
        c if is_unseen(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// Whether a character shows nothing by itself, or a blank that isn't a space.
pub(super) fn is_unseen(c: char) -> bool {
    c.is_control() || c.is_whitespace() && c != ' ' || c == '\u{2800}' || invisible::shows_nothing(c)
}

/// The text between the quotes at the beginning of `text`, and its length with them. The error is the place and the
/// fault.
pub(in crate::format) fn unquote(text: &str) -> Result<(String, usize), (usize, &'static str)> {
    let body = text.strip_prefix('"').ok_or((0, "the value needs double quotes"))?;
    let mut out = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((out, at + 2)),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, 't')) => out.push('\t'),
                Some((_, 'u')) => {
                    let rest = body.get(at + 2..).unwrap_or_default();
                    let wrong = (at + 1, "`\\u` needs a character's number, as in `\\u{202e}`");
                    let digits = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).ok_or(wrong)?.0;
                    let hex = Some(digits).filter(|digits| digits.len() <= 6 && !digits.starts_with('+'));
                    let number = hex.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                    out.push(number.and_then(char::from_u32).ok_or(wrong)?);
                    chars.nth(digits.len() + 1);
                }
                Some((_, c)) if c.is_ascii_punctuation() => out.push(c),
                _ => {
                    return Err((at + 1, "a backslash needs `n`, `r`, `t`, `u{…}` or punctuation behind it"));
                }
            },
            c if c.is_control() => return Err((at + 1, "a control character can't stand here")),
            c => out.push(c),
        }
    }
    Err((text.len(), "the closing quote is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shows_itself_in_full() {
        for (text, expected) in [
            ("curl https://a.example/?q=1", r#""curl https://a.example/?q=1""#),
            ("echo \"a\" 'b' \\", r#""echo \"a\" 'b' \\""#),
            ("a\nb\r\tc", r#""a\nb\r\tc""#),
            ("x %%hidden%% y", r#""x %\%hidden%\% y""#),
            ("<!-- rm --> [a](b) `c` **d** ==e==", r#""\<!-- rm --\> \[a\](b) \`c\` \*\*d\*\* =\=e=\=""#),
            ("pay \u{202e}tneg\u{a0}\u{200b}\u{1b}[2K", r#""pay \u{202e}tneg\u{a0}\u{200b}\u{1b}\[2K""#),
        ] {
            assert_eq!(quoted(text), expected);
            assert_eq!(unquote(expected), Ok((text.to_owned(), expected.len())));
        }
        assert_eq!(shown("a\tb\n\u{202e}"), "a\\tb\n\\u{202e}");
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        for (text, at) in [
            ("x", 0),
            ("\"ab", 3),
            ("\"a\\x\"", 2),
            ("\"\\u{d800}\"", 1),
            ("\"\\u{110000000}\"", 1),
            ("\"a\u{7}\"", 2),
        ] {
            assert_eq!(unquote(text).unwrap_err().0, at, "{text:?}");
        }
    }
}
