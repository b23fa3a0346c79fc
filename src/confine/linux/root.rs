//! Builds the namespaces of the box and its root. The root holds only the system, the readable paths and the scratch
//! folder.
//!
//! All mounts but the scratch folder are read-only, because Landlock doesn't restrict changes of modes, owners and
//! times.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change,
    mount_remount, move_mount, open_tree, unmount,
};
use rustix::thread::UnshareFlags;

use super::failed;
use super::visible_paths::{Link, PathUse, VisiblePath};

/// The user and group id of a command in the box. Not 0: a process that isn't root loses all rights of root when it
/// executes a program.
const INSIDE: u32 = 1000;

/// Puts this process into namespaces of its own, and its children into a process namespace of theirs.
pub(super) fn enter_namespaces(proc: &OwnedFd, network: bool) -> Result<(), String> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let mut flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    flags.set(UnshareFlags::NEWNET, !network);
    // Deprecated since it is not safe with a flag that is not used here, which parts threads' descriptors.
    #[allow(deprecated)]
    let made = rustix::thread::unshare(flags);
    made.map_err(|error| format!("no user namespace can be made: {error}"))?;
    for (file, text) in [
        ("self/setgroups", "deny".to_owned()),
        ("self/uid_map", format!("{INSIDE} {} 1", user.as_raw())),
        ("self/gid_map", format!("{INSIDE} {} 1", group.as_raw())),
    ] {
        write(proc, file, &text)
            .map_err(|error| format!("no user namespace can be used ({file}): {error}"))?;
    }
    let _ = rustix::system::sethostname(b"box");
    Ok(())
}

/// Gives this process a root that holds `places` except for the paths in `hide`, and nothing else.
pub(super) fn build(
    proc: &OwnedFd,
    places: &[VisiblePath],
    hide: &[PathBuf],
    links: &[Link],
) -> Result<(), String> {
    let trees: Vec<(OwnedFd, &VisiblePath)> = kept(places)
        .map(|place| Ok((tree(&place.source)?, place)))
        .collect::<io::Result<_>>()
        .map_err(failed("a place can't be copied"))?;
    assemble(&trees, hide, links).map_err(failed("no root can be made"))?;
    let scratch =
        places.iter().find(|place| place.use_ == PathUse::Write).map(|place| place.target.as_path());
    read_only(proc, scratch).map_err(failed("the root can't be made read-only"))
}

/// Without the places that a parent already contains, and without links of the old root.
fn kept(places: &[VisiblePath]) -> impl Iterator<Item = &VisiblePath> {
    let mut read: Vec<&Path> = Vec::new();
    let mut seen = HashSet::new();
    places.iter().filter(move |place| {
        let is_link = place.target.components().count() == 2 && place.target.is_symlink();
        let is_shown = place.use_ == PathUse::Read
            && place.source == place.target
            && read.iter().any(|above| place.target.starts_with(above));
        if is_link || is_shown || !seen.insert((&place.target, place.use_ == PathUse::Write)) {
            return false;
        }
        if place.source == place.target {
            read.push(&place.target);
        }
        true
    })
}

fn tree(path: &Path) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags).map_err(|error| {
        io::Error::new(io::Error::from(error).kind(), format!("{}: {error}", path.display()))
    })
}

fn assemble(trees: &[(OwnedFd, &VisiblePath)], hide: &[PathBuf], links: &[Link]) -> io::Result<()> {
    // Nothing that happens here is seen outside; any folder will do to hang the new root on.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount(
        "tmpfs",
        "/usr",
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NODEV,
        c"mode=0755,size=1m,nr_inodes=1024",
    )?;
    std::env::set_current_dir("/usr")?;
    let mut shown: Vec<&Path> = Vec::new();
    for (fd, place) in trees {
        let target = inside(&place.target);
        // In a folder that is shown already it exists, and nothing may be made there.
        if !shown.iter().any(|above| place.target.starts_with(above)) {
            make(fd, target)?;
        }
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(fd.as_fd(), "", CWD, target, flags)
            .map_err(io::Error::from)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", place.target.display())))?;
        shown.push(&place.target);
    }
    for path in hide {
        cover(inside(path))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    }
    for (link, to) in links.iter().filter(|(link, _)| !shown.iter().any(|above| link.starts_with(above))) {
        std::fs::create_dir_all(inside(link).parent().unwrap_or(Path::new(".")))?;
        // If a part of it is a link itself, it exists already.
        let _ = std::os::unix::fs::symlink(to, inside(link));
    }
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")
}

/// Covers a hidden path with something unreadable: a folder without rights, or a device where there may be
/// none.
fn cover(target: &Path) -> io::Result<()> {
    use rustix::fs::FileType;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let over = match rustix::fs::open(target, flags, Mode::empty()) {
        // It was removed meanwhile, or its folder is not in the box.
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(()),
        over => over?,
    };
    if FileType::from_raw_mode(rustix::fs::fstat(&over)?.st_mode) == FileType::Directory {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        return Ok(mount("tmpfs", target, "tmpfs", flags, c"mode=0000,size=4k,nr_inodes=2")?);
    }
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree(Path::new("/dev/null"))?.as_fd(), "", over.as_fd(), "", flags)?)
}

fn inside(target: &Path) -> &Path {
    target.strip_prefix("/").unwrap_or(target)
}

/// Makes the empty file or folder that a place is mounted on.
fn make(fd: &OwnedFd, target: &Path) -> io::Result<()> {
    use rustix::fs::FileType;
    if FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode) == FileType::Directory {
        return std::fs::create_dir_all(target);
    }
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::File::create(target).map(drop)
}

/// Makes every mount but the scratch read-only, including nested mounts.
fn read_only(proc: &OwnedFd, scratch: Option<&Path>) -> io::Result<()> {
    let mounts = read(proc, "self/mountinfo")?;
    for (point, noexec) in mounts.lines().filter_map(mount_point) {
        let mut flags = MountFlags::BIND | MountFlags::NOSUID;
        flags.set(MountFlags::RDONLY, Some(point.as_path()) != scratch);
        flags.set(MountFlags::NOEXEC, noexec);
        flags.set(MountFlags::NODEV, !point.starts_with("/dev"));
        let done = mount_remount(&point, flags, c"");
        done.map_err(|error| {
            io::Error::new(io::Error::from(error).kind(), format!("{}: {error}", point.display()))
        })?;
    }
    Ok(())
}

/// The path and whether nothing may be executed there, of a line of `mountinfo`.
fn mount_point(line: &str) -> Option<(PathBuf, bool)> {
    let mut fields = line.split(' ').skip(4);
    let (point, options) = (fields.next()?, fields.next()?);
    let mut path = String::new();
    let mut rest = point;
    while let Some((before, after)) = rest.split_once('\\') {
        path.push_str(before);
        let (code, after) = after.split_at_checked(3)?;
        path.push(char::from(u8::from_str_radix(code, 8).ok()?));
        rest = after;
    }
    path.push_str(rest);
    Some((path.into(), options.split(',').any(|option| option == "noexec")))
}

/// Reads a file of `/proc`, which the box does not have.
pub(super) fn read(proc: &OwnedFd, file: &str) -> io::Result<String> {
    let fd = rustix::fs::openat(proc, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    io::read_to_string(std::fs::File::from(fd))
}

/// Writes a file of `/proc`.
pub(super) fn write(proc: &OwnedFd, file: &str, text: &str) -> io::Result<()> {
    let fd = rustix::fs::openat(proc, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    io::Write::write_all(&mut std::fs::File::from(fd), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_gives_its_path_and_whether_it_is_noexec() {
        let line = r"36 35 98:0 / /home/my\040vault\134x rw,noexec,relatime shared:1 - ext4 /dev/root rw";
        assert_eq!(mount_point(line), Some((PathBuf::from(r"/home/my vault\x"), true)));
        assert_eq!(mount_point("36 35 98:0 / /usr rw - ext4 x rw"), Some((PathBuf::from("/usr"), false)));
        assert_eq!(mount_point("nonsense"), None);
    }
}
