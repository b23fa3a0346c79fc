//! Runs the corpus of escapes (`corpus.txt`), with its controls: what fails in the box succeeds outside it, so that a case
//! can fail.

use crate::rig::*;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

/// One attempt.
struct Case {
    name: &'static str,
    /// A program that it needs.
    needs: &'static str,
    /// Whether it succeeds without a box: for everyone (`Same`), for root (`Root`), or it isn't known (`No`).
    control: &'static str,
    /// The whole script.
    script: String,
}

/// The corpus; its head says what a line holds.
fn cases() -> Vec<Case> {
    let lines = include_str!("corpus.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let cases = lines.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let (needs, script) = match fields[1..] {
            ["sh", _, script] => ("", script.to_owned()),
            ["perl", _, program] => ("perl", format!("perl -MSocket -e '{program}' && e")),
            ["call", _, made, call] => {
                ("perl", format!("perl -e '{made} exit 1 if syscall({call}) < 0' && e"))
            }
            ["socket", _, kind, done] => {
                ("perl", format!("perl -MSocket -e 'socket(S, {kind}) {done} or exit 1' && e"))
            }
            [how, _, script] => (how.strip_prefix("sh ").expect(line), script.to_owned()),
            _ => panic!("{line}"),
        };
        let control = fields[0];
        assert!(matches!(control, "Same" | "Root" | "No"), "{line}");
        Case { name: fields[2], needs, control, script }
    });
    cases.collect()
}

impl Case {
    /// Whether it can be made on this machine; says so where it can't.
    fn is_possible(&self) -> bool {
        let is_native = cfg!(target_arch = "x86_64") || !self.script.contains("syscall(");
        if !is_native {
            eprintln!("skipped: {}: its numbers are those of x86_64", self.name);
        }
        has(self.needs) && is_native
    }
}

/// What there is outside to be reached.
struct World {
    rig: Rig,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    abstract_name: String,
    _sockets: (UnixListener, UnixDatagram, UnixListener),
}

impl World {
    fn new(namespaces: bool) -> Option<Self> {
        let rig = Rig::new(namespaces)?;
        rig.write("home/script", "#!/bin/bash\necho ESCAPED\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(rig.at("home/script"), mode).unwrap();
        let abstract_name = rig.dir.path().display().to_string().replace('/', "-");
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        Some(Self {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            tcp6: TcpListener::bind("[::1]:0").ok(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            _sockets: (
                UnixListener::bind(rig.at("shared/socket")).unwrap(),
                UnixDatagram::bind(rig.at("shared/datagrams")).unwrap(),
                UnixListener::bind_addr(&address).unwrap(),
            ),
            abstract_name,
            rig,
        })
    }

    fn filled(&self, script: &str, victim: &Child) -> String {
        let tcp6 = self.tcp6.as_ref().map_or(1, |listener| listener.local_addr().unwrap().port());
        let folder = format!("{}/", self.rig.dir.path().display());
        let script = script
            .replace("@/", &folder)
            .replace("@PID", &victim.id().to_string())
            .replace("@SELF", &std::process::id().to_string())
            .replace("@TCP6", &tcp6.to_string())
            .replace("@TCP", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("@UDP", &self.udp.local_addr().unwrap().port().to_string())
            .replace("@ABSTRACT", &self.abstract_name);
        format!("e() {{ echo ESCAPED; }}\n{script}\ntrue")
    }
}

/// A process outside, with a secret in its environment, that runs already.
fn victim() -> Child {
    let mut bash = Command::new("bash");
    bash.args(["-c", "echo up; exec 1>&-; read x"]).env("SECRET", CANARY);
    let mut child = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut up = String::new();
    child.stdout.take().unwrap().read_to_string(&mut up).unwrap();
    child
}

async fn nothing_escapes(namespaces: bool) {
    let cases = cases();
    assert!(cases.len() >= 100, "{}", cases.len());
    let Some(world) = World::new(namespaces) else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        if !case.is_possible() {
            continue;
        }
        world.rig.clear();
        let before = world.rig.outside();
        let mut victim = victim();
        let ran = world.rig.run(&world.filled(&case.script, &victim)).await;
        if ran.text.contains("ESCAPED") || ran.text.contains(CANARY) {
            wrong.push(format!("{}: {:?}", case.name, ran));
        }
        if world.rig.outside() != before {
            wrong.push(format!("{}: something outside has changed: {ran:?}", case.name));
        }
        if victim.try_wait().unwrap().is_some() {
            wrong.push(format!("{}: the process outside is dead", case.name));
        }
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[tokio::test]
async fn nothing_escapes_with_namespaces() {
    nothing_escapes(true).await;
}

#[tokio::test]
async fn nothing_escapes_without_namespaces() {
    nothing_escapes(false).await;
}

/// Without the box the same scripts get what they want.
#[test]
fn the_controls_succeed_outside_the_box() {
    let mut wrong = Vec::new();
    for case in cases() {
        let is_tried =
            case.control == "Same" || case.control == "Root" && rustix::process::geteuid().is_root();
        if !is_tried || !case.is_possible() {
            continue;
        }
        // Each in a world of its own, since some destroy it.
        let Some(world) = World::new(true).or_else(|| World::new(false)) else { return };
        if case.script.contains("@TCP6") && world.tcp6.is_none() {
            eprintln!("skipped: {}: no IPv6 here", case.name);
            continue;
        }
        let mut victim = victim();
        let (_, said) = plain(&world.filled(&case.script, &victim), &world.rig.at("scratch"));
        if !said.contains("ESCAPED") {
            wrong.push(format!("{}: {said}", case.name));
        }
        let _ = victim.kill();
        victim.wait().unwrap();
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
