//! Writes attachments of a log: results that are too large for the log or are no text become files beside it, named by
//! their SHA-256.

use sha2::{Digest, Sha256};

use crate::hooks::archive::log_paths::LogPaths;
use crate::hooks::error::ArchiveError;
use crate::vault::Editor;

/// A longer text has a file of its own, in bytes.
pub const MAX_INLINE_BYTES: usize = 16 << 10;
/// The bytes of its beginning that are in the log all the same; of its end half as many.
const SHOWN: usize = 2048;

/// An attachment.
#[derive(Debug, PartialEq, Eq)]
pub struct DecodedAttachment {
    bytes: Vec<u8>,
    extension: &'static str,
}

impl DecodedAttachment {
    /// A text.
    pub fn text(text: String) -> Self {
        Self { bytes: text.into_bytes(), extension: "txt" }
    }

    /// A picture or a document from its base64; as it came where that is none.
    pub fn decode(media: &str, base64: &str) -> Self {
        let plain: Vec<u8> = base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let Ok(bytes) = data_encoding::BASE64.decode(&plain) else { return Self::text(base64.to_owned()) };
        let extension = match media {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            "application/pdf" => "pdf",
            "text/plain" => "txt",
            _ => "bin",
        };
        Self { bytes, extension }
    }
}

/// Writes a file once, and returns the link to it with its size and hash.
///
/// # Errors
/// It can't be written.
pub fn store(
    editor: &Editor,
    log_paths: &LogPaths,
    project: &str,
    file: &DecodedAttachment,
) -> Result<String, ArchiveError> {
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(&file.bytes));
    let path = log_paths.file(project, &format!("{hash}.{}", file.extension))?;
    // One write makes it, whole or not at all; one that is there already is the same.
    editor.append(&path, &file.bytes, &[])?;
    let shown = if matches!(file.extension, "txt" | "bin") { "" } else { "!" };
    Ok(format!("{shown}[[{path}]] ({} bytes, sha256 {hash})", file.bytes.len()))
}

/// The beginning and the end of a text that is too long for a log.
pub fn shortened(text: &str) -> Option<String> {
    if text.len() <= MAX_INLINE_BYTES {
        return None;
    }
    let (mut head, mut tail) = (SHOWN, text.len() - SHOWN / 2);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    Some(format!("{}\n[… {} bytes …]\n{}", &text[..head], tail - head, &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_are_shortened() {
        assert_eq!(shortened(&"x".repeat(MAX_INLINE_BYTES)), None);
        let text = format!("begin {} end", "é".repeat(MAX_INLINE_BYTES));
        let short = shortened(&text).unwrap();
        assert!(
            short.starts_with("begin é") && short.ends_with("é end") && short.len() < 2 * SHOWN,
            "{short}"
        );
    }

    #[test]
    fn base64_is_decoded() {
        assert_eq!(
            DecodedAttachment::decode("image/png", "aGk=\n"),
            DecodedAttachment { bytes: b"hi".to_vec(), extension: "png" }
        );
        assert_eq!(DecodedAttachment::decode("image/png", "%%"), DecodedAttachment::text("%%".to_owned()));
    }
}
