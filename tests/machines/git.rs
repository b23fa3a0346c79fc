//! Tests the engine on a git server: bare repositories over file:// and over a real ssh, and all that can be wrong with them.

use crate::parts::*;
use tempfile::TempDir;
use vault_agent::machines::engine::git::{GitEngine, GitPlace};
use vault_agent::machines::protocol::value::{Claim, ClaimState, SharedValue};

use crate::engines::{change, keeps_its_promises, refused};
use crate::world::Random;

/// A machine: its state directory and its engine.
struct Machine {
    state: TempDir,
    place: GitPlace,
    clock: Arc<ManualClock>,
    engine: GitEngine,
}

impl Machine {
    fn new(remote: &str, ssh: Option<&str>) -> Self {
        let state = crate::support::folder::temporary();
        let mut place = GitPlace::new(remote, state.path().to_owned()).unwrap();
        place.ssh = ssh.map(str::to_owned);
        let clock = Arc::new(ManualClock::new("2026-11-24T12:00:00Z".parse().unwrap()));
        let engine = GitEngine::new(place.clone(), Arc::clone(&clock) as Arc<dyn Clock>);
        Self { state, place, clock, engine }
    }

    /// The machine with a new process.
    fn restarted(self) -> Self {
        Self { engine: GitEngine::new(self.place.clone(), Arc::clone(&self.clock) as Arc<dyn Clock>), ..self }
    }

    /// Makes a claim that no other machine has.
    async fn claim(&self, name: &str) {
        assert_eq!(self.engine.swap(&[claim(name)]).await.unwrap(), SwapOutcome::Done, "{name}");
    }

    /// How many entries have a key with this beginning.
    async fn count(&self, beginning: &str) -> usize {
        self.engine.read().await.unwrap().keys().filter(|key| key.starts_with(beginning)).count()
    }
}

fn claim(name: &str) -> EntryChange {
    change(&format!("claim/{name}"), None, Some("1"))
}

fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A bare repository with these settings, in a folder of its own, and two machines that share it.
fn shared(settings: &[(&str, &str)]) -> Option<(TempDir, PathBuf, Machine, Machine)> {
    let folder = folder_with(&["git", "sh"])?;
    let repository = bare(folder.path(), settings);
    let machine = || Machine::new(&url(&repository), None);
    let (one, other) = (machine(), machine());
    Some((folder, repository, one, other))
}

fn commits(repository: &Path, branch: &str) -> usize {
    git(repository, &["rev-list", "--count", branch]).trim().parse().unwrap()
}

#[tokio::test]
async fn two_machines_agree_over_a_file() {
    let Some((_folder, repository, one, other)) = shared(&[]) else { return };
    keeps_its_promises(&one.engine, &other.engine).await;
    assert_eq!(commits(&repository, "vault-agent"), 1, "the one commit is replaced");
    // Others' changes of other keys don't make a swap lose.
    for n in 0..3 {
        one.claim(&format!("a{n}")).await;
        other.claim(&format!("b{n}")).await;
    }
    assert_eq!(one.restarted().count("claim/").await, 7);
}

#[tokio::test]
async fn a_damaged_folder_of_ours_is_made_anew_and_a_lock_that_stays_is_named() {
    let Some((_folder, repository, one, _other)) = shared(&[]) else { return };
    one.claim("a").await;
    std::fs::remove_dir_all(one.state.path().join("machines.git/objects")).unwrap();
    let error = one.engine.read().await.unwrap_err().to_string();
    assert!(error.contains("on this machine was damaged"), "{error}");
    assert_eq!(one.count("claim/").await, 1);
    let lock = repository.join("refs/heads/vault-agent.lock");
    std::fs::write(&lock, "").unwrap();
    let error = one.engine.swap(&[claim("b")]).await.unwrap_err().to_string();
    contains_all(error, &["refs/heads/vault-agent.lock` keeps all machines from writing"]);
    std::fs::remove_file(&lock).unwrap();
    one.claim("b").await;
}

#[tokio::test]
async fn of_two_who_push_at_once_one_wins() {
    let Some(folder) = folder_with(&["git"]) else { return };
    let repository = bare(folder.path(), &[]);
    let machines: Vec<Machine> = (0..3).map(|_| Machine::new(&url(&repository), None)).collect();
    for round in 0..4 {
        let key = format!("claim/{round}");
        let swaps = machines.iter().enumerate().map(|(n, machine)| {
            let claim = [change(&key, None, Some(&format!("{n}")))];
            async move { machine.engine.swap(&claim).await.unwrap() }
        });
        let all = futures_util::future::join_all(swaps).await;
        let winner = all.iter().position(|swapped| *swapped == SwapOutcome::Done).unwrap();
        let stands = SwapOutcome::Lost([(key.clone(), winner.to_string())].into());
        assert_eq!(all.iter().filter(|swapped| **swapped == stands).count(), 2, "{all:?}");
    }
}

/// A repository behind an sshd, with its address; none where the machine lacks the programs.
fn over_ssh() -> Option<(tempfile::TempDir, Ssh, String)> {
    let folder = folder_with(&["git", "sshd", "ssh", "ssh-keygen"])?;
    let repository = bare(folder.path(), &[]);
    let ssh = Ssh::start(folder.path());
    let remote = format!("ssh://127.0.0.1:{}{}", ssh.port, repository.display());
    Some((folder, ssh, remote))
}

#[tokio::test]
async fn two_machines_agree_over_ssh() {
    let Some((_folder, ssh, remote)) = over_ssh() else { return };
    let (one, other) = (Machine::new(&remote, Some(&ssh.command)), Machine::new(&remote, Some(&ssh.command)));
    keeps_its_promises(&one.engine, &other.engine).await;

    let nowhere = format!("ssh://127.0.0.1:{}/nowhere.git", ssh.port);
    let stranger = ssh.command.replace("known_hosts", "nobody_known");
    for (remote, command, why) in [
        (&remote, &ssh.without_key, "ssh key"),
        (&nowhere, &ssh.command, "git init --bare"),
        (&remote, &stranger, "host key"),
    ] {
        refused(Machine::new(remote, Some(command)).engine.read().await, why);
    }
}

/// A month of 10,000 deliveries, as `seed` makes them: a line of the branch's file each.
fn month_of_claims(seed: u64) -> String {
    let mut random = Random::new(seed);
    let letters = b"ABCDEFGHJKMNPQRSTVWXYZ0123456789";
    let mut letter = || char::from(letters[usize::try_from(random.below(32)).unwrap()]);
    let mut word = |length: usize| -> String { (0..length).map(|_| letter()).collect() };
    let machines = ["server", "laptop", "desktop"].map(|name| (name, word(16)));
    let mut lines = std::collections::BTreeMap::new();
    for number in 0..10_000_i64 {
        let at = 1_796_083_200 + number * 259;
        let due = jiff::Timestamp::from_second(at).unwrap().strftime("%Y-%m-%dT%H:%M");
        let (name, machine) = &machines[usize::from(number % 5 == 0) + usize::from(number % 50 == 0)];
        let claim = Claim {
            by: (*name).to_owned(),
            machine: machine.clone(),
            epoch: 1,
            nonce: word(16),
            until: 240_000 + (number * 7919 % 60_000).unsigned_abs(),
            state: ClaimState::Sent,
            within: None,
            order: None,
            line: None,
            at: at + number % 3,
            rest: serde_json::Map::new(),
        };
        lines.insert(claim_key(&format!("rid_{}@{due}", word(12)), "discord"), claim.write());
    }
    lines.iter().map(|(key, value)| format!("{key} {value}\n")).collect()
}

#[tokio::test]
async fn with_ten_thousand_claims_the_branch_is_small_and_a_look_and_a_change_send_little() {
    let Some((folder, ssh, remote)) = over_ssh() else { return };
    let repository = folder.path().join("voice.git");
    let first = Machine::new(&remote, Some(&ssh.command));
    assert_eq!(first.engine.swap(&[change("lease", None, Some("0"))]).await.unwrap(), SwapOutcome::Done);
    let (entries, claims) = (folder.path().join("entries"), month_of_claims(1));
    let before = git(&repository, &["show", "vault-agent:entries"]).replace("lease 0\n", "");
    std::fs::write(&entries, before + &claims).unwrap();
    let blob = git(&repository, &["hash-object", "-w", entries.to_str().unwrap()]);
    git(&repository, &["update-index", "--add", "--cacheinfo", &format!("100644,{},entries", blob.trim())]);
    let tree = git(&repository, &["write-tree"]);
    let commit = git(&repository, &["commit-tree", "-m", "a month", tree.trim()]);
    git(&repository, &["update-ref", "refs/heads/vault-agent", commit.trim()]);
    let stored = git(&repository, &["rev-list", "--objects", "--disk-usage", "vault-agent"]);
    let stored: u64 = stored.trim().parse().unwrap();
    eprintln!("10,000 claims, seed 1: {} bytes of text, {stored} bytes in the repository", claims.len());
    assert!(stored < 1_000_000, "{stored}");

    let log = folder.path().join("log");
    let command = format!("{} -v -E {}", ssh.command, log.display());
    let (one, other) = (Machine::new(&remote, Some(&command)), Machine::new(&remote, Some(&command)));
    assert_eq!((one.count("").await, other.count("").await), (10_000, 10_000));
    // The bytes that the last connection sent and received, as ssh counts them.
    let transferred = || {
        let text = std::fs::read_to_string(&log).unwrap();
        let line = text.lines().rev().find(|line| line.contains("Transferred: sent")).unwrap().to_owned();
        std::fs::remove_file(&log).unwrap();
        line.split([' ', ',']).filter_map(|word| word.parse::<u64>().ok()).take(2).collect::<Vec<_>>()
    };
    assert!(transferred()[1] > 50_000, "the first look takes all");
    other.engine.read().await.unwrap();
    let idle = transferred();
    assert_eq!(one.engine.swap(&[change("lease", None, Some("1"))]).await.unwrap(), SwapOutcome::Done);
    let push = transferred();
    assert!(other.engine.read().await.unwrap().contains_key("lease"));
    let fetch = transferred();
    eprintln!("sent, received: idle {idle:?}, push {push:?}, fetch {fetch:?}");
    assert!([idle, push, fetch].iter().flatten().all(|count| *count < 20_000));
}

#[tokio::test]
async fn a_server_that_forbids_forced_pushes_gets_a_branch_for_each_month() {
    let forbidden = [("receive.denyNonFastForwards", "true")];
    let Some((_folder, repository, one, other)) = shared(&forbidden) else { return };
    keeps_its_promises(&one.engine, &other.engine).await;

    let branches = || git(&repository, &["for-each-ref", "--format=%(refname:short)"]);
    assert_eq!(branches(), "vault-agent\nvault-agent-2026-11\n");
    assert!(commits(&repository, "vault-agent-2026-11") > 1);
    // Months go by for one of them alone: the other one finds the way.
    one.clock.set("2026-12-01T00:00:00Z".parse().unwrap());
    one.claim("month1").await;
    assert_eq!(commits(&repository, "vault-agent-2026-12"), 1);
    other.claim("month2").await;
    one.clock.set("2027-01-01T00:00:00Z".parse().unwrap());
    one.claim("month3").await;
    assert_eq!(branches(), "vault-agent-2026-12\nvault-agent-2027-01\n", "old months are gone");
    one.clock.set("2027-02-01T00:00:00Z".parse().unwrap());
    one.claim("month4").await;
    assert_eq!(other.restarted().count("claim/month").await, 4);
    assert_eq!(Machine::new(&url(&repository), None).count("claim/month").await, 4);
}

#[tokio::test]
async fn a_push_whose_answer_is_lost_is_read_back() {
    let Some((folder, repository, one, other)) = shared(&[]) else { return };
    // The server has the new state, and the connection ends before it says so: its whole process group is killed.
    let at = folder.path().display();
    let text = format!("#!/bin/sh\nif [ -e {at}/lose ]; then rm {at}/lose; kill -9 $PPID; fi\n");
    write_program(repository.join("hooks/post-receive"), &text);
    one.claim("a").await;
    std::fs::write(folder.path().join("lose"), "").unwrap();
    // It stands there, whatever became of the answer.
    one.claim("b").await;
    assert!(!folder.path().join("lose").exists());
    assert_eq!(other.count("claim/").await, 2);
}

#[tokio::test]
async fn what_is_wrong_with_a_remote_is_told_in_a_sentence() {
    let Some(folder) = folder_with(&["git"]) else { return };
    refused(Machine::new(&url(folder.path()), None).engine.read().await, "git init --bare");
    let full = bare(folder.path(), &[("receive.maxInputSize", "10")]);
    refused(Machine::new(&url(&full), None).engine.swap(&[claim("a")]).await, "full");

    let for_others = crate::support::folder::temporary();
    let repository = bare(for_others.path(), &[]);
    let work = for_others.path().join("work");
    git(for_others.path(), &["clone", "--quiet", repository.to_str().unwrap(), work.to_str().unwrap()]);
    git(&work, &["commit", "--quiet", "--allow-empty", "-m", "somebody's work"]);
    git(&work, &["push", "--quiet", "origin", "HEAD:refs/heads/vault-agent"]);
    for entries in [None, Some("# Somebody's file\n")] {
        if let Some(text) = entries {
            std::fs::write(work.join("entries"), text).unwrap();
            git(&work, &["add", "entries"]);
            git(&work, &["commit", "--quiet", "-m", "a file"]);
            git(&work, &["push", "--quiet", "origin", "HEAD:refs/heads/vault-agent"]);
        }
        let before = git(&repository, &["rev-parse", "vault-agent"]);
        refused(Machine::new(&url(&repository), None).engine.swap(&[claim("a")]).await, "something else");
        assert_eq!(git(&repository, &["rev-parse", "vault-agent"]), before, "somebody's branch was written");
    }
    // Such an address gets no place; git itself refuses it, too.
    let strange = "ext::sh -c touch% x";
    refused(GitPlace::new(strange, folder.path().to_owned()).map(drop), "");
    let mut machine = Machine::new(&url(&repository), None);
    machine.place.remote = strange.to_owned();
    refused(machine.restarted().engine.read().await, "not allowed");
}

#[tokio::test]
async fn a_branch_that_somebody_rewound_is_refused_until_a_person_says_so() {
    let Some((_folder, repository, machine, other)) = shared(&[]) else { return };
    machine.claim("a").await;
    let old = git(&repository, &["rev-parse", "vault-agent"]);
    git(&repository, &["update-ref", "refs/heads/kept", old.trim()]);
    machine.claim("b").await;
    git(&repository, &["update-ref", "refs/heads/vault-agent", old.trim()]);

    let machine = machine.restarted();
    for _ in 0..2 {
        assert!(matches!(machine.engine.read().await, Err(EngineError::Broken(_))));
        assert!(matches!(machine.engine.swap(&[claim("c")]).await, Err(EngineError::Broken(_))));
    }
    // Also when others went on from there, and when it is gone.
    for n in 0..3 {
        other.claim(&format!("other{n}")).await;
    }
    assert!(matches!(machine.engine.read().await, Err(EngineError::Broken(_))));
    machine.engine.forget().await.unwrap();
    assert_eq!(machine.engine.read().await.unwrap().len(), 4);
    git(&repository, &["update-ref", "-d", "refs/heads/vault-agent"]);
    assert!(matches!(machine.engine.read().await, Err(EngineError::Broken(_))));
}

#[tokio::test]
async fn a_remote_that_is_silent_is_given_up_and_nothing_of_it_runs_on() {
    let Some(folder) = folder_with(&["git", "sh"]) else { return };
    let script = folder.path().join("ssh");
    write_program(&script, "#!/bin/sh\nsleep 600 &\necho $! > \"$0.pid\"\nwait\n");
    let mut machine = Machine::new("ssh://127.0.0.1/voice.git", script.to_str());
    machine.place.patience = Duration::from_secs(3);
    let machine = machine.restarted();
    let error = machine.engine.read().await.unwrap_err();
    let is_told = matches!(&error, EngineError::Unreachable(why) if why.contains("no answer within 3 s"));
    assert!(is_told, "{error}");
    // On a machine that is busy enough it was ended before it came so far.
    let Ok(pid) = std::fs::read_to_string(folder.path().join("ssh.pid")) else { return };
    // Killed; it is over when the killed one next had its turn.
    let is_over = || cfg!(not(target_os = "linux")) || !lives(pid.trim().parse().unwrap());
    until("the end of a child of git", is_over);
    assert!(machine.state.path().exists());
}

#[tokio::test]
async fn no_hook_and_no_setting_of_the_users_runs() {
    let Some((folder, _, machine, _)) = shared(&[]) else { return };
    machine.engine.read().await.unwrap();
    let ran = folder.path().join("ran");
    for name in ["pre-push", "reference-transaction", "post-index-change"] {
        let hook = machine.state.path().join("machines.git/hooks").join(name);
        write_program(&hook, &format!("#!/bin/sh\necho {name} >> {}\n", ran.display()));
    }
    machine.claim("a").await;
    assert!(!ran.exists(), "{}", std::fs::read_to_string(&ran).unwrap_or_default());
}
