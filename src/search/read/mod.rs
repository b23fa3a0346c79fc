//! Parses a file's bytes into a note of [`block::Block`]s. Pure: the caller reads the file.
//!
//! - [`mod@file`]: chooses the reader; [`decode`]: bytes to text; [`note`]: notes; `transcript`: logs; [`markdown`]:
//!   the reader of Markdown, with `frontmatter`, `comment`, `inline` (tags, dates, block ids) and `markdown::plain` for
//!   its parts.
//! - `cut`: cuts long blocks.
//! - [`block`]: the parts of a note.
//! - `shipped`: text that this program wrote into a new vault, which is no memory.

pub mod block;

pub mod decode;
pub mod file;
pub mod markdown;
pub mod note;

mod comment;
mod cut;
mod frontmatter;
mod inline;
pub(in crate::search) mod shipped;
pub(in crate::search) mod transcript;
