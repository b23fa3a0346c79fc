//! Parses a file's bytes into a note of [`block::Block`]s. Pure: the caller reads the file.
//!
//! - [`mod@file`]: chooses the reader; [`decode`]: bytes to text; [`note`]: notes; `transcript`: logs; [`markdown`]:
//!   the reader of Markdown, with `frontmatter`, `comment`, `inline` (tags, dates, block ids) and `markdown::plain` for
//!   its parts.
//! - `split_long`: cuts long blocks.
//! - [`block`]: the parts of a note.
//! - `template_text`: text that this program wrote into a new vault, which is no memory.

pub mod block;

pub mod decode;
pub mod file;
pub mod markdown;
pub mod note;

mod comment;
mod frontmatter;
mod inline;
mod split_long;
pub(in crate::search) mod template_text;
pub(in crate::search) mod transcript;
