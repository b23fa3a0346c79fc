//! Reads `[machines]`: the store that coordinates several machines with one vault. Through this store the machines
//! agree which of them sends notifications, answers messages and runs routines.
//!
//! The table travels with the vault and is the same on every machine. Each machine has its own name ([`machine_name`]),
//! its own files at the paths `password_file` and `ca_file`, and its own environment variable for the password.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Validation, ensure, wrong};
use crate::config::{ConfigError, git_address};
use crate::words::words;

/// Holds the name of this machine, in the place of its host name.
const NAME_VARIABLE: &str = "VAULT_AGENT_MACHINE";
/// The most machines in `prefer`, and the most endpoints.
const MAX_ENDPOINTS: usize = 32;
/// The longest name, prefix or vault's id, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// The store through which several machines agree on the voice.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSettings {
    /// The kind of the store that they share.
    pub engine: MachinesEngine,
    /// `git`: the repository, by https, ssh or file.
    pub remote: Option<String>,
    /// `etcd`: the servers of one cluster.
    #[serde(default)]
    pub endpoints: Vec<String>,
    /// `etcd`: what stands before all keys, so that several vaults fit into one cluster.
    #[serde(default = "prefix")]
    pub prefix: String,
    /// `etcd`: the user, where the cluster wants one.
    pub user: Option<String>,
    /// `etcd`: a file with the user's password, instead of `VAULT_AGENT_ETCD_PASSWORD`.
    pub password_file: Option<String>,
    /// `etcd`: a file with certificates in PEM form that are trusted besides the public ones.
    pub ca_file: Option<String>,
    /// The names of the machines in the order in which they go first; others come after them.
    #[serde(default)]
    pub prefer: Vec<String>,
    /// The behaviour while the store is out of reach.
    #[serde(default)]
    pub on_partition: OnPartition,
    /// The vault's id, by which a store of another vault is known; `vault-agent machines join` writes it.
    pub vault: Option<String>,
}

words! {
    /// The kinds of stores that machines can share.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MachinesEngine, as_str {
        /// A branch on a git server.
        Git = "git",
        /// A prefix in an etcd cluster.
        Etcd = "etcd",
    }
}

/// The behaviour for due items while the store is out of reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnPartition {
    /// Due items are delivered when the store is back: late, and once.
    #[default]
    Wait,
    /// Due items are delivered now, and perhaps by another machine, too.
    Tell,
}

fn prefix() -> String {
    "vault-agent".to_owned()
}

/// Whether a text can be the name of a machine: letters, digits, `-`, `_` and `.`, not first a dot.
fn is_name(text: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(fine)
}

/// The name of this machine: `VAULT_AGENT_MACHINE`, or the host name.
///
/// # Errors
/// It has characters that a name may not have.
pub fn machine_name() -> Result<String, ConfigError> {
    let set = std::env::var(NAME_VARIABLE).ok().filter(|name| !name.trim().is_empty());
    let host = || hostname::get().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = set.map_or_else(host, |name| name.trim().to_owned());
    if is_name(&name) {
        return Ok(name);
    }
    let shown: String = name.chars().filter(|c| !c.is_control()).take(MAX_NAME_BYTES).collect();
    Err(ConfigError::new(format!("this machine's name `{shown}` is none that machines can share"))
        .suggest(format!("set `{NAME_VARIABLE}` to 1 to {MAX_NAME_BYTES} letters, digits, `-`, `_` and `.`")))
}

impl MachineSettings {
    /// The place of a machine among the preferred ones, from 0; their number where it isn't one of them.
    pub fn rank(&self, name: &str) -> u32 {
        let at = self.prefer.iter().position(|one| one == name).unwrap_or(self.prefer.len());
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    pub(in crate::config) fn validate(&self) -> Validation {
        match self.engine {
            MachinesEngine::Git => self.validate_git()?,
            MachinesEngine::Etcd => self.validate_etcd()?,
        }
        ensure(
            self.prefer.len() <= MAX_ENDPOINTS,
            "machines.prefer",
            format!("`machines.prefer` names more than {MAX_ENDPOINTS} machines"),
            "name fewer",
        )?;
        let mut seen = BTreeSet::new();
        for name in &self.prefer {
            let message = format!("`machines.prefer` holds `{}`, which is no name of a machine", shown(name));
            let hint = "use 1 to 64 letters, digits, `-`, `_` and `.`";
            ensure(is_name(name), "machines.prefer", message, hint)?;
            let message = format!("`machines.prefer` names `{name}` twice");
            ensure(seen.insert(name), "machines.prefer", message, "name each machine once")?;
        }
        if let Some(vault) = self.vault.as_ref().filter(|vault| !is_name(vault)) {
            let message = format!("`machines.vault` is `{}`, which is no id", shown(vault));
            let hint = "take the line out, and run `vault-agent machines join`";
            return wrong("machines.vault", message, hint);
        }
        Ok(())
    }

    fn validate_git(&self) -> Validation {
        let form = "write it as in `remote = \"ssh://me@host/~/voice.git\"`";
        let Some(remote) = &self.remote else {
            return wrong("machines.engine", "`machines.engine` is `git`, and no `remote` says where", form);
        };
        git_address::check(remote)
            .or_else(|why| wrong("machines.remote", format!("`machines.remote` {why}"), form))
    }

    fn validate_etcd(&self) -> Validation {
        let form = "write them as in `endpoints = [\"https://10.0.0.1:2379\"]`";
        let message = format!("`machines.engine` is `etcd`, which wants 1 to {MAX_ENDPOINTS} `endpoints`");
        ensure((1..=MAX_ENDPOINTS).contains(&self.endpoints.len()), "machines.engine", message, form)?;
        if let Some(endpoint) = self.endpoints.iter().find(|endpoint| !is_endpoint(endpoint)) {
            let message = format!("`machines.endpoints` holds `{}`, which is no endpoint", shown(endpoint));
            return wrong("machines.endpoints", message, form);
        }
        ensure(
            self.prefix.split('/').all(is_name) && self.prefix.len() <= MAX_NAME_BYTES,
            "machines.prefix",
            format!("`machines.prefix` is `{}`, which is no prefix", shown(&self.prefix)),
            "use letters, digits, `-`, `_` and `.`, as in `vaults/home`",
        )?;
        ensure(
            self.password_file.is_none() || self.user.is_some(),
            "machines.password_file",
            "`machines.password_file` is set, and no `user` that it belongs to",
            "set `user`, too",
        )?;
        ensure(
            self.user.as_ref().is_none_or(|user| !user.is_empty() && !user.chars().any(char::is_control)),
            "machines.user",
            "`machines.user` is no user's name",
            "name a user of the cluster",
        )?;
        let is_local = |endpoint: &str| {
            let host = endpoint.strip_prefix("http://").and_then(|rest| rest.rsplit_once(':'));
            host.is_none_or(|(host, _)| matches!(host, "127.0.0.1" | "localhost" | "[::1]"))
        };
        if let Some(endpoint) = self.endpoints.iter().find(|one| self.user.is_some() && !is_local(one)) {
            let message =
                format!("`machines.user` is set, and `{endpoint}` would get the password in the clear");
            return wrong("machines.endpoints", message, "use `https://`");
        }
        Ok(())
    }
}

/// Whether a text is `https://` or `http://`, a host and a port, and nothing else.
fn is_endpoint(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
    let Some((host, port)) = rest.trim_end_matches('/').rsplit_once(':') else { return false };
    let is_v6 = |host: &str| {
        let inner = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        inner.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok())
    };
    let is_host = is_name(host) || is_v6(host);
    is_host && text.len() <= 300 && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn problem(text: &str) -> String {
        crate::config::settings::tests::problem(&format!("[machines]\n{text}\n"))
    }

    const ETCD: &str = "engine = \"etcd\"\nendpoints = [\"http://127.0.0.1:2379\"]";

    #[test]
    fn nothing_is_shared_without_the_table() {
        assert_eq!(Settings::parse("").unwrap().machines, None);
    }

    #[test]
    fn two_lines_are_enough() {
        let text = "[machines]\nengine = \"git\"\nremote = \"ssh://me@host/~/voice.git\"\n";
        let machines = Settings::parse(text).unwrap().machines.unwrap();
        assert_eq!((machines.engine, machines.on_partition), (MachinesEngine::Git, OnPartition::Wait));
        assert_eq!((machines.prefix.as_str(), machines.rank("any")), ("vault-agent", 0));
        let text = format!("{text}prefer = [\"server\", \"laptop\"]\non_partition = \"tell\"\n");
        let machines = Settings::parse(&text).unwrap().machines.unwrap();
        assert_eq!(["server", "laptop", "other"].map(|name| machines.rank(name)), [0, 1, 2]);
        assert!(Settings::parse(&format!("[machines]\n{ETCD}\n")).unwrap().machines.is_some());
    }

    #[test]
    fn errors_point_into_the_file_and_say_what_to_write() {
        insta::assert_snapshot!(problem("remote = \"file:///x/y.git\""), @"Some((1, 1)) missing field `engine` | -");
        insta::assert_snapshot!(problem("engine = \"svn\""), @"Some((2, 10)) unknown value `svn` | give one of: git, etcd");
        insta::assert_snapshot!(problem("engine = \"git\""), @r#"Some((2, 10)) `machines.engine` is `git`, and no `remote` says where | write it as in `remote = "ssh://me@host/~/voice.git"`"#);
        insta::assert_snapshot!(problem("engine = \"etcd\""), @r#"Some((2, 10)) `machines.engine` is `etcd`, which wants 1 to 32 `endpoints` | write them as in `endpoints = ["https://10.0.0.1:2379"]`"#);
        insta::assert_snapshot!(problem("engine = \"git\"\nremote = \"file:///x/y.git\"\nprefer = [\"a\", \"a\"]"), @"Some((4, 10)) `machines.prefer` names `a` twice | name each machine once");
        insta::assert_snapshot!(problem("engine = \"git\"\nremote = \"file:///x/y.git\"\nprefer = [\"a b\"]"), @"Some((4, 10)) `machines.prefer` holds `a b`, which is no name of a machine | use 1 to 64 letters, digits, `-`, `_` and `.`");
        insta::assert_snapshot!(problem("engine = \"git\"\nremote = \"file:///x/y.git\"\nvault = \"../x\""), @"Some((4, 9)) `machines.vault` is `../x`, which is no id | take the line out, and run `vault-agent machines join`");
        insta::assert_snapshot!(problem(&format!("{ETCD}\npassword_file = \"x\"")), @"Some((4, 17)) `machines.password_file` is set, and no `user` that it belongs to | set `user`, too");
        insta::assert_snapshot!(problem("engine = \"etcd\"\nendpoints = [\"http://10.0.0.1:2379\"]\nuser = \"me\""), @"Some((3, 13)) `machines.user` is set, and `http://10.0.0.1:2379` would get the password in the clear | use `https://`");
    }

    #[test]
    fn a_hostile_remote_is_refused_before_git_sees_it() {
        for remote in [
            "ext::sh -c x",
            "-oProxyCommand=x",
            "ssh://-oProxyCommand=x/v.git",
            "git://host/v.git",
            "/srv/v.git",
        ] {
            let said = problem(&format!("engine = \"git\"\nremote = \"{remote}\""));
            assert!(said.contains("`machines.remote` "), "{said}");
        }
        for endpoint in [
            "",
            "ftp://host:1",
            "https://host",
            "https://me:x@host:1",
            "https://host:0",
            "https://host:1/path",
        ] {
            let said = problem(&format!("engine = \"etcd\"\nendpoints = [\"{endpoint}\"]"));
            assert!(said.contains("which is no endpoint"), "{said}");
        }
        for prefix in ["", "/", "a//b", "../x", "a b"] {
            assert!(
                problem(&format!("{ETCD}\nprefix = \"{prefix}\"")).contains("which is no prefix"),
                "{prefix}"
            );
        }
    }

    #[test]
    fn a_machine_has_a_name_that_fits_into_a_key() {
        assert!(is_name("my-laptop.local") && is_name("A_1"));
        for name in ["", ".hidden", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
