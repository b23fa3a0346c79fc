//! Sets up one machine of a run: its folder with the vault and the state, its network and its daemon.

use crate::support::prelude::*;

use super::{ALICE, CHANNEL};
use crate::proxy::Net;
use crate::sync_tool::Link;

pub(super) struct Machine {
    pub name: &'static str,
    pub folder: PathBuf,
    pub net: Net,
    pub daemon: Option<Killed>,
    pub link: Link,
}

impl Machine {
    pub(super) fn new(
        name: &'static str,
        folder: &Path,
        discord: u16,
        store: impl Fn(&Net) -> String,
    ) -> Self {
        let net = Net::default();
        let folder = folder.join(name);
        std::fs::create_dir_all(folder.join("vault")).unwrap();
        let (discord, store) = (net.to(discord), store(&net));
        let settings = format!(
            "timezone = \"UTC\"\n[notify]\nkind = \"discord\"\n[discord]\nchannel_id = {CHANNEL}\nguild_id = 1000\n\
             owner_ids = [{ALICE}]\napi_base = \"http://127.0.0.1:{discord}\"\n[machines]\n{store}\nvault = \"v-real\"\n\
             prefer = [\"server\", \"laptop\"]\n"
        );
        std::fs::write(folder.join("vault/vault-agent.toml"), settings).unwrap();
        std::fs::write(folder.join("vault/MEMORY.md"), "## Health\n- The dentist is on Friday at ten\n")
            .unwrap();
        std::fs::write(folder.join("vault/Reminders.md"), "# Reminders\n").unwrap();
        Self { name, folder, net, daemon: None, link: Link::default() }
    }

    /// The memory that it holds for itself, in kB.
    pub(super) fn memory(&self) -> String {
        let pid = self.daemon.as_ref().map_or(0, |daemon| daemon.id());
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().filter_map(|line| line.strip_prefix("RssAnon:")).map(str::trim).collect()
    }

    pub(super) fn vault(&self) -> PathBuf {
        self.folder.join("vault")
    }
}
