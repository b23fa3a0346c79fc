//! What most tests use: `use crate::support::prelude::*`.
#![allow(unused_imports)]

pub use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
pub use std::fs;
pub use std::io::{BufRead, BufReader, Read, Write};
pub use std::net::{SocketAddr, TcpListener, TcpStream};
pub use std::path::{Path, PathBuf};
pub use std::process::{Child, Command, Stdio};
pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub use std::sync::{Arc, Mutex};
pub use std::time::{Duration, Instant};

pub use async_trait::async_trait;
pub use fastrand::Rng;
pub use jiff::{SignedDuration, Timestamp};
pub use serde_json::{Value, json};
pub use tokio_util::sync::CancellationToken;
pub use vault_agent::clock::{Clock, ManualClock, SystemClock};
pub use vault_agent::config::Settings;
pub use vault_agent::schedule::Zone;
pub use vault_agent::vault::{Actor, ChangeReason, EditOptions, Editor, NotePath, Operation, Vault};
pub use vault_agent::workspace::Workspace;

pub(crate) use super::folder::holds_folder;
pub use super::folder::{Folder, files_below, names_in};
pub use super::processes::{
    Killed, again, doomed, killed_at, lives, named, python, python3, running, scripted_server, send_lines,
};
pub use super::{
    LOG_HEAD, Run, TestVault, bare_repository, block_on, contains_all, contains_none, event, pick, runtime,
    until, when, without_random,
};
#[cfg(unix)]
pub use super::{fifo, mode, set_mode, write_private, write_program};
pub use crate::models::{Asked, ModelServer, Reply};
pub(crate) use crate::support;
