//! Makes the seccomp filter: the system calls that no process in the box may make.
//!
//! The filter is a list of denied calls, because programs need most of the others. A call that is newer than the list
//! fails with `ENOSYS`. Without network access, calls such as `socket` and `connect` are denied, also on a machine
//! without network namespaces.

use std::collections::BTreeMap;

use libc::{AF_INET, AF_INET6, AF_UNIX, c_long};
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use crate::confine::gate;

/// Constants of the C library, by their names.
macro_rules! libc_names {
    ($($name:ident)*) => { [$(libc::$name),*] };
}

/// Denied whatever their arguments.
const ALWAYS: &[c_long] = &libc_names! {
    // Other processes.
    SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_process_mrelease
    SYS_kcmp SYS_migrate_pages SYS_move_pages
    // Mounts, roots and namespaces.
    SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_open_tree SYS_move_mount SYS_mount_setattr
    SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_unshare SYS_setns SYS_name_to_handle_at
    SYS_open_by_handle_at SYS_fanotify_init SYS_fanotify_mark SYS_quotactl SYS_quotactl_fd
    // Keys, and doors into the kernel.
    SYS_keyctl SYS_add_key SYS_request_key SYS_bpf SYS_perf_event_open SYS_userfaultfd
    SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_kexec_load SYS_init_module
    SYS_finit_module SYS_delete_module
    // The machine.
    SYS_reboot SYS_swapon SYS_swapoff SYS_acct SYS_syslog SYS_vhangup SYS_settimeofday SYS_clock_settime
    SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname
    // Memory that no process has, and that no count would find.
    SYS_memfd_create SYS_memfd_secret SYS_shmget SYS_shmat SYS_shmctl SYS_msgget SYS_semget SYS_mq_open
};

/// Also denied, on processors that have them.
#[cfg(target_arch = "x86_64")]
const ALSO: &[c_long] = &libc_names! {
    SYS_kexec_file_load SYS_iopl SYS_ioperm SYS_modify_ldt SYS_uselib SYS__sysctl SYS_nfsservctl
};
#[cfg(not(target_arch = "x86_64"))]
const ALSO: &[c_long] = &[];

/// Denied without network access.
const WITHOUT_NETWORK: &[c_long] = &libc_names! {
    SYS_socket SYS_connect SYS_bind SYS_listen SYS_accept SYS_accept4
};

/// Denied if the box sees the whole file system: Landlock has no right for them, only ownership counts.
const WITHOUT_ROOT: &[c_long] = &libc_names! {
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    SYS_inotify_add_watch
};
/// `setxattrat` and `removexattrat`, which the C library does not name.
const ALSO_WITHOUT_ROOT: &[c_long] = &[463, 466];

/// Calls that do nothing and report success in such a box: programs that copy or unpack files would fail otherwise.
const EMPTY_WITHOUT_ROOT: &[c_long] = &libc_names! {
    SYS_fchmod SYS_fchmodat SYS_fchmodat2 SYS_fchown SYS_fchownat SYS_utimensat
};
#[cfg(target_arch = "x86_64")]
const ALSO_EMPTY: &[c_long] = &libc_names! {
    SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat
};
#[cfg(not(target_arch = "x86_64"))]
const ALSO_EMPTY: &[c_long] = &[];

/// System calls from this number on are newer than this list.
const NEWER: u32 = 467;

/// Puts the filters in force, for this process and all that it starts.
pub(super) fn restrict(network: bool, own_root: bool) -> Result<(), String> {
    let mut programs = vec![no_clone3(), denied(network, own_root), Ok(known_only())];
    if !own_root {
        let mut empty = whole(EMPTY_WITHOUT_ROOT);
        empty.extend(whole(ALSO_EMPTY));
        programs.push(filter(empty, SeccompAction::Errno(0)));
    }
    for program in programs {
        let program = program.map_err(|error| error.to_string())?;
        apply_filter(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The calls that are denied.
fn denied(network: bool, own_root: bool) -> Result<BpfProgram, BackendError> {
    let mut rules = whole(ALWAYS);
    rules.extend(whole(ALSO));
    if !network {
        rules.extend(whole(WITHOUT_NETWORK));
    }
    if !own_root {
        rules.extend(whole(WITHOUT_ROOT));
        rules.extend(whole(ALSO_WITHOUT_ROOT));
    }

    let mut add = |call: c_long, conditions: &[(u8, SeccompCmpOp, u64)]| -> Result<(), BackendError> {
        let conditions =
            conditions.iter().map(|(at, op, value)| SeccompCondition::new(*at, Dword, op.clone(), *value));
        let rule = SeccompRule::new(conditions.collect::<Result<_, _>>()?)?;
        rules.entry(call).or_default().push(rule);
        Ok(())
    };
    // New namespaces.
    let namespaces = libc_names! {
        CLONE_NEWUSER CLONE_NEWNS CLONE_NEWPID CLONE_NEWNET CLONE_NEWIPC CLONE_NEWUTS CLONE_NEWCGROUP
    };
    for flag in namespaces.map(bits) {
        add(libc::SYS_clone, &[(0, MaskedEq(flag), flag)])?;
    }
    // Keys typed into a terminal, and attributes of files that only their owner may change.
    // The kernel reads 32 bits of a request, whatever type a C library gives it.
    for request in [libc::TIOCSTI as u32, libc::TIOCLINUX as u32, 0x4008_6602, 0x4004_6602, 0x401c_5820] {
        add(libc::SYS_ioctl, &[(1, Eq, u64::from(request))])?;
    }
    // Devices and sockets by name.
    for kind in [libc::S_IFCHR, libc::S_IFBLK, libc::S_IFSOCK] {
        let (mask, kind) = (u64::from(libc::S_IFMT), u64::from(kind));
        add(libc::SYS_mknodat, &[(2, MaskedEq(mask), kind)])?;
        #[cfg(target_arch = "x86_64")]
        add(libc::SYS_mknod, &[(1, MaskedEq(mask), kind)])?;
    }
    // A process takes the gate out of its own descriptors, and nothing out of another's.
    add(libc::SYS_pidfd_getfd, &[(1, Ne, bits(gate::NUMBER))])?;
    // Pairs of sockets that cannot be pointed elsewhere.
    let stream_kinds = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
    add(libc::SYS_socketpair, &[(0, Ne, bits(AF_UNIX))])?;
    for kind in (0..16).filter(|kind| !stream_kinds.contains(kind)) {
        add(libc::SYS_socketpair, &[(1, MaskedEq(0xf), bits(kind))])?;
    }
    // Only for itself: without a process namespace it could name other processes of the machine.
    if !own_root {
        let of_a_process = libc_names! {
            SYS_prlimit64 SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
        };
        for call in of_a_process {
            add(call, &[(0, Ne, 0)])?;
        }
        for call in [libc::SYS_setpriority, libc::SYS_ioprio_set] {
            add(call, &[(1, Ne, 0)])?;
        }
        add(libc::SYS_setpriority, &[(0, Ne, 0)])?;
        add(libc::SYS_ioprio_set, &[(0, Ne, 1)])?;
    }
    if network {
        let kinds = [libc::SOCK_STREAM, libc::SOCK_DGRAM];
        let protocols = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP];
        add(libc::SYS_socket, &[(0, Ne, bits(AF_INET)), (0, Ne, bits(AF_INET6))])?;
        add(libc::SYS_socket, &protocols.map(|protocol| (2, Ne, bits(protocol))))?;
        for kind in (0..16).filter(|kind| !kinds.contains(kind)) {
            add(libc::SYS_socket, &[(1, MaskedEq(0xf), bits(kind))])?;
        }
    }
    filter(rules, SeccompAction::Errno(errno(libc::EPERM)))
}

/// Rules that match whatever the arguments are.
fn whole(calls: &[c_long]) -> BTreeMap<i64, Vec<SeccompRule>> {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// `clone3` hides its flags from filters; without it programs use `clone`.
fn no_clone3() -> Result<BpfProgram, BackendError> {
    filter(whole(&[libc::SYS_clone3]), SeccompAction::Errno(errno(libc::ENOSYS)))
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, SeccompAction::Allow, action, TargetArch::try_from(std::env::consts::ARCH)?)?
        .try_into()
}

/// x32 calls, whose numbers have a bit of their own, end the process; calls newer than this list do not exist. That
/// 32-bit calls end it too is in every filter that [`filter`] makes.
fn known_only() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let number = 0;
    vec![
        step(LOAD, 0, 0, number),
        step(JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(JUMP_IF_GREATER_OR_EQUAL, 0, 1, NEWER),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | errno(libc::ENOSYS)),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// A C integer as the kernel sees it in a register.
fn bits(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

fn errno(value: i32) -> u32 {
    value.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_can_be_made_and_fits_the_kernel() {
        for network in [false, true] {
            for own_root in [false, true] {
                let program = denied(network, own_root).expect("a filter");
                assert!(program.len() < 4096, "{}", program.len());
            }
        }
        no_clone3().expect("a filter");
    }
}
