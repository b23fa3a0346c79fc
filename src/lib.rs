//! Contains the whole program behind the one binary: a personal agent with Markdown notes as its only database.
//!
//! A room is a file or folder directly in `src/`. `ARCHITECTURE.md` lists the rooms from the pure core outwards, with
//! their invariants. A room uses only rooms above it in that list, except for the entry points of people and programs
//! (such as `cli`).
//!
//! A message for people is worded in the code that produces it:
//! - an error in its room's `error`;
//! - a notification in the room that sends it;
//! - the status of a daemon part in `daemon::parts`;
//! - all other output of a command in `cli`.

mod defaults;
mod error_rules;
mod sqlite;
mod words;

pub mod clock;
pub mod config;
pub mod format;
pub mod redact;
pub mod schedule;
pub mod template;
pub mod terminal;
pub mod vault;
pub mod when;

pub mod reminders;
pub mod tasks;

pub mod memory;

pub mod transfer;

pub mod history;

pub mod conflicts;

pub mod search;

pub mod embed;

pub mod rerank;

pub mod machines;

pub mod deliver;

pub mod agenda;
mod notifiers;
pub mod pause;
pub mod workspace;

pub mod listen;

pub mod instance;
pub mod setup;

pub mod confine;

#[cfg(feature = "assistant")]
pub mod brain;

#[cfg(feature = "assistant")]
pub mod turn;

#[cfg(feature = "assistant")]
pub mod summary;

#[cfg(feature = "assistant")]
pub mod agent;

#[cfg(feature = "assistant")]
pub mod routines;

pub mod capture;
pub mod doctor;

#[cfg(feature = "assistant")]
pub mod discord;

pub mod mcp;

#[cfg(feature = "assistant")]
pub mod toolbox;

#[cfg(feature = "assistant")]
pub mod web;

pub mod hooks;

pub mod daemon;

pub mod cli;
