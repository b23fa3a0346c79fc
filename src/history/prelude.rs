//! Brings into scope the items that most files of history need: `use crate::history::prelude::*`.

pub(in crate::history) use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
pub(in crate::history) use std::fs;
pub(in crate::history) use std::ops::ControlFlow;
pub(in crate::history) use std::path::{Path, PathBuf};

pub(in crate::history) use git2::{ObjectType, Oid};
pub(in crate::history) use jiff::Timestamp;
pub(in crate::history) use serde::{Deserialize, Serialize};
pub(in crate::history) use similar::DiffTag;

pub(in crate::history) use crate::schedule::Zone;
pub(in crate::history) use crate::vault::{Actor, ChangeReason, Editor, NotePath};
