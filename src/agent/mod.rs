//! Runs the assistant: makes a question a turn, and a turn one answer. It connects the pure parts of `turn` and `brain`
//! with the vault, its settings and its secrets.
//!
//! A question comes in, with the tools and memories for it; one answer goes out. Nothing here sends an answer or knows
//! Discord. In the order of use:
//! - [`brain_clients`], [`brain_chain`]: clients for the brains of the settings, and calls of them; [`brains`]: their
//!   state; [`budget`]: the day's budgets ([`answer`]'s `budget_check` applies them; [`usage`] adds up the logs for
//!   people);
//! - [`turn_memory`], [`memory_answer`]: memories for a turn, and the answer that needs no model;
//! - [`answer`]: a turn from its question to its answer;
//! - [`tools`], [`tool_caller`], [`approval_request`]: the tools of a brain, their caller, and the approval before a
//!   call; the tools themselves are [`bash`], [`skills`] and [`servers`], and [`approvals`] is the note in which a
//!   person decides;
//! - [`background`]: calls of brains outside of answers; [`rebuild_request`]: makes a turn's request again.

mod answer;
pub mod approval_request;
pub mod approvals;
mod background;
pub mod bash;
mod brain_chain;
pub mod brain_clients;
pub mod brains;
pub mod budget;
pub mod memory_answer;
pub mod rebuild_request;
pub mod servers;
pub mod skills;
mod tool_caller;
pub mod tools;
mod turn_memory;
pub mod usage;

pub use self::answer::{
    AnswerEngine, EngineParts, OtherBrains, RunPurpose, notes, other_brains, part_for_brain, read_vault_file,
};
pub use self::approval_request::{Approvals, NoApprovals};
pub use self::approvals::{VaultApprovals, Waiter};
pub use self::background::{Phraser, SummaryReport, SummaryWriter, WorkingMemoryWriter, background_calls};
pub use self::brain_chain::{CallPermits, ChainAnswer};
pub use self::memory_answer::{FoundMemory, MemorySearch};
pub use self::tools::{CombinedToolbox, Toolbox};
pub use self::turn_memory::{RecalledContext, TurnMemory, VaultMemory};

pub use crate::config::allow;
