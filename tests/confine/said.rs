//! Output: what a command says, safe to show; what it was given, and nothing more.

use std::os::unix::fs::symlink;

use crate::rig::*;
use vault_agent::confine::{ConfineError, Helper};

#[tokio::test]
async fn a_long_output_is_kept_whole_in_the_scratch() {
    for (kind, rig) in Rig::both() {
        let ran = rig.run("seq 1 20000").await;
        let all: String = (1..=20_000).map(|n| format!("{n}\n")).collect();
        assert_eq!((ran.exit, ran.bytes), (Exit::Code(0), all.len() as u64), "{kind}");
        assert!(ran.text.starts_with("1\n2\n") && ran.text.ends_with("\n19999\n20000\n"), "{kind}");
        let length = ran.text.len();
        assert!(ran.text.contains("bytes left out …]") && length < 31_000, "{kind}: {length}");
        let whole = ran.whole.expect("a file");
        assert_eq!(std::fs::read_to_string(&whole).unwrap(), all, "{kind}");
        // Another command may read it.
        let again = rig.run(&format!("tail -1 {}", whole.display())).await;
        assert_eq!((again.text.as_str(), again.whole), ("20000\n", None), "{kind}");
    }
}

#[tokio::test]
async fn the_file_of_the_whole_output_never_leads_outside() {
    for (kind, rig) in Rig::both() {
        // A link that waits for it is not followed.
        symlink(rig.at("vault/notes/a.md"), rig.at("scratch/output-1.txt")).unwrap();
        let ran = rig.run("seq 1 20000").await;
        assert_eq!(ran.whole, Some(rig.at("scratch/output-2.txt").canonicalize().unwrap()), "{kind}");
        assert!(std::fs::read_to_string(rig.at("vault/notes/a.md")).unwrap().contains("Anna"), "{kind}");
        // One that replaces it is not given.
        let swap = format!(
            "seq 1 20000; until [ -e output-3.txt ]; do :; done; rm output-3.txt; ln -s {} output-3.txt",
            rig.at("home/secret").display()
        );
        assert_eq!(rig.run(&swap).await.whole, None, "{kind}");
    }
}

#[tokio::test]
async fn the_environment_is_what_the_policy_says() {
    for (kind, rig) in Rig::both() {
        let policy = Policy {
            env: vec![("KEY".into(), "of a skill".into()), ("TZ".into(), "UTC".into())],
            ..rig.policy.clone()
        };
        let ran = rig.run_with(&policy, "env | sed 's/=.*//' | sort | tr '\\n' ' '; echo $KEY", None).await;
        assert_eq!(ran.text, "HOME KEY LANG PATH PWD SHLVL TMPDIR TZ _ of a skill\n", "{kind}");
        assert!(!format!("{policy:?}").contains("of a skill"));
    }
}

#[tokio::test]
async fn no_descriptor_is_inherited() {
    for (kind, rig) in Rig::both() {
        // A file that this process forgot to mark, such as one that its own parent left open.
        let secret = std::fs::File::open(rig.at("home/secret")).unwrap();
        let leak = rustix::io::fcntl_dupfd_cloexec(&secret, 40).unwrap();
        rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
        let read_all = "for fd in {3..254}; do read -u $fd x 2> /dev/null && echo \"$fd $x\"; done; true";
        let number = std::os::fd::AsRawFd::as_raw_fd(&leak);
        let (_, control) = plain(read_all, rig.dir.path());
        assert!(control.contains(&format!("{number} {CANARY}")), "{kind}: {control}");
        rustix::fs::seek(&secret, rustix::fs::SeekFrom::Start(0)).unwrap();
        assert_eq!(rig.run(read_all).await.text, "", "{kind}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    for (kind, rig) in Rig::both() {
        let policy = Policy { write: rig.at("missing"), ..rig.policy.clone() };
        let stop = CancellationToken::new();
        let error = rig.helper.run(&policy, "true", None, &stop).await.unwrap_err();
        assert!(matches!(error, ConfineError::Scratch { .. }), "{kind}: {error}");
        let long = format!("echo {}", "x".repeat(200_000));
        let error = rig.helper.run(&rig.policy, &long, None, &stop).await.unwrap_err();
        assert!(error.to_string().contains("too long"), "{kind}: {error}");
        // What is to be read and is not there is left out.
        let mut policy = rig.policy.clone();
        policy.read.push(rig.at("missing"));
        assert_eq!(rig.run_with(&policy, "echo fine", None).await.text, "fine\n", "{kind}");
    }
    let helper = Helper::new("/bin/true");
    assert!(!helper.enforcement().is_whole());
    let error = helper.run(&Policy::new("/"), "true", None, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, ConfineError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn the_network_is_there_where_the_policy_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for (kind, rig) in Rig::both() {
        let policy = Policy { network: true, ..rig.policy.clone() };
        let command = format!("exec 3<> /dev/tcp/127.0.0.1/{port} && echo there");
        assert_eq!(rig.run_with(&policy, &command, None).await.text, "there\n", "{kind}");
        // Nothing but TCP and UDP, also then.
        for socket in [
            "AF_UNIX, SOCK_STREAM, 0",
            "16, SOCK_RAW, 0",
            "AF_INET, SOCK_RAW, 1",
            "AF_INET, SOCK_DGRAM, 1",
            "40, SOCK_STREAM, 0",
        ] {
            let command = format!("perl -MSocket -e 'socket(S, {socket}) and print \"there\"'");
            assert!(
                !has("perl") || rig.run_with(&policy, &command, None).await.text.is_empty(),
                "{kind}: {socket}"
            );
        }
        let secret = format!("cat {}", rig.at("home/secret").display());
        assert!(!rig.run_with(&policy, &secret, None).await.text.contains(CANARY), "{kind}");
    }
}

#[tokio::test]
async fn a_path_with_odd_characters_and_a_path_through_a_link_can_be_read() {
    for (kind, rig) in Rig::both() {
        let odd = rig.at("shared/odd \\ \"name\" ü");
        rig.write("shared/odd \\ \"name\" ü/note", "odd\n");
        symlink(&odd, rig.at("shared/link")).unwrap();
        let mut policy = rig.policy.clone();
        policy.read.push(rig.at("shared/link"));
        policy.env.push(("ODD".into(), odd.display().to_string()));
        policy.env.push(("LINK".into(), rig.at("shared/link").display().to_string()));
        let ran = rig.run_with(&policy, "cat \"$ODD/note\" \"$LINK/note\"", None).await;
        assert_eq!(ran.text, "odd\nodd\n", "{kind}");
        // What lies beside it can't.
        let beside = format!("cat {}", rig.at("shared/public").display());
        assert_ne!(rig.run_with(&policy, &beside, None).await.exit, Exit::Code(0), "{kind}");
    }
}

#[tokio::test]
async fn a_scratch_within_what_may_be_read_is_the_one_place_to_write() {
    for (kind, rig) in Rig::both() {
        let scratch = rig.at("vault/scratch");
        std::fs::create_dir(&scratch).unwrap();
        let policy = Policy { write: scratch, ..rig.policy.clone() };
        let command = "echo x > f && cat f; echo y > ../notes/a.md || cat ../notes/a.md | head -1";
        let ran = rig.run_with(&policy, command, None).await;
        assert!(ran.text.starts_with("x\n") && ran.text.ends_with("# Tea\n"), "{kind}: {}", ran.text);
    }
}

#[tokio::test]
async fn many_commands_run_at_once() {
    for (kind, rig) in Rig::both() {
        let commands: Vec<String> = (0..12).map(|n| format!("echo {n} > f{n}; cat f{n}")).collect();
        let ran = futures_util::future::join_all(commands.iter().map(|command| rig.run(command))).await;
        for (n, ran) in ran.into_iter().enumerate() {
            assert_eq!(ran.text, format!("{n}\n"), "{kind}");
        }
    }
}
