//! Twenty clients at once, and a person who types into the same note.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::mcp::client::Client;
use crate::support::TestVault;

/// How many clients there are.
pub const CLIENTS: usize = 20;
/// A person stops here, however long the clients take.
const MOST_LINES: usize = 2_000;

/// Each client does its `part`, all at once; meanwhile a person's editor appends `line(0)`, `line(1)`, … to the note,
/// each in one write. Gives how many lines the person typed.
pub fn at_once(
    vault: &TestVault,
    note: &str,
    line: impl Fn(usize) -> String + Sync,
    part: impl Fn(usize, &mut Client) + Sync,
) -> usize {
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::new(vault)).collect();
    let (done, path, part) = (AtomicBool::new(false), vault.path(note), &part);
    std::thread::scope(|scope| {
        let person = scope.spawn(|| {
            let mut typed = 0;
            while !done.load(Ordering::Relaxed) && typed < MOST_LINES {
                let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
                file.write_all(format!("{}\n", line(typed)).as_bytes()).unwrap();
                typed += 1;
                std::thread::yield_now();
            }
            typed
        });
        let writers: Vec<_> =
            clients.iter_mut().enumerate().map(|(n, client)| scope.spawn(move || part(n, client))).collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        person.join().unwrap()
    })
}

/// Calls until it is done. A file that somebody has open all the time is a refusal that says so: try again.
pub fn get_through(n: usize, client: &mut Client, tool: &str, arguments: &Value) {
    let through = (0..20).any(|_| client.call(tool, arguments.clone()).0["isError"] != true);
    assert!(through, "client {n} never got through");
}
