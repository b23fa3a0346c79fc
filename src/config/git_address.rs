//! Checks the address of a git server, and masks the passwords in addresses that are shown. Pure.
//!
//! The scheme must be https, ssh or file. No part may hold a password, or look like an option or a command to git or
//! ssh.

/// The longest address, in bytes.
const MAX_ADDRESS: usize = 1000;

/// Checks a remote's address.
///
/// # Errors
/// The problem of an address and the remedy, as the end of a sentence that begins with the address.
pub fn check(remote: &str) -> Result<(), &'static str> {
    const FORM: &str = "is no address: write `https://`, `ssh://` or `file://` and all that follows";
    if remote.len() > MAX_ADDRESS || !remote.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("has characters that no address has, or is too long");
    }
    let (scheme, rest) = remote.split_once("://").ok_or(FORM)?;
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    if path.len() < 2 {
        return Err("names no repository after the host");
    }
    match scheme {
        "file" if authority.is_empty() => return Ok(()),
        "file" => {
            return Err("names a host: a file's address has three slashes, as in `file:///srv/voice.git`");
        }
        "https" | "ssh" => {}
        _ => return Err(FORM),
    }
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if user.contains(':') {
        return Err("holds a password: leave it to git's credential helper or the ssh agent");
    }
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    let (name, port) = match host.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((address, port)) if address.parse::<std::net::Ipv6Addr>().is_ok() => {
            ("v6", port.strip_prefix(':'))
        }
        Some(_) => return Err("has no host that is one"),
        None => host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if name.is_empty() || !is_plain(name) || name.starts_with('-') || !is_port {
        return Err("has no host that is one");
    }
    if !is_plain(user) || user.starts_with('-') { Err("has no user that is one") } else { Ok(()) }
}

/// A text with the secrets of its addresses masked: they must not stand in a log. A web address may hold a token in the
/// place of the user, and a token may hold any sign, so all before its last `@` is masked there; elsewhere the password.
pub fn shown(text: &str) -> String {
    let masked = |word: &str| {
        let (scheme, rest) = word.split_once("://")?;
        if scheme.ends_with("http") || scheme.ends_with("https") {
            return Some(format!("{scheme}://***@{}", rest.rsplit_once('@')?.1));
        }
        let (login, host) = rest.split_once('@')?;
        Some(format!("{scheme}://{}:***@{host}", login.split_once(':')?.0))
    };
    let words = text.split(' ').map(|word| masked(word).unwrap_or_else(|| word.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{check, shown};

    #[test]
    fn plain_addresses_are_taken() {
        for remote in [
            "ssh://me@host/~/voice.git",
            "ssh://host:2222/srv/voice.git",
            "ssh://me@[::1]:22/voice.git",
            "https://git.example.org/me/voice.git",
            "https://me@git.example.org/voice%20machines.git",
            "file:///srv/voice.git",
        ] {
            assert_eq!(check(remote), Ok(()), "{remote}");
        }
    }

    #[test]
    fn options_commands_passwords_and_other_protocols_are_refused() {
        for remote in [
            "",
            "-oProxyCommand=x",
            "--upload-pack=x",
            "ext::sh -c x",
            "ext::sh",
            "fd::3",
            "host:voice.git",
            "/srv/voice.git",
            "git://host/voice.git",
            "http://host/voice.git",
            "SSH://host/voice.git",
            "ssh://-oProxyCommand=x/voice.git",
            "ssh://-oProxyCommand=x@host/voice.git",
            "ssh://me@-oProxyCommand=x/voice.git",
            "ssh://host%20x/voice.git",
            "ssh://me%h@host/voice.git",
            "ssh://host;x/voice.git",
            "ssh://$(x)/voice.git",
            "ssh://host:-1/voice.git",
            "ssh://host:0/voice.git",
            "ssh://[-x]/voice.git",
            "ssh://@/voice.git",
            "ssh:///voice.git",
            "ssh://host",
            "ssh://host/",
            "https://me:secret@host/voice.git",
            "file://host/voice.git",
            "file://./voice.git",
            "https://host/voice.git\n--upload-pack=x",
            "https://host/vo ice.git",
            "https://hóst/voice.git",
        ] {
            assert!(check(remote).is_err(), "{remote}");
        }
    }

    #[test]
    fn a_secret_of_an_address_never_reaches_a_log() {
        for (address, masked) in [
            ("'https://me:secret@host/x.git':", "'https://***@host/x.git':"),
            ("https://secret@host/x.git", "https://***@host/x.git"),
            ("https://me:se/cr@et@host/x.git", "https://***@host/x.git"),
            ("ssh://me:secret@host/x.git", "ssh://me:***@host/x.git"),
            ("ssh://git@host/x.git", "ssh://git@host/x.git"),
            ("https://host/x.git", "https://host/x.git"),
        ] {
            assert_eq!(
                shown(&format!("unable to access {address} no")),
                format!("unable to access {masked} no")
            );
        }
    }
}
