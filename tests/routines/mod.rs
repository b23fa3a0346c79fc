//! Routines end to end: the real runner over real notes, journals and logs, a clock that is set by hand, a place that
//! deduplicates as Discord does, and models over real sockets.

mod asking;
mod by_hand;
mod conditions;
mod days;
mod hostile;
mod killed;
mod rig;
