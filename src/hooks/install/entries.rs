//! Adds, updates and removes vault-agent's entries in the text of a host's settings file. Pure: text in, text out.
//!
//! Only the bytes of these entries (and of lists that hold nothing else) are added or removed; all other bytes of the
//! file stay. An entry is vault-agent's if its command runs `vault-agent … hook EVENT` or `ANY --vault DIR hook EVENT`,
//! or if it calls the tool [`messages::HOOK_TOOL`].

use std::ops::Range;

use jsonc_parser::common::Ranged;
use serde_json::{Value, json};

use super::json::{self, JsonStyle, Node, SettingsError, get, items, members, span};
use crate::config::split_bom;
use crate::hooks::host::{HostEvent, messages};

/// The host's timeout of a hook, in seconds; ours end long before.
const TIMEOUT: u32 = 5;

/// The program and the vault that the entries name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCaller {
    /// The program's absolute path.
    pub program: String,
    /// The vault's absolute path.
    pub vault: String,
    /// The name that the host has for our MCP server, where it can call a tool of it instead of starting a process.
    pub server: Option<String>,
}

impl HookCaller {
    /// The command line of an event, for a POSIX shell.
    pub fn command(&self, event: HostEvent) -> String {
        format!("{} --vault {} hook {}", quoted(&self.program), quoted(&self.vault), event.as_str())
    }

    /// The server whose tool an event calls; none where it is a command.
    fn server_for(&self, event: HostEvent) -> Option<&str> {
        self.server.as_deref().filter(|_| messages::can_be_tool(event))
    }

    /// The entry of an event.
    fn hook(&self, event: HostEvent) -> Value {
        match self.server_for(event) {
            Some(server) => json!({
                "type": "mcp_tool", "server": server, "tool": messages::HOOK_TOOL, "input": messages::tool_arguments(event), "timeout": TIMEOUT,
            }),
            None => json!({ "type": "command", "command": self.command(event), "timeout": TIMEOUT }),
        }
    }
}

/// A word for a POSIX shell, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The settings with our entries for every event, each once. A file that has them already comes back as
/// it was.
///
/// # Errors
/// The text is no JSON, or not of the host's shape.
pub fn install(text: &str, caller: &HookCaller) -> Result<String, SettingsError> {
    let (bom, style, mut body) = begun(text);
    for event in HostEvent::ALL {
        // An entry for another program or vault is updated in place; a second one is removed.
        while let Some((range, new)) = next_change(&body, event, caller, &style)? {
            body.replace_range(range, &new);
        }
    }
    Ok(format!("{bom}{body}"))
}

/// The settings without our entries. `before` is the file before the entries were added, if it is known: if nothing
/// else has changed since, exactly its bytes are returned.
///
/// # Errors
/// As [`install`].
pub fn uninstall(text: &str, before: Option<&str>) -> Result<String, SettingsError> {
    if let Some(before) = before
        && let Some(caller) = caller(text)?
        && install(before, &caller).is_ok_and(|after| after == text)
    {
        return Ok(before.to_owned());
    }
    let (bom, body) = split_bom(text);
    let mut body = body.to_owned();
    if body.trim().is_empty() {
        return Ok(text.to_owned());
    }
    while let Some(entry) = entries(&parse_settings(&body)?).into_iter().next() {
        body.replace_range(entry.removal, "");
    }
    Ok(format!("{bom}{body}"))
}

/// Whether the settings are what [`install`] makes of no file at all: taking our entries out leaves nothing.
/// `before` is as for [`uninstall`].
///
/// # Errors
/// As [`install`].
pub fn is_all_ours(text: &str, before: Option<&str>) -> Result<bool, SettingsError> {
    let Some(caller) = caller(text)? else { return Ok(false) };
    let was_there = before.is_some_and(|before| install(before, &caller).is_ok_and(|after| after == text));
    Ok(!was_there && install("", &caller)? == text)
}

/// The events that the settings call us for, with the commands.
///
/// # Errors
/// As [`install`].
pub fn installed(text: &str) -> Result<Vec<(HostEvent, String)>, SettingsError> {
    let entries = read(text)?.map_or_else(Vec::new, |root| entries(&root));
    Ok(entries.into_iter().map(|entry| (entry.event, entry.does.words())).collect())
}

/// The program and vault of the first of our entries.
///
/// # Errors
/// As [`install`].
pub fn caller(text: &str) -> Result<Option<HookCaller>, SettingsError> {
    let (mut server, mut command) = (None, None);
    for entry in read(text)?.map_or_else(Vec::new, |root| entries(&root)) {
        match entry.does {
            EntryAction::Call(name) => server = server.or(Some(name)),
            EntryAction::Run(line, _) => command = command.or(Some(line)),
        }
    }
    Ok(command.and_then(|command| {
        let words = shlex::split(&command)?;
        let vault = words.iter().position(|word| word == "--vault")?;
        Some(HookCaller { program: words.first()?.clone(), vault: words.get(vault + 1)?.clone(), server })
    }))
}

/// A text that entries can be added to: the text before its object, its layout, and an empty object if it has none.
pub(super) fn begun(text: &str) -> (&str, JsonStyle, String) {
    let (bom, body) = split_bom(text);
    let style = JsonStyle::of(body);
    let body = if body.trim().is_empty() { format!("{{}}{}", style.newline) } else { body.to_owned() };
    (bom, style, body)
}

/// The tree of a text; none of an empty one.
pub(super) fn read(text: &str) -> Result<Option<Node<'_>>, SettingsError> {
    let body = split_bom(text).1;
    (!body.trim().is_empty()).then(|| parse_settings(body)).transpose()
}

/// One of our entries.
struct HookEntry {
    event: HostEvent,
    /// Whether it stands in the list of its event.
    in_own_list: bool,
    span: Range<usize>,
    /// The bytes to cut for it, with the lists that hold nothing else.
    removal: Range<usize>,
    does: EntryAction,
}

/// The action of an entry of ours.
enum EntryAction {
    /// Runs this command, which stands there.
    Run(String, Range<usize>),
    /// Calls our tool of this server.
    Call(String),
}

impl EntryAction {
    fn words(self) -> String {
        match self {
            Self::Run(command, _) => command,
            Self::Call(server) => format!("{server}/{}", messages::HOOK_TOOL),
        }
    }
}

/// The text as a tree of the host's shape, as far as our entries are concerned.
pub(super) fn parse_settings(text: &str) -> Result<Node<'_>, SettingsError> {
    let root = json::parse(text)?;
    let wrong = |node: &Node<'_>, what: &str, wanted: &str| {
        let before = &text[..span(node).start];
        let (line, column) =
            (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
        Err(SettingsError(format!("{what} at line {line}, column {column} should be {wanted}")))
    };
    if root.as_object().is_none() {
        return wrong(&root, "the file's value", "an object");
    }
    let Some(hooks) = get(&root, "hooks") else { return Ok(root) };
    if hooks.as_object().is_none() {
        return wrong(hooks, "`hooks`", "an object");
    }
    for event in HostEvent::ALL {
        if let Some(list) = get(hooks, event.host_name())
            && list.as_array().is_none()
        {
            return wrong(list, &format!("`hooks.{}`", event.host_name()), "a list");
        }
    }
    Ok(root)
}

/// Our entries in the order of the file, whichever event's list they stand in.
fn entries(root: &Node<'_>) -> Vec<HookEntry> {
    let mut found = Vec::new();
    let tables = members(root);
    let Some(table) = tables.iter().rposition(|member| member.name.as_str() == "hooks") else { return found };
    let lists = members(&tables[table].value);
    for (list, member) in lists.iter().enumerate() {
        let groups = items(&member.value);
        for (group, node) in groups.iter().enumerate() {
            let hooks = get(node, "hooks").map(items).unwrap_or_default();
            for (place, hook) in hooks.iter().enumerate() {
                let Some((event, does)) = action_of(hook) else { continue };
                let removal = cut(hooks, place)
                    .or_else(|| cut(groups, group))
                    .or_else(|| cut(lists, list))
                    .unwrap_or_else(|| cut_member(root, table));
                let in_own_list = member.name.as_str() == event.host_name();
                found.push(HookEntry { event, in_own_list, span: span(hook), removal, does });
            }
        }
    }
    found
}

/// The action of a hook, if it is ours.
fn action_of(hook: &Node<'_>) -> Option<(HostEvent, EntryAction)> {
    let text = |name: &str| get(hook, name).and_then(json::text);
    if text("tool") == Some(messages::HOOK_TOOL) {
        let event = get(get(hook, "input")?, "event").and_then(json::text)?;
        return Some((HostEvent::named(event)?, EntryAction::Call(text("server")?.to_owned())));
    }
    let command = get(hook, "command")?;
    let line = json::text(command)?;
    Some((event_of_command(line)?, EntryAction::Run(line.to_owned(), span(command))))
}

/// The event that a command of ours is for.
fn event_of_command(command: &str) -> Option<HostEvent> {
    let words = shlex::split(command)?;
    let program = words.first()?.rsplit(['/', '\\']).next()?;
    let has_our_name = program == "vault-agent" || program == "vault-agent.exe";
    // The program may have another name; what `hook install` writes has this form.
    let has_our_form = words.get(1)? == "--vault" && words.get(3)? == "hook";
    if !has_our_name && !has_our_form {
        return None;
    }
    let at = words.iter().position(|word| word == "hook")?;
    HostEvent::named(words.get(at + 1)?)
}

/// The next change that an event's entries need: its place, and its text.
fn next_change(
    body: &str,
    event: HostEvent,
    caller: &HookCaller,
    style: &JsonStyle,
) -> Result<Option<(Range<usize>, String)>, SettingsError> {
    let root = parse_settings(body)?;
    let mut own = entries(&root).into_iter().filter(|entry| entry.event == event && entry.in_own_list);
    let Some(first) = own.next() else { return Ok(Some(addition(&root, event, caller, style))) };
    match (first.does, caller.server_for(event)) {
        (EntryAction::Run(command, span), None) if command != caller.command(event) => {
            return Ok(Some((span, Value::from(caller.command(event)).to_string())));
        }
        (EntryAction::Run(..), None) => {}
        (EntryAction::Call(server), Some(wanted)) if server == wanted => {}
        _ => return Ok(Some((first.span, style.render(&caller.hook(event), 5)))),
    }
    Ok(own.next().map(|second| (second.removal, String::new())))
}

/// The place of a new entry of `event`, and its text.
fn addition(
    root: &Node<'_>,
    event: HostEvent,
    caller: &HookCaller,
    style: &JsonStyle,
) -> (Range<usize>, String) {
    let group = json!({ "hooks": [caller.hook(event)] });
    let name = event.host_name();
    let Some(hooks) = get(root, "hooks") else {
        return style.add_member(root, 0, "hooks", &json!({ name: [group] }));
    };
    match get(hooks, name) {
        None => style.add_member(hooks, 1, name, &json!([group])),
        Some(list) => style.add(list, 2, &style.render(&group, 3)),
    }
}

/// The bytes of one of several neighbours, with the comma beside it; none where it stands alone.
fn cut(nodes: &[impl Ranged], at: usize) -> Option<Range<usize>> {
    match at {
        _ if nodes.len() < 2 => None,
        0 => Some(nodes[0].start()..nodes[1].start()),
        _ => Some(nodes[at - 1].end()..nodes[at].end()),
    }
}

/// The bytes of a member of the whole object.
pub(super) fn cut_member(root: &Node<'_>, at: usize) -> Range<usize> {
    cut(members(root), at).unwrap_or(span(root).start + 1..span(root).end - 1)
}

#[cfg(test)]
mod tests;
