//! What the helper has found out about this machine.

use super::wire::Layers;

/// What a helper can build on this machine.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// What a box is made of; why there is none.
    pub layers: Result<Layers, String>,
    /// Why there are no namespaces, where there are none.
    pub why_none: Option<String>,
}
