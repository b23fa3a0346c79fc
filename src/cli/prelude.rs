//! Brings into scope the items that almost every command needs: `use crate::cli::prelude::*`.

pub(in crate::cli) use std::path::{Path, PathBuf};
pub(in crate::cli) use std::sync::Arc;

pub(in crate::cli) use serde::Serialize;
pub(in crate::cli) use serde_json::json;

pub(in crate::cli) use super::context::{Context, current_dir, on_workers, past, runtime, table};
pub(in crate::cli) use super::error::{CommandError, CommandResult, Result, Status};
pub(in crate::cli) use crate::workspace::Workspace;
