//! What a program is given of our environment: what it needs to run, and what is named.

use std::ffi::{OsStr, OsString};

/// What of `ours` a program is given.
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

/// What a program needs of our environment, whatever it is.
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
