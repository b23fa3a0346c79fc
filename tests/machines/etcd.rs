//! Tests the engine on etcd: three real servers of Debian's, some of them killed, stopped, restored or with users.

use crate::parts::*;
use tempfile::TempDir;
use vault_agent::machines::engine::etcd::{EtcdEngine, EtcdPlace};

use crate::engines::{change, keeps_its_promises, refused};

/// A machine: its state directory and its engine.
struct Machine {
    state: TempDir,
    engine: EtcdEngine,
}

impl Machine {
    fn new(etcd: &Etcd, user: Option<(&str, &str)>) -> Self {
        Self::at(etcd, crate::support::folder::temporary(), user)
    }

    fn at(etcd: &Etcd, state: TempDir, user: Option<(&str, &str)>) -> Self {
        let mut place = place(etcd.endpoints(), state.path());
        place.user = user.map(|(name, password)| (name.to_owned(), password.into()));
        Self { state, engine: EtcdEngine::new(place).unwrap() }
    }
}

fn place(endpoints: Vec<String>, state: &Path) -> EtcdPlace {
    let (prefix, state) = ("vault-agent".to_owned(), state.to_owned());
    EtcdPlace { endpoints, prefix, user: None, authority: None, state }
}

/// Asks until the engine answers: an election may be under way. What is unknown is asked again, as the protocol does.
async fn answered<T>(ask: impl AsyncFn() -> Result<T, EngineError>) -> T {
    let start = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(EngineError::Unreachable(_) | EngineError::Unknown(_)) => {}
            Err(error) => panic!("{error}"),
        }
        assert!(start.elapsed() < Duration::from_secs(60), "the cluster never answered");
    }
}

async fn read(engine: &EtcdEngine) -> Entries {
    answered(async || engine.read().await).await
}

/// Makes a change.
async fn swap(engine: &EtcdEngine, change: EntryChange) {
    let changes = [change];
    if let SwapOutcome::Lost(stands) = answered(async || engine.swap(&changes).await).await {
        assert_eq!(stands.get(&changes[0].key), changes[0].value.as_ref(), "somebody else changed it");
    }
}

fn claim(name: &str) -> EntryChange {
    change(&format!("claim/{name}"), None, Some(&format!("by one, {name}")))
}

#[tokio::test]
async fn two_machines_agree_while_servers_are_killed_and_stopped() {
    let Some(folder) = folder_with(&["etcd", "etcdctl"]) else { return };
    let mut etcd = Etcd::start(folder.path());
    let (one, other) = (Machine::new(&etcd, None), Machine::new(&etcd, None));
    keeps_its_promises(&one.engine, &other.engine).await;

    // A watch tells of a change as it happens, and of nothing where nothing happens.
    other.engine.read().await.unwrap();
    let (watched, ()) =
        tokio::join!(other.engine.changed(Duration::from_secs(60)), swap(&one.engine, claim("w")));
    assert!(watched.unwrap());
    let entries = other.engine.read().await.unwrap();
    assert!(!other.engine.changed(Duration::from_millis(300)).await.unwrap());

    // One that is stopped, and one that is killed: the others go on.
    etcd.pause(0, true);
    swap(&one.engine, claim("stopped")).await;
    etcd.pause(0, false);
    etcd.kill(1);
    swap(&one.engine, claim("killed")).await;
    assert_eq!(read(&other.engine).await.len(), entries.len() + 2);

    // Without a majority nothing is believed.
    etcd.kill(2);
    assert!(matches!(one.engine.read().await, Err(EngineError::Unreachable(_))));
    let error = one.engine.swap(&[claim("minority")]).await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_) | EngineError::Unknown(_)), "{error:?}");
    etcd.start_one(1);
    etcd.start_one(2);
    swap(&one.engine, claim("minority")).await;
    assert_eq!(read(&other.engine).await["claim/minority"], "by one, minority");
}

#[tokio::test]
async fn a_cluster_restored_from_a_snapshot_is_refused_until_a_person_says_so() {
    let Some(folder) = folder_with(&["etcd", "etcdctl"]) else { return };
    let mut etcd = Etcd::start(folder.path());
    let machine = Machine::new(&etcd, None);
    swap(&machine.engine, claim("before")).await;
    let snapshot = etcd.snapshot();
    swap(&machine.engine, claim("after")).await;
    etcd.restore(&snapshot);

    // A machine that saw what was lost refuses, also with a new process; one that didn't can't know.
    let Machine { state, engine } = machine;
    assert!(matches!(engine.read().await, Err(EngineError::Broken(_))));
    let machine = Machine::at(&etcd, state, None);
    assert!(matches!(machine.engine.read().await, Err(EngineError::Broken(_))));
    assert!(matches!(machine.engine.swap(&[claim("more")]).await, Err(EngineError::Broken(_))));
    assert_eq!(read(&Machine::new(&etcd, None).engine).await.len(), 1, "the refused claim was written");
    machine.engine.forget().await.unwrap();
    assert_eq!(read(&machine.engine).await.len(), 1);

    // Users: the right one is let in, a wrong password and no user are refused in a sentence.
    for command in [
        "user add root:geheim",
        "user grant-role root root",
        "user add me:secret",
        "role add voice",
        "role grant-permission voice --prefix=true readwrite /vault-agent/",
        "user grant-role me voice",
        "user add guest:guest",
        "auth enable",
    ] {
        let output = etcd.etcdctl(&command.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let me = Machine::new(&etcd, Some(("me", "secret")));
    swap(&me.engine, claim("me")).await;
    assert_eq!(read(&me.engine).await.len(), 2);
    for (user, told) in [
        (None, "user and a password"),
        (Some(("me", "wrong")), "password"),
        (Some(("guest", "guest")), "rights"),
    ] {
        let answer = Machine::new(&etcd, user).engine.read().await;
        assert!(!format!("{answer:?}").contains("wrong"), "{user:?}: {answer:?}");
        refused(answer, told);
    }
}

#[tokio::test]
async fn a_certificate_is_checked() {
    let Some(folder) = folder_with(&["etcd"]) else { return };
    let (_server, address) = etcd_over_tls(folder.path());
    let engine = |authority: Option<&[u8]>| {
        let authority = authority.map(<[u8]>::to_vec);
        EtcdEngine::new(EtcdPlace { authority, ..place(vec![address.clone()], folder.path()) }).unwrap()
    };
    let trusting = engine(Some(include_bytes!("tls/cert.pem")));
    // It may still be starting.
    read(&trusting).await;
    swap(&trusting, claim("tls")).await;
    refused(engine(None).read().await, "certificate");
}
