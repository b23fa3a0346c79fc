//! The settings of a pass for the benches that run one: plain reminders in London, and nothing else.

use vault_agent::deliver::{NotifyRules, PassSettings};
use vault_agent::schedule::{DigestRule, Zone};
use vault_agent::vault::NotePath;

/// The settings.
pub fn pass_settings() -> PassSettings {
    PassSettings {
        zone: Zone::get("Europe/London").expect("a zone"),
        reminders: NotePath::new("Reminders.md").expect("a path"),
        commitments: NotePath::new("COMMITMENTS.md").expect("a path"),
        digest: DigestRule::default(),
        read_only: None,
        tasks: None,
        notifiers: String::new(),
        notify_rules: NotifyRules::default(),
        phrase: false,
        pause: None,
    }
}
