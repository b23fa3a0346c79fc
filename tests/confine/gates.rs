//! The gate: many clients talk to the one counterpart, and to nobody else.

use crate::rig::*;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use vault_agent::confine::{Gate, gate};

/// Gives each client back what it said, in capitals.
#[derive(Default)]
struct Loud {
    clients: AtomicUsize,
}

#[async_trait]
impl Gate for Loud {
    async fn serve(&self, mut stream: UnixStream) {
        self.clients.fetch_add(1, Ordering::SeqCst);
        let mut said = String::new();
        if stream.read_to_string(&mut said).await.is_ok() {
            let _ = stream.write_all(said.to_uppercase().as_bytes()).await;
        }
    }
}

const WORDS: &str = "CONFINE_TEST_WORDS";

/// No test: the client, which another test runs in a box.
#[test]
#[allow(clippy::print_stdout)]
fn client() {
    let Ok(words) = std::env::var(WORDS) else { return };
    match gate::connect() {
        Ok(mut stream) => {
            stream.write_all(words.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            println!("<{answer}>");
        }
        Err(error) => println!("<no gate: {error}>"),
    }
}

/// A policy, and the command that runs this test's own program as a client.
fn asking(rig: &Rig) -> (Policy, String) {
    let program = std::env::current_exe().unwrap();
    let mut policy = rig.policy.clone();
    policy.read.push(program.clone());
    (policy, format!("{} --exact gates::client --nocapture | grep -o '<.*>'", program.display()))
}

#[tokio::test]
async fn clients_talk_through_the_gate() {
    for (kind, rig) in Rig::both() {
        let ((policy, client), loud) = (asking(&rig), Arc::new(Loud::default()));
        let many = format!("for i in {{1..20}}; do {WORDS}=many {client} & done; wait");
        let command = format!("export {WORDS}=hello; {client}; {many}");
        let ran = rig.run_with(&policy, &command, Some(loud.clone())).await;
        assert_eq!(ran.text, format!("<HELLO>\n{}", "<MANY>\n".repeat(20)), "{kind}");
        assert_eq!((ran.exit, loud.clients.load(Ordering::SeqCst)), (Exit::Code(0), 21), "{kind}");
    }
}

#[tokio::test]
async fn without_a_gate_there_is_none() {
    for (kind, rig) in Rig::both() {
        let (policy, client) = asking(&rig);
        let ran = rig.run_with(&policy, &format!("export {WORDS}=hello; {client}"), None).await;
        assert!(ran.text.starts_with("<no gate: "), "{kind}: {}", ran.text);
    }
}

#[tokio::test]
async fn a_client_that_never_ends_does_not_hold_the_command() {
    struct Silent;
    #[async_trait]
    impl Gate for Silent {
        async fn serve(&self, stream: UnixStream) {
            std::future::pending::<()>().await;
            drop(stream);
        }
    }
    for (kind, rig) in Rig::both() {
        let (policy, client) = asking(&rig);
        let command = format!("export {WORDS}=hello; {client} & exit 4");
        let ran = rig.run_with(&policy, &command, Some(Arc::new(Silent))).await;
        assert_eq!(ran.exit, Exit::Code(4), "{kind}");
    }
}

/// Rubbish sent through the gate reaches nobody, and the gate still works after it.
#[tokio::test]
async fn the_gate_takes_streams_alone() {
    if !has("python3") {
        return;
    }
    for (kind, rig) in Rig::both() {
        let ((policy, client), loud) = (asking(&rig), Arc::new(Loud::default()));
        let script = r#"
import os, socket
gate = socket.socket(fileno=int(os.environ["VAULT_AGENT_GATE"]))
gate.send(b"no descriptor at all, and more than one byte")
socket.send_fds(gate, [b"m"], [os.open("/dev/null", os.O_RDWR)])
socket.send_fds(gate, [b"m"], [os.pipe()[0]])
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
socket.send_fds(gate, [b"m"], [a.fileno()])
try:
    gate.sendto(b"x", "/dev/log")
    gate.connect("/dev/log")
    print("elsewhere")
except OSError:
    pass
"#;
        let command = format!("python3 - <<'END'\n{script}\nEND\nexport {WORDS}=hello; {client}");
        assert_eq!(rig.run_with(&policy, &command, Some(loud.clone())).await.text, "<HELLO>\n", "{kind}");
        assert_eq!(loud.clients.load(Ordering::SeqCst), 1, "{kind}");
    }
}
