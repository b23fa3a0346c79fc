//! Finds the user at the other end of a connection from this machine, in the kernel's tables of sockets.

use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;

/// The addresses of a connection's two ends.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    client: SocketAddr,
    server: SocketAddr,
}

impl Peer {
    /// The two ends of a connection that was accepted.
    pub(super) fn of(stream: &TcpStream) -> std::io::Result<Self> {
        Ok(Self { client: stream.peer_addr()?, server: stream.local_addr()? })
    }

    /// Whether the client is a process of another user of this machine, but root, who can read everything. False where
    /// that is unknown: of another machine, or on a system without these tables.
    pub fn is_another_user(&self) -> bool {
        let table = |path| std::fs::read_to_string(path).unwrap_or_default();
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(table);
        let user = tables.iter().flat_map(|table| table.lines()).find_map(|line| self.user_in(line));
        user.is_some_and(|user| user != 0 && user != rustix::process::getuid().as_raw())
    }

    /// The user in a line of a table, if it is the one of the client's end.
    fn user_in(&self, line: &str) -> Option<u32> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, _, _, _, _, user, ..] = fields[..] else { return None };
        let is_it = |text, end: SocketAddr| address(text) == Some((end.ip().to_canonical(), end.port()));
        (is_it(local, self.client) && is_it(remote, self.server)).then(|| user.parse().ok()).flatten()
    }
}

/// An address as the tables have it: the IP in words of four bytes, each as a number of this machine.
fn address(text: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let bytes: Vec<[u8; 4]> = (0..ip.len()).step_by(8).map(word).collect::<Option<_>>()?;
    let ip = match *bytes.as_flattened() {
        [a, b, c, d] => IpAddr::from([a, b, c, d]),
        ref bytes => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical(),
    };
    Some((ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn the_line_of_the_clients_end_names_its_user() {
        let peer = |client: &str, server: &str| Peer {
            client: client.parse().unwrap(),
            server: server.parse().unwrap(),
        };
        let rest =
            "00000000:00000000 00:00000000 00000000  1001        0 5113 1 0000000000000000 20 4 30 10 -1";
        let line = format!("   1: 0100007F:C350 0100007F:2256 01 {rest}");
        let v4 = peer("127.0.0.1:50000", "127.0.0.1:8790");
        assert_eq!(v4.user_in(&line), Some(1001));
        // The server's own end, and a socket of the same port at another address.
        assert_eq!(peer("127.0.0.1:8790", "127.0.0.1:50000").user_in(&line), None);
        assert_eq!(peer("127.0.0.2:50000", "127.0.0.1:8790").user_in(&line), None);
        // An IPv4 address of a socket for IPv6, and IPv6.
        let (mapped, own) = ("0000000000000000FFFF00000100007F", "00000000000000000000000001000000");
        assert_eq!(v4.user_in(&format!("  2: {mapped}:C350 {mapped}:2256 01 {rest}")), Some(1001));
        let v6 = peer("[::1]:50000", "[::1]:8790");
        assert_eq!(v6.user_in(&format!("  2: {own}:C350 {own}:2256 01 {rest}")), Some(1001));
        for other in
            ["", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid", "x"]
        {
            assert_eq!(v4.user_in(other), None, "{other:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_process_of_this_user_is_found_and_is_no_other() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let peer = Peer::of(&listener.accept().await.unwrap().0).unwrap();
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let own = rustix::process::getuid().as_raw();
        assert_eq!(table.lines().find_map(|line| peer.user_in(line)), Some(own));
        assert!(!peer.is_another_user());
    }
}
