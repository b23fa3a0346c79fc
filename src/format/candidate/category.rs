//! Names the six categories of memories.

use crate::words::words;

words! {
    /// The six categories of memories of source 002.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Category, name {
        /// Identity: name, home, work, family, health.
        Profile = "profile",
        /// Likes, wishes and habits.
        Preferences = "preferences",
        /// People, animals, things, places and projects that matter to a person.
        Entities = "entities",
        /// Past and coming events.
        Events = "events",
        /// A problem and what solved it.
        Cases = "cases",
        /// A way of doing things that holds again and again.
        Patterns = "patterns",
    }
}
