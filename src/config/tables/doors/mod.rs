//! Reads the tables of front doors: [`discord`], [`hooks`], and [`web`], the page.

mod discord;
mod hooks;
mod web;

pub use self::discord::{DiscordSettings, KeepAttachments};
pub use self::hooks::HookSettings;
pub use self::web::WebSettings;
