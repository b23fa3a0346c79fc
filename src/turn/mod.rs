//! A message's way to its one answer: state, routing, assembly. Pure, with the journal at its rim.
//!
//! [`facts`] is the line that ends each `[!agent]` block of a log: who answered, and what it took.

pub mod facts;

pub use facts::Facts;
