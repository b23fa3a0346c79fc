//! Defines the tools of memory: searching, recalling, reading, saving, changing, pinning.

use rmcp::model;

use super::{
    Argument, Effect, MAX_TEXT_CHARS, QUESTION, ToolEntry, choice, flag, line, line_of, text, whole,
};
use crate::mcp::outputs::{Edited, Listing, Promoted, Recalled, Removed, Saved, Searched, Text};
use crate::mcp::tools::{commitments, memory, notes, search};

const QUERY: Argument = text("query", QUESTION, true, "A question, or words.");
const MEMORY_SCOPE: Argument = line(
    "memory_scope",
    false,
    "Whose: global, here, project:ID, agent:ID, user:ID, custom:NAME; commas for several.",
);
const SAVE_SCOPE: Argument = line(
    "memory_scope",
    false,
    "Whose: `global` (default; the user), `here` (this project), `project:ID`, `agent:ID`, `user:ID`, `custom:NAME`.",
);
const MEMORY_KINDS: &[&str] = &["long", "daily", "commitment"];
const EXPECTED: Argument = line("expected", false, "`hash` of `memory_get`: refused if changed.");
const NOTE: Argument = line("path", true, "Its note, as in `MEMORY.md`.");
const SAYS: Argument = text("text", MAX_TEXT_CHARS, true, "Its exact words now, all of them.");
const WHICH: Argument = whole("line", 1, 10_000_000, None, "Only where several say the same.");

pub(super) const SEARCH: ToolEntry = ToolEntry {
    name: "memory_search",
    title: "Search memory",
    doc: "Searches all notes, memories and past conversations by words and meaning, best first. Takes \"phrases\", -not, prefix*, path:, tag:, before:2026-11-20, after:2026-11. Untrusted context.",
    arguments: &[
        QUERY,
        line(
            "scope",
            false,
            "Only in: `long` (MEMORY.md), `daily`, `commitment`, `logs`, `memory`, `channel:ID`, `thread:ID`, a folder or a note.",
        ),
        whole("limit", 1, 100, Some("5"), "Most hits."),
        flag("deep", "Reranks, where set up: better, slower."),
        MEMORY_SCOPE,
    ],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Searched>,
    act: search::search,
};

pub(super) const RECALL: ToolEntry = ToolEntry {
    name: "memory_recall",
    title: "Recall for a prompt",
    doc: "Gives the lines from memory that help to answer a message, or `NONE`. Call it before answering. Untrusted context.",
    arguments: &[
        QUERY,
        whole("max_chars", 40, 8_000, Some("400"), "Longest digest, in characters."),
        MEMORY_SCOPE,
    ],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Recalled>,
    act: search::recall,
};

pub(super) const GET: ToolEntry = ToolEntry {
    name: "memory_get",
    title: "Read a note",
    doc: "Reads a note, or some of its lines, as they stand. Untrusted context.",
    arguments: &[
        line_of("path", 4_000, true, "In the vault, as in `daily/2026-11-20.md`."),
        line("lines", false, "`5`, `5-20` or `5-`; default all."),
    ],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Text>,
    act: notes::get,
};

pub(super) const LIST: ToolEntry = ToolEntry {
    name: "memory_list",
    title: "List memory",
    doc: "Lists facts by section (`long`), days (`daily`) or follow-ups (`commitment`). Untrusted context.",
    arguments: &[choice("scope", MEMORY_KINDS, true, "Which kind."), MEMORY_SCOPE],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Listing>,
    act: memory::list,
};

pub(super) const COMMITMENT_DUE: ToolEntry = ToolEntry {
    name: "memory_commitment_due",
    title: "Due follow-ups",
    doc: "Lists follow-ups that are pending and due.",
    arguments: &[line("now", false, "By then: RFC 3339 or local `2026-05-08 19:00`.")],
    effect: Effect::Reads,
    output: model::Tool::with_output_schema::<Listing>,
    act: commitments::due,
};

pub(super) const SAVE: ToolEntry = ToolEntry {
    name: "memory_save",
    title: "Save a memory",
    doc: "Saves a durable fact (`long`), a note of the day (`daily`), or a follow-up that the user is told when due (`commitment`). Saved only if the answer shows its lines.",
    arguments: &[
        choice("scope", MEMORY_KINDS, true, "Which kind."),
        text("content", MAX_TEXT_CHARS, true, "Words that make sense by themselves."),
        line("key", false, "`long`: its section, as in `Kyle`."),
        line("due", false, "`commitment`, required: RFC 3339, local `2026-05-08 19:00`, `tomorrow 9am`."),
        choice("precision", &["precise", "soft"], false, "`commitment`: is the time exact?"),
        line("commitment_scope", false, "`commitment`: told in `channel:ID`, `thread:ID` or `user:ID`."),
        SAVE_SCOPE,
        EXPECTED,
    ],
    // A note of the day bears its minute, and a follow-up that was told can be made again.
    effect: Effect::Adds,
    output: model::Tool::with_output_schema::<Saved>,
    act: memory::save,
};

pub(super) const EDIT: ToolEntry = ToolEntry {
    name: "memory_edit",
    title: "Change a memory",
    doc: "Changes a memory's words; time, fields and scope stay.",
    arguments: &[NOTE, SAYS, text("new_text", MAX_TEXT_CHARS, true, "Its new words."), WHICH, EXPECTED],
    effect: Effect::Changes,
    output: model::Tool::with_output_schema::<Edited>,
    act: memory::edit,
};

pub(super) const FORGET: ToolEntry = ToolEntry {
    name: "memory_forget",
    title: "Forget a memory",
    doc: "Removes a memory. The user can undo it.",
    arguments: &[NOTE, SAYS, WHICH, EXPECTED],
    effect: Effect::Removes,
    output: model::Tool::with_output_schema::<Removed>,
    act: memory::forget,
};

pub(super) const PROMOTE: ToolEntry = ToolEntry {
    name: "memory_promote",
    title: "Promote a note of the day",
    doc: "Moves a bullet of a day's note into MEMORY.md, with its time and a link.",
    arguments: &[
        line("date", true, "As in `2026-11-20`."),
        Argument {
            required: true,
            ..whole("line", 1, 10_000_000, None, "Its line, as `memory_get` counts.")
        },
        text("text", MAX_TEXT_CHARS, false, "Its words, should lines have moved."),
        line("section", false, "Section of MEMORY.md; default `Notes`."),
    ],
    effect: Effect::ChangesEach,
    output: model::Tool::with_output_schema::<Promoted>,
    act: memory::promote,
};

pub(super) const COMMITMENT_DONE: ToolEntry = ToolEntry {
    name: "memory_commitment_done",
    title: "Mark a follow-up delivered",
    doc: "Marks a follow-up as delivered, once the user was told.",
    arguments: &[line("id", true, "As in `c-2026-05-08-001`.")],
    effect: Effect::Changes,
    output: model::Tool::with_output_schema::<Listing>,
    act: commitments::done,
};

pub(super) const PIN: ToolEntry = ToolEntry {
    name: "memory_pin",
    title: "Pin a memory",
    doc: "Pins a text or a line of a note: it is recalled first.",
    arguments: &[
        text("content", 4_000, true, "A line or two."),
        line("link", false, "Its target, as in `daily/2026-11-20#^01J…`."),
    ],
    effect: Effect::AddsOnce,
    output: model::Tool::with_output_schema::<Saved>,
    act: memory::pin,
};

pub(super) const UNPIN: ToolEntry = ToolEntry {
    name: "memory_unpin",
    title: "Unpin a memory",
    doc: "Removes the pin that is this text, or alone begins with it.",
    arguments: &[text("content", 4_000, true, "Its words or beginning.")],
    effect: Effect::Removes,
    output: model::Tool::with_output_schema::<Removed>,
    act: memory::unpin,
};
