//! Programs as brains: a stand-in that speaks their protocol over real pipes, our real MCP server behind it, a
//! scripted model server before it. The real programs are checked by hand, see `run`.

mod rig;
mod stand;
pub mod stand_in;

mod acp;
mod acp_real;
mod bad;
mod codex;
mod codex_real;
mod orphans;
mod others;
mod process;
mod real;
mod turns;
