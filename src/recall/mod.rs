//! From a question to the few memories that matter. (wip)
pub mod corpus;
pub mod matrix;
pub mod question;
pub mod score;
pub mod signal;
pub mod text;
