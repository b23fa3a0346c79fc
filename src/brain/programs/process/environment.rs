//! Makes the environment of a harness's program: the variables that it needs to run, and named ones.

use std::ffi::{OsStr, OsString};

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
