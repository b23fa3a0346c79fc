//! Reads Discord's ids in the settings: numbers, with or without quotes, since Discord itself writes them as text.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// An id that may be left out.
pub(in crate::config) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Id::deserialize(from).map(|id| Some(id.0))
}

/// A list of ids.
pub(in crate::config) fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    Vec::<Id>::deserialize(from).map(|ids| ids.into_iter().map(|id| id.0).collect())
}

struct Id(u64);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Read)
    }
}

struct Read;

impl Visitor<'_> for Read {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id, the number that Discord copies in developer mode")
    }

    fn visit_u64<E: de::Error>(self, id: u64) -> Result<Id, E> {
        Ok(Id(id))
    }

    fn visit_i64<E: de::Error>(self, id: i64) -> Result<Id, E> {
        u64::try_from(id).map(Id).map_err(|_| E::invalid_value(de::Unexpected::Signed(id), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
        text.trim().parse().map(Id).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}
