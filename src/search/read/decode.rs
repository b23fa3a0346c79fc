//! Decodes bytes as text: UTF-8, UTF-16 with a byte order mark, and Latin-1 if nothing else fits. Returns nothing if
//! the bytes are not text.
//!
//! UTF-8 with a few broken bytes is decoded with replacement characters. A few NUL bytes become blanks.

use std::borrow::Cow;

/// The encoding by which a file's bytes were decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16 of either order.
    Utf16,
    /// Latin-1 (as Windows-1252 without its extras).
    Latin1,
}

/// The text of `bytes`, or `None` where they are not text.
pub fn decode(bytes: &[u8]) -> Option<(Cow<'_, str>, Encoding)> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        Some((Cow::Owned(String::from_utf16_lossy(&units)), Encoding::Utf16))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        _ => {}
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // A stray NUL doesn't make a note binary, nor do those that a power cut left at its end; a run of them does.
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let nul = memchr::memchr_iter(0, &bytes[..end]).take(9).count();
    if end == 0 && !bytes.is_empty() {
        return None;
    }
    let bytes = &bytes[..end];
    if let Ok(text) = std::str::from_utf8(bytes) {
        // The text behind a NUL counts, too; a blank in its place leaves all other positions unchanged.
        let text = if nul == 0 { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\0', " ")) };
        return (nul <= 8).then_some((text, Encoding::Utf8));
    }
    let sample = &bytes[..bytes.len().min(4096)];
    let control = sample.iter().filter(|b| **b < 0x20 && !matches!(b, b'\n' | b'\r' | b'\t' | 0x0c)).count();
    if control * 50 > sample.len() {
        return None;
    }
    // Mostly UTF-8 with broken bytes: keep what is right.
    let lossy = String::from_utf8_lossy(bytes).replace('\0', " ");
    let broken = lossy.matches('\u{fffd}').count();
    let wide = lossy.chars().filter(|c| !c.is_ascii() && *c != '\u{fffd}').count();
    if wide > broken {
        return Some((Cow::Owned(lossy), Encoding::Utf8));
    }
    let latin = bytes.iter().map(|byte| if *byte == 0 { ' ' } else { char::from(*byte) });
    Some((Cow::Owned(latin.collect()), Encoding::Latin1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_encodings_are_read() {
        let utf16: Vec<u8> = "\u{feff}Grüße".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&utf16).unwrap(), ("Grüße".into(), Encoding::Utf16));
        let utf16: Vec<u8> = "\u{feff}Grüße".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&utf16).unwrap(), ("Grüße".into(), Encoding::Utf16));
        assert_eq!(decode(b"Gr\xfc\xdfe, caf\xe9").unwrap(), ("Grüße, café".into(), Encoding::Latin1));
        assert_eq!(decode("\u{feff}é".as_bytes()).unwrap(), ("é".into(), Encoding::Utf8));
        assert_eq!(decode("é日本 \u{fffd}".as_bytes()).unwrap().1, Encoding::Utf8);
        let mut broken = "Grüße und Äpfel ".as_bytes().to_vec();
        broken.push(0xff);
        assert_eq!(decode(&broken).unwrap().1, Encoding::Utf8);
    }

    #[test]
    fn binary_is_not_text() {
        assert!(decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x02\x58\x08\x06\0\0").is_none());
        assert!(decode(&[0; 64]).is_none());
        assert!(decode(b"").is_some());
    }
}
