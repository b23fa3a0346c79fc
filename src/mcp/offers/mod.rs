//! Offers resources, prompts and completions: a client's choices besides tools. Read-only.
//!
//! - [`resources`]: notes as `vault://` resources;
//! - [`prompts`]: reviews of the day and the week, with the day's data in them;
//! - [`completion`]: completion of paths and days.

pub(super) mod completion;
pub(super) mod prompts;
pub(super) mod resources;
