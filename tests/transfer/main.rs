//! From and to elsewhere: `migrate`, `import` and `export`, as a person types them, and the calendar
//! against an independent reader.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod calendar;
mod export;
mod hostile;
mod import;
mod migrate;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
