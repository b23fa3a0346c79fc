//! The command line as a person meets it: the real binary over a hermetic vault.

mod asking;
mod basics;
#[cfg(feature = "assistant")]
mod brains;
pub mod daemon;
mod docs;
mod doctor;
mod inbox;
mod init;
mod lcm;
mod machines;
mod pipes;
#[cfg(unix)]
mod setting_up;
#[cfg(unix)]
mod shells;
mod status;
