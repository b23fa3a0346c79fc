//! Parses the list item with a checkbox that every task line is: `- [ ] text`, anywhere in a list or a callout.

/// A list item with a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListItem<'a> {
    /// The whole line without its terminator.
    pub text: &'a str,
    /// The character in the box.
    pub status: char,
    /// The offset of that character.
    pub status_at: usize,
    /// The offset of the text behind the box.
    pub body: usize,
    /// The end of that text: before a block id and the blanks at the line's end.
    pub end: usize,
}

impl<'a> ListItem<'a> {
    /// The text behind the box, without block id.
    pub fn body(&self) -> &'a str {
        &self.text[self.body..self.end]
    }
}

/// The item that a line without its terminator is.
pub fn read(text: &str) -> Option<ListItem<'_>> {
    let lead = text.trim_start_matches([' ', '\t', '>']);
    let digits = lead.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = || digits.strip_prefix(['.', ')']).filter(|_| digits.len() < lead.len());
    let rest = lead.strip_prefix(['-', '*', '+']).or_else(numbered)?;
    let boxed = rest.trim_start_matches([' ', '\t']);
    if boxed.len() == rest.len() {
        return None;
    }
    let inside = boxed.strip_prefix('[')?;
    let status = inside.chars().next()?;
    let behind = inside[status.len_utf8()..].strip_prefix(']')?;
    let body = behind.trim_start_matches([' ', '\t']);
    if body.len() == behind.len() && !behind.is_empty() {
        return None;
    }
    let status_at = text.len() - inside.len();
    let body = text.len() - body.len();
    Some(ListItem { text, status, status_at, body, end: body + end(&text[body..]) })
}

/// The end of a body: before a block id and the blanks at its end.
fn end(body: &str) -> usize {
    let trimmed = body.trim_end();
    if let Some((words, id)) = trimmed.rsplit_once(" ^")
        && crate::format::is_block_id(id)
    {
        return words.trim_end().len();
    }
    trimmed.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_every_kind() {
        for (line, status, body) in [
            ("- [ ] a", ' ', "a"),
            ("\t* [/] a b  ", '/', "a b"),
            ("> > + [x] a ^abc-1 ", 'x', "a"),
            ("12. [-] a ^no id", '-', "a ^no id"),
            ("1) [é] a", 'é', "a"),
            ("- [ ] ", ' ', ""),
            ("- [ ]", ' ', ""),
        ] {
            let item = read(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((item.status, item.body()), (status, body), "{line}");
        }
        for line in ["- [ ]a", "[ ] a", "-[ ] a", "- [] a", "a - [ ] b", "- [  ] a", "- a", "", "1 [ ] a"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
