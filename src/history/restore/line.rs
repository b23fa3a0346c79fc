//! Restores one line (a reminder by its id, or any line by its place) or one section in a text. Pure.
//!
//! The line replaces a line with the same id, or goes back beside its old neighbours if they still stand in the text;
//! if none of them does, it is added at the end.

use super::section::{section, sections};
use crate::history::read::{body, lines};

/// The part of the older text to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineTarget {
    /// The line with the field `id=…`.
    Id(String),
    /// The line with this number, from 1.
    Number(usize),
    /// The one section with this heading.
    Section(String),
}

/// `current` with the line or section of `source` back in it; `None` where `source` has no such, or where more than one
/// section has that heading. If it stands already, `current` itself.
pub fn restore_line(current: &[u8], source: &[u8], target: &LineTarget) -> Option<Vec<u8>> {
    let old = lines(source);
    let (at, heading) = match target {
        LineTarget::Section(heading) => (section(source, heading)?.lines.start, Some(heading)),
        LineTarget::Id(id) => (old.iter().position(|line| has_id(line, id))?, None),
        LineTarget::Number(number) => (number.checked_sub(1).filter(|at| *at < old.len())?, None),
    };
    let end = match heading {
        Some(heading) => section(source, heading)?.lines.end,
        None => at + 1 + continuation(old[at], &old[at + 1..]),
    };
    let block = &old[at..end];
    let mut text: Vec<Vec<u8>> = lines(current).into_iter().map(<[u8]>::to_vec).collect();
    let newline: &[u8] = if current.windows(2).any(|pair| pair == b"\r\n") { b"\r\n" } else { b"\n" };
    let block: Vec<Vec<u8>> = block.iter().map(|line| [body(line), newline].concat()).collect();

    if let LineTarget::Id(id) = target
        && let Some(place) = text.iter().position(|line| has_id(line, id))
    {
        if body(&text[place]) != body(&block[0]) {
            let terminator = text[place][body(&text[place]).len()..].to_vec();
            text[place] = [body(&block[0]), terminator.as_slice()].concat();
        }
        return Some(text.concat());
    }
    if let Some(heading) = heading
        && sections(current).iter().any(|one| one.heading == heading.trim())
    {
        let place = section(current, heading)?.lines;
        let same = place.len() == block.len()
            && text[place.clone()].iter().zip(&block).all(|(a, b)| body(a) == body(b));
        if same {
            return Some(current.to_vec());
        }
        text.splice(place, block);
        return Some(text.concat());
    }
    let stands = text.windows(block.len()).any(|run| run.iter().zip(&block).all(|(a, b)| body(a) == body(b)));
    if stands {
        return Some(current.to_vec());
    }
    let place = position_by_neighbours(&text, &old, at, end).unwrap_or(text.len());
    if place == text.len()
        && let Some(last) = text.last_mut()
        && !last.ends_with(b"\n")
    {
        last.extend(newline);
    }
    text.splice(place..place, block);
    Some(text.concat())
}

/// The position after the nearest line above that is still there exactly once, else before the nearest below.
fn position_by_neighbours(text: &[Vec<u8>], old: &[&[u8]], at: usize, end: usize) -> Option<usize> {
    let find = |line: &[u8]| {
        let mut places =
            (0..text.len()).filter(|place| !body(line).is_empty() && body(&text[*place]) == body(line));
        let place = places.next()?;
        places.next().is_none().then_some(place)
    };
    let above = old[..at].iter().rev().find_map(|line| find(line)).map(|place| place + 1);
    above.or_else(|| old[end..].iter().find_map(|line| find(line)))
}

/// The number of indented lines that belong to a bullet.
fn continuation(first: &[u8], rest: &[&[u8]]) -> usize {
    if !first.starts_with(b"- ") && !first.starts_with(b"* ") {
        return 0;
    }
    rest.iter().take_while(|line| line.starts_with(b" ") || line.starts_with(b"\t")).count()
}

/// Whether the line has the field `id=` with exactly this value.
pub(crate) fn has_id(line: &[u8], id: &str) -> bool {
    let field = format!("id={id}");
    memchr::memmem::find_iter(line, &field).any(|at| {
        let before = at.checked_sub(1).is_none_or(|before| line[before] == b' ');
        let after = line.get(at + field.len()).is_none_or(u8::is_ascii_whitespace);
        before && after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(current: &str, source: &str, target: &LineTarget) -> Option<String> {
        restore_line(current.as_bytes(), source.as_bytes(), target).map(|b| String::from_utf8(b).unwrap())
    }

    #[test]
    fn a_line_goes_back_beside_its_neighbours() {
        let old = "# R\n- a id=rid_A\n- b id=rid_B\n- c id=rid_C\n";
        let id = |id: &str| LineTarget::Id(id.into());
        assert_eq!(back("# R\n- a id=rid_A\n- c id=rid_C\n", old, &id("rid_B")).as_deref(), Some(old));
        assert_eq!(
            back("- c id=rid_C\n", old, &id("rid_B")).as_deref(),
            Some("- b id=rid_B\n- c id=rid_C\n")
        );
        assert_eq!(back("new", old, &id("rid_B")).as_deref(), Some("new\n- b id=rid_B\n"));
        assert_eq!(back("- B! id=rid_B\r\n", old, &id("rid_B")).as_deref(), Some("- b id=rid_B\r\n"));
        assert_eq!(back("x\n", old, &id("rid_X")), None);
        assert_eq!(back("x\n", old, &id("rid_")), None);
    }

    #[test]
    fn a_section_takes_its_place_again() {
        let old = "# N\n## A\none\ntwo\n## B\nthree";
        let named = |heading: &str| LineTarget::Section(heading.into());
        assert_eq!(
            back("# N\nnew\n## A\none!\n## B\nthree!\n", old, &named("A")).as_deref(),
            Some("# N\nnew\n## A\none\ntwo\n## B\nthree!\n")
        );
        assert_eq!(
            back("# N\n## A\none\ntwo\n", old, &named("B")).as_deref(),
            Some("# N\n## A\none\ntwo\n## B\nthree\n")
        );
        assert_eq!(back(old, old, &named("B")).as_deref(), Some(old));
        assert_eq!(back("## A\n## A\n", old, &named("A")), None);
        assert_eq!(back("", old, &named("C")), None);
    }

    #[test]
    fn a_bullet_comes_with_its_indented_lines() {
        let old = "## S\n- one\n  more\n- two\n";
        assert_eq!(back("## S\n- two\n", old, &LineTarget::Number(2)).as_deref(), Some(old));
        assert_eq!(back(old, old, &LineTarget::Number(2)).as_deref(), Some(old));
        assert_eq!(back("", old, &LineTarget::Number(9)), None);
    }
}
