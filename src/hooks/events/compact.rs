//! Handles a coming compaction: writes a summary of the conversation into working memory, where the user has turned that
//! on.
//! Hosts take no text after a compaction, so the summary is given back when the session starts again.

use crate::hooks::context::{home, origin, unreadable};
use crate::hooks::decide::working;
use crate::hooks::host::input::HookInput;
use crate::hooks::host::{HookAnswer, Transcript, read_tail};
use crate::memory::working::{is_on, write_working};
use crate::workspace::Workspace;

/// A token's estimated characters.
const CHARS_PER_TOKEN: usize = 4;

/// Answers a coming compaction, which there is nothing to say about.
pub(in crate::hooks) fn run(workspace: &Workspace, input: &HookInput) -> anyhow::Result<HookAnswer> {
    if !is_on(&workspace.settings) {
        return Ok(HookAnswer::nothing());
    }
    let transcript = match input.transcript(home().as_deref()) {
        Some(path) => read_tail(&path).map_err(unreadable)?,
        None => Transcript::default(),
    };
    let most = workspace.settings.memory.working_memory_max_tokens as usize * CHARS_PER_TOKEN;
    let text = working(&transcript, input.cwd.as_deref(), most);
    if !text.is_empty() {
        let now = workspace.clock.now();
        write_working(&workspace.editor, &workspace.settings, &text, now, &origin(input))?;
    }
    Ok(HookAnswer::nothing())
}
