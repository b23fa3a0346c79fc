//! The assistant: what is said becomes a turn, and a turn one answer. It wires the pure parts of `turn` and `brain` to
//! the vault, its settings and its secrets.
//!
//! [`setup`] makes brains of what the settings name, with their keys.

pub mod setup;
