//! The map of the code is true: who may use whom, how large a folder and a file may be, and which files the pages for
//! whoever comes next name.
//!
//! All of it is read from the text of `src/` and of the pages; nothing of the library is linked, so it takes no time.

mod floors;
mod modules;
mod pages;
mod sizes;
