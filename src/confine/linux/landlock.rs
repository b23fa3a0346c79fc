//! Restricts a command with Landlock, a feature of the Linux kernel. The command can open only the files that are
//! listed for it. It can't send signals to processes outside its box, or connect to their abstract Unix sockets (those
//! without a file). If it may not use the network, TCP is blocked, too. An older kernel enforces the rules that it
//! knows.

use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags};

use super::visible_paths::{PathUse, VisiblePath};

/// The newest version whose rights are requested; an older kernel grants those it has.
const NEWEST: ABI = ABI::V7;

/// Gives up all but `places`; says which version of Landlock is in force, 0 for none.
pub(super) fn restrict(places: &[VisiblePath], network: bool) -> Result<u8, landlock::RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut rules = rules.create()?;
    for place in places {
        let Ok((fd, is_dir)) = open(place) else { continue };
        let rights = rights(place.use_);
        let rights = if is_dir { rights } else { rights & AccessFs::from_file(NEWEST) };
        rules = rules.add_rule(PathBeneath::new(fd, rights))?;
    }
    let status = rules.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi as u8,
        _ => 0,
    })
}

fn open(place: &VisiblePath) -> rustix::io::Result<(OwnedFd, bool)> {
    let fd = rustix::fs::open(&place.target, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let is_dir = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) == FileType::Directory;
    Ok((fd, is_dir))
}

fn rights(use_: PathUse) -> BitFlags<AccessFs> {
    match use_ {
        PathUse::Read => AccessFs::from_read(NEWEST),
        PathUse::List => AccessFs::ReadDir.into(),
        PathUse::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate,
        // No devices and no sockets by name.
        PathUse::Write => {
            AccessFs::from_all(NEWEST)
                & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev)
        }
    }
}
