//! placeholder until the branch `format` is merged.
use super::DropReason;
use serde::{Deserialize, Serialize};
/// Status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Status {
    Pending,
    Delivered,
    Cancelled,
}
pub(super) fn set_status(_: &[u8], _: &str, _: Status, _: Status) -> Result<Vec<u8>, DropReason> {
    Err(DropReason::Gone)
}
