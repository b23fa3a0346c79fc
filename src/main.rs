//! Starts the program: [`vault_agent::cli::run`] parses the arguments, runs the command, prints its error and returns
//! the exit code. In the helper process that confines a command, [`vault_agent::confine::main`] runs instead.

use std::ffi::{OsString, c_int, c_long};
use std::process::ExitCode;

/// Gives free memory back to the system; with glibc's allocator a daemon at rest holds three times as much.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // The helper that confines a command is this program too, and wants to be alone in its process.
    if let Some(code) = vault_agent::confine::main(args.iter().cloned()) {
        return ExitCode::from(code);
    }
    vault_agent::confine::hide();
    // The allocator asks for pages of 2 MB, of which a daemon at rest uses half: with the usual ones it holds 40 MB
    // less.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    // Maybe a command that runs on until it is ended.
    if args.iter().any(|arg| ["run", "mcp", "web"].iter().any(|name| arg == name)) {
        // The allocator looks for free pages when it is asked for more, and a daemon at rest never asks.
        give_back_after(Some(0));
        let keep = |keeps| give_back_after(Some(if keeps { 1000 } else { 0 }));
        let _ = vault_agent::daemon::KEEP_FREE_MEMORY.set(keep);
        let _ = vault_agent::search::follow::follower::GIVE_BACK.set(|| give_back_after(None));
    }
    // Only test builds have failpoints; they are set by the environment variable `FAILPOINTS`.
    let _failpoints = fail::has_failpoints().then(fail::FailScenario::setup);
    let code = vault_agent::cli::run(args);
    // The end of the process gives back all at once.
    give_back_after(Some(-1));
    ExitCode::from(code)
}

/// Sets the delay in milliseconds after which the allocator gives a free page back to the system; a negative delay
/// means never. With 0 or without a number, the free pages of this thread are also given back at once.
fn give_back_after(milliseconds: Option<c_long>) {
    /// `mi_option_purge_delay`, in milliseconds.
    const PURGE_DELAY: c_int = 15;
    #[expect(unsafe_code, reason = "the allocator's options have no safe setter")]
    // SAFETY: the declarations are those of mimalloc's header; `mi_collect` may be called at any time, and the other
    // call stores a number in an option's atomic variable.
    unsafe {
        unsafe extern "C" {
            fn mi_option_set(option: c_int, value: c_long);
            fn mi_collect(force: bool);
        }
        if milliseconds.is_none_or(|delay| delay == 0) {
            // Before the delay is none: then the allocator takes it that nothing waits.
            mi_collect(true);
        }
        if let Some(delay) = milliseconds {
            mi_option_set(PURGE_DELAY, delay);
        }
    }
}
