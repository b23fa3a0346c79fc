//! Reads how often a term occurs in a block, from its posting.

/// How often a term stands in a block's text, and whether it stands in the title or the headings above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::search) struct TermCount(pub u32);

impl TermCount {
    /// In the text, once.
    pub const ONCE: Self = Self(2);
    /// Above the text alone.
    pub const ABOVE: Self = Self(1);

    /// In the text.
    #[inline(always)]
    pub fn in_text(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it stands above the text.
    #[inline(always)]
    pub fn is_above(self) -> bool {
        self.0 & 1 == 1
    }

    /// In both.
    #[inline(always)]
    pub fn all(self) -> u32 {
        self.in_text() + u32::from(self.is_above())
    }
}
