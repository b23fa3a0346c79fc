//! The formats of a vault, held to their grammar: conformance vectors, sentences made from the ABNF files
//! themselves, properties over arbitrary bytes, and the fuzz targets run briefly.

mod abnf;
mod commitment;
mod done;
mod fuzz;
mod grammar;
mod reminder;
mod tasks;
pub mod tool_call;
mod vectors;
