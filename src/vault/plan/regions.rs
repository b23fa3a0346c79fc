//! Merges two texts that were both made from a third one, their base. A region is a part of the base that at least one
//! of the two texts changes. For each region the caller chooses the lines of the result; all other lines are the
//! base's. Pure.

use similar::DiffOp;

use crate::format::changes::differences;
use crate::vault::prelude::*;

/// The lines with their terminators; a last one without gets `end`, so that adding after it is no change of it.
pub(super) fn lines<'t>(bytes: &'t [u8], end: &[u8]) -> Vec<Cow<'t, [u8]>> {
    let mut lines: Vec<Cow<'_, [u8]>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(Cow::Borrowed).collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
        last.to_mut().extend_from_slice(end);
    }
    lines
}

/// What a text has in place of a part of the base.
pub(super) struct Side<'h, 'a> {
    base: &'a [Cow<'a, [u8]>],
    text: &'a [Cow<'a, [u8]>],
    hunks: &'h [DiffOp],
}

impl<'a> Side<'_, 'a> {
    /// The lines that it has in place of `region`; of the base's own those that are `kept`, by their index.
    pub fn lines(&self, region: &Range<usize>, kept: impl Fn(usize) -> bool) -> Vec<&'a [u8]> {
        let old = |range: Range<usize>| range.filter(|line| kept(*line)).map(|line| &*self.base[line]);
        let (mut lines, mut at): (Vec<&[u8]>, usize) = (Vec::new(), region.start);
        for hunk in self.hunks {
            lines.extend(old(at..hunk.old_range().start));
            lines.extend(self.text[hunk.new_range()].iter().map(|line| &**line));
            at = hunk.old_range().end;
        }
        lines.extend(old(at..region.end));
        lines
    }

    /// The lines that it has more than the base.
    pub fn added(&self) -> Vec<&'a [u8]> {
        self.lines(&(0..0), |_| false)
    }

    /// Whether it has this line of the base.
    pub fn keeps(&self, line: usize) -> bool {
        let at = self.hunks.partition_point(|hunk| hunk.old_range().end <= line);
        self.hunks.get(at).is_none_or(|hunk| hunk.old_range().start > line)
    }
}

/// Both sides in place of a part of the base; none of a side that changed nothing there.
pub(super) type Sides<'h, 'a> = [Option<Side<'h, 'a>>; 2];

/// Merges two sides with their base, with what `choose` makes of each region that a change stands for. `ends` says
/// whether the last line has its terminator.
pub(super) fn by_regions<'a>(
    base: &'a [Cow<'a, [u8]>],
    first: &'a [Cow<'a, [u8]>],
    second: &'a [Cow<'a, [u8]>],
    ends: bool,
    mut choose: impl FnMut(&Range<usize>, Sides<'_, 'a>) -> Vec<&'a [u8]>,
) -> Vec<u8> {
    let [in_first, in_second] = [first, second].map(|other| differences(base, other).collect::<Vec<_>>());
    let (mut left, mut right) = (in_first.as_slice(), in_second.as_slice());
    let (mut merged, mut at): (Vec<&[u8]>, usize) = (Vec::with_capacity(first.len() + second.len()), 0);
    while let Some(region) = region(left, right) {
        let sides = [(&mut left, first), (&mut right, second)].map(|(hunks, text)| {
            let (here, rest) = hunks.split_at(hunks.partition_point(|hunk| is_in(hunk, &region)));
            *hunks = rest;
            (!here.is_empty()).then_some(Side { base, text, hunks: here })
        });
        merged.extend(base[at..region.start].iter().map(|line| &**line));
        merged.extend(choose(&region, sides));
        at = region.end;
    }
    merged.extend(base[at..].iter().map(|line| &**line));
    let mut bytes = merged.concat();
    if !ends && bytes.ends_with(b"\n") {
        bytes.truncate(bytes.strip_suffix(b"\r\n").map_or(bytes.len() - 1, <[u8]>::len));
    }
    bytes
}

/// The next part of the base that a change of either side, or several that overlap, stand for.
fn region(left: &[DiffOp], right: &[DiffOp]) -> Option<Range<usize>> {
    let first = [left.first(), right.first()].into_iter().flatten().map(DiffOp::old_range);
    let mut region = first.min_by_key(|old| (old.start, old.end))?;
    loop {
        let inside = |hunks: &[DiffOp]| hunks.partition_point(|hunk| is_in(hunk, &region));
        let last = [left, right].map(|hunks| hunks[..inside(hunks)].last().map(|hunk| hunk.old_range().end));
        match last.into_iter().flatten().max() {
            Some(end) if end > region.end => region.end = end,
            _ => return Some(region),
        }
    }
}

/// Whether a change is one of those that a region stands for: it begins in it, or both only insert at
/// the same place.
fn is_in(hunk: &DiffOp, region: &Range<usize>) -> bool {
    hunk.old_range().start < region.end || hunk.old_range() == *region
}
