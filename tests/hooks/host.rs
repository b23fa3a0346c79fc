//! A host: recorded inputs of Claude Code, with the test's own paths in them.

pub use crate::support::prelude::*;
pub use vault_agent::hooks::HostEvent;

/// The conversation that recorded inputs belong to.
pub const SESSION: &str = "0b9c9e5e-6f5e-4f52-8b8e-2f6b3c1d7a10";

/// What Claude Code 2 sends with every event, in its order; `more` is the event's own.
pub fn input(vault: &TestVault, event: &str, more: Value) -> String {
    let mut all = json!({
        "session_id": SESSION,
        "transcript_path": transcript_path(vault),
        "cwd": vault.home().join("work/garden"),
        "permission_mode": "default",
        "hook_event_name": event,
    });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all.to_string()
}

/// Where the host keeps the transcript.
pub fn transcript_path(vault: &TestVault) -> PathBuf {
    vault.home().join(".claude/projects/-work-garden").join(format!("{SESSION}.jsonl"))
}

/// One event, as the host calls it.
pub fn hook(vault: &TestVault, name: &str, input: &str) -> Run {
    let run = vault.run_with(&["hook", name], input);
    assert_eq!(run.code, 0, "a hook never fails: {}", run.stderr);
    run
}

/// An event of Claude Code by our name for it; `more` is the event's own.
pub fn tell(vault: &TestVault, name: &str, more: Value) -> Run {
    hook(vault, name, &input(vault, HostEvent::named(name).unwrap().host_name(), more))
}

/// A prompt of the user; what the model gets with it.
pub fn prompt(vault: &TestVault, text: &str) -> String {
    context(&tell(vault, "user-prompt-submit", json!({ "prompt": text })))
}

/// The text that an answer puts before the model; empty where there was none.
pub fn context(run: &Run) -> String {
    if run.stdout.is_empty() {
        return String::new();
    }
    run.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// The hooks' log.
pub fn log(vault: &TestVault) -> String {
    std::fs::read_to_string(vault.state().join("hooks.log")).unwrap_or_default()
}

/// Writes the transcript, a line an entry, as Claude Code does.
pub fn record(vault: &TestVault, entries: &[Value]) {
    let head = json!({ "type": "file-history-snapshot", "messageId": "m0", "snapshot": {} });
    let lines: String = std::iter::once(&head).chain(entries).map(|entry| format!("{entry}\n")).collect();
    vault.write(transcript_path(vault), lines);
}

/// A prompt in a transcript.
pub fn user(time: &str, text: &str) -> Value {
    entry("user", "u1", time, json!({ "role": "user", "content": text }))
}

/// What the assistant said, in a transcript.
pub fn said(text: &str) -> Value {
    assistant(json!([{ "type": "text", "text": text }]))
}

/// A tool that the assistant called, in a transcript.
pub fn used(id: &str, name: &str, arguments: Value) -> Value {
    assistant(json!([{ "type": "tool_use", "id": id, "name": name, "input": arguments }]))
}

/// A tool's failure, in a transcript.
pub fn failed(id: &str) -> Value {
    let result = json!({ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": "refused" });
    entry("user", "u2", "2026-12-01T09:29:55.000Z", json!({ "role": "user", "content": [result] }))
}

fn assistant(content: Value) -> Value {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4", "content": content,
        "stop_reason": null, "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    entry("assistant", "a1", "2026-12-01T09:29:58.000Z", message)
}

/// A line of a transcript.
pub fn entry(kind: &str, uuid: &str, time: &str, message: Value) -> Value {
    json!({
        "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": "/work/garden", "sessionId": SESSION,
        "version": "2.1.300", "gitBranch": "main", "type": kind, "message": message, "uuid": uuid, "timestamp": time,
    })
}
