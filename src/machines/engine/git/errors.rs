//! Translates git's messages into one sentence for a person, and decides whether the remote may have been changed.
//! Pure.

use super::super::EngineError;
use crate::config::git_address::shown;

/// The outcome of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushResponse {
    /// The server took it.
    Taken,
    /// Another machine was first.
    Late,
    /// The server's rules forbid it, it seems.
    Rejected,
    /// It can't be known.
    Lost,
}

/// The error that a sentence for a person makes.
type OfSentence = fn(String) -> EngineError;
const REFUSED: Option<OfSentence> = Some(EngineError::Refused);
const UNREACHED: Option<OfSentence> = Some(EngineError::Unreachable);

/// Words of git, of ssh and of servers, the error that they mean if nothing was sent by then, and what a person is
/// told. The first that fits counts.
#[rustfmt::skip]
const KNOWN: &[(&str, Option<OfSentence>, &str)] = &[
    ("not a git repository: '.'", UNREACHED, "git's folder on this machine was damaged, and is made anew"),
    ("transport '|protocol '", REFUSED, "its protocol is not allowed: use https, ssh or file"),
    ("host key verification failed|remote host identification has changed",
        REFUSED, "its host key is unknown or has changed: run `ssh` to it once by hand and compare the key"),
    ("permission denied (|too many authentication failures",
        REFUSED, "it refuses this machine's ssh key: add the key there, and to the ssh agent here"),
    ("could not read username|could not read password|authentication failed|terminal prompts disabled|returned error: 401",
        REFUSED, "it asks for a password: store one with git's credential helper, since nobody is here to type it"),
    ("returned error: 403|write access to repository|insufficient permission|read-only",
        REFUSED, "it lets this machine read, but not write"),
    ("no space left|disk quota|file too large|exceeds maximum allowed|temporary object directory",
        REFUSED, "it has no room for what machines share: its disk or its quota is full"),
    ("dubious ownership", REFUSED, "the repository belongs to another user"),
    ("certificate", REFUSED, "its certificate is not trusted"),
    ("could not resolve|connection refused|no route to host|network is unreachable|failed to connect|couldn't connect|temporary failure in name",
        UNREACHED, "it is not reached"),
    ("timed out|connection reset|hung up|connection closed|broken pipe", None, "the connection broke"),
    ("does not appear to be a git repository|repository not found|not a git repository|not found|does not exist|no such file or directory",
        REFUSED, "there is no git repository: create one with `git init --bare`"),
];

/// The words of git, servers and hooks where they forbid a push that isn't a fast-forward.
const FORCE_FORBIDDEN: [&str; 5] =
    ["non-fast-forward", "force push", "force-push", "protected branch", "hook declined"];
/// Their words where another machine was first, or is at it.
const ANOTHER_WAS_FIRST: [&str; 5] =
    ["stale info", "fetch first", "cannot lock ref", "failed to update ref", "incorrect old value"];

/// The error of a git that failed before it sent anything; `None` for words that are not known.
pub fn error_before_sending(remote: &str, words: &str) -> Option<EngineError> {
    let small = words.to_lowercase();
    let is_said = |needles: &str| needles.split('|').any(|needle| small.contains(needle));
    let (_, error, told) = KNOWN.iter().find(|(needles, ..)| is_said(needles))?;
    error.map(|error| error(format!("{}: {told}", shown(remote))))
}

/// The error of a fetch.
pub fn fetching(remote: &str, words: &str) -> EngineError {
    error_before_sending(remote, words)
        .unwrap_or_else(|| EngineError::Unreachable(format!("{}: {}", shown(remote), last(words))))
}

/// The lock file that kept the remote's git from changing a branch, if its words name one.
pub fn lock_file(words: &str) -> Option<String> {
    let (file, rest) = words.split_once("Unable to create '")?.1.split_once('\'')?;
    (file.ends_with(".lock") && rest.contains("File exists")).then(|| last(file))
}

/// Reads what a push said in `--porcelain` form.
pub fn read_push(is_ok: bool, out: &str) -> PushResponse {
    let lines: Vec<&str> = out.lines().filter(|line| line.contains("refs/")).collect();
    if let Some(line) = lines.iter().find(|line| line.starts_with('!')) {
        let is_unsure = line.contains("[remote failure]");
        let is_first = ANOTHER_WAS_FIRST.iter().any(|words| line.contains(words));
        return match (is_unsure, is_first) {
            (true, _) => PushResponse::Lost,
            (_, true) => PushResponse::Late,
            _ => PushResponse::Rejected,
        };
    }
    // "Up to date" is the answer of two who pushed one object; ours are never that.
    let is_taken = |line: &&str| line.starts_with([' ', '+', '*']);
    if is_ok && lines.iter().any(is_taken) { PushResponse::Taken } else { PushResponse::Lost }
}

/// Whether a server refused a push because it isn't a fast-forward.
pub fn is_force_forbidden(out: &str, words: &str) -> bool {
    let all = format!("{out}\n{words}").to_lowercase();
    FORCE_FORBIDDEN.iter().any(|known| all.contains(known))
}

/// The error of a push that the server's rules forbid.
pub fn forbidden(remote: &str, out: &str, words: &str) -> EngineError {
    let all = format!("{words}\n{out}");
    error_before_sending(remote, &all).unwrap_or_else(|| {
        let reason = out.lines().find(|line| line.starts_with('!')).map_or(words, |line| line);
        EngineError::Refused(format!(
            "{}: it refuses to store what machines share: {}",
            shown(remote),
            last(reason)
        ))
    })
}

/// The last line with words in it, without control characters and secrets, at most 200 characters.
fn last(words: &str) -> String {
    let line = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("git said nothing");
    let plain: String = line.trim().chars().filter(|c| !c.is_control()).take(200).collect();
    shown(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_sentences_without_passwords() {
        let told = |words: &str| fetching("https://me:secret@host/voice.git", words).to_string();
        assert!(
            told("fatal: could not read Username for 'https://host': terminal prompts disabled")
                .contains("password")
        );
        assert!(told("fatal: repository 'https://host/voice.git/' not found").contains("git init --bare"));
        assert!(
            told("me@host: Permission denied (publickey).\nfatal: Could not read from remote repository.")
                .contains("ssh key")
        );
        let strange = told("fatal: odd\u{1b}[31m thing at https://me:secret@host/x");
        assert!(!strange.contains("secret") && !strange.contains('\u{1b}'), "{strange}");
        assert!(matches!(
            fetching("r", "ssh: connect to host h port 22: Connection refused"),
            EngineError::Unreachable(_)
        ));
    }

    #[test]
    fn a_push_is_taken_rejected_or_lost() {
        let line = |sign: &str| format!("To host\n{sign}\trefs/new:refs/heads/vault-agent\tx\nDone\n");
        assert_eq!(read_push(true, &line("+")), PushResponse::Taken);
        assert_eq!(read_push(true, &line("*")), PushResponse::Taken);
        assert_eq!(read_push(true, &line("=")), PushResponse::Lost);
        assert_eq!(read_push(false, &line("!")), PushResponse::Rejected);
        assert_eq!(read_push(false, &line("!").replace('x', "[rejected] (stale info)")), PushResponse::Late);
        assert_eq!(
            read_push(false, &line("!").replace('x', "[remote failure] (no report)")),
            PushResponse::Lost
        );
        assert_eq!(
            (read_push(false, ""), read_push(false, &line(" "))),
            (PushResponse::Lost, PushResponse::Lost)
        );
    }
}
