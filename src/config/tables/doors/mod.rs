//! Reads the tables of front doors: [`discord`], [`hooks`], and [`web`], the page.

mod discord;
mod hooks;
mod web;

pub use self::discord::{Discord, KeepAttachments};
pub use self::hooks::Hooks;
pub use self::web::Web;
