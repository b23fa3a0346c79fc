//! Makes and recognises the id of a reminder: `rid_` and twelve characters of the base-32 alphabet, sixty random bits.
//!
//! Written ids use A-Z and 2-7. Any digit is accepted when reading, as in the design's own example, so that a copied
//! line with a 9 still fires. An id is random, unique in its file, and never changed once written. Random bytes come in
//! as an argument; this room draws none.

use std::{fmt, str::FromStr};

const PREFIX: &str = "rid_";
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// The length of an id in bytes.
const LENGTH: usize = 16;

/// The id of a reminder, such as `rid_K5V4M2J7Q2ZP`.
///
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(align(8))]
pub struct ReminderId([u8; LENGTH]);

impl ReminderId {
    /// The id made of the first sixty of these random bits.
    pub fn from_random(random: [u8; 8]) -> ReminderId {
        let bits = u64::from_be_bytes(random);
        let mut id = [0; LENGTH];
        id[..PREFIX.len()].copy_from_slice(PREFIX.as_bytes());
        for (place, byte) in id[PREFIX.len()..].iter_mut().enumerate() {
            *byte = ALPHABET[(bits >> (59 - 5 * place)) as usize & 31];
        }
        ReminderId(id)
    }

    /// The id that these bytes spell, if they spell one.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Option<ReminderId> {
        let id: [u8; LENGTH] = bytes.try_into().ok()?;
        let good = id[..4] == *b"rid_"
            && id[4..].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        good.then_some(ReminderId(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("an id is ASCII by construction")
    }
}

impl fmt::Display for ReminderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for ReminderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Text that isn't a reminder's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a reminder id: one is `rid_` and 12 characters of A-Z and 2-7")]
pub struct IdError(String);

impl FromStr for ReminderId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<ReminderId, IdError> {
        ReminderId::from_bytes(text.as_bytes()).ok_or_else(|| IdError(super::quote(text)))
    }
}

impl serde::Serialize for ReminderId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for ReminderId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ReminderId, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bits_become_an_id_and_back() {
        assert_eq!(ReminderId::from_random([0; 8]).as_str(), "rid_AAAAAAAAAAAA");
        assert_eq!(ReminderId::from_random([0xff; 8]).as_str(), "rid_777777777777");
        let id = ReminderId::from_random(*b"whatever");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn anything_else_is_no_id() {
        for text in
            ["", "rid_", "rid_K5V4M2J-Q2ZP", "rid_k5v4m2j7q2zp", "RID_K5V4M2J7Q2ZP", "rid_K5V4M2J7Q2ZPA"]
        {
            assert!(text.parse::<ReminderId>().is_err(), "{text}");
        }
    }
}
