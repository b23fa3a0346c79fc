//! Reads Discord's ids in the settings: numbers, with or without quotes, since Discord itself writes them as text.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// An id that may be left out.
pub(in crate::config) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    DiscordId::deserialize(from).map(|id| Some(id.0))
}

/// A list of ids.
pub(in crate::config) fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    Vec::<DiscordId>::deserialize(from).map(|ids| ids.into_iter().map(|id| id.0).collect())
}

struct DiscordId(u64);

impl<'de> Deserialize<'de> for DiscordId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = DiscordId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id, the number that Discord copies in developer mode")
    }

    fn visit_u64<E: de::Error>(self, id: u64) -> Result<DiscordId, E> {
        Ok(DiscordId(id))
    }

    fn visit_i64<E: de::Error>(self, id: i64) -> Result<DiscordId, E> {
        u64::try_from(id).map(DiscordId).map_err(|_| E::invalid_value(de::Unexpected::Signed(id), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DiscordId, E> {
        text.trim().parse().map(DiscordId).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}
