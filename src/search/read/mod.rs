//! Parses a file's bytes into a [`ParsedNote`], which is a list of blocks ([`parse`]): a log by its events, any other
//! file as a note. Leaves out the text of a new vault's template. Pure: the caller reads the file.
//!
//! - [`decode`]: bytes to text; [`note`]: notes; `transcript`: logs; [`markdown`]: Markdown, with `frontmatter` and
//!   `markup` (comments, HTML).
//! - [`block`]: the block, the parsed note, and the cutting of long blocks.
//! - `template_text`: text that this program wrote into a new vault, which is no memory.

pub mod block;

pub mod decode;
pub mod markdown;
pub mod note;

mod frontmatter;
mod markup;
pub(in crate::search) mod template_text;
pub(in crate::search) mod transcript;

pub(in crate::search) use block::{Block, Kind, Lines, Role, pieces};
pub(in crate::search) use note::{folded, is_below, is_link_to, is_link_to_names, names_of_path};
pub(in crate::search) use template_text::is_shipped;

use block::ParsedNote;
use note::Options;

/// Reads a file.
///
/// # Errors
/// The reason why it can't be indexed, for a person.
pub fn parse(path: &str, bytes: &[u8], options: &Options) -> Result<ParsedNote, String> {
    if options.is_log(path)
        && let Some(note) = transcript::parse(path, bytes, options)
    {
        return Ok(note);
    }
    let mut note = note::read(path, bytes, options)?;
    template_text::take_out(path, &mut note.blocks);
    Ok(note)
}

#[cfg(test)]
mod tests;
