//! Proofs: whether the history is whole and still the one that was written, and what each commit shows.
//!
//! - [`integrity`]: objects, trees and the list of snapshots against each other;
//! - [`audit`]: what the history says of each write and each delivery.
//!
//! Nothing is repaired here.

mod audit;
mod integrity;

pub use audit::{AuditReport, Delivered, DeliveryRecord, Violation, audit};
pub use integrity::{CheckDepth, Flaw, Verification};
