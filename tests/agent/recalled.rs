//! What memory gives a question: never the words that ask it, which stand in the log already.

use std::sync::Arc;

use vault_agent::agent::{Remember, VaultMemory};
use vault_agent::clock::ManualClock;
use vault_agent::config::Dirs;
use vault_agent::vault::Vault;
use vault_agent::workspace::Workspace;

use crate::support::TestVault;

const VAULT: &str = "//- now: 2026-12-01T09:30:00Z
//- /logs/discord-channel/2000/20261110T090000Z_0001.md
---
surface: discord-channel
context_id: \"2000\"
started: 2026-11-10T09:00:00Z
---

> [!user] 2026-11-10T09:00:00Z Alice
> Zanzibar pepper seeds sprout after three weeks.

^01JGXYZ0000000000000000001
//- /logs/discord-channel/2000/20261201T090000Z_0001.md
---
surface: discord-channel
context_id: \"2000\"
started: 2026-12-01T09:00:00Z
---

> [!user] 2026-12-01T09:29:00Z Alice
> <@500> I put Zanzibar pepper seeds behind the shed.

^01JGXYZ0000000000000000002

> [!user] 2026-12-01T09:30:00Z Alice
> <@500> What do you know about Zanzibar pepper seeds?

^01JGXYZ0000000000000000003
";

/// As a turn asks: without mentions, all of its messages together.
const QUESTION: &str =
    "I put Zanzibar pepper seeds behind the shed.\nWhat do you know about Zanzibar pepper seeds?";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_turn_asks_is_no_memory_of_it() {
    let vault = TestVault::new(VAULT);
    let clock = Arc::new(ManualClock::new(vault.now()));
    let dirs = Dirs { state: vault.state(), cache: vault.cache() };
    let workspace = Workspace::open_in(Vault::open(&vault.root()).unwrap(), dirs, clock).unwrap();
    let memory = VaultMemory::new(Arc::new(workspace));
    let today = "logs/discord-channel/2000/20261201T090000Z_0001";
    let links = ["2", "3"].map(|n| format!("{today}#^01JGXYZ000000000000000000{n}"));
    let own = links.each_ref().map(String::as_str);
    for own in [&own[..], &[]] {
        let given = memory.given(QUESTION, own).await.unwrap();
        let told = given.injection + &given.links + &memory.answer(QUESTION, own).await.unwrap();
        assert!(told.contains("sprout after three weeks"), "{told}");
        assert!(!told.contains("What do you know"), "{told}");
        // Asked by somebody else, the first of the two messages would be a memory.
        assert_eq!(told.contains("behind the shed"), own.is_empty(), "{told}");
    }
}
