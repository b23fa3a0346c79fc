//! The formats of a vault, held to their grammar: conformance vectors, sentences made from the ABNF files
//! themselves, properties over arbitrary bytes, and the fuzz targets run briefly.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod abnf;
mod commitment;
mod done;
mod fuzz;
mod generator;
mod grammar;
mod reminder;
mod speed;
mod tasks;
mod vectors;
