//! A layer with the file that it is mapped from.
//!
//! A tail enters. A [`Layer`] leaves that is mapped from a file, named by its content, or kept in memory where there is no
//! folder that can be written to. A file is replaced in one step: written beside, renamed over.

use std::io::{self, Write};
use std::path::Path;

use tantivy::directory::OwnedBytes;

use crate::search::store::corpus::layer;
use crate::search::store::corpus::layer::Layer;
use crate::search::store::corpus::tail::Tail;
use crate::search::store::seal::Seal;

/// The ending of a layer's file.
const LAYER: &str = "layer";

/// A layer and the name of the file that it is mapped from, if it is on disk.
#[derive(Debug)]
pub struct Frozen {
    pub layer: Layer,
    /// With the file's seal.
    pub name: Option<(String, Seal)>,
}

impl Frozen {
    /// The layer of `tail`, in a file of `folder` where there is one that can be written to.
    pub fn new(tail: &Tail, folder: Option<&Path>) -> Option<Self> {
        let bytes = layer::bytes(tail);
        let on_disk = folder.and_then(|folder| {
            let name = write_layer(folder, &bytes).ok()?;
            Some(Self { layer: Layer::map(folder, &name.0)?, name: Some(name) })
        });
        // Bytes that were made here are those of a layer.
        on_disk.or_else(|| Some(Self { layer: Layer::new(OwnedBytes::new(bytes))?, name: None }))
    }
}

/// Writes a layer's bytes to `folder`; returns the name of its file, and its seal.
///
/// # Errors
/// The disk's.
pub fn write_layer(folder: &Path, bytes: &[u8]) -> io::Result<(String, Seal)> {
    let name = format!("recall-{}.{LAYER}", &blake3::hash(bytes).to_hex()[..16]);
    let path = folder.join(&name);
    replace(&path, |file| file.write_all(bytes))?;
    let seal = Seal::of(&path)?;
    Ok((name, seal))
}

/// Puts what `write` writes in the place of the file at `path`.
///
/// # Errors
/// The disk's; what was there stays then.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = std::fs::File::create(&temporary).and_then(|file| {
        let mut out = io::BufWriter::with_capacity(1 << 20, file);
        write(&mut out)?;
        out.flush()
    });
    let written = written.and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
