//! Brains over real sockets: the three wires against a scripted model server.

pub mod rig;

mod approvals;
mod asking;
mod bounds;
mod capture;
mod conversation;
mod failures;
mod recalling;
mod seams;
pub mod spending;
