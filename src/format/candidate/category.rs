//! Names the six categories of memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The six categories of memories of source 002.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Identity: name, home, work, family, health.
    Profile,
    /// Likes, wishes and habits.
    Preferences,
    /// People, animals, things, places and projects that matter to a person.
    Entities,
    /// Past and coming events.
    Events,
    /// A problem and what solved it.
    Cases,
    /// A way of doing things that holds again and again.
    Patterns,
}

impl Category {
    /// All of them, in the source's order.
    pub const ALL: [Self; 6] =
        [Self::Profile, Self::Preferences, Self::Entities, Self::Events, Self::Cases, Self::Patterns];

    /// The word in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Preferences => "preferences",
            Self::Entities => "entities",
            Self::Events => "events",
            Self::Cases => "cases",
            Self::Patterns => "patterns",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Category {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|category| category.name() == text).ok_or(())
    }
}
