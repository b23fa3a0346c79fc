//! Parses and writes a struck-through fact, with the day until which it held and a link to its successor.
//!
//! A struck fact looks like `~~lives in Graz [[logs/…#^old]]~~ until 2026-05-01 [[logs/…#^new]]`. The words stay in
//! place, so that history can be read and searched. The day is optional, because a person may strike a fact through by
//! hand.

use jiff::civil::Date;

/// A text that is struck through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StruckText<'a> {
    /// The words that held.
    pub words: &'a str,
    /// The day until which it held, where one is given.
    pub until: Option<Date>,
    /// The text behind that: the link to its successor, fields.
    pub rest: &'a str,
}

/// Reads a memory's text as one that is struck through as a whole.
pub fn parse(text: &str) -> Option<StruckText<'_>> {
    let inside = text.trim_start().strip_prefix("~~")?;
    let (words, rest) = inside.split_once("~~")?;
    let words = words.trim();
    let rest = rest.trim();
    let dated = rest.strip_prefix("until ").and_then(|rest| {
        let (day, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        Some((day.parse::<Date>().ok()?, rest.trim()))
    });
    // Struck words within a sentence are no struck fact.
    let whole = dated.is_some() || tail_start(rest) == 0;
    let (until, rest) = dated.map_or((None, rest), |(day, rest)| (Some(day), rest));
    (whole && !words.is_empty()).then_some(StruckText { words, until, rest })
}

/// A text struck through on a day, with the link to what takes its place; a block id stays last.
pub fn strike(text: &str, until: Date, link: &str) -> String {
    let (words, id) = super::memory::split_block_id(text);
    let words = words.trim().replace("~~", "~");
    let id = id.map(|id| format!(" ^{id}")).unwrap_or_default();
    let link = if link.is_empty() { String::new() } else { format!(" {link}") };
    format!("~~{words}~~ until {until}{link}{id}")
}

/// The offset of the links, fields and tags at a text's end; its length if there are none.
pub fn tail_start(text: &str) -> usize {
    let mut end = text.trim_end().len();
    loop {
        let head = text[..end].trim_end();
        let start = if head.ends_with("]]") {
            head.rfind("[[")
        } else if head.ends_with(']') {
            head.rfind('[').filter(|at| head[*at..].contains("::"))
        } else {
            let word = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
            let tag = head[word..].strip_prefix('#');
            tag.filter(|tag| !tag.is_empty() && !tag.starts_with('#') && !tag.contains(['[', ']']))
                .map(|_| word)
        };
        match start {
            Some(start) => end = text[..start].trim_end().len(),
            None => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struck_fact_reads_back() {
        let day = "2026-05-01".parse().unwrap();
        let struck = strike("lives in Graz [[logs/a#^X]] [tier:: core] ^mine", day, "[[logs/b#^Y]]");
        assert_eq!(
            struck,
            "~~lives in Graz [[logs/a#^X]] [tier:: core]~~ until 2026-05-01 [[logs/b#^Y]] ^mine"
        );
        let read = parse(&struck).unwrap();
        assert_eq!((read.words, read.until), ("lives in Graz [[logs/a#^X]] [tier:: core]", Some(day)));
        assert_eq!(parse("~~by hand~~").unwrap().until, None);
        assert_eq!(parse("~~by hand~~ [[a]] #tag").unwrap().words, "by hand");
        for text in
            ["likes ~~tea~~ coffee", "~~tea~~ and coffee", "~~~~", "~~open", "", "~~a~~ until tomorrow"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_tail_is_links_fields_and_tags() {
        for (text, words) in [
            ("likes tea [[logs/a#^X]] [[b]] [k:: v] #me/x", "likes tea"),
            ("likes tea", "likes tea"),
            ("see [[b]] now", "see [[b]] now"),
            ("a [b]", "a [b]"),
            ("[[b]]", ""),
        ] {
            assert_eq!(&text[..tail_start(text)], words, "{text}");
        }
    }
}
