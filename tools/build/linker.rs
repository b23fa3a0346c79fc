//! Has the linker pack the addresses that are put right when the program starts, where linker and system can, and leave the
//! symbols out of releases.
//!
//! The program has 138,000 of them, each an entry of 24 bytes; packed, a few bits each: 3.3 MB less to ship, and to read at
//! each start. Linkers know the option since LLD 15, mold 1.3 and binutils 2.38; programs with it start on glibc 2.36 or musl
//! 1.2.4. So an empty program is linked with it and started. Where that fails, as for another processor, nothing is packed.

use std::env;
use std::path::Path;
use std::process::Command;

const PACK: &str = "-Wl,-z,pack-relative-relocs";

/// Tells Cargo to pack the program's addresses, if an empty program in `folder` runs that is linked like that.
pub fn pack_relocations(folder: &Path) {
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") && runs_packed(folder) {
        println!("cargo::rustc-link-arg-bins={PACK}");
    }
}

/// Tells Cargo to leave the symbols out of a release: with an own level of optimisation for our crate it doesn't by itself.
pub fn strip_releases() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}

/// Compiles and links an empty program as Cargo does ours, and starts it.
fn runs_packed(folder: &Path) -> bool {
    let cargo = |name: &str| env::var(name).ok();
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    let mut rustc = Command::new(cargo("RUSTC").expect("cargo names the compiler"));
    rustc.arg(&source).arg("-o").arg(&program).args(["-C", &format!("link-arg={PACK}")]);
    rustc.arg("--target").arg(cargo("TARGET").expect("cargo names the target"));
    if let Some(linker) = cargo("RUSTC_LINKER") {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    let flags = cargo("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    std::fs::write(&source, "fn main() {}").is_ok()
        && succeeds(&mut rustc)
        && succeeds(&mut Command::new(&program))
}
