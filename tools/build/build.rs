//! Prepares a build: the table of time zones, and the linker's options.

use std::path::PathBuf;

mod linker;
mod zones;

fn main() {
    println!("cargo::rerun-if-changed=tools/build");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names a folder"));
    zones::write_table(&folder);
    linker::pack_relocations(&folder);
    linker::strip_releases();
}
