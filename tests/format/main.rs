//! The formats of a vault, held to their grammar: conformance vectors, sentences made from the ABNF files
//! themselves, properties over arbitrary bytes, and the fuzz targets run briefly.

mod commitment;
mod reminder;
