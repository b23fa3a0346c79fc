//! Other people's MCP servers as tools of a turn: real programs over real pipes, and our own server as a good one.

mod hostile;
mod rig;
mod well;
