//! The assistant: what is said becomes a turn, and a turn one answer. It wires the pure parts of `turn` and `brain` to
//! the vault, its settings and its secrets.
//!
//! A question comes in, with what may be used to answer it; one answer goes out. Nothing here sends an answer, and
//! nothing knows Discord. In the order in which it happens:
//! - [`brain_clients`], [`brain_chain`]: from the settings and their keys to brains that can be asked; [`brains`]: how they are;
//!   [`budget`]: what
//!   today has cost, against its bounds (what a turn does about it is [`answer`]'s `budget_check`; [`usage`] adds up logs
//!   for people);
//! - [`turn_memory`], [`memory_answer`]: what memory gives a turn, and the answer that needs no model;
//! - [`answer`]: a turn from its question to its answer;
//! - [`tools`], [`tool_caller`], [`approval_request`]: what a brain may call, who calls, and what a person is asked first; the tools
//!   themselves are [`bash`], [`skills`] and [`servers`], and [`approvals`] is the note in which a person answers;
//! - [`background`]: brains that are asked beside the answers; [`rebuild_request`]: a turn's request, made again.

mod answer;
pub mod approval_request;
pub mod approvals;
mod background;
#[cfg(unix)]
pub mod bash;
mod brain_chain;
pub mod brain_clients;
pub mod brains;
pub mod budget;
pub mod memory_answer;
pub mod rebuild_request;
#[cfg(unix)]
pub mod servers;
pub mod skills;
mod tool_caller;
pub mod tools;
mod turn_memory;
pub mod usage;

pub use self::answer::{Colleagues, Engine, EngineParts, RunPurpose, colleague, kept, notes, shown};
pub use self::approval_request::{Approvals, NoApprovals};
pub use self::approvals::VaultApprovals;
pub use self::background::{Phraser, Scribe, ScribeReport, WorkingMemoryWriter, background_calls};
pub use self::brain_chain::CallPermits;
pub use self::memory_answer::{FoundMemory, MemorySearch};
pub use self::tools::{CombinedToolbox, NoTools, Toolbox};
pub use self::turn_memory::{RecalledContext, TurnMemory, VaultMemory};

pub use crate::config::allow;
