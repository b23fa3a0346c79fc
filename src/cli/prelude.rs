//! Brings into scope the items that almost every command needs: `use crate::cli::prelude::*`.

pub(in crate::cli) use std::collections::HashSet;
pub(in crate::cli) use std::io::{BufRead, IsTerminal, Write};
pub(in crate::cli) use std::path::{Path, PathBuf};
pub(in crate::cli) use std::sync::Arc;
pub(in crate::cli) use std::time::Duration;

pub(in crate::cli) use jiff::{SignedDuration, Timestamp};
pub(in crate::cli) use serde::Serialize;
pub(in crate::cli) use serde_json::{Value, json};

pub(in crate::cli) use super::context::{Context, current_dir, day, on_workers, past, runtime, table};
pub(in crate::cli) use super::error::{CommandError, CommandResult, Result, Status};
pub(in crate::cli) use crate::instance::DaemonLock;
pub(in crate::cli) use crate::reminders::PlacedFinding;
pub(in crate::cli) use crate::terminal::{Ui, printable};
pub(in crate::cli) use crate::vault::{Actor, NotePath};
pub(in crate::cli) use crate::workspace::Workspace;
pub(in crate::cli) use crate::{config, when};
