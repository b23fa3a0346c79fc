//! Lists the paths that are visible in the box, each with its permitted use.
//!
//! The paths are those of the system's programs, libraries, configuration and devices, and those of the policy.

use std::path::{Path, PathBuf};

use crate::confine::Policy;

/// Programs and libraries.
const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/// The files of `/etc` that programs need. Named one by one: if the daemon is root, so is the command to the file
/// system, and could read password hashes and host keys.
const ETC: &str = "alternatives bash.bashrc ca-certificates debian_version environment.d fonts gitattributes gitconfig \
group host.conf hosts inputrc issue ld.so.cache ld.so.conf ld.so.conf.d lsb-release locale.alias \
locale.conf localtime magic magic.mime mime.types networks nsswitch.conf os-release papersize passwd \
perl pki/ca-trust/extracted pki/tls/certs profile protocols python3 resolv.conf services shells \
ssl/certs ssl/openssl.cnf terminfo timezone";

/// The devices.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The search path of a command.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A path outside the box that is visible in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VisiblePath {
    /// Its path outside the box, without symbolic links.
    pub source: PathBuf,
    /// Its path in the box.
    pub target: PathBuf,
    /// Its permitted use.
    pub use_: PathUse,
}

/// The permitted use of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathUse {
    /// Files are read and run.
    Read,
    /// A folder with hidden contents: its names are visible. Each readable part of it is a place of its own.
    List,
    /// A device is read and written.
    Device,
    /// Everything.
    Write,
}

/// All existing paths that a policy makes visible, parents first. `program` is this program's own file. The policy's
/// paths are without symbolic links: [`without_links`]. With `apart` a folder with hidden paths is given as its other
/// parts, one by one; a box with a root of its own gets the folder whole, and covers the hidden paths.
pub(super) fn of(policy: &Policy, program: &Path, apart: bool) -> std::io::Result<Vec<VisiblePath>> {
    let system = SYSTEM.iter().map(PathBuf::from);
    let etc = ETC.split(' ').map(|name| Path::new("/etc").join(name));
    let mut places: Vec<VisiblePath> =
        system.chain(etc).filter_map(|path| place(&path, path.clone(), PathUse::Read)).collect();
    places.extend(DEVICES.iter().filter_map(|path| place(Path::new(path), path.into(), PathUse::Device)));
    let mut read = vec![(program.to_path_buf(), PathUse::Read)];
    for path in &policy.read {
        let hide =
            policy.hide.iter().map(PathBuf::as_path).filter(|hidden| apart && hidden.starts_with(path));
        around(path, &hide.collect::<Vec<_>>(), &mut read);
    }
    for (path, use_) in read {
        places.extend(path.canonicalize().ok().and_then(|target| place(&path, target, use_)));
    }
    let scratch = policy.write.canonicalize()?;
    places.extend(place(&scratch, scratch.clone(), PathUse::Write));
    places.sort_by(|a, b| a.target.cmp(&b.target));
    Ok(places)
}

/// The parts of `path` without those that are hidden below it. A folder that can't be listed is left out.
fn around(path: &Path, hidden: &[&Path], out: &mut Vec<(PathBuf, PathUse)>) {
    if hidden.is_empty() {
        return out.push((path.to_path_buf(), PathUse::Read));
    }
    if hidden.contains(&path) {
        return;
    }
    let Ok(listed) = path.read_dir() else { return };
    out.push((path.to_path_buf(), PathUse::List));
    for entry in listed.flatten() {
        let child = entry.path();
        let hidden: Vec<&Path> = hidden.iter().copied().filter(|hidden| hidden.starts_with(&child)).collect();
        // A link's target is judged at its own path.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            around(&child, &hidden, out);
        }
    }
}

/// A symbolic link and its target.
pub(super) type Link = (PathBuf, PathBuf);

/// Resolves symbolic links in a policy's readable and hidden paths; returns the links that the box needs again, so that
/// a command that knows the path by its link finds it.
pub(super) fn without_links(policy: &mut Policy) -> Vec<Link> {
    let mut links = Vec::new();
    let paths = std::mem::take(&mut policy.read).into_iter();
    policy.read = paths
        .filter_map(|path| {
            let canonical = path.canonicalize().ok()?;
            if path.is_absolute() && path != canonical {
                links.push((path, canonical.clone()));
            }
            Some(canonical)
        })
        .collect();
    // A path that is gone meanwhile needs no hiding.
    let hide = std::mem::take(&mut policy.hide).into_iter();
    policy.hide = hide
        .filter_map(|path| match path.canonicalize() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            canonical => Some(canonical.unwrap_or(path)),
        })
        .collect();
    // Those of the old root: `/bin` to `usr/bin`.
    links.extend(SYSTEM.iter().filter_map(|path| Some((path.into(), std::fs::read_link(path).ok()?))));
    links
}

fn place(path: &Path, target: PathBuf, use_: PathUse) -> Option<VisiblePath> {
    Some(VisiblePath { source: path.canonicalize().ok()?, target, use_ })
}
