//! What the assistant may do: its shell and its skills, over a model server of our own.
//!
//! Where this machine can't build the whole box, the shell's tests say so and pass.

pub mod rig;

mod bash;
mod recalled;
mod skills;
