//! Checks whether an assistant that claims to have saved something did save something in the same turn.
//!
//! Evidence is one of two things:
//! - a write of vault-agent's tools or commands that the history records since the prompt;
//! - a call of a tool of the host (the coding agent's program) that seems to write to a note of the vault. The history
//!   may not have recorded that write yet.
//!
//! A file outside of the vault is no evidence, whatever its name. Also classifies a turn as talk, work, or a request to
//! save something (`answer_subject`).

use std::path::{Component, Path};

use super::save_claims::AnswerSubject;
use crate::capture::sentences::{in_order, normalize_words};
use crate::hooks::host::{TranscriptCall, TranscriptTurn};
use crate::workspace::Workspace;

/// Tools of the host that only look.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "TodoWrite", "TodoRead", "ToolSearch", "NotebookRead",
];

/// The subject of a turn, for short answers.
pub(in crate::hooks) fn answer_subject(turn: &TranscriptTurn) -> AnswerSubject {
    let prompt = normalize_words(&turn.prompt.to_lowercase());
    if super::WORDS["wanted"].iter().any(|phrase| in_order(&prompt, phrase)) {
        AnswerSubject::Keeping
    } else if turn.calls.iter().all(|call| LOOKING.contains(&call.name.as_str()) || is_ours(call)) {
        AnswerSubject::Talk
    } else {
        AnswerSubject::Work
    }
}

fn is_ours(call: &TranscriptCall) -> bool {
    let name = call.name.rsplit("__").next().unwrap_or_default();
    name.starts_with("memory_") || name.starts_with("reminder_")
}

/// Whether a call of the host's own tools wrote to a note of the vault. `cwd` is the assistant's working folder.
pub(in crate::hooks) fn writes_to_vault(root: &Path, cwd: Option<&Path>, call: &TranscriptCall) -> bool {
    let text = |name: &str| call.arguments[name].as_str();
    !call.failed
        && match call.name.as_str() {
            "Write" | "Edit" | "MultiEdit" => text("file_path").is_some_and(|path| is_note(root, cwd, path)),
            "Bash" => text("command").is_some_and(|command| writes_note(root, cwd, command)),
            _ => false,
        }
}

/// Whether a path names a note that is in the vault.
fn is_note(root: &Path, cwd: Option<&Path>, path: &str) -> bool {
    let full = cwd.unwrap_or(root).join(path);
    let Ok(full) = full.canonicalize() else { return false };
    let Ok(root) = root.canonicalize() else { return false };
    let Ok(inside) = full.strip_prefix(&root) else { return false };
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    full.is_file()
        && inside.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"))
        && !inside.components().any(is_hidden)
}

/// Whether a shell's command line writes to a note of the vault.
fn writes_note(root: &Path, cwd: Option<&Path>, command: &str) -> bool {
    // A comment ends with its line.
    let mut command = command.replace("2>", ">").replace('\n', "\n;");
    for sign in ['>', ';', '|', '&'] {
        command = command.replace(sign, &format!(" {sign} "));
    }
    let words =
        shlex::split(&command).unwrap_or_else(|| command.split_whitespace().map(str::to_owned).collect());
    // A name in quotes may have these signs.
    let name = |word: &str| {
        let signs = [" > ", " ; ", " | ", " & "];
        signs.iter().fold(word.to_owned(), |name, sign| name.replace(sign, sign.trim()))
    };
    let is_in_place = |word: &String| {
        word.starts_with("--in-place")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('i'))
    };
    words.split(|word| [";", "|", "&"].contains(&word.as_str())).any(|words| {
        words.iter().enumerate().any(|(at, word)| {
            let (before, next) = (&words[..at], words.get(at + 1));
            let is_after = |programs: &[&str]| before.iter().any(|word| programs.contains(&word.as_str()));
            let is_target = before.last().is_some_and(|word| word == ">")
                || is_after(&["tee", "ed"])
                || (is_after(&["cp", "mv"]) && next.is_none_or(|next| next == ">"))
                || (is_after(&["perl", "sed"]) && before.iter().any(is_in_place));
            is_target && is_note(root, cwd, name(word).trim_end_matches(')'))
        })
    })
}

/// Whether one of our tools or commands wrote to the vault since the prompt. Transcripts of other conversations don't
/// count. Without a history a call of one of our tools counts, since nothing shows that it failed.
pub(in crate::hooks) fn was_written(workspace: &Workspace, turn: &TranscriptTurn) -> bool {
    use std::ops::ControlFlow;
    let Ok(Some(history)) = workspace.history() else {
        return turn.calls.iter().any(|call| !call.failed && is_ours(call));
    };
    let Some(since) = turn.time else { return false };
    let mut found = false;
    let read = history.log(&crate::history::LogFilter::default(), |record| {
        let is_before = record.commit.time.as_second() < since.as_second();
        found = !is_before && matches!(record.commit.message.actor(), "mcp" | "cli");
        Ok(if is_before || found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    read.is_ok() && found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_notes_in_the_vault_are_evidence() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("vault");
        std::fs::create_dir_all(root.join(".obsidian")).unwrap();
        let notes = ["vault/a b.md", "vault/Q&A.md", "vault/R & D; plan > all.md"];
        for file in notes.into_iter().chain(["vault/.obsidian/x.md", "vault/x.txt", "README.md"]) {
            std::fs::write(temp.path().join(file), "x").unwrap();
        }
        let root_text = root.to_str().unwrap();
        assert!(is_note(&root, None, "a b.md") && is_note(&root, Some(temp.path()), "vault/a b.md"));
        for other in ["../README.md", ".obsidian/x.md", "x.txt", "none.md", ""] {
            assert!(!is_note(&root, Some(&root), other), "{other}");
        }
        assert!(writes_note(&root, None, &format!("echo x >> '{root_text}/a b.md'")));
        assert!(writes_note(&root, Some(&root), "echo x >> 'Q&A.md'"));
        assert!(writes_note(&root, Some(&root), "echo x >> \"R & D; plan > all.md\""));
        assert!(writes_note(&root, Some(&root), "sed -i s/x/y/ 'a b.md'; ls"));
        assert!(writes_note(&root, Some(&root), "ls -i; cp x.txt 'a b.md' 2>/dev/null"));
        for looking in ["cat", "sed -n '1,20p'", "perl -ne print", "cp x.txt y; cat"] {
            assert!(!writes_note(&root, Some(&root), &format!("{looking} 'a b.md' | head")), "{looking}");
        }
        assert!(!writes_note(&root, Some(&root), "cp 'a b.md' x.txt"));
        assert!(!writes_note(&root, Some(temp.path()), "echo x > README.md"));
    }

    #[test]
    fn what_a_turn_is_about() {
        let turn = |prompt: &str, tools: &[&str]| {
            let call = |name: &&str| {
                format!(
                    "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"{name}\",\"input\":{{}}}}]}}}}\n"
                )
            };
            let lines: String = tools.iter().map(call).collect();
            let prompt = format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{prompt}\"}}}}\n");
            answer_subject(&crate::hooks::host::parse(format!("{prompt}{lines}").as_bytes()).turns[0])
        };
        assert_eq!(turn("Remember that I like tea", &["Edit"]), AnswerSubject::Keeping);
        assert_eq!(turn("我喜欢茶，请记住", &[]), AnswerSubject::Keeping);
        assert_eq!(turn("I like tea", &["Read", "mcp__vault__memory_search"]), AnswerSubject::Talk);
        assert_eq!(turn("Fix the bug", &["Read", "Edit"]), AnswerSubject::Work);
    }
}
