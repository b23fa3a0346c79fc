//! Lists the files of a new vault: `vault-template/`, embedded in the binary. `init` writes them, and search leaves
//! out their text.

/// The folder of skills in it.
pub const SKILLS: &str = "skills";

/// The settings file.
pub const SETTINGS: &str = include_str!("../vault-template/vault-agent.toml");

/// Every file by its place in the vault. The settings come first: they may name other places.
pub const TEMPLATE: &[(&str, &str)] = &[
    ("vault-agent.toml", SETTINGS),
    (".obsidian/app.json", include_str!("../vault-template/.obsidian/app.json")),
    (".obsidian/appearance.json", include_str!("../vault-template/.obsidian/appearance.json")),
    (".obsidian/bookmarks.json", include_str!("../vault-template/.obsidian/bookmarks.json")),
    (".obsidian/core-plugins.json", include_str!("../vault-template/.obsidian/core-plugins.json")),
    (".obsidian/daily-notes.json", include_str!("../vault-template/.obsidian/daily-notes.json")),
    (
        ".obsidian/snippets/vault-agent-logs.css",
        include_str!("../vault-template/.obsidian/snippets/vault-agent-logs.css"),
    ),
    ("Assistant.md", include_str!("../vault-template/Assistant.md")),
    ("COMMITMENTS.md", include_str!("../vault-template/COMMITMENTS.md")),
    ("MEMORY.md", include_str!("../vault-template/MEMORY.md")),
    ("Pinned.md", include_str!("../vault-template/Pinned.md")),
    ("Reminders.md", include_str!("../vault-template/Reminders.md")),
    ("Welcome.md", include_str!("../vault-template/Welcome.md")),
    ("daily/About daily notes.md", include_str!("../vault-template/daily/About daily notes.md")),
    ("routines/evening.md", include_str!("../vault-template/routines/evening.md")),
    ("routines/morning.md", include_str!("../vault-template/routines/morning.md")),
    ("routines/review.md", include_str!("../vault-template/routines/review.md")),
    ("routines/tidy-memory.md", include_str!("../vault-template/routines/tidy-memory.md")),
    ("routines/weekly-review.md", include_str!("../vault-template/routines/weekly-review.md")),
    ("skills/brave-search/SKILL.md", include_str!("../vault-template/skills/brave-search/SKILL.md")),
    (
        "skills/brave-search/scripts/search.sh",
        include_str!("../vault-template/skills/brave-search/scripts/search.sh"),
    ),
    ("skills/memory-search/SKILL.md", include_str!("../vault-template/skills/memory-search/SKILL.md")),
    ("skills/reminders/SKILL.md", include_str!("../vault-template/skills/reminders/SKILL.md")),
    ("user/profile.md", include_str!("../vault-template/user/profile.md")),
];

/// The notes among them.
pub fn notes() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEMPLATE.iter().copied().filter(|(path, _)| path.ends_with(".md"))
}
