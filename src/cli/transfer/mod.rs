//! From and to elsewhere: `import`, `export`, `migrate`.
//!
//! - [`import`], [`export`], [`migrate`]: one file a command; [`adopt`] is `import --from tasks`;
//! - [`batch`]: what was read is written, or shown, and what came of it is said.

mod adopt;
mod batch;
pub(super) mod export;
pub(super) mod import;
pub(super) mod migrate;
