//! Makes the environment of a harness's program: the variables that it needs to run, and named ones; and finds and ends
//! processes that a killed run left behind, by a mark in their environment.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{MARK, supervise};

/// The part of `ours` that a program is given.
pub(super) fn environment(
    ours: impl Iterator<Item = (OsString, OsString)>,
    pass: &[&str],
) -> impl Iterator<Item = (OsString, OsString)> {
    let is = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        let upper = name.to_ascii_uppercase();
        let proxy = upper.ends_with("_PROXY") && ENVIRONMENT.contains(&upper.as_str());
        proxy
            || ENVIRONMENT.contains(&name)
            || pass.contains(&name)
            || FAMILIES.iter().any(|family| name.starts_with(family))
    };
    ours.filter(move |(name, _)| is(name))
}

/// The variables that every program needs.
const ENVIRONMENT: [&str; 17] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "TERM",
];

/// Families of such variables.
const FAMILIES: [&str; 2] = ["LC_", "XDG_"];

/// Ends what children of an earlier process with the same state directory have left; how many processes that were.
pub fn sweep(state: &Path) -> usize {
    let place = state_hash(state);
    let mut ended = 0;
    end_marked(|mark| {
        let orphan = is_orphan(mark, &place, supervise::started);
        ended += usize::from(orphan);
        orphan
    });
    ended
}

/// Whether a mark is of this place, by a process that is no more.
pub(super) fn is_orphan(mark: &str, place: &str, started: impl Fn(u32) -> Option<u64>) -> bool {
    let mut parts = mark.split('.');
    let (Some(pid), Some(at), Some(of)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (Ok(pid), Ok(at)) = (pid.parse(), at.parse()) else { return false };
    of == place && started(pid) != Some(at)
}

pub(super) fn end_marked(mut is_meant: impl FnMut(&str) -> bool) {
    for pid in supervise::all_pids() {
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        let mut variables = environment.split(|byte| *byte == 0);
        let mark = variables.find_map(|variable| variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="));
        if mark.and_then(|mark| std::str::from_utf8(mark).ok()).is_some_and(&mut is_meant) {
            supervise::end(pid);
        }
    }
}

/// The beginning of the marks of this process's children.
pub(super) fn mark(state: &Path) -> String {
    let us = std::process::id();
    format!("{us}.{}.{}.", supervise::started(us).unwrap_or_default(), state_hash(state))
}

pub(super) fn state_hash(state: &Path) -> String {
    blake3::hash(state.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned()
}
