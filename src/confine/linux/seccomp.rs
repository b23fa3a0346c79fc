//! Makes the seccomp filter: the system calls that no process in the box may make.
//!
//! The filter is a list of denied calls, because programs need most of the others; a call that is newer than the list
//! fails as unknown. Sockets are denied as such, so that there is no network even on a machine without network
//! namespaces.

use std::collections::BTreeMap;

use libc::{AF_INET, AF_INET6, AF_UNIX, c_long};
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use crate::confine::gate;

/// Denied whatever their arguments.
const ALWAYS: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Mounts, roots and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Keys, and doors into the kernel.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Memory that no process has, and that no count would find.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
];

/// Also denied, on processors that have them.
#[cfg(target_arch = "x86_64")]
const ALSO: &[c_long] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS__sysctl,
    libc::SYS_nfsservctl,
];
#[cfg(not(target_arch = "x86_64"))]
const ALSO: &[c_long] = &[];

/// Denied without network access.
const WITHOUT_NETWORK: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// Denied if the box sees the whole file system: Landlock has no right for them, only ownership counts.
const WITHOUT_ROOT: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    libc::SYS_inotify_add_watch,
];

/// There, these do nothing and say that all is well: copying and unpacking programs would fail otherwise.
const EMPTY_WITHOUT_ROOT: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;

/// System calls from this number on are newer than this list.
const NEWER: u32 = 467;

/// Puts the filters in force, for this process and all that it starts.
pub(super) fn restrict(network: bool, own_root: bool) -> Result<(), String> {
    let mut programs = vec![no_clone3(), denied(network, own_root), Ok(known_only())];
    if !own_root {
        programs.push(filter(whole(EMPTY_WITHOUT_ROOT), SeccompAction::Errno(0)));
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
    }

    let mut add = |call: c_long, conditions: &[(u8, SeccompCmpOp, u64)]| -> Result<(), BackendError> {
        let conditions =
            conditions.iter().map(|(at, op, value)| SeccompCondition::new(*at, Dword, op.clone(), *value));
        let rule = SeccompRule::new(conditions.collect::<Result<_, _>>()?)?;
        rules.entry(call).or_default().push(rule);
        Ok(())
    };
    // New namespaces.
    for flag in [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ] {
        let flag = bits(flag);
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
        for call in [
            libc::SYS_prlimit64,
            libc::SYS_sched_setaffinity,
            libc::SYS_sched_setscheduler,
            libc::SYS_sched_setparam,
            libc::SYS_sched_setattr,
        ] {
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
