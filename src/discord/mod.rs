//! Discord: notifications, commands, and the conversation as notes.

pub mod access;
pub mod error;
pub mod gateway;
pub mod http;
pub mod mentions;
pub mod message;
pub mod responder;
pub mod snowflake;
pub mod typing;
