//! Killed at every step, and the power cut at every step: the file is whole, old or new, and the next
//! start finishes or takes back.
//!
//! A child of this binary makes one edit and dies at a failpoint: by `abort`, which leaves what the
//! kernel holds, or, on an ext4 image of its own, by the file system's shutdown call, after which
//! only what had reached the disk is there.

use crate::vault::help::{self, *};
use vault_agent::vault::RecoveryOutcome;

const FILE: &str = "Reminders.md";

/// The steps of an exchange, in order.
const SWAP: &str = "vault::swap::planned vault::swap::journalled vault::swap::temp vault::swap::displaced \
    vault::swap::checked vault::swap::exchanged vault::swap::told";
const REMOVE: &str = "vault::remove::journalled vault::remove::renamed vault::remove::told";

/// An edit, the file before it and after it.
struct Case {
    name: &'static str,
    before: Option<String>,
    after: Option<String>,
}

impl Case {
    /// A file of one sector is never torn.
    fn can_reach(&self, point: &str) -> bool {
        self.name != "small" || !point.ends_with("half-written")
    }
}

/// A small file, one of several sectors that grows, one that shrinks, one that keeps its length, and
/// one that is journalled by sectors.
fn cases() -> Vec<Case> {
    let many =
        |lines: usize| (0..lines).map(|line| format!("- [ ] line number {line:06}\n")).collect::<String>();
    let case = |name, before: &str, from: &str, to: &str| {
        let (before, after) = (Some(before.to_owned()), Some(before.replacen(from, to, 1)));
        Case { name, before, after }
    };
    let (third, grown) = ("- [ ] line number 000003\n", "- [ ] line number 000003 id=rid_K5V4M2J9Q2ZP\n");
    let (medium, large) = (many(2_000), many(40_000));
    vec![
        case("small", "a\ntarget\nb\n", "target", "TARGET id=1"),
        case("grows", &medium, third, grown),
        case("shrinks", &medium, third, ""),
        case("keeps its length", &medium, "000900", "111111"),
        case("large, grows", &large, third, grown),
        case("large, shrinks", &large, third, ""),
    ]
}

/// A file that comes to be, and one that goes, each with the steps of it.
fn made_and_removed() -> [(Case, &'static str); 2] {
    let text = Some("- [ ] a\n- [ ] b\n".to_owned());
    [
        (Case { name: "create", before: None, after: text.clone() }, CREATE),
        (Case { name: "remove", before: text, after: None }, REMOVE),
    ]
}

#[test]
fn child_entry() {
    let Some(told) = told("crash") else { return };
    let [act, strategy, cut, root] = told.split('|').collect::<Vec<_>>()[..] else { panic!("{told}") };
    let scenario = fail::FailScenario::setup();
    let mount = PathBuf::from(cut);
    std::panic::set_hook(Box::new(move |_| {
        if !mount.as_os_str().is_empty() {
            power::cut(&mount);
        }
        std::process::abort();
    }));
    let root = Path::new(root);
    let editor = help::editor(root, Arc::new(SystemClock), self::strategy(strategy));
    if act == "recover" {
        editor.recover().unwrap();
    } else if act == "append" {
        editor.append(&note(FILE), b"", b"more\n").unwrap_err();
    } else {
        let read = |name: &str| std::fs::read(root.join(name)).ok();
        let op = match (read("before"), read("after")) {
            (before, Some(with)) => Operation::ReplaceAll { expect: before, with },
            (before, None) => Operation::RemoveFile { expect: before.unwrap() },
        };
        let report = editor.edit(&note(FILE), &[op], &why());
        match act {
            "fail" => assert!(matches!(report, Err(EditError::Write { .. }))),
            "fail half" => assert!(matches!(report, Err(EditError::Unfinished(..)))),
            _ => assert!(report.unwrap().changed),
        }
    }
    scenario.teardown();
}

/// A root folder with the case's files in it.
fn prepare(root: &Path, case: &Case) {
    std::fs::create_dir_all(root.join("vault")).unwrap();
    for (name, text) in
        [("before", &case.before), ("after", &case.after), ("vault/Reminders.md", &case.before)]
    {
        match text {
            Some(text) => std::fs::write(root.join(name), text).unwrap(),
            None => drop(std::fs::remove_file(root.join(name))),
        }
    }
}

fn strategy(name: &str) -> EditStrategy {
    if name == "swap" { EditStrategy::Swap } else { EditStrategy::Lease }
}

fn run(root: &Path, act: &str, strategy: &str, point: &str, cut: Option<&Path>) {
    let mut points = format!("{point}=panic");
    if point.ends_with("half-written") {
        points.push_str(";vault::in-place::torn=return");
    }
    let cut = cut.unwrap_or(Path::new("")).display();
    let mut command = child(&child_entry, "crash", &format!("{act}|{strategy}|{cut}|{}", root.display()));
    let status = command.env("FAILPOINTS", points).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.success(), point.ends_with("none"), "{act} {point}: {status}");
}

/// A root where the case's edit died at this point.
fn crashed(case: &Case, strategy: &str, point: &str) -> tempfile::TempDir {
    acted(case, "edit", strategy, point)
}

/// A root where a child did this with the case's files, up to this point.
fn acted(case: &Case, act: &str, strategy: &str, point: &str) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    prepare(temp.path(), case);
    run(temp.path(), act, strategy, point, None);
    temp
}

fn text(root: &Path) -> Option<String> {
    std::fs::read_to_string(root.join("vault").join(FILE)).ok()
}

/// After a crash: recovery leaves the file whole, says so, and has nothing more to do; the edit can be
/// made or is made already; and nothing of ours stays behind.
fn check(root: &Path, case: &Case, strategy: &str, at: &str) {
    let clock = Arc::new(ManualClock::new(Timestamp::now()));
    let editor = help::editor(root, clock.clone(), self::strategy(strategy));
    let recovered = editor.recover().unwrap();
    let now = text(root);
    assert!(now == case.before || now == case.after, "{at}, {}: the file is neither old nor new", case.name);
    for recovery in &recovered {
        assert_eq!(recovery.why, why());
        let made = matches!(recovery.outcome, RecoveryOutcome::Done | RecoveryOutcome::Finished);
        assert_eq!(made, now == case.after, "{at}, {}: {:?}", case.name, recovery.outcome);
        assert_ne!(recovery.outcome, RecoveryOutcome::PersonWins, "{at}, {}", case.name);
    }
    assert!(editor.recover().unwrap().is_empty(), "{at}, {}", case.name);
    assert_eq!(text(root), now);
    clock.advance(SignedDuration::from_secs(61));
    editor.follow_ups(Timestamp::now());
    let left = names_in(root.join("vault"));
    assert!(left.iter().all(|name| name == FILE), "{at}, {}: {left:?}", case.name);
}

#[test]
fn killed_at_each_step_the_file_is_whole_after_the_next_start() {
    for case in cases() {
        for (strategy, points) in [("lease", IN_PLACE), ("swap", SWAP)] {
            if strategy == "swap" && case.name.starts_with("large") {
                continue;
            }
            for point in points.split(' ').chain(["none"]).filter(|point| case.can_reach(point)) {
                check(crashed(&case, strategy, point).path(), &case, strategy, point);
            }
        }
    }
}

/// A process that was stopped for long may have lost its lease, and a person may have saved: it reads the file again.
#[test]
fn nothing_is_written_under_a_lease_that_may_be_lost() {
    let case = &cases()[0];
    let second_lease = "vault::lease::lost=1*return;vault::in-place::leased=1*off->panic;and";
    assert_eq!(text(crashed(case, "lease", second_lease).path()), case.before);
}

#[test]
fn an_edit_whose_entry_can_not_be_cleared_is_done() {
    let full = "vault::journal::clear=1*return;none";
    check(crashed(&cases()[0], "lease", full).path(), &cases()[0], "lease", full);
    // A person who then puts the old bytes back wins, for a journal that can't be written is cut off.
    let crashed = crashed(&cases()[0], "lease", "vault::journal::mark=1*return;none");
    assert_eq!(text(crashed.path()), cases()[0].after);
    std::fs::write(crashed.path().join("vault").join(FILE), cases()[0].before.as_ref().unwrap()).unwrap();
    check(crashed.path(), &cases()[0], "lease", "mark");
    assert_eq!(text(crashed.path()), cases()[0].before);
}

#[test]
fn what_a_bad_disk_left_is_told_as_it_is() {
    let full = "vault::sync-folder=return;none";
    let swapped = cases().into_iter().take(1).map(|case| (case, "swap"));
    for (case, strategy) in swapped.chain(made_and_removed().map(|(case, _)| (case, "lease"))) {
        let temp = crashed(&case, strategy, full);
        assert_eq!(text(temp.path()), case.after, "{}", case.name);
        // In the same process it would be told twice.
        let editor = help::editor(temp.path(), Arc::new(SystemClock), EditStrategy::Lease);
        assert_eq!(editor.recover().unwrap(), [], "{}", case.name);
        check(temp.path(), &case, strategy, full);
    }
    let case = &cases()[0];
    let unsynced = "vault::in-place::before-sync=return;none";
    let half = format!("vault::in-place::take-back=return;{unsynced}");
    for (act, points, expected) in [
        ("append", "vault::append::sync=return;none", &case.before),
        ("fail", unsynced, &case.before),
        ("fail half", half.as_str(), &case.after),
    ] {
        let temp = acted(case, act, "lease", points);
        assert_eq!(&text(temp.path()), expected, "{act}");
        check(temp.path(), case, "lease", act);
        assert_eq!(&text(temp.path()), expected, "{act}");
    }
}

/// Where the file system can't exchange two files in one step.
#[test]
fn killed_at_each_step_of_an_exchange_by_renames() {
    for point in ["aside", "exchanged", "none"] {
        let point = format!("vault::swap::by-rename=return;vault::swap::{point}");
        check(crashed(&cases()[1], "swap", &point).path(), &cases()[1], "swap", &point);
    }
    // The note gets its name back, at the latest by the next command.
    for (act, fails) in [("fail", 1), ("fail half", 2)] {
        let points = format!("vault::swap::by-rename=return;vault::swap::rename-new={fails}*return;none");
        check(acted(&cases()[1], act, "swap", &points).path(), &cases()[1], "swap", act);
    }
}

#[test]
fn killed_while_creating_or_removing() {
    for (case, points) in made_and_removed() {
        for point in points.split(' ').chain(["none"]) {
            check(crashed(&case, "lease", point).path(), &case, "lease", point);
        }
    }
}

#[test]
fn killed_during_recovery_too() {
    for case in cases().iter().filter(|case| case.name.contains("grows") || case.name.contains("shrinks")) {
        for point in ["recover::begun", "in-place::half-written", "in-place::before-sync", "recover::written"]
        {
            let point = &format!("vault::{point}");
            let temp = crashed(case, "lease", "vault::in-place::half-written");
            run(temp.path(), "recover", "lease", point, None);
            check(temp.path(), case, "lease", point);
        }
    }
}

#[test]
fn a_torn_file_that_a_person_has_rewritten_is_theirs() {
    let case = &cases()[1];
    let temp = crashed(case, "lease", "vault::in-place::half-written");
    let torn = text(temp.path());
    assert!(torn != case.before && torn != case.after);
    std::fs::write(temp.path().join("vault").join(FILE), "mine\n").unwrap();
    let editor = help::editor(temp.path(), Arc::new(SystemClock), EditStrategy::Lease);
    assert_eq!(editor.recover().unwrap()[0].outcome, RecoveryOutcome::PersonWins);
    assert_eq!(text(temp.path()).unwrap(), "mine\n");
}

/// A power cut leaves the temporary file empty or half written. Whatever a person does then stands, and no unfinished
/// bytes of ours are taken for a late edit, also a minute later.
#[test]
fn a_person_who_writes_before_an_interrupted_swap_is_recovered_wins() {
    let case = &cases()[1];
    let before = case.before.clone().unwrap();
    let mine = format!("{before}mine\n");
    let saved_by_rename = |path: &Path| {
        let beside = path.with_extension("new");
        std::fs::write(&beside, &mine).unwrap();
        std::fs::rename(beside, path).unwrap();
    };
    let appended = |path: &Path| std::fs::write(path, &mine).unwrap();
    let deleted = |path: &Path| std::fs::remove_file(path).unwrap();
    type Act<'a> = (&'a dyn Fn(&Path), Option<&'a String>);
    let acts: [Act<'_>; 3] = [(&appended, Some(&mine)), (&saved_by_rename, Some(&mine)), (&deleted, None)];
    for point in SWAP.split(' ').skip(1).take(4) {
        for part in [0, 1, 2].into_iter().filter(|part| *part == 2 || point.ends_with("temp")) {
            for (act, expected) in acts {
                let temp = crashed(case, "swap", point);
                let vault = temp.path().join("vault");
                for name in names_in(&vault).into_iter().filter(|name| name.ends_with(".tmp")) {
                    let file = std::fs::File::options().write(true).open(vault.join(name)).unwrap();
                    file.set_len(file.metadata().unwrap().len() * part / 2).unwrap();
                }
                act(&vault.join(FILE));
                let clock = Arc::new(ManualClock::new(Timestamp::now()));
                let editor = help::editor(temp.path(), clock.clone(), EditStrategy::Swap);
                // A daemon may look for late writes before anything is recovered.
                editor.follow_ups(clock.now());
                let recovered = editor.recover().unwrap();
                assert_eq!(recovered[0].outcome, RecoveryOutcome::PersonWins, "{point}, {part}");
                clock.advance(SignedDuration::from_secs(61));
                editor.follow_ups(clock.now());
                assert_eq!(text(temp.path()).as_ref(), expected, "{point}, {part}");
                assert!(names_in(&vault).iter().all(|name| name == FILE), "{point}, {part}");
            }
        }
    }
}

#[test]
fn the_next_edit_recovers_what_a_dead_process_left() {
    let case = &cases()[1];
    let temp = crashed(case, "lease", "vault::in-place::half-written");
    let editor = help::editor(temp.path(), Arc::new(SystemClock), EditStrategy::Lease);
    editor.edit(&note(FILE), &[append("more")], &why()).unwrap();
    assert_eq!(text(temp.path()).unwrap(), format!("{}more\n", case.after.as_ref().unwrap()));
}

/// An ext4 file system in a file, and its power cord.
#[cfg(target_os = "linux")]
mod power {
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    pub struct Disk {
        pub mount: PathBuf,
        image: PathBuf,
        _temp: tempfile::TempDir,
    }

    pub fn ran(program: &str, options: &str, paths: &[&Path]) -> bool {
        let mut command = Command::new(program);
        command.args(options.split_whitespace()).args(paths).env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin");
        command.output().is_ok_and(|output| output.status.success())
    }

    /// Lets this thread alone, and what it starts, see what it mounts. The box of another test would hold a file system that
    /// it saw as long as it runs, and mounting the image of a stopped one finds that one again.
    fn hide() -> rustix::io::Result<()> {
        use rustix::mount::{MountPropagationFlags, mount_change};
        // Deprecated since it is not safe with a flag that is not used here, which parts threads' descriptors.
        #[allow(deprecated)]
        rustix::thread::unshare(rustix::thread::UnshareFlags::NEWNS)?;
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
    }

    impl Disk {
        /// `None` where that can't be done: not as root, no loop devices, no ext4.
        pub fn new(megabytes: u64) -> Option<Self> {
            if !rustix::process::geteuid().is_root() {
                return None;
            }
            hide().ok()?;
            let temp = tempfile::tempdir().ok()?;
            let (image, mount) = (temp.path().join("image"), temp.path().join("mount"));
            std::fs::create_dir(&mount).ok()?;
            std::fs::File::create(&image).ok()?.set_len(megabytes << 20).ok()?;
            let made = ran("mkfs.ext4", "-q -F -b 4096", &[&image]);
            let disk = Self { mount, image, _temp: temp };
            (made && disk.plug_in()).then_some(disk)
        }

        fn plug_in(&self) -> bool {
            ran("mount", "-o loop", &[&self.image, &self.mount])
        }

        /// Off and on again, after [`cut`].
        pub fn restart(&self) {
            assert!(ran("umount", "", &[&self.mount]), "umount");
            assert!(self.plug_in(), "mount");
            let probe = self.mount.join("probe");
            std::fs::write(&probe, "").expect("the stopped file system has ended");
            std::fs::remove_file(&probe).unwrap();
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            ran("umount", "", &[&self.mount]);
        }
    }

    /// Stops the file system at once: nothing that isn't on the disk will get there.
    #[allow(unsafe_code)]
    pub fn cut(mount: &Path) {
        const EXT4_IOC_SHUTDOWN: libc::c_ulong = 0x8004_587d;
        let no_log_flush: u32 = 2;
        let Ok(dir) = std::fs::File::open(mount) else { return };
        // SAFETY: the call reads one u32 through the pointer, which outlives it.
        unsafe { libc::ioctl(dir.as_raw_fd(), EXT4_IOC_SHUTDOWN, &raw const no_log_flush) };
    }
}

#[cfg(not(target_os = "linux"))]
mod power {
    pub fn cut(_: &std::path::Path) {}
}

#[cfg(target_os = "linux")]
#[test]
fn the_power_is_cut_at_each_step() {
    let Some(disk) = power::Disk::new(64) else {
        eprintln!("skipped: cutting the power takes root, loop devices and ext4");
        return;
    };
    let (mut cuts, mut lost_without_sync) = (0, 0);
    let mut checked = |case: &Case, strategy: &str, point: &str| {
        let root = disk.mount.join(format!("case{cuts}"));
        std::fs::create_dir(&root).unwrap();
        prepare(&root, case);
        rustix::fs::syncfs(std::fs::File::open(&disk.mount).unwrap()).unwrap();
        run(&root, "edit", strategy, point, Some(&disk.mount));
        disk.restart();
        lost_without_sync += usize::from(text(&root) == case.before);
        check(&root, case, strategy, point);
        std::fs::remove_dir_all(&root).unwrap();
        cuts += 1;
    };
    for case in cases() {
        let in_place = IN_PLACE.split(' ').filter(|point| case.can_reach(point));
        in_place.for_each(|point| checked(&case, "lease", point));
        let swap = SWAP.split(' ').filter(|_| !case.name.starts_with("large"));
        swap.for_each(|point| checked(&case, "swap", point));
    }
    for (case, points) in made_and_removed() {
        points.split(' ').for_each(|point| checked(&case, "lease", point));
    }
    eprintln!("{cuts} power cuts; the file came back old {lost_without_sync} times, and never torn");
}

#[test]
fn an_edit_that_cannot_be_finished_now_does_not_stop_the_others() {
    let case = &cases()[1];
    let temp = crashed(case, "lease", "vault::in-place::half-written");
    let path = temp.path().join("vault").join(FILE);
    set_mode(&path, 0o444);
    let editor = help::editor(temp.path(), Arc::new(SystemClock), EditStrategy::Lease);
    editor.edit(&note("other.md"), &[append("x")], &why()).unwrap();
    assert!(editor.edit(&note(FILE), &[append("x")], &why()).is_err());
    set_mode(&path, 0o644);
    assert_eq!(editor.recover().unwrap()[0].outcome, RecoveryOutcome::Finished);
    assert_eq!(text(temp.path()), case.after);
    assert!(editor.recover().unwrap().is_empty());
}

/// A small disk that is full, and one that was mounted read-only.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_a_read_only_one_are_clear_errors_and_the_file_is_as_it_was() {
    let Some(disk) = power::Disk::new(8) else {
        eprintln!("skipped: a disk of one's own takes root, loop devices and ext4");
        return;
    };
    let (root, home) = (disk.mount.join("case"), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(root.join("vault")).unwrap();
    let (before, path) = ("- [ ] a line of the note\n".repeat(400), root.join("vault").join(FILE));
    std::fs::write(&path, &before).unwrap();
    let editor = |strategy| {
        let options = EditOptions { strategy, ..EditOptions::default() };
        Editor::new(Vault::open(&root.join("vault")).unwrap(), home.path(), Arc::new(SystemClock), options)
    };
    for strategy in [EditStrategy::Lease, EditStrategy::Swap] {
        let editor = editor(strategy);
        // The state directory is elsewhere: only the note's disk is full.
        let mut filler = std::fs::File::create(disk.mount.join("filler")).unwrap();
        while filler.write_all(&[b'x'; 512]).is_ok() {}
        let grow = [Operation::Append { text: vec![b'y'; 20_000] }];
        let error = editor.edit(&note(FILE), &grow, &why()).unwrap_err().to_string();
        assert!(error.contains("No space left on device") && error.ends_with("it is as it was"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
        let error = editor.create(&note("new.md"), &[b'z'; 20_000], &why()).unwrap_err().to_string();
        assert!(error.contains("No space left on device"), "{error}");
        assert_eq!(std::fs::read_dir(root.join("vault")).unwrap().count(), 1);
        // An edit that needs no room is made all the same.
        if strategy == EditStrategy::Lease {
            let with = before.replacen("a line", "A LINE", 1).into_bytes();
            let op = Operation::ReplaceAll { expect: Some(before.clone().into_bytes()), with };
            assert!(editor.edit(&note(FILE), &[op], &why()).unwrap().changed);
            std::fs::write(&path, &before).unwrap();
        }
        drop(filler);
        std::fs::remove_file(disk.mount.join("filler")).unwrap();
    }
    assert!(power::ran("mount", "-o remount,ro", &[&disk.mount]), "remount");
    for editor in [EditStrategy::Lease, EditStrategy::Swap].map(editor) {
        for path in [FILE, "new.md", "folder/new.md"] {
            let error = editor.edit(&note(path), &[append("x")], &why()).unwrap_err().to_string();
            assert!(error.to_lowercase().contains("read-only file system"), "{error}");
        }
        let nothing = [Operation::DeleteLine { line: b"none".to_vec() }];
        assert!(!editor.edit(&note(FILE), &nothing, &why()).unwrap().changed);
    }
}
