//! Starts the program. [`vault_agent::cli::run`] parses, dispatches, prints an error and gives the exit code. Called as
//! the helper that confines a command, it runs [`vault_agent::confine::main`].

use std::process::ExitCode;

/// Gives free memory back to the system; with glibc's allocator a daemon at rest holds three times as much.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The helper that confines a command is this program too, and wants to be alone in its process.
    if let Some(code) = vault_agent::confine::main(std::env::args_os()) {
        return ExitCode::from(code);
    }
    vault_agent::confine::hide();
    // The allocator asks for pages of 2 MB, of which a daemon at rest uses half: with the usual ones it holds 40 MB less.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    give_back_at_once();
    // Only test builds have failpoints; they are set by the environment variable `FAILPOINTS`.
    let _failpoints = fail::has_failpoints().then(fail::FailScenario::setup);
    ExitCode::from(vault_agent::cli::run(std::env::args_os()))
}

/// Has the allocator give free pages back when they become free, not a second later: it looks for them when it is asked
/// for more, and of a daemon at rest nobody asks.
fn give_back_at_once() {
    /// `mi_option_purge_delay`, in milliseconds.
    const PURGE_DELAY: std::ffi::c_int = 15;
    #[expect(unsafe_code, reason = "the allocator's options have no safe setter")]
    // SAFETY: the declaration is that of mimalloc's header; the call stores a number in an option's atomic variable.
    unsafe {
        unsafe extern "C" {
            fn mi_option_set(option: std::ffi::c_int, value: std::ffi::c_long);
        }
        mi_option_set(PURGE_DELAY, 0);
    }
}
