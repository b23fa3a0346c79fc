//! Defines the helper's report about this machine: the kernel's features that it found.

use super::wire::Layers;

/// The kinds of boxes that a helper can build on this machine.
#[derive(Debug, Clone)]
pub(super) struct Capabilities {
    /// The layers of a box; or the reason why there is none.
    pub layers: Result<Layers, String>,
    /// Why there are no namespaces, if so.
    pub why_none: Option<String>,
}
