//! From a file's bytes to a note of [`block::Block`]s. Pure: whoever reads the file brings the bytes.
//!
//! - [`mod@file`]: which reader a file gets; [`decode`]: bytes to text; [`note`]: notes; `transcript`: logs; [`markdown`]: the reader of Markdown, with
//!   `frontmatter`, `comment`, `inline` (tags, dates, block ids) and `markdown::plain` for what stands in it.
//! - `cut`: where a block that is too long is cut.
//! - [`block`]: what a note is made of.
//! - `shipped`: what this program itself wrote into a new vault, which is nobody's memory.

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
