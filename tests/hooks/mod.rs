//! The hooks as a host calls them: the real binary, recorded inputs on standard input, a hermetic vault.

mod archive;
mod archive_kills;
mod claims;
#[cfg(feature = "assistant")]
mod compactions;
mod fail_open;
mod host;
mod installing;
mod labelled;
mod over_mcp;
mod own_memories;
mod prompts;
mod recorded;
mod sessions;
