//! Reads `[web]`: the local web page.

use std::net::SocketAddr;

use serde::Deserialize;

use crate::config::tables::checks::{Validation, wrong};
use crate::defaults::defaults;

defaults! {
    /// The local web page.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct WebSettings {
        /// Whether the daemon listens from its start; else only when `vault-agent web` asks it to.
        pub enabled: bool,
        /// The address; port 0 takes a free one.
        pub listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8790)),
        /// Names that a proxy in front of the page is called by, with a port where it isn't the scheme's own.
        pub trusted_hosts: Vec<String>,
    }
}

impl WebSettings {
    pub(in crate::config) fn validate(&self) -> Validation {
        if !self.listen.ip().is_loopback() && self.trusted_hosts.is_empty() {
            return wrong(
                "web.listen",
                format!(
                    "`web.listen` is `{}`, which other machines can reach, and `web.trusted_hosts` names no host",
                    self.listen
                ),
                "leave it at `127.0.0.1:8790`, or name the host in `trusted_hosts`; TLS is the work of a proxy, see docs/web.md",
            );
        }
        let Some(host) = self.trusted_hosts.iter().find(|host| !is_host(host)) else { return Ok(()) };
        let message = format!("`web.trusted_hosts` holds `{host}`, which is no host's name");
        let hint =
            "write the name alone, such as `vault.tail1234.ts.net`, with `:PORT` where the address has one";
        wrong("web.trusted_hosts", message, hint)
    }
}

/// Whether a text is a host's name or address, with or without a port.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-:".contains(c))
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use crate::config::Settings;

    #[test]
    fn an_address_that_others_reach_needs_a_trusted_host() {
        let web = |text: &str| Settings::parse(&format!("[web]\n{text}\n"));
        assert!(!web("").unwrap().web.enabled);
        assert!(web("listen = \"[::1]:0\"").is_ok());
        let error = web("listen = \"0.0.0.0:8790\"").unwrap_err();
        assert!(error.to_string().contains("`web.listen` is `0.0.0.0:8790`"), "{error}");
        assert!(web("listen = \"0.0.0.0:8790\"\ntrusted_hosts = [\"vault.tail1234.ts.net\"]").is_ok());
        for host in ["https://a.example", "a b", "*", "", "a:x", "a/b"] {
            let error = web(&format!("trusted_hosts = [\"{host}\"]")).unwrap_err();
            assert!(error.to_string().contains("no host's name"), "{host}: {error}");
        }
        assert!(web("trusted_hosts = [\"a.example:8443\", \"[fd7a::1]:80\", \"100.64.0.1\"]").is_ok());
    }
}
