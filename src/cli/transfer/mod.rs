//! Groups the commands that move data in and out: `import`, `export`, `migrate`.
//!
//! - [`import`], [`export`], [`migrate`]: one file for each command; [`adopt`] is `import --from tasks`;
//! - [`batch`]: writes an imported batch or shows it, and prints the report.

mod adopt;
mod batch;
pub(super) mod export;
pub(super) mod import;
pub(super) mod migrate;
