//! Makes text harmless in Obsidian: code that a plugin would run, pictures from elsewhere, beginnings of comments, and
//! tasks become plain text.
//!
//! A text can come from anywhere. A query or a script in the text would run with access to the whole vault. The address
//! of a picture can carry words of notes away as soon as the note is opened.
//!
//! Only the markers that are looked for are changed, visibly, by a character or a word:
//!
//! - the language of a fence: ```` ```text dataviewjs ````;
//! - the first character of an inline query: `` `\= …` ``;
//! - the mark of a template: `<\% … %>`;
//! - the mark of a picture or a tag: `! […](https://…)`, `< img src="https://…">`.
//!
//! Markers inside of other blocks are changed, too, because parsers may disagree about where a block ends.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::format::tags;
use crate::format::task::list_item;

/// The languages of fences that plugins run.
const LANGUAGES: [&str; 8] =
    ["dataview", "dataviewjs", "templater", "js-engine", "tasks", "customjs", "button", "modal-form"];
/// The beginnings of the names of such languages.
const BEGINNINGS: [&str; 3] = ["run-", "datacore", "meta-bind"];

/// The text with nothing in it that a plugin runs, or that is fetched from elsewhere.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(['`', '~', '%', '!', '<']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        match language_at(line) {
            Some(at) => {
                out.push_str(&line[..at]);
                out.push_str("text ");
                out.push_str(&line[at..]);
            }
            None => out.push_str(line),
        }
    }
    let out = without_queries(&out.replace("<%", "<\\%"));
    let out = parted(&out, fetches(&out));
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// As [`harmless`], also with nothing that begins a comment and hides what follows it.
pub fn without_comments(text: &str) -> String {
    let mut out = harmless(text).replace("<!--", "<! --");
    while out.contains("%%") {
        out = out.replace("%%", "% %");
    }
    out
}

/// The text with no task in it but those of `before`: the box of any other list item becomes text (`- \[ ] …`), since a
/// task is a person's own and gives notifications.
pub fn without_tasks(text: &str, before: &str) -> String {
    let known: HashSet<&str> = before.lines().map(str::trim).collect();
    let plain = |line: &str| match list_item(line.trim_end_matches(['\r', '\n'])) {
        Some(item) if !known.contains(line.trim()) => {
            let (lead, boxed) = line.split_at(item.status_at - 1);
            format!("{lead}\\{boxed}")
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(plain).collect()
}

/// An answer with nothing in it that is fetched from elsewhere when its log is opened; code stays as it is.
#[cfg(feature = "assistant")]
pub fn without_fetches(text: &str) -> String {
    use pulldown_cmark::{Event, Parser, Tag};
    let (mut from, mut is_sure) = (0, true);
    let code = Parser::new(text).into_offset_iter().filter_map(|(event, range)| {
        let is_span = matches!(event, Event::Code(_));
        if !is_span && !matches!(event, Event::Start(Tag::CodeBlock(_))) {
            return None;
        }
        // Behind the signs of a formula or a comment, Obsidian may see no code where this parser does.
        let before = &text[from..range.start];
        is_sure &= !before.contains("$$") && !before.contains("%%");
        let paragraph = text[..range.start].rsplit("\n\n").next().unwrap_or_default();
        if !is_sure || is_span && paragraph.contains('$') {
            return None;
        }
        from = range.end;
        Some(range)
    });
    let code: Vec<std::ops::Range<usize>> = code.collect();
    let is_code = |at: &usize| {
        let next = code.partition_point(|range| range.end <= *at);
        code.get(next).is_some_and(|range| range.contains(at))
    };
    parted(text, fetches(text).filter(|at| !is_code(at)))
}

/// The text with a space behind the byte at each of these positions.
fn parted(text: &str, positions: impl Iterator<Item = usize>) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len() + 8), 0);
    for at in positions {
        out.push_str(&text[from..=at]);
        out.push(' ');
        from = at + 1;
    }
    out + &text[from..]
}

/// The positions of the first signs of pictures and HTML tags that may name an address elsewhere.
fn fetches(text: &str) -> impl Iterator<Item = usize> {
    // An address has one of them, or an escape that stands for one; behind a quotation mark it may come in a later text.
    let last = text.rfind([':', '&', '\\', '"', '\'']).max(text.rfind("//")).unwrap_or(0);
    memchr::memchr2_iter(b'!', b'<', text.as_bytes()).filter(move |&at| {
        let rest = &text[at + 1..];
        if text.as_bytes()[at] == b'!' {
            return rest.starts_with('[') && !is_embed(rest) && !is_local_picture(rest);
        }
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let (name, more) = rest.split_at(rest.bytes().take_while(is_of_name).count());
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && more.starts_with(|c: char| c.is_whitespace() || matches!(c, '/' | '>'));
        let is_style = ["style", "script"].iter().any(|own| name.eq_ignore_ascii_case(own));
        // The first value of an attribute stands before the end of the tag.
        let has_value = || more.find(['=', '>']).is_some_and(|end| more[end..].starts_with('='));
        is_tag && (is_style || last > at && has_value())
    })
}

/// Whether `[[…]]` begins the text, which with `!` before it embeds a note.
fn is_embed(text: &str) -> bool {
    let inner = text.strip_prefix("[[").and_then(|inner| inner.split_once(']'));
    let is_end = |rest: &str| rest.starts_with(']') && !rest[1..].starts_with(['(', '[']);
    inner.is_some_and(|(inner, rest)| !inner.contains(['[', '\n']) && is_end(rest))
}

/// Whether `[…](…)` begins the text, and names a file of the vault. A name of an address (`[…]`, `[…][…]`) may stand for
/// one elsewhere; without an end it is no picture.
fn is_local_picture(text: &str) -> bool {
    let Some((alt, rest)) = text[1..].split_once(']') else { return true };
    let Some(rest) = rest.strip_prefix('(') else { return false };
    let to = rest.split(')').next().unwrap_or_default();
    let is_local = !to.contains([':', '&', '\\', '<']) && !to.trim_start().starts_with("//");
    // With one of these another bracket may be the last.
    !alt.contains(['[', '\\', '`', '<']) && is_local
}

/// The position of the language in a line that opens a fence which a plugin runs.
fn language_at(line: &str) -> Option<usize> {
    let quoted = line.trim_start_matches([' ', '\t', '>', '-', '*', '+', '.', ')']);
    // `1. ```…`: a numbered item.
    let quoted = quoted.trim_start_matches(|c: char| c.is_ascii_digit());
    let bare = quoted.trim_start_matches([' ', '\t', '>', '-', '*', '+', '.', ')']);
    let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = bare.trim_start_matches(mark);
    let language = info.trim_start();
    let word = language.split_whitespace().next().unwrap_or_default().to_lowercase();
    let name = word.trim_matches(|c: char| !c.is_alphanumeric());
    // A language can be written with escapes, too.
    let runs = LANGUAGES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || word.contains(['&', '\\']);
    (bare.len() - info.len() >= 3 && runs).then(|| line.len() - language.len())
}

/// The text with a `\` in each code span that begins as an inline query does: `= …` or `$= …`.
fn without_queries(text: &str) -> String {
    let (mut own, mut at) = (HashSet::new(), 0);
    for line in text.split_inclusive('\n') {
        own.extend(tags::code_spans(line).into_iter().map(|span| at + span.start..at + span.end));
        at += line.len();
    }
    // A sign in another paragraph opens no span.
    let mut spans = tags::code_spans(text);
    spans.retain(|span| own.contains(span));
    let mut out = String::with_capacity(text.len() + 8);
    let mut from = 0;
    while let Some(run) = memchr::memchr(b'`', &text.as_bytes()[from..]).map(|at| from + at) {
        let rest = text[run..].trim_start_matches('`');
        let end = text.len() - rest.len();
        let inner = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        let is_query =
            inner.starts_with("$=") || inner.strip_prefix('=').is_some_and(|it| !it.starts_with(['=', '>']));
        let at = text.len() - inner.len();
        if is_query && !spans.iter().any(|span| span.end == end && is_certain(text, span.start, end)) {
            out.push_str(&text[from..at]);
            out.push('\\');
            from = at;
        } else {
            out.push_str(&text[from..end]);
            from = end;
        }
    }
    out + &text[from..]
}

/// Whether every reader takes this for a code span: there is nothing on its line that could be read before it.
fn is_certain(text: &str, start: usize, end: usize) -> bool {
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    !text[line..end].contains(['\\', '<', '$', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plugin_runs_is_plain_text() {
        for (text, plain) in [
            ("```dataviewjs\nx()\n```", "```text dataviewjs\nx()\n```"),
            ("> ~~~~ DataView\n> list", "> ~~~~ text DataView\n> list"),
            ("1. ```run-python", "1. ```text run-python"),
            ("- ```js-engine", "- ```text js-engine"),
            ("a\n\t```tasks\nnot done", "a\n\t```text tasks\nnot done"),
            ("```templater", "```text templater"),
            ("```data&#118;iewjs", "```text data&#118;iewjs"),
            ("it is `= this.file.name`", "it is `\\= this.file.name`"),
            ("`` $= dv.pages()``", "`` \\$= dv.pages()``"),
            ("`\n= 1`", "`\n\\= 1`"),
            ("a ` b\n\n`= 1`", "a ` b\n\n`\\= 1`"),
            ("` a\n\n`b` `$= 1`", "` a\n\n`b` `\\$= 1`"),
            ("\\`a `=1`", "\\`a `\\=1`"),
            ("<a b=\"`\">`= 1`", "< a b=\"`\">`\\= 1`"),
            ("<div><img title='", "<div>< img title='"),
            ("<% tp.file.title %>", "<\\% tp.file.title %>"),
            ("![a](https://e.example/?q=b)", "! [a](https://e.example/?q=b)"),
            ("![[a] b](//e.example/c)", "! [[a] b](//e.example/c)"),
            ("![a](&#104;ttps://e.example)", "! [a](&#104;ttps://e.example)"),
            ("![a][b] ![b]\n\n[b]: https://e.example", "! [a][b] ! [b]\n\n[b]: https://e.example"),
            ("![[a]](https://e.example)", "! [[a]](https://e.example)"),
            ("![a\\][b](https://e.example)", "! [a\\][b](https://e.example)"),
            ("<img alt='>' src=https://e.example>", "< img alt='>' src=https://e.example>"),
            (
                "<svg/onload=\"x\"><image href='//e.example'>",
                "< svg/onload=\"x\">< image href='//e.example'>",
            ),
            ("<style>@import url(//e.example)</style>", "< style>@import url(//e.example)</style>"),
        ] {
            assert_eq!(harmless(text), plain, "{text}");
            assert_eq!(harmless(plain), plain, "{text}");
        }
    }

    #[cfg(feature = "assistant")]
    #[test]
    fn an_answer_keeps_its_code() {
        let code = "`![a](https://e.example)`\n\n```html\n<img src=\"https://e.example\">\n```\n";
        let answer = format!("{code}![a](https://e.example)");
        assert_eq!(without_fetches(&answer), format!("{code}! [a](https://e.example)"));
        // Text that Obsidian may take for a formula or a comment is no code.
        let picture = "![x](https://e.example)";
        for text in ["%%\n```\n%%\nP", "$$\n```\n$$\nP", "$`$ P `", "`a` %%\n\n```\n%%\nP\n```"] {
            assert_eq!(
                without_fetches(&text.replace('P', picture)),
                text.replace('P', &format!("! {}", &picture[1..]))
            );
        }
        for text in ["for $5:\n\n```\nP\n```\n", "```sh\necho $$ %%\n```\n\n`P`"] {
            assert_eq!(without_fetches(&text.replace('P', picture)), text.replace('P', picture));
        }
    }

    #[test]
    fn a_task_is_plain_text_unless_it_stood_there() {
        for (text, before, plain) in [
            ("a\n- [ ] b\r\n> 1. [x] c", "", "a\n- \\[ ] b\r\n> 1. \\[x] c"),
            ("a\n\t* [ ] b\n  - [ ] c\n", "a\n  - [ ] c", "a\n\t* \\[ ] b\n  - [ ] c\n"),
            ("- \\[ ] a\n[ ] b - [ ] c", "", "- \\[ ] a\n[ ] b - [ ] c"),
        ] {
            assert_eq!(without_tasks(text, before), plain);
        }
    }

    #[test]
    fn what_runs_nowhere_stays() {
        for text in [
            "```rust\nlet x = 1;\n```",
            "```\nplain\n```",
            "use `==` and `=>`",
            "`timeout` = 30 and `a` = `b`",
            "50 % <b>`x`</b>",
            "``dataviewjs``",
            "~~gone~~ tasks",
            "the dataview plugin",
            "![[Garden]] and ![a bed](beds/one.png)",
            "Wow! [a](https://e.example) <https://e.example> <a@e.example> a < b: c <3",
            "one<br/>two<br>three: <b>four</b> `Vec<String>` <br />",
            "[[Anna]]: likes: tea [a]: b",
            "Tea[^1] and [more][2].\n\n[^1]: https://a.example\n[2]: https://b.example",
            "Call <the vet> at 10:30, <your name>: x, if x <y or z: w <b class>: x",
        ] {
            assert!(matches!(harmless(text), Cow::Borrowed(_)), "{text}: {}", harmless(text));
        }
    }
}
