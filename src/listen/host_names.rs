//! Lists the host names that a listener answers to, and checks `Host` headers against them. Also lists the origins of
//! the listener's own pages. Pure.

use std::net::{IpAddr, SocketAddr};

/// The names that a listener answers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostNames {
    own: Vec<String>,
    trusted: Vec<String>,
    port: u16,
}

impl HostNames {
    /// The names of this machine for an address that is listened on, and those that the person trusts besides.
    pub fn new(address: SocketAddr, trusted: &[String]) -> Self {
        let mut own = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        let ip = address.ip();
        if !ip.is_unspecified() && !own.contains(&ip.to_string()) {
            own.push(ip.to_string());
        }
        let trusted = trusted.iter().map(|host| host.to_ascii_lowercase()).collect();
        Self { own, trusted, port: address.port() }
    }

    /// All names, without ports.
    pub fn hosts(&self) -> Vec<String> {
        self.own.iter().chain(&self.trusted).cloned().collect()
    }

    /// The origins of this machine's own pages at this port.
    pub fn origins(&self) -> Vec<String> {
        self.own.iter().map(|host| format!("http://{}", self.with_port(host))).collect()
    }

    /// Whether a `Host` header names this listener: a name of this machine with the port, or a trusted name.
    pub fn takes(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let is_own = self
            .own
            .iter()
            .any(|own| host == self.with_port(own) || (self.port == 80 && host == bracketed(own)));
        is_own || self.is_trusted(&host)
    }

    /// Whether a `Host` header is a name that the person trusts, which is the name of a proxy in front of the listener.
    pub fn is_trusted(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.trusted.iter().any(|trusted| {
            host == *trusted
                || [":443", ":80"].iter().any(|port| host.strip_suffix(port) == Some(trusted))
                || host == format!("{trusted}:{}", self.port)
        })
    }

    fn with_port(&self, host: &str) -> String {
        format!("{}:{}", bracketed(host), self.port)
    }
}

fn bracketed(host: &str) -> String {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
        _ => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_rebound_is_not_taken() {
        let names = HostNames::new(
            "127.0.0.1:8790".parse().unwrap(),
            &["Vault.ts.net".to_owned(), "b.example:8443".to_owned()],
        );
        for host in [
            "127.0.0.1:8790",
            "localhost:8790",
            "LOCALHOST:8790",
            "[::1]:8790",
            "vault.ts.net",
            "vault.ts.net:443",
            "b.example:8443",
        ] {
            assert!(names.takes(host), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "localhost",
            "localhost:80",
            "evil.example:8790",
            "localhost.evil.example:8790",
            "127.0.0.1:8790.evil.example",
            "evil@localhost:8790",
            "vault.ts.net.evil",
            "x.vault.ts.net",
            "b.example",
            "::1:8790",
            "0.0.0.0:8790",
            "127.0.0.1:08790",
        ] {
            assert!(!names.takes(host), "{host}");
        }
        assert!(names.is_trusted("vault.ts.net") && !names.is_trusted("localhost:8790"));
        assert_eq!(names.origins()[2], "http://[::1]:8790");
    }
}
