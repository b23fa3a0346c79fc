//! Plays a network that drops, delays and cuts: proxies on loopback that stand between one machine and what it talks to.

use crate::support::prelude::*;
use std::net::Shutdown;
use std::sync::atomic::AtomicU32;

/// Connections break, in the middle of whatever they carry, and none is made.
pub const CUT: u32 = u32::MAX;
/// Nothing comes through, and no connection breaks.
pub const HOLE: u32 = u32::MAX - 1;

/// One machine's way to everything else.
#[derive(Clone, Default)]
pub struct Net(Arc<AtomicU32>);

impl Net {
    /// From now on each piece is late by so many milliseconds; or all is cut, or lost in a hole.
    pub fn set(&self, mode: u32) {
        self.0.store(mode, Ordering::Relaxed);
    }

    /// The port of a new proxy for the server at this port of loopback.
    pub fn to(&self, port: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let net = self.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let net = net.clone();
                std::thread::spawn(move || net.carry(&client, port));
            }
        });
        own
    }

    fn mode(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    fn carry(&self, client: &TcpStream, port: u16) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
        std::thread::scope(|scope| {
            scope.spawn(|| self.pass(client, &server));
            self.pass(&server, client);
        });
    }

    fn pass(&self, mut from: &TcpStream, mut to: &TcpStream) {
        let _ = from.set_read_timeout(Some(Duration::from_millis(50)));
        let mut bytes = [0; 16 << 10];
        loop {
            let read = match from.read(&mut bytes) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => 0,
                Err(_) => break,
            };
            while self.mode() == HOLE {
                std::thread::sleep(Duration::from_millis(20));
            }
            match self.mode() {
                CUT => break,
                late if read > 0 => std::thread::sleep(Duration::from_millis(u64::from(late))),
                _ => {}
            }
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
