//! Adds, updates and removes our entries in the text of a host's settings file.
//!
//! Pure: text in, text out. Only the bytes of our own entries (and of lists that only they were in) are added or removed;
//! everything else in the file stays byte for byte. An entry is ours if its command runs `vault-agent … hook EVENT` or `ANY
//! --vault DIR hook EVENT`, or if it calls our tool ([`tool`]).

use std::ops::Range;

use serde_json::{Value, json};

use super::json::{self, JsonError, Node, get, items, members, span};
use super::layout::Style;
use crate::hooks::host::{HostEvent, tool};

/// The host's timeout of a hook, in seconds; ours end long before.
const TIMEOUT: u32 = 5;

/// Settings that our entries can't be put into.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No JSON at all.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Something has another shape than the host's settings.
    #[error("{what} at line {line}, column {column} should be {wanted}")]
    Shape {
        /// The kind.
        what: String,
        /// The kind that is expected.
        wanted: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
}

/// The program and the vault that the entries name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The program's absolute path.
    pub program: String,
    /// The vault's absolute path.
    pub vault: String,
    /// The name that the host has for our MCP server, where it can call a tool of it instead of starting a process.
    pub server: Option<String>,
}

impl Caller {
    /// The command line of an event, for a POSIX shell.
    pub fn command(&self, event: HostEvent) -> String {
        format!("{} --vault {} hook {}", quoted(&self.program), quoted(&self.vault), event.as_str())
    }

    /// The server whose tool an event calls; none where it is a command.
    fn server_for(&self, event: HostEvent) -> Option<&str> {
        self.server.as_deref().filter(|_| tool::can_be(event))
    }

    /// The entry of an event.
    fn hook(&self, event: HostEvent) -> Value {
        match self.server_for(event) {
            Some(server) => json!({
                "type": "mcp_tool", "server": server, "tool": tool::TOOL, "input": tool::arguments(event), "timeout": TIMEOUT,
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
pub fn install(text: &str, caller: &Caller) -> Result<String, SettingsError> {
    let (bom, body) = split_bom(text);
    let style = Style::of(body);
    let mut body = if body.trim().is_empty() { format!("{{}}{}", style.newline) } else { body.to_owned() };
    for event in HostEvent::ALL {
        // An entry for another program or vault is updated in place; a second one is removed.
        let mut kept = false;
        while let Some(edit) = next_update(&body, event, caller, &mut kept)? {
            body.replace_range(edit.0, &edit.1);
        }
        if !kept {
            let (range, new) = addition(&body, event, caller, &style)?;
            body.replace_range(range, &new);
        }
    }
    Ok(format!("{bom}{body}"))
}

/// The settings without our entries. `before` is the file as it was when they were put in, if it is known:
/// where nothing else was changed since, it comes back to the last byte.
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
        let root = parse_settings(&body)?;
        let range = removal(&root, &entry);
        body.replace_range(range, "");
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
    let body = split_bom(text).1;
    if body.trim().is_empty() {
        return Ok(Vec::new());
    }
    let root = parse_settings(body)?;
    Ok(entries(&root).into_iter().map(|entry| (entry.event, entry.does.words())).collect())
}

/// The program and vault of the first of our entries.
fn caller(text: &str) -> Result<Option<Caller>, SettingsError> {
    let body = split_bom(text).1;
    if body.trim().is_empty() {
        return Ok(None);
    }
    let all = entries(&parse_settings(body)?);
    let server = all.iter().find_map(|entry| match &entry.does {
        EntryAction::Call(server) => Some(server.clone()),
        EntryAction::Run(..) => None,
    });
    let command = all.iter().find_map(|entry| match &entry.does {
        EntryAction::Run(command, _) => Some(command),
        EntryAction::Call(_) => None,
    });
    Ok(command.and_then(|command| {
        let words = words(command)?;
        let vault = words.iter().position(|word| word == "--vault")?;
        Some(Caller { program: words.first()?.clone(), vault: words.get(vault + 1)?.clone(), server })
    }))
}

pub(super) fn split_bom(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body))
}

/// One of our entries: `hooks.<list>[group].hooks[place]`.
struct Entry {
    event: HostEvent,
    list: usize,
    group: usize,
    place: usize,
    span: Range<usize>,
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
            Self::Call(server) => format!("{server}/{}", tool::TOOL),
        }
    }
}

/// The text as a tree of the host's shape, as far as our entries are concerned.
pub(super) fn parse_settings(text: &str) -> Result<Node<'_>, SettingsError> {
    let root = json::parse(text)?;
    let wrong = |node: &Node<'_>, what: &str, wanted| {
        let before = &text[..span(node).start];
        Err(SettingsError::Shape {
            what: what.to_owned(),
            wanted,
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
        })
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
fn entries(root: &Node<'_>) -> Vec<Entry> {
    let mut found = Vec::new();
    let Some(hooks) = get(root, "hooks") else { return found };
    for (list, member) in members(hooks).iter().enumerate() {
        for (group, node) in items(&member.value).iter().enumerate() {
            for (place, hook) in get(node, "hooks").map(items).unwrap_or_default().iter().enumerate() {
                if let Some((event, does)) = action_of(hook) {
                    found.push(Entry { event, list, group, place, span: span(hook), does });
                }
            }
        }
    }
    found
}

/// The action of a hook, if it is ours.
fn action_of(hook: &Node<'_>) -> Option<(HostEvent, EntryAction)> {
    let text = |name: &str| get(hook, name).and_then(json::text);
    if text("tool") == Some(tool::TOOL) {
        let event = get(get(hook, "input")?, "event").and_then(json::text)?;
        return Some((HostEvent::named(event)?, EntryAction::Call(text("server")?.to_owned())));
    }
    let command = get(hook, "command")?;
    let line = json::text(command)?;
    Some((event_of_command(line)?, EntryAction::Run(line.to_owned(), span(command))))
}

/// The event that a command of ours is for.
fn event_of_command(command: &str) -> Option<HostEvent> {
    let words = words(command)?;
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

/// The words of a command line, quotes taken away; none where a quote is left open.
pub(in crate::hooks) fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => word.push(chars.next()?),
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// The next change that an event's entries need; `kept` says whether one stands as it should.
fn next_update(
    body: &str,
    event: HostEvent,
    caller: &Caller,
    kept: &mut bool,
) -> Result<Option<(Range<usize>, String)>, SettingsError> {
    let root = parse_settings(body)?;
    let hooks = get(&root, "hooks");
    let in_own_list = |entry: &&Entry| {
        hooks
            .and_then(|hooks| members(hooks).get(entry.list))
            .is_some_and(|m| m.name.as_str() == event.host_name())
    };
    let all = entries(&root);
    let own: Vec<&Entry> = all.iter().filter(|entry| entry.event == event).filter(in_own_list).collect();
    *kept = !own.is_empty();
    let Some(first) = own.first() else { return Ok(None) };
    match (&first.does, caller.server_for(event)) {
        (EntryAction::Run(command, span), None) if *command != caller.command(event) => {
            return Ok(Some((span.clone(), Value::from(caller.command(event)).to_string())));
        }
        (EntryAction::Run(..), None) => {}
        (EntryAction::Call(server), Some(wanted)) if server == wanted => {}
        _ => return Ok(Some((first.span.clone(), Style::of(body).render(&caller.hook(event), 5)))),
    }
    Ok(own.get(1).map(|second| (removal(&root, second), String::new())))
}

/// The place of a new entry of `event`, and its text.
fn addition(
    body: &str,
    event: HostEvent,
    caller: &Caller,
    style: &Style,
) -> Result<(Range<usize>, String), SettingsError> {
    let root = parse_settings(body)?;
    let group = json!({ "hooks": [caller.hook(event)] });
    let name = event.host_name();
    Ok(match get(&root, "hooks") {
        None => {
            let value = style.render(&json!({ name: [group] }), 1);
            style.insert(&root, members(&root).last().map(|m| span(m).end), 0, &format!("\"hooks\": {value}"))
        }
        Some(hooks) => match get(hooks, name) {
            None => {
                let value = style.render(&json!([group]), 2);
                let last = members(hooks).last().map(|member| span(member).end);
                style.insert(hooks, last, 1, &format!("\"{name}\": {value}"))
            }
            Some(list) => {
                let last = items(list).last().map(|item| span(item).end);
                style.insert(list, last, 2, &style.render(&group, 3))
            }
        },
    })
}

/// The bytes to cut for an entry, with the lists that hold nothing else.
fn removal(root: &Node<'_>, entry: &Entry) -> Range<usize> {
    let member_spans = |node: &Node<'_>| members(node).iter().map(span).collect::<Vec<_>>();
    let item_spans = |node: &Node<'_>| items(node).iter().map(span).collect::<Vec<_>>();
    let whole = || span(root).start + 1..span(root).end - 1;
    let Some(hooks_at) = members(root).iter().rposition(|member| member.name.as_str() == "hooks") else {
        return whole();
    };
    let hooks = &members(root)[hooks_at].value;
    let list = &members(hooks)[entry.list].value;
    let inner = get(&items(list)[entry.group], "hooks").map(item_spans).unwrap_or_default();
    cut(&inner, entry.place)
        .or_else(|| cut(&item_spans(list), entry.group))
        .or_else(|| cut(&member_spans(hooks), entry.list))
        .or_else(|| cut(&member_spans(root), hooks_at))
        .unwrap_or_else(whole)
}

/// The bytes of one of several neighbours, with the comma beside it; none where it stands alone.
pub(in crate::hooks) fn cut(spans: &[Range<usize>], at: usize) -> Option<Range<usize>> {
    match at {
        _ if spans.len() < 2 => None,
        0 => Some(spans[0].start..spans[1].start),
        _ => Some(spans[at - 1].end..spans[at].end),
    }
}

#[cfg(test)]
mod tests;
