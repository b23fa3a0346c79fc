//! The assistant: what is said becomes a turn, and a turn one answer. It wires the pure parts of `turn` and `brain` to
//! the vault, its settings and its secrets.
//!
//! A question comes in, with what may be used to answer it; one answer goes out. Nothing here sends an answer, and
//! nothing knows Discord. In the order in which it happens:
//! - [`setup`], [`calling`]: from the settings and their keys to brains that can be asked; [`brains`]: how they are;
//!   [`budget`]: what
//!   today has cost, against its bounds (what a turn does about it is [`answer`]'s `spending`; [`usage`] adds up logs
//!   for people);
//! - [`memory`], [`recollection`]: what memory gives a turn, and the answer that needs no model;
//! - [`answer`]: a turn from its question to its answer;
//! - [`tools`], [`caller`], [`approval`]: what a brain may call, who calls, and what a person is asked first; the tools
//!   themselves are [`bash`], [`skills`] and [`servers`], and [`approvals`] is the note in which a person answers;
//! - [`background`]: brains that are asked beside the answers; [`remade`]: a turn's request, made again.

mod answer;
pub mod approval;
pub mod approvals;
mod background;
#[cfg(unix)]
pub mod bash;
pub mod brains;
pub mod budget;
mod caller;
mod calling;
mod memory;
pub mod recollection;
pub mod remade;
#[cfg(unix)]
pub mod servers;
pub mod setup;
pub mod skills;
pub mod tools;
pub mod usage;

pub use self::answer::{Colleagues, Engine, EngineParts, Purpose, colleague, kept, notes, shown};
pub use self::approval::{Approvals, NoApprovals};
pub use self::approvals::VaultApprovals;
pub use self::background::{Done, Phraser, Rememberer, Scribe, beside};
pub use self::calling::Permits;
pub use self::memory::{Given, Remember, VaultMemory};
pub use self::recollection::{Memory, Recall};
pub use self::tools::{Boxes, NoTools, Toolbox};

pub use crate::config::allow;
