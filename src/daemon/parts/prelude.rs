//! Brings into scope the items that almost every part needs: `use super::prelude::*`.

pub(super) use std::sync::Arc;
pub(super) use std::time::Duration;

pub(super) use crate::daemon::part::{
    CallPermits, DaemonEvent, PartContext, PartEvents, StatusBoard, blocking,
};
pub(super) use crate::vault::{NotePath, WatchEvent};
pub(super) use crate::workspace::Workspace;
