//! A vault in which every place of the page has something to show.

use crate::models::{ModelServer, Reply};
use crate::served::{LISTEN, Served, Visitor};
use crate::support::TestVault;

const NOTES: &str = r#"//- now: 2026-11-30T09:30:00Z
//- /Reminders.md
# Reminders

- [ ] date=2026-12-01 time=09:00 recur=none msg="Water the tomatoes" id=rid_AAAAAAAAAAAA
- [ ] date=2026-12-02 time=08:30 recur=weekly msg="Bins out" id=rid_BBBBBBBBBBBB
- [ ] date=2026-12-03 time=14:00 recur=none msg="Call Anna about the flat" id=rid_CCCCCCCCCCCC
- [ ] date=2026-12-05 time=10:00 recur=monthly msg="Pay the rent" id=rid_DDDDDDDDDDDD
- [ ] date=2026-12-07 time=07:45 recur=daily msg="Vitamins" id=rid_EEEEEEEEEEEE
//- /MEMORY.md
# Memory

## Anna
- [2026-11-20 14:02] likes green tea
- is allergic to peanuts

## House
- the boiler is serviced each October
//- /Projects/Garden.md
# Garden

The tomatoes want water each morning.

- [ ] Buy seeds
- [x] Mend the fence

See [[MEMORY]] and [the seed list](<Seeds & bulbs.md>).
//- /Projects/Seeds & bulbs.md
Tulips, crocuses, basil.
//- /routines/morning.md
---
schedule: daily 08:00
scope: console
enabled: false
only_if: [due, promised]
---
# Morning review

What is due today? Answer in five lines.
//- /logs/discord-channel/7/20261129T100000Z_0001.md
---
surface: discord-channel
context_id: "7"
started: 2026-11-29T10:00:00Z
---

> [!user] 2026-11-29T10:00:00Z Anna
> Remember that I only drink green tea.

^01JGXYZ0000000000000000001

> [!user] 2026-11-29T10:01:00Z Bob
> I live in Graz, and my dog is called Rex. Can you find the note?

^01JGXYZ0000000000000000004
//- /Approvals.md
# Approvals

- [ ] ap_K5V4M2J7Q2ZP until=2026-12-01T12:30Z brain=scripted run="curl https://weather.example/graz" why="network" always="bash:curl *"
"#;

/// The vault, its model, and what was done in it.
pub struct Sample {
    pub vault: TestVault,
    pub server: ModelServer,
    /// Lives as long as the server's tasks.
    _runtime: tokio::runtime::Runtime,
}

impl Sample {
    /// The same without a question to the assistant and without a history: quicker.
    pub fn still() -> Self {
        Self::made(false)
    }

    pub fn new() -> Self {
        Self::made(true)
    }

    fn made(is_whole: bool) -> Self {
        let (runtime, server) = ModelServer::alone();
        let vault = TestVault::new(NOTES);
        let brain = server.brain("scripted", "chat", "price = { input = 3.0, output = 15.0 }");
        let settings = format!("{LISTEN}\n[assistant]\ntools = [\"vault\", \"bash\"]\n\n{brain}");
        vault.write("vault-agent.toml", settings);
        let run = |args: &[&str]| drop(vault.run(args).ok());
        if !is_whole {
            run(&["inbox", "scan"]);
            vault.set_now("2026-12-01T09:30:00Z");
            return Self { vault, server, _runtime: runtime };
        }
        vault.set_now("2026-11-24T18:00:00Z");
        run(&["history"]);
        vault.set_now("2026-11-30T09:30:00Z");
        run(&["inbox", "scan"]);
        let garden = vault.read("Projects/Garden.md").replace("each morning", "each evening");
        vault.write("Projects/Garden.md", garden);
        run(&["history"]);
        run(&["memory", "save", "the spare key is at Bob's", "--section", "House"]);
        vault.set_now("2026-12-01T09:20:00Z");
        let look = Reply::tool("reminder_list", serde_json::json!({}));
        server.script(vec![look, Reply::text("The tomatoes, at nine.\nThe bins tomorrow.")]);
        run(&["routine", "run", "morning"]);
        vault.set_now("2026-12-01T09:30:00Z");
        Self { vault, server, _runtime: runtime }
    }

    /// With the page over it, and a person who has come in.
    pub fn visited(self) -> (Self, Served, Visitor) {
        let (served, visitor) = Served::visited(&self.vault);
        (self, served, visitor)
    }

    pub fn serve(&self) -> Served {
        Served::start(&self.vault)
    }
}

/// The addresses that the navigation of a page names.
pub fn places(page: &str) -> Vec<String> {
    let nav = page.split("<nav").nth(1).and_then(|rest| rest.split("</nav>").next()).unwrap_or_default();
    nav.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}
