//! A vault in which every place of the page has something to show.

pub use crate::models::Reply;
pub use crate::served::*;
pub use crate::tab::Tab;

const NOTES: &str = include_str!("sample.txt");

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
        let look = Reply::tool("reminder_list", json!({}));
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

    /// With the page over it, and the browser let in; `None` where there is no browser.
    pub fn in_browser(self) -> Option<(Self, Served, Tab)> {
        let served = self.serve();
        let tab = Tab::enter(&served)?;
        Some((self, served, tab))
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
