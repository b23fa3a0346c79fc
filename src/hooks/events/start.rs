//! Handles a session's start: answers with the user's profile, working memory, and the first memories of the session's
//! scopes. After a compaction the answer also has a short form of the conversation, if the session is archived.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
#[cfg(feature = "assistant")]
use std::time::{Duration, Instant};

use super::session::{SessionStates, format_memories};
use crate::format::{invisible, lines, tags};
use crate::hooks::context::memory_name;
use crate::hooks::host::messages::HookInput;
use crate::hooks::host::{HookAnswer, HostEvent};
use crate::memory::pins::Pin;
use crate::memory::{ListedMemory, Scope, is_visible, session_context};
use crate::search::results::injection::Memory;
use crate::search::{Block, Kind, Options, read};
use crate::vault::{NotePath, WalkOptions};
use crate::workspace::Workspace;

/// The most memories at a start; the others come when a prompt needs them.
const MAX_MEMORIES: usize = 16;

/// The time for updating a session's log before its end is given back.
#[cfg(feature = "assistant")]
const READ_ON: Duration = Duration::from_millis(100);

/// Answers the start of a session.
pub(in crate::hooks) fn run(workspace: &Workspace, input: &HookInput) -> anyhow::Result<HookAnswer> {
    let sessions = SessionStates::new(&workspace.dirs.cache);
    let mut session = sessions.load(input.session());
    // After a compaction the model doesn't see any more what it was given.
    if matches!(input.source.as_deref(), Some("compact" | "clear")) {
        session.given.clear();
    }
    let now = workspace.clock.now();
    let mut before =
        session_context(&workspace.vault, &workspace.settings, now).map(|text| escape_frames(&text));
    if let Some(text) = compacted_conversation(workspace, input) {
        let text = escape_frames(&invisible::strip(&text));
        before = Some(before.map_or_else(|| text.clone(), |before| format!("{before}\n\n{text}")));
    }
    let memories = top_memories(workspace, &crate::hooks::context::scopes(input))?;
    let (text, count) =
        format_memories(HostEvent::SessionStart, before.as_deref(), &memories, &workspace.settings);
    for memory in &memories[..count] {
        // Every session gets these: that is no use of a memory.
        session.record_given(&memory_name(&memory.path, &memory.text), None);
    }
    sessions.sweep();
    sessions.save(input.session(), &session);
    Ok(text.map_or_else(HookAnswer::default, HookAnswer::context))
}

/// A short form of the conversation before a compaction, of a session that is archived.
fn compacted_conversation(workspace: &Workspace, input: &HookInput) -> Option<String> {
    if input.source.as_deref() != Some("compact") || !workspace.settings.hooks.archive {
        return None;
    }
    #[cfg(feature = "assistant")]
    {
        // First read on where the hook before the compaction ran out of time or was killed.
        let until = Some(Instant::now() + READ_ON);
        if let Some(request) = crate::hooks::archive::delegate::request(HostEvent::SessionStart, input)
            && let Err(error) = crate::hooks::archive::archive(workspace, &request, until)
        {
            tracing::debug!(%error, "a session comes back as its log is");
        }
        crate::hooks::archive::summaries::restored_summary(workspace, input.session())
    }
    #[cfg(not(feature = "assistant"))]
    {
        None
    }
}

/// A text that can't close or open a frame of the host's.
fn escape_frames(text: &str) -> String {
    text.replace("</", "<\u{200b}/").replace("<system", "<\u{200b}system")
}

/// The top memories of these scopes: what is pinned, then the project's, the agent's own, and what is
/// everybody's; the newest first.
fn top_memories(workspace: &Workspace, scopes: &[Scope]) -> anyhow::Result<Vec<Memory>> {
    let notes = workspace.memory();
    let pinned_path = notes.pinned_path();
    let options = Options::from_settings(&workspace.settings, workspace.zone.tz().clone());
    let linked = LinkedNotes { workspace, options, paths: OnceCell::new(), parsed: RefCell::default() };
    let mut out: Vec<Memory> = Vec::new();
    for pin in notes.pins()? {
        let tags = tags::tags(&pin.text, &tags::code_spans(&pin.text));
        let is_visible = |more: &[String]| is_visible(&[&*tags, more].concat(), scopes);
        let (path, line, text) = match linked.blocks(&pin) {
            Some((_, blocks)) if !blocks.iter().all(|block| is_visible(&block.tags)) => continue,
            Some((path, blocks)) => {
                let words = pin.target.as_ref().map(|target| pin.text.replace(&target.to_string(), ""));
                let words = words.filter(|words| !words.trim().is_empty());
                let before = words.map_or_else(String::new, |words| format!("{}: ", words.trim()));
                let shown = blocks.iter().filter(|block| block.kind != Kind::Comment);
                let text = shown.map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n");
                (path.to_string(), blocks[0].line as usize, before + &text)
            }
            None if !is_visible(&[]) => continue,
            None => (pinned_path.to_string(), pin.line, pin.text),
        };
        out.push(memory(path, line, text, true));
    }
    let path = notes.long_path();
    let mut listed: Vec<(Option<String>, ListedMemory)> = Vec::new();
    for section in notes.list_long(Some(scopes))? {
        listed.extend(section.memories.into_iter().map(|memory| (section.section.clone(), memory)));
    }
    let rank = |scope: &Scope| match scope {
        Scope::Agent(_) => 1,
        Scope::Global => 2,
        _ => 0,
    };
    // Lines further down were added later; a date in brackets says it outright.
    listed.sort_by(|(_, a), (_, b)| {
        (rank(&a.scope), &b.timestamp, b.line).cmp(&(rank(&b.scope), &a.timestamp, a.line))
    });
    for (section, listed) in listed {
        let text = match section {
            Some(name) => format!("{name}: {}", listed.text),
            None => listed.text,
        };
        out.push(memory(path.to_string(), listed.line, text, false));
    }
    let mut known = std::collections::HashSet::new();
    out.retain(|memory| known.insert((memory.path.clone(), memory.line)));
    out.truncate(MAX_MEMORIES);
    Ok(out)
}

fn memory(path: String, line: usize, text: String, pinned: bool) -> Memory {
    Memory { path, line: u32::try_from(line).unwrap_or(u32::MAX), text, pinned, ..Memory::default() }
}

/// The notes that pins link to, each read once.
struct LinkedNotes<'a> {
    workspace: &'a Workspace,
    options: Options,
    /// All notes of the vault, once a link isn't the path of its note.
    paths: OnceCell<Vec<NotePath>>,
    /// The blocks of each; none of a note that can't be read.
    parsed: RefCell<HashMap<NotePath, Vec<Block>>>,
}

impl LinkedNotes<'_> {
    /// The block that a pin links to, or all of the list or table that its id stands below, with their note.
    fn blocks(&self, pin: &Pin) -> Option<(NotePath, Vec<Block>)> {
        let target = pin.target.as_ref()?;
        let id = target.block_id.as_ref()?;
        let exact = NotePath::new(&target.note_path()).into_iter();
        let named = std::iter::once_with(|| self.paths.get_or_init(|| self.notes())).flatten();
        let named = named.filter(|path| read::note::is_link_to(&target.path, path.as_str())).cloned();
        exact.chain(named).find_map(|path| Some((path.clone(), self.blocks_in(path, id)?)))
    }

    fn notes(&self) -> Vec<NotePath> {
        let walk = self.workspace.vault.walk(&WalkOptions::default()).unwrap_or_default();
        let paths = walk.entries.into_iter().map(|entry| entry.path);
        paths.filter(|path| self.options.takes(path.as_str()) == Ok(true)).collect()
    }

    fn blocks_in(&self, path: NotePath, id: &String) -> Option<Vec<Block>> {
        let mut parsed = self.parsed.borrow_mut();
        let blocks = parsed.entry(path).or_insert_with_key(|path| {
            let bytes = self.workspace.vault.read(path).unwrap_or_default();
            let note = read::parse(path.as_str(), &lines::with_lf(bytes), &self.options);
            note.unwrap_or_default().blocks
        });
        let found: Vec<Block> =
            blocks.iter().filter(|it| it.block_id.as_ref() == Some(id)).cloned().collect();
        (!found.is_empty()).then_some(found)
    }
}
