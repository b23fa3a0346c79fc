//! Brings into scope the items that most files of delivery need: `use crate::deliver::prelude::*`.

pub(in crate::deliver) use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
pub(in crate::deliver) use std::time::Duration;

pub(in crate::deliver) use async_trait::async_trait;
pub(in crate::deliver) use jiff::tz::TimeZone;
pub(in crate::deliver) use jiff::{SignedDuration, Timestamp, civil};

pub(in crate::deliver) use crate::deliver::notifier::{
    MessageKind, MessageScope, NotifiedItem, Notifier, OutgoingMessage, SendOutcome,
};
pub(in crate::deliver) use crate::format::ReminderId;
pub(in crate::deliver) use crate::reminders::{PlacedFinding, rfc3339};
