//! Holds the models, one file each. A text comes in; a vector goes out.
//!
//! - [`table`]: the built-in one, one vector a token; [`folder`]: another of its kind, from a folder; [`static_model`]: the one of
//!   these two that blocks are embedded with;
//! - [`local`]: a sentence model from a directory, with [`bert`] as its encoder;
//! - [`http`]: models behind an endpoint.

pub mod bert;
pub mod folder;
pub mod http;
pub mod local;
mod static_model;
pub mod table;

pub use static_model::{Embedder, StaticModel};
pub use table::BuiltinTable;
