//! Serves `/notes/PATH`: a rendered note, the origin of its lines, and its earlier states, from which parts can be
//! restored. [`folders`] lists a folder.

mod folders;

use std::ops::Range;

use similar::{Change, ChangeTag};

use super::files::{all_files, find_link_target};
use super::health::written;
use super::history::{differences, open, text};
use super::prelude::*;
use crate::format::changes::{changes, text_lines};
use crate::history::{
    Blame, BlameBound, BlamedLine, Commit, FileDiff, History, HistoryError, LineOrigin, LineTarget,
    LineWriter, LogFilter, SnapshotEntry, sections,
};
use crate::vault::NotePath;
use crate::web::markdown;
use crate::web::visit::{LINES_PER_PAGE, block_address, line_address};

/// The most snapshots on the slider.
const SNAPSHOTS: usize = 100;
/// The most lines of two states side by side.
const MOST_ROWS: usize = 2_000;
/// Of a longer note only the lines are shown.
const MOST_READ: usize = 1_000_000;

/// A note, as programs read it.
#[derive(Debug, Serialize)]
struct NoteView {
    path: String,
    /// The snapshot that is shown; none for the note as it stands.
    at: Option<String>,
    text: String,
    /// As `history PATH --lines --json` has it; none where no snapshot keeps the note.
    blame: Option<Blame>,
    /// Its newest snapshots, as `history PATH --json` has them.
    snapshots: Vec<SnapshotEntry>,
}

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    if visit.rest.is_empty() {
        return folders::recent_page(visit);
    }
    let path = NotePath::new(visit.rest.trim_end_matches('/'))?;
    if visit.workspace.vault.is_hidden(&path) {
        return Err(PageError::not_found(format!("`{path}` is not shown")));
    }
    if let Some(folder) = folders::FolderListing::read(visit, path.as_str()) {
        return visit.view(path.as_str(), &folder, folders::FolderListing::shown);
    }
    let history = visit.workspace.history()?;
    let is_then = visit.query("at").is_some() || visit.query("n").is_some();
    let (mut blame, mut snapshots) = (None, Vec::new());
    if let Some(history) = &history {
        // Of the note as it stands now, one walk through the history gives both.
        let both = || history.blame_with_records(&path, None, BlameBound::default(), SNAPSHOTS).ok();
        let records = match (!is_then).then(both).flatten() {
            Some((of_now, records)) => {
                blame = Some(of_now);
                records
            }
            None => {
                let path = Some(path.to_string());
                history.records(&LogFilter { path, limit: Some(SNAPSHOTS), ..LogFilter::default() })?
            }
        };
        snapshots = records.iter().map(|record| history.entry(record, false)).collect::<Result<_, _>>()?;
    }
    let point = point(visit, history.as_deref(), &snapshots)?;
    // A place on the slider is another version once there is a newer one; its address is to stay.
    if let (Some(point), None, None, false) =
        (&point, visit.query("at"), visit.query("plan"), visit.wants_json)
    {
        return Ok(PageView::Elsewhere(visit.address_with(&[("n", ""), ("at", &point.id.to_string())])));
    }
    let now = visit.workspace.vault.read_if_there(&path)?;
    let missing =
        || PageError::not_found(format!("there is no note {}", crate::format::quote(path.as_str())));
    let then = match (&point, &history) {
        (Some(point), Some(history)) => history.read_at(point, path.as_str())?,
        _ => now.clone(),
    };
    let link = visit.query("link").filter(|_| !is_then);
    if then.is_none() && (snapshots.is_empty() || link.is_some()) {
        // A link of Obsidian's names a note of any folder by its name alone; a Markdown link may, too.
        let (files, named) = (all_files(&visit.workspace.vault), link.unwrap_or(path.as_str()));
        // What stands behind a dot needn't be an ending: `Dr. Smith`.
        let found =
            find_link_target(&files, named).or_else(|| find_link_target(&files, &format!("{named}.md")));
        let address = |found: NotePath| match visit.query("block") {
            Some(block) => block_address(found.as_str(), block),
            None => note_address(found.as_str()),
        };
        match found {
            Some(found) => return Ok(PageView::Elsewhere(address(found))),
            None if snapshots.is_empty() => return Err(missing()),
            None => {}
        }
    }
    if let Some(block) = visit.query("block").filter(|_| !visit.wants_json) {
        let (text, id) = (text(then.as_ref()), format!("^{block}"));
        let line = text.lines().position(|line| line.trim_end().ends_with(&id));
        let address = |line| line_address(path.as_str(), line + 1);
        return Ok(PageView::Elsewhere(line.map_or_else(|| note_address(path.as_str()), address)));
    }
    if let (true, Some(history), Some(_)) = (is_then, &history, &then) {
        blame = history.blame(&path, point.as_ref(), BlameBound::default()).ok();
    }
    let shown = NoteView {
        path: path.to_string(),
        at: point.as_ref().map(|point| point.id.to_string()),
        text: text(then.as_ref()),
        blame,
        snapshots,
    };
    let plan = plan_of(visit, history.as_deref(), &path, point.as_ref())?;
    visit.view(path.as_str(), &shown, |shown| page(visit, shown, now.as_ref(), plan.as_ref()))
}

/// The snapshot that is asked for: by its place on the slider (0 is now), or by an id or a time.
fn point(
    visit: &Visit<'_>,
    history: Option<&History>,
    snapshots: &[SnapshotEntry],
) -> Result<Option<Commit>> {
    let Some(history) = history else { return Ok(None) };
    if let Some(at) = visit.query("at") {
        return Ok(Some(history.point(at)?));
    }
    let Some(place) = visit.query("n") else { return Ok(None) };
    let place: usize = place.parse().map_err(|_| PageError::bad("that is no place on the slider"))?;
    let Some(place) = place.checked_sub(1) else { return Ok(None) };
    let entry = snapshots.get(place).ok_or_else(|| {
        PageError::not_found(format!(
            "only the last {} versions of this note can be shown; 0 is the current one",
            snapshots.len()
        ))
        .link(note_address(&visit.rest), "The note as it is now")
    })?;
    Ok(Some(history.point(&entry.id)?))
}

fn page(
    visit: &Visit<'_>,
    shown: &NoteView,
    bytes: Option<&Vec<u8>>,
    plan: Option<&PlannedRestore>,
) -> Markup {
    let (now, count) = (text(bytes), shown.text.lines().count());
    let folder = shown.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_note = shown.path.ends_with(".md");
    let is_binary = !is_note && shown.text.contains(['\0', char::REPLACEMENT_CHARACTER]);
    html! {
        p.soft { (visit.obsidian(&shown.path)) " · " a href={ "/history?note=" (crate::web::visit::encoded(&shown.path)) } { "History of this note" } }
        @if let Some(plan) = plan { (planned(visit, plan, bytes.map_or(&[], Vec::as_slice))) }
        (slider(visit, shown))
        @if let Some(at) = &shown.at {
            h2 { "Differences from the current version" }
            p {
                a href=(visit.address_with(&[("view", "")])) { "Inline" } " · "
                a href=(visit.address_with(&[("view", "side")])) { "Side by side" } " · "
                a href=(parts::to_plan(visit, &[("plan", "note"), ("at", at), ("n", "")])) { "Restore this version" }
            }
            @if shown.text == now { (parts::empty("It is as it was.")) }
            @else if is_binary { (parts::empty("It is another now.")) }
            @else if visit.query("view") == Some("side") { (side_by_side(&shown.text, &now)) }
            @else { (parts::diff(&shown.text, &now)) }
        }
        @if is_binary { (parts::empty("This file is no text: it is not shown here.")) } @else {
            h2 { "Text" }
            @if count > LINES_PER_PAGE { p.soft { "Page " (visit.page_number()) " of its " (count) " lines." } }
            @if shown.text.len() > MOST_READ { (parts::empty("The note is too long to be formatted; its lines are below.")) }
            @else if is_note { div.note { (markdown::render_part(&shown.text, lines_of_page(visit, &shown.text), folder)) } }
            @else { pre { (&shown.text[lines_of_page(visit, &shown.text)]) } }
            h2 { "Lines and their authors" }
            (lines(visit, shown))
            (parts::pager(visit, count, LINES_PER_PAGE))
            @if is_note { (section_links(visit, shown)) }
        }
    }
}

/// The bytes of the lines that this page of a note shows.
fn lines_of_page(visit: &Visit<'_>, text: &str) -> Range<usize> {
    let first = (visit.page_number() - 1).saturating_mul(LINES_PER_PAGE);
    let begins = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    let mut begins = begins.skip(first).step_by(LINES_PER_PAGE);
    let mut next = || begins.next().unwrap_or(text.len());
    next()..next()
}

/// The form that chooses a snapshot: it works without scripts.
fn slider(visit: &Visit<'_>, shown: &NoteView) -> Markup {
    let count = shown.snapshots.len();
    let is_at = |entry: &SnapshotEntry| Some(&entry.id) == shown.at.as_ref();
    let place = shown.snapshots.iter().position(is_at).map_or(0, |place| place + 1);
    html! {
        @if count > 0 {
            form method="get" action=(note_address(&shown.path)) {
                label {
                    span { "Version: 0 is the current one, " (count) " the oldest shown" }
                    input type="range" name="n" min="0" max=(count) value=(place);
                }
                button { "Show" }
            }
            @if let Some(entry) = place.checked_sub(1).and_then(|place| shown.snapshots.get(place)) {
                p { "After " a href={ "/history/" (entry.id) } { (entry.subject) } ", " (visit.at(entry.time.parse().unwrap_or(visit.now))) " by " (entry.actor) "." }
            }
        }
    }
}

fn lines(visit: &Visit<'_>, shown: &NoteView) -> Markup {
    let Some(blame) = &shown.blame else {
        return html! { (parts::empty("No snapshot contains this note, so the authors of its lines are unknown.")) };
    };
    let row = |line: &BlamedLine| {
        let origin = blame.origin(line);
        [
            html! { span id={ "L" (line.line) } { (line.line) } },
            html! { code { (line.text) } },
            html! { (writer(origin)) },
            html! { (when(visit, origin)) },
            html! {
                @if let Some(at) = &shown.at {
                    a href=(parts::to_plan(visit, &[("plan", &format!("line:{}", line.line)), ("at", at), ("n", "")])) { "Restore" }
                }
            },
        ]
    };
    let lines = parts::page_of(visit, &blame.lines, LINES_PER_PAGE);
    html! {
        (parts::table(["Line", "Text", "Who", "Since", ""], lines, row))
        @if !blame.complete { p.soft { "Lines without a time are older than the snapshots that were looked at." } }
    }
}

fn writer(origin: Option<&LineOrigin>) -> Markup {
    html! {
        @match origin {
            None => "",
            Some(LineOrigin { writer: LineWriter::Assistant, turn: Some(turn), .. }) => a href={ "/turns/" (turn) } { "assistant" },
            Some(origin) => (origin.writer.as_str()),
        }
    }
}

fn when(visit: &Visit<'_>, origin: Option<&LineOrigin>) -> Markup {
    html! {
        @match origin.map(|origin| (origin, origin.at, &origin.snapshot)) {
            Some((origin, Some(at), Some(id))) => { (visit.at(at)) " " a href={ "/history/" (id) } { (origin.subject) } }
            Some((origin, ..)) => (origin.subject),
            None => "older",
        }
    }
}

/// Links that bring one section back.
fn section_links(visit: &Visit<'_>, shown: &NoteView) -> Markup {
    let Some(at) = &shown.at else { return html! {} };
    let all: Vec<String> =
        sections(shown.text.as_bytes()).into_iter().map(|section| section.heading).collect();
    // A heading that stands twice names no section.
    let is_one = |heading: &&String| all.iter().filter(|other| other == heading).count() == 1;
    let headings: Vec<&String> = all.iter().take(LINES_PER_PAGE).filter(is_one).collect();
    html! {
        @if !headings.is_empty() {
            h2 { "Sections" }
            ul {
                @for heading in &headings {
                    li { a href=(parts::to_plan(visit, &[("plan", &format!("section:{heading}")), ("at", at), ("n", "")])) { "Restore " (heading) } }
                }
            }
        }
    }
}

/// A note or a part of it that would come back.
struct PlannedRestore {
    point: Commit,
    /// `note`, or the part as the address names it.
    part: String,
    lines: Vec<String>,
    diffs: Vec<FileDiff>,
}

fn target(part: &str) -> Result<LineTarget> {
    if let Some(number) = part.strip_prefix("line:").and_then(|number| number.parse().ok()) {
        return Ok(LineTarget::Number(number));
    }
    let section = part.strip_prefix("section:").map(|heading| LineTarget::Section(heading.to_owned()));
    section.ok_or_else(|| PageError::bad(format!("{} is no part of a note", crate::format::quote(part))))
}

fn plan_of(
    visit: &Visit<'_>,
    history: Option<&History>,
    path: &NotePath,
    point: Option<&Commit>,
) -> Result<Option<PlannedRestore>> {
    let (Some(what), Some(history), Some(point)) = (visit.query("plan"), history, point) else {
        return Ok(None);
    };
    if what == "note" {
        let plan = history.plan_restore(point, &[path.to_string()], false)?;
        let diffs = plan.steps.iter().map(|step| history.step_diff(step)).collect::<Result<Vec<_>, _>>()?;
        let skipped = plan.blocked.iter().map(|skip| format!("{}: {}", skip.path, skip.reason));
        let lines =
            plan.steps.iter().map(|step| format!("{} is restored", step.path)).chain(skipped).collect();
        return Ok(Some(PlannedRestore { point: point.clone(), part: what.to_owned(), lines, diffs }));
    }
    let plan = history.plan_part(path, &target(what)?, Some(point.clone()))?;
    let lines = if plan.is_unchanged() { Vec::new() } else { vec![format!("{} changes", plan.path)] };
    let diffs = vec![plan.diff()];
    Ok(Some(PlannedRestore { point: plan.point, part: what.to_owned(), lines, diffs }))
}

/// A fingerprint of a note's content, for a form.
fn fingerprint(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

fn planned(visit: &Visit<'_>, planned: &PlannedRestore, now: &[u8]) -> Markup {
    let PlannedRestore { point, part, lines, diffs } = planned;
    let id = point.id.to_string();
    let was = fingerprint(now);
    let values =
        [("part", part.as_str()), ("at", id.as_str()), ("path", visit.rest.as_str()), ("was", was.as_str())];
    html! {
        @if lines.is_empty() {
            (parts::empty("Nothing would change: that is there as it was."))
        } @else {
            (parts::plan("Preview of the restore", lines, &html! {
                @for diff in diffs {
                    (differences(diff))
                }
                (parts::planned_form(visit, "/notes", "restore", &parts::hidden_values(&values), "Restore now"))
            }))
        }
    }
}

/// Two states beside each other, line by line.
fn side_by_side(then: &str, now: &str) -> Markup {
    let [then, now] = [then, now].map(text_lines);
    let ops = changes(&then, &now);
    let mut changes = ops.iter().flat_map(|op| op.iter_changes(&then[..], &now[..]));
    let row = |change: Change<&str>| {
        let line = change.value().trim_end_matches(['\n', '\r']);
        match change.tag() {
            ChangeTag::Delete => [html! { del { (line) } }, html! {}],
            ChangeTag::Insert => [html! {}, html! { ins { (line) } }],
            ChangeTag::Equal => [html! { (line) }, html! { (line) }],
        }
    };
    html! {
        div.diff { (parts::table(["Then", "Now"], changes.by_ref().take(MOST_ROWS), row)) }
        @if changes.next().is_some() {
            p.hint { "The first " (MOST_ROWS) " lines are shown here; inline, all changes are." }
        }
    }
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    if form.get("do") != "restore" {
        return Err(PageError::no_such_action(form.get("do")));
    }
    let (history, workspace) = (open(visit)?, visit.workspace);
    let path = NotePath::new(form.get("path"))?;
    let point = history.point(form.get("at"))?;
    let now = workspace.vault.read(&path).unwrap_or_default();
    if form.get("was") != fingerprint(&now) {
        let message = format!("`{path}` changed after the preview; nothing was restored");
        return Err(PageError::changed(message).hint("check the new preview, then restore again"));
    }
    let done =
        |said: &str| Ok(MadeChange::new(note_address(path.as_str()), format!("{said} {path} is restored")));
    let hold =
        |now: &[u8], then: &[u8]| workspace.record_restored_items(path.as_str(), now, then, false).map(drop);
    if form.get("part") == "note" {
        let then = history.read_at(&point, path.as_str())?.unwrap_or_default();
        let hold = || hold(&now, &then).map_err(|error| HistoryError::Failed(error.to_string()));
        let report = history.restore_note(&workspace.editor, &point, &path, &now, hold)?;
        written(&report)?;
        return done("The note");
    }
    let plan = history.plan_part(&path, &target(form.get("part"))?, Some(point))?;
    hold(&plan.now, &plan.after)?;
    history.restore_part(&workspace.editor, &plan)?;
    done("A part of")
}
