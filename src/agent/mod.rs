//! Runs the assistant. A question becomes one turn; a turn gives one answer.
//!
//! A question comes in, with the tools and memories for it; one answer goes out. `turn` decides and keeps the journal,
//! and `brain` calls models; neither opens the vault or the settings file. This module connects both with the vault,
//! its settings and its secrets. Nothing here sends an answer or depends on Discord. In the order of use:
//! - [`brain_clients`] makes the clients of the configured brains; [`brain_chain`] calls them; [`brains`] lists their
//!   state;
//! - [`budget`]: the day's budgets and their use ([`answer`]'s `budget_check` applies them);
//! - [`turn_memory`]: memories for a turn, and the answer that needs no model;
//! - [`answer`]: a turn from its question to its answer;
//! - [`tools`]: the list of a brain's tools, and one call of a tool with its approval;
//! - [`bash`], [`skills`], [`servers`]: the tools that are not the vault's own;
//! - [`approvals`]: the note in which a person decides; [`untrusted_text`]: the events of a log with untrusted text;
//! - [`background_calls`], [`background_writers`]: calls of brains outside of answers;
//! - [`locked_folder`]: temporary folders; each is removed when the Rust value that owns it is dropped;
//! - [`rebuild_request`]: the request of a past turn, rebuilt.

mod answer;
pub mod approvals;
pub mod background_calls;
mod background_writers;
pub mod bash;
mod brain_chain;
pub mod brain_clients;
pub mod brains;
pub mod budget;
mod locked_folder;
pub mod rebuild_request;
pub mod servers;
pub mod skills;
pub mod tools;
pub mod turn_memory;
mod untrusted_text;

pub use self::answer::{
    AnswerEngine, EngineParts, OtherBrains, RunPurpose, notes, other_brains, part_for_brain, read_vault_file,
};
pub use self::approvals::{VaultApprovals, Waiter};
pub use self::background_calls::Phraser;
pub use self::background_writers::{SummaryWriter, WorkingMemoryWriter};
pub use self::brain_chain::{CallPermits, ChainAnswer};
pub use self::tools::{Approvals, CombinedToolbox, NoApprovals, Toolbox};
pub use self::turn_memory::{RecalledContext, TurnMemory, VaultMemory};
