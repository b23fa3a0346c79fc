//! Makes random secrets, and compares them in constant time.

use data_encoding::HEXLOWER;

/// A random secret of `BYTES` bytes, as twice as many characters.
///
/// # Errors
/// The operating system gives no random numbers.
pub fn random<const BYTES: usize>() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(HEXLOWER.encode(&bytes))
}

/// Whether two secrets are the same. Takes as long for a near miss as for a far one.
pub fn is_same(one: &str, other: &str) -> bool {
    blake3::hash(one.as_bytes()) == blake3::hash(other.as_bytes())
}

/// The stored form of a secret: its hash, which can't be reversed.
pub fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}
