//! Starts and stops the store of a run and its servers: a bare repository, alone or behind an sshd, or three etcd servers.

use crate::parts::*;

use crate::proxy::Net;

pub(super) enum Servers {
    File,
    Ssh(Ssh),
    Etcd(Etcd),
}

impl Servers {
    /// Starts those of `engine`, in `folder`.
    pub fn start(engine: &str, folder: &Path) -> Self {
        match engine {
            "etcd" => Self::Etcd(Etcd::start(folder)),
            "ssh" => Self::Ssh(Ssh::start(folder)),
            _ => Self::File,
        }
    }

    /// The store in the settings of a machine that reaches it over `net`; `repository` is that of git.
    pub fn settings(&self, repository: &Path, net: &Net) -> String {
        match self {
            Self::File => format!("engine = \"git\"\nremote = \"file://{}\"", repository.display()),
            Self::Ssh(ssh) => {
                let port = net.to(ssh.port);
                format!("engine = \"git\"\nremote = \"ssh://127.0.0.1:{port}{}\"", repository.display())
            }
            Self::Etcd(etcd) => {
                let over = |(port, _): &(u16, u16)| format!("http://127.0.0.1:{}", net.to(*port));
                let urls: Vec<String> = etcd.ports.iter().map(over).collect();
                format!("engine = \"etcd\"\nendpoints = {urls:?}")
            }
        }
    }

    /// The command by which git logs in, where there is an sshd.
    pub fn ssh_command(&self) -> Option<String> {
        let Self::Ssh(ssh) = self else { return None };
        // Through a proxy the port is another one.
        Some(format!("{} -o HostKeyAlias=[127.0.0.1]:{}", ssh.command, ssh.port))
    }

    /// Kills one, or stops it where that can be; whether there is one.
    pub fn take_down(&mut self, node: usize, is_stopped: bool) -> bool {
        match self {
            Self::File => return false,
            Self::Ssh(ssh) => ssh.kill(),
            Self::Etcd(etcd) if is_stopped => etcd.pause(node, true),
            Self::Etcd(etcd) => etcd.kill(node),
        }
        true
    }

    /// Starts one again, or lets it go on.
    pub fn bring_up(&mut self, node: usize, was_stopped: bool) {
        match self {
            Self::File => {}
            Self::Ssh(ssh) => ssh.start_again(),
            Self::Etcd(etcd) if was_stopped => etcd.pause(node, false),
            Self::Etcd(etcd) => etcd.start_one(node),
        }
    }
}
