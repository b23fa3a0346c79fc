//! Verifies that the history is complete and unchanged, and audits each commit.
//!
//! - [`integrity`]: objects, trees and the list of snapshots against each other;
//! - [`audit`]: each write and each delivery against the promises.
//!
//! Nothing is repaired here.

mod audit;
mod integrity;

pub use audit::{AuditReport, DeliveryRecord, Violation, audit};
pub use integrity::{CheckDepth, Verification};
