//! The assistant: what is said becomes a turn, and a turn one answer. It wires the pure parts of `turn` and `brain` to
//! the vault, its settings and its secrets.
//!
//! [`setup`] makes brains of what the settings name, with their keys. [`Engine`] runs one turn: route, recall,
//! assemble, call, tools, answer; every step is in the turn journal before what it announces happens, so that a
//! turn goes on after a crash and no tool is started twice. [`tools`] are what it may use; the front doors give
//! them. [`harness`] is a turn by a program with a loop of its own. [`memory`] is the vault's, [`recollection`] the answer that needs no model. Nothing here sends an answer, and nothing knows Discord.

pub mod approval;
pub mod approvals;
#[cfg(unix)]
pub mod bash;
pub mod beside;
pub mod budget;
mod caller;
mod calling;
pub mod colleague;
mod engine;
mod finish;
mod harness;
mod limit;
pub mod memory;
mod phrase;
mod recaller;
pub mod recollection;
mod rounds;
mod scribe;
#[cfg(all(feature = "mcp", unix))]
pub mod servers;
pub mod setup;
pub mod skills;
mod spending;
mod told;
pub mod tools;
mod words;
mod working;

pub use crate::config::allow;
pub use approval::{Approvals, NoApprovals};
pub use approvals::VaultApprovals;
pub use calling::Permits;
pub use colleague::Colleagues;
pub use engine::{Engine, EngineParts, Purpose};
pub use memory::{Given, Remember, VaultMemory};
pub use phrase::Phraser;
pub use recollection::{Memory, Recall};
pub use scribe::{Done, Scribe};
pub use told::{kept, persona, persona_text, pinned, pinned_text, shown};
pub use tools::{Boxes, NoTools, Toolbox};
pub use working::Rememberer;
