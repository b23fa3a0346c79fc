//! Brings into scope the items that most files of the vault need: `use crate::vault::prelude::*`.

pub(in crate::vault) use std::borrow::Cow;
pub(in crate::vault) use std::collections::{BTreeMap, BTreeSet};
pub(in crate::vault) use std::fs::File;
pub(in crate::vault) use std::ops::Range;
pub(in crate::vault) use std::os::fd::OwnedFd;
pub(in crate::vault) use std::os::unix::fs::MetadataExt;
pub(in crate::vault) use std::path::{Path, PathBuf};
pub(in crate::vault) use std::time::{Duration, Instant};
pub(in crate::vault) use std::{fs, io};

pub(in crate::vault) use rustix::fs::OFlags;
pub(in crate::vault) use rustix::io::Errno;
pub(in crate::vault) use serde::{Deserialize, Serialize};
