//! Parses a file's bytes into [`Parsed`]: a log by its events, any other file as a note, without the text that this
//! program wrote into a new vault.

use crate::search::read::note::{self, Options, Parsed};
use crate::search::read::{decode, template_text, transcript};

/// Reads a file.
///
/// # Errors
/// Why it can't be indexed, for a person.
pub fn parse(path: &str, bytes: &[u8], options: &Options) -> Result<Parsed, String> {
    if options.is_log(path)
        && let Some(parsed) = transcript::parse(path, bytes, options)
    {
        return Ok(parsed);
    }
    let mut parsed = note::read(path, bytes, options)?;
    if let Some((text, _)) = decode::decode(bytes).filter(|_| !parsed.note.blocks.is_empty()) {
        template_text::take_out(path, &text, &mut parsed.note.blocks);
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests;
