//! Readers that go away (`| head`): every command ends quietly, with the exit code that it had earned.

use crate::deliver::world::{id, line};
use crate::support::prelude::*;

const FIXTURE: &str = "//- now: 2026-12-01T09:30:00Z
//- zone: Europe/London
//- /Reminders.md
- [ ] date=2026-12-01 time=09:00 recur=daily msg=\"Tea\" id=rid_AAAAAAAAAAAA
//- /MEMORY.md
## Drinks
- Likes green tea
//- /daily/2026-12-01.md
- 09:12 Met Anna
";

fn commands() -> Vec<Vec<&'static str>> {
    const ALL: &str = "completions bash, completions zsh, completions fish, completions elvish, \
        completions powershell, man, --help, remind --help, status, check, doctor, init ., \
        memory list, memory get MEMORY.md, remind list, remind preview, commitment list, export, \
        export --format jsonl, export --format ics, service install --print, tick --dry-run, tick, \
        hook session-start, search tea, search --stdin, recall tea, reindex, stats, history, diff, \
        audit, history verify, restore --at yesterday MEMORY.md --dry-run, \
        mcp-config full --host claude-code, mcp";
    const ASSISTANT: &str = "brain list, brain test, brain route hello, usage, turns, skill list, skill check, \
        routine list, routine preview, ask tea";
    let assistant = ASSISTANT.split(", ").filter(|_| cfg!(feature = "assistant"));
    let all: Vec<&str> = ALL.split(", ").chain(assistant).collect();
    let plain = all.iter().map(|line| line.split(' ').collect::<Vec<_>>());
    plain.chain(all.iter().map(|line| std::iter::once("--json").chain(line.split(' ')).collect())).collect()
}

#[test]
fn a_reader_that_goes_away_ends_each_command_quietly() {
    let mut wrong = Vec::new();
    for args in commands() {
        // Each in a fresh vault, once with somebody who reads and once without: nothing else may differ.
        let run = |reads: bool| {
            let vault = TestVault::new(FIXTURE);
            let (reader, writer) = std::io::pipe().unwrap();
            let reading = reads.then(|| {
                let mut reader = reader.try_clone().unwrap();
                std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()))
            });
            drop(reader);
            let mut command = vault.command(&args);
            let mut child =
                command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
            // The command would keep the pipe open for us.
            drop(command);
            let _ = child.stdin.take().unwrap().write_all("{\"query\":\"tea\"}\n".repeat(3).as_bytes());
            let output = child.wait_with_output().unwrap();
            drop(reading);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code(), said.replace(vault.dir().to_str().unwrap(), "[TEMP]"))
        };
        let (heard, unheard) = (run(true), run(false));
        let is_loud = |word: &&str| unheard.1.contains(*word);
        if ["panicked", "roken pipe", "could not be written"].iter().any(is_loud) || heard.0 != unheard.0 {
            wrong.push(format!("{args:?}\nheard: {heard:?}\nunheard: {unheard:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn closed_errors_are_no_panic() {
    let vault = TestVault::new(FIXTURE);
    fs::write(vault.state().join("deliveries.sqlite"), "no database").unwrap();
    for args in [&["-vv", "status"][..], &["-vv", "tick"], &["nonsense"], &["--vault", "nowhere", "status"]] {
        let (_, writer) = std::io::pipe().unwrap();
        let heard = vault.command(args).output().unwrap().status.code();
        let unheard = vault.command(args).stderr(writer).output().unwrap().status.code();
        assert!(unheard == heard && unheard != Some(101), "{args:?}: {heard:?} {unheard:?}");
    }
}

#[test]
fn the_daemon_ends_with_the_reader_of_its_console() {
    let vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n//- /Reminders.md\nhello\n");
    let mut child = vault.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(errors.any(|line| line.contains("watching")));
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(errors.collect::<Vec<_>>(), Vec::<String>::new());
    // What comes due after that is told by the next one.
    let due = "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Pay the rent\" id=rid_AAAAAAAAAAAA\n";
    vault.write("Reminders.md", due);
    assert!(vault.run(&["tick"]).ok().stdout.contains("Pay the rent"));
}

#[test]
fn watching_the_status_ends_with_its_reader() {
    let vault = TestVault::new(FIXTURE).with_env("VAULT_AGENT_NOW", "2026-12-01T09:30:00Z@60");
    let mut watch = vault.command(&["status", "--watch"]);
    let mut child = watch.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("daemon    not running")));
    vault.write("Reminders.md", line("2027-12-01", "09:00", "daily", "Coffee", &id('A')));
    assert!(lines.any(|line| line.contains("Coffee")), "it shows what changed");
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_takes_nothing_is_named_once_for_all_that_wait() {
    let one = "- [ ] date=2026-12-01 time=09:0N recur=none msg=\"xN\" id=rid_AAAAAAAAAAAN\n";
    let lines: String = (2..=6).map(|n| one.replace('N', &n.to_string())).collect();
    let vault = TestVault::new(&format!("//- /Reminders.md\n{lines}"));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let run = Run::of(vault.command(&["tick"]).stdout(full));
    let wanted = "not delivered: rid_AAAAAAAAAAA2, rid_AAAAAAAAAAA3, rid_AAAAAAAAAAA4 and 2 more: can't write to the console";
    assert_eq!(run.exits(1).warns(wanted).stderr.matches("not delivered: ").count(), 1, "{run:?}");
    assert_eq!(vault.read("Reminders.md"), lines);
}
