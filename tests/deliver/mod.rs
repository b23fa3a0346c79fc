//! Delivery end to end: passes over real files with a real journal, a clock that is set by hand and a
//! notifier that remembers what it took.

mod agenda;
mod commands;
pub mod confirming;
mod copies;
mod crashes;
#[cfg(target_os = "linux")]
mod desktop;
mod failures;
mod follow_ups;
pub mod machines;
mod machines_world;
#[allow(dead_code)]
mod memory;
mod notifiers;
mod passes;
#[cfg(feature = "assistant")]
mod phrases;
mod quiet;
pub mod servers;
#[cfg(unix)]
pub mod setting_up;
mod simulation;
mod task_commands;
mod task_crashes;
mod tasks;
pub mod world;
