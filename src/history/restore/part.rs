//! Plans and carries out a restore of a part of a note: a line, a reminder by its id, or a section.
//!
//! The plan is a value that is shown first. When the plan is carried out, it is computed again from the note's newest
//! bytes, so that a person's edit meanwhile stays. The computation is pure.
//!
//! A restored line replaces the line with the same id. Without such a line, it goes back between its old neighbours,
//! with its blank lines. If no old neighbour is left, it is added at the end. If nothing else changed, the result
//! equals the older text. A section is a heading with all lines below it, up to the next heading of the same or a
//! higher level. A line with `#` in frontmatter, code or a comment is no heading.

use std::ops::{ControlFlow, Range};

use similar::DiffTag;

use super::merge_check::{MergeCheck, markers};
use crate::format::changes::{body, changes, lines};
use crate::format::lines::{LiveLines, terminator_of};
use crate::format::memory;
use crate::history::audit::ids_in;
use crate::history::store::{RESTORED_FROM, operation_lock};
use crate::history::{
    Commit, Deletions, FileDiff, FileMode, History, HistoryError, LogFilter, RestoreReport, Result,
};
use crate::vault::{Actor, ChangeReason, EditPlan, Editor, NotePath};

/// The plan of restoring a part of a note.
#[derive(Debug, Clone)]
pub struct PartPlan {
    /// The note.
    pub path: NotePath,
    /// The part.
    pub target: LineTarget,
    /// The snapshot that it is taken from.
    pub point: Commit,
    /// The note's text there.
    source: Vec<u8>,
    /// The note as it stands; empty where there is none.
    pub now: Vec<u8>,
    /// The note as it will stand.
    pub after: Vec<u8>,
}

impl PartPlan {
    /// Whether the part is there already.
    pub fn is_unchanged(&self) -> bool {
        self.now == self.after
    }

    /// Its changes.
    pub fn diff(&self) -> FileDiff {
        let file = |bytes: &[u8]| Some((FileMode::File, bytes.to_vec()));
        FileDiff { path: self.path.to_string(), old: file(&self.now), new: file(&self.after) }
    }
}

impl History {
    /// Plans the restore of a part of a note from a point; without a point, from the newest snapshot in which the part
    /// is there and differs from the present.
    ///
    /// # Errors
    /// The note or the part was not there, or something can't be read.
    pub fn plan_part(&self, path: &NotePath, target: &LineTarget, at: Option<Commit>) -> Result<PartPlan> {
        let now = self.vault.read_or_empty(path)?;
        let (point, source) = match at {
            Some(point) => {
                let source = self.read_at(&point, path.as_str())?;
                let missing = || HistoryError::NotInSnapshot(path.to_string(), point.short());
                let source = source.ok_or_else(missing)?;
                (point, source)
            }
            None => self.newest_with(path, target, &now)?,
        };
        let after = restore_line(&now, &source, target).ok_or_else(|| {
            let at = point.short();
            HistoryError::NoPart(match target {
                LineTarget::Id(id) => format!("`{path}` has never had a line with the id `{id}`"),
                LineTarget::Number(number) => format!("`{path}` had no line {number} at {at}"),
                LineTarget::Section(heading) => {
                    format!("`{path}` has no section `{heading}`, now or at {at}, or more than one")
                }
            })
        })?;
        let copy = || MergeCheck::new(&self.vault).copy(path, &now);
        if after != now
            && let Some(refusal) = markers(path, &now).or_else(copy)
        {
            return Err(HistoryError::Edit(path.clone(), refusal.into()));
        }
        Ok(PartPlan { path: path.clone(), target: target.clone(), point, source, now, after })
    }

    fn newest_with(&self, path: &NotePath, target: &LineTarget, now: &[u8]) -> Result<(Commit, Vec<u8>)> {
        let newest = self.newest()?;
        let gains = |source: &[u8]| restore_line(now, source, target).is_some_and(|after| after != now);
        let held = self.read_at(&newest, path.as_str())?;
        if let Some(source) = held.as_ref().filter(|source| gains(source)) {
            return Ok((newest, source.clone()));
        }
        let mut found = None;
        let filter = LogFilter { path: Some(path.to_string()), ..LogFilter::default() };
        self.log(&filter, |record| {
            let change = record.changes.iter().find(|change| change.path == path.as_str());
            if let (Some(old), Some(parent)) = (change.and_then(|change| change.old), record.commit.parent())
            {
                let source = self.content(old.id)?;
                if gains(&source) {
                    found = Some((parent, source));
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if let Some((parent, source)) = found {
            return Ok((self.point(&parent.to_string())?, source));
        }
        let missing = || HistoryError::NotInSnapshot(path.to_string(), newest.short());
        let source = held.ok_or_else(missing)?;
        Ok((newest, source))
    }

    /// Restores the part, after a snapshot of the present.
    ///
    /// # Errors
    /// Another process restores or undoes, the present can't be kept, or the note can't be written.
    pub fn restore_part(&self, editor: &Editor, plan: &PartPlan) -> Result<RestoreReport> {
        let _lock = operation_lock(self.dir())?;
        self.finish_earlier(editor)?;
        self.snapshot_all(Deletions::Hold)?;
        let newest = |history: &Self| history.newest().ok().map(|point| point.id.to_string());
        let from = plan.point.id.to_string();
        let mut report =
            RestoreReport { from: from.clone(), snapshot_before: newest(self), ..RestoreReport::default() };
        let what = if matches!(plan.target, LineTarget::Section(_)) { "section" } else { "line" };
        let mut why = ChangeReason::new(Actor::Restore, format!("restored: a {what} of {}", plan.path));
        why = why.trailer(RESTORED_FROM, from);
        if let LineTarget::Id(id) = &plan.target {
            why = why.trailer("Reminder", id.clone());
        }
        let again = |bytes: &[u8]| {
            let after = restore_line(bytes, &plan.source, &plan.target);
            EditPlan::Bytes(after.unwrap_or_else(|| bytes.to_vec()))
        };
        editor
            .edit_with(&plan.path, &why, again)
            .map_err(|error| HistoryError::Edit(plan.path.clone(), error))?;
        report.restored.push(plan.path.to_string());
        report.snapshot_after = newest(self);
        Ok(report)
    }
}

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

/// `current` with a line or section of `source` restored; `current` itself if the part is there already. `None` if
/// `source` doesn't have it, or if more than one section has that heading.
pub fn restore_line(current: &[u8], source: &[u8], target: &LineTarget) -> Option<Vec<u8>> {
    let old = lines(source);
    let item = |at: usize| at..at + 1 + continuation(old[at], &old[at + 1..]);
    let range = match target {
        LineTarget::Section(heading) => section(source, heading)?.lines,
        LineTarget::Id(id) => item(old.iter().position(|line| has_id(line, id))?),
        LineTarget::Number(number) => item(number.checked_sub(1).filter(|at| *at < old.len())?),
    };
    let newline = terminator_of(if current.contains(&b'\n') { current } else { source }).as_bytes();
    let kept = newline == terminator_of(source).as_bytes();
    let mut text: Vec<Vec<u8>> = lines(current).into_iter().map(<[u8]>::to_vec).collect();
    let as_now = |line: &&[u8]| if kept { line.to_vec() } else { [body(line), newline].concat() };
    let mut block: Vec<Vec<u8>> = old[range.clone()].iter().map(as_now).collect();

    if let LineTarget::Id(id) = target
        && let Some(place) = text.iter().position(|line| has_id(line, id))
    {
        if body(&text[place]) != body(&block[0]) {
            let terminator = text[place][body(&text[place]).len()..].to_vec();
            text[place] = [body(&block[0]), terminator.as_slice()].concat();
        }
        return Some(text.concat());
    }
    let same = |run: &[Vec<u8>]| run.iter().zip(&block).all(|(a, b)| body(a) == body(b));
    if let LineTarget::Section(heading) = target
        && sections(current).iter().any(|one| one.heading == heading.trim())
    {
        let mut place = section(current, heading)?.lines;
        if place.len() == block.len() && same(&text[place.clone()]) {
            return Some(current.to_vec());
        }
        // The blank lines below it are those of what follows, if something else follows by now.
        if (place.end == text.len()) != (range.end == old.len()) {
            place.end -= blank_tail(&text[place.clone()]);
            block.truncate(block.len() - blank_tail(&block));
        }
        text.splice(place, block);
    } else {
        // Another line with the same text is not this one.
        let known =
            old.windows(block.len()).filter(|run| run.iter().zip(&block).all(|(a, b)| body(a) == body(b)));
        if text.windows(block.len()).filter(|run| same(run)).count() >= known.count() {
            return Some(current.to_vec());
        }
        block.truncate(block.len() - blank_tail(&block));
        let core = range.start..range.start + block.len();
        let (place, above, below) = gap(&text, &old, &core, matches!(target, LineTarget::Section(_)));
        let blank = |count| std::iter::repeat_n(newline.to_vec(), count);
        text.splice(place, blank(above).chain(block).chain(blank(below)));
    }
    // A line without its newline is the last.
    let end = text.len().saturating_sub(1);
    text[..end].iter_mut().filter(|line| !line.ends_with(b"\n")).for_each(|line| line.extend(newline));
    Some(text.concat())
}

/// The place to which a lost part of `old` is restored: the blank lines of `text` that it replaces, and the numbers of
/// blank lines above and below it. If something new stands between its old neighbours, a line goes below the upper one,
/// a section above the lower one: what is new is no part of it then.
fn gap(
    text: &[Vec<u8>],
    old: &[&[u8]],
    gone: &Range<usize>,
    is_section: bool,
) -> (Range<usize>, usize, usize) {
    let rest: Vec<&[u8]> = old[..gone.start].iter().chain(&old[gone.end..]).map(|line| body(line)).collect();
    let text: Vec<&[u8]> = text.iter().map(|line| body(line)).collect();
    let equal = changes(&rest, &text).into_iter().filter(|op| op.tag() == DiffTag::Equal);
    let pairs = equal.flat_map(|op| op.old_range().zip(op.new_range()));
    let (upper, lower): (Vec<_>, Vec<_>) =
        pairs.filter(|(then, _)| !rest[*then].is_empty()).partition(|(then, _)| *then < gone.start);
    let place = match upper.last() {
        Some((_, now)) if !is_section => now + 1,
        _ => lower.first().map_or(text.len(), |(_, now)| *now),
    };
    let place = place - blank_tail(&text[..place])..place + blank_tail(text[place..].iter().rev());
    let (above, below) = (blank_tail(&rest[..gone.start]), blank_tail(rest[gone.start..].iter().rev()));
    let beside = above.max(place.len());
    let blank = |own, now: Option<_>, then| if now == then { own } else { now.map_or(0, |_| beside) };
    let above = blank(above, text[..place.start].last(), rest[..gone.start - above].last());
    let below = blank(below, text.get(place.end), rest.get(gone.start + below));
    (place, above, below)
}

/// The number of empty lines at the end.
fn blank_tail<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L, IntoIter: DoubleEndedIterator>) -> usize {
    lines.into_iter().rev().take_while(|line| body(line.as_ref()).is_empty()).count()
}

/// The number of indented lines that belong to a bullet.
fn continuation(first: &[u8], rest: &[&[u8]]) -> usize {
    if !first.starts_with(b"- ") && !first.starts_with(b"* ") {
        return 0;
    }
    rest.iter().take_while(|line| line.starts_with(b" ") || line.starts_with(b"\t")).count()
}

/// Whether the line has the field `id=` with exactly this value.
fn has_id(line: &[u8], id: &str) -> bool {
    ids_in(line).any(|own| own == id.as_bytes())
}

/// A section, by its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSection {
    /// The heading's words.
    pub heading: String,
    /// How many `#`, 1 to 6.
    pub level: usize,
    /// The lines of it, from 0, the heading's first.
    pub lines: Range<usize>,
}

/// The sections of a text, in the order of their headings; one holds those below it.
pub fn sections(text: &[u8]) -> Vec<NoteSection> {
    let mut out: Vec<NoteSection> = Vec::new();
    // Those that go on, each below the one before.
    let mut open: Vec<usize> = Vec::new();
    let mut count = 0;
    for (line, is_live) in LiveLines::new(text).with_liveness() {
        count = line.number;
        let Some((level, heading)) = is_live.then(|| memory::heading(line.text)).flatten() else { continue };
        let at = line.number - 1;
        while let Some(ended) = open.pop_if(|one| out[*one].level >= level) {
            out[ended].lines.end = at;
        }
        open.push(out.len());
        out.push(NoteSection { heading, level, lines: at..usize::MAX });
    }
    for ended in open {
        out[ended].lines.end = count;
    }
    out
}

/// The one section with a heading; none where there is none, or more than one.
pub fn section(text: &[u8], heading: &str) -> Option<NoteSection> {
    let mut found = sections(text).into_iter().filter(|one| one.heading == heading.trim());
    let one = found.next()?;
    found.next().is_none().then_some(one)
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
        assert_eq!(back("# N\n## A\none\ntwo\n", old, &named("B")).as_deref(), Some(old));
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

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let text = b"---\n# no\n---\nintro\n# A\none\n## B ##\ntwo\n```\n# code\n```\n# C\n#tag\n";
        let found = sections(text);
        let shown: Vec<_> =
            found.iter().map(|one| (one.heading.as_str(), one.level, one.lines.clone())).collect();
        assert_eq!(shown, [("A", 1, 4..11), ("B", 2, 6..11), ("C", 1, 11..13)]);
        assert!(section(b"# A\n# A\n", "A").is_none() && section(text, "a").is_none());
    }
}
