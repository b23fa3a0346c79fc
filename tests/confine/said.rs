//! Output: what a command says, safe to show; what it was given, and nothing more.

use std::os::unix::fs::symlink;

use crate::rig::*;
use vault_agent::confine::{ConfineError, Limits};

#[tokio::test]
async fn output_is_made_harmless() {
    for (kind, rig) in Rig::both() {
        for (command, said) in [
            (r"printf '\033[31mred\033[0m\033]0;title\007\n'", "red\n"),
            (r"printf '\033]52;c;ZXZpbA==\007x\033[2J'", "x"),
            (r"printf 'a\0b\377c'", "ab\u{fffd}c"),
            (r"printf '10%%\r20%%\r\n'", "10%\n20%\n"),
            (r"printf 'pay \342\200\256tneg'", "pay tneg"),
            ("exec >&- 2>&-; echo nobody hears this; exit 3", ""),
            ("exec 1>&2; echo err", "err\n"),
        ] {
            assert_eq!(rig.run(command).await.text, said, "{kind}: {command}");
        }
    }
}

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
        let control = std::process::Command::new("bash").args(["-c", read_all]).output().unwrap();
        let control = String::from_utf8_lossy(&control.stdout).into_owned();
        assert!(control.contains(&format!("{number} {CANARY}")), "{kind}: {control}");
        rustix::fs::seek(&secret, rustix::fs::SeekFrom::Start(0)).unwrap();
        assert_eq!(rig.run(read_all).await.text, "", "{kind}");
    }
}

#[tokio::test]
async fn standard_input_is_empty_and_there_is_no_terminal() {
    for (kind, rig) in Rig::both() {
        let ran = rig.run("cat; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none").await;
        assert_eq!(ran.text, "none\n", "{kind}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    for (kind, rig) in Rig::both() {
        let policy = Policy { write: rig.at("missing"), ..rig.policy.clone() };
        let stop = tokio_util::sync::CancellationToken::new();
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
    let helper = vault_agent::confine::Helper::new("/bin/true");
    assert!(!helper.enforcement().is_whole());
    let policy = Policy { limits: Limits::default(), ..Policy::new("/") };
    let stop = tokio_util::sync::CancellationToken::new();
    let error = helper.run(&policy, "true", None, &stop).await.unwrap_err();
    assert!(matches!(error, ConfineError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn the_network_is_there_where_the_policy_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for (kind, rig) in Rig::both() {
        let policy = Policy { network: true, ..rig.policy.clone() };
        let ran =
            rig.run_with(&policy, &format!("exec 3<> /dev/tcp/127.0.0.1/{port} && echo there"), None).await;
        assert_eq!(ran.text, "there\n", "{kind}");
        // Nothing but TCP and UDP, also then.
        if crate::rig::has("perl") {
            for (family, of, protocol) in [
                ("AF_UNIX", "SOCK_STREAM", 0),
                ("16", "SOCK_RAW", 0),
                ("AF_INET", "SOCK_RAW", 1),
                ("AF_INET", "SOCK_DGRAM", 1),
                ("40", "SOCK_STREAM", 0),
            ] {
                let command =
                    format!("perl -MSocket -e 'socket(S, {family}, {of}, {protocol}) and print \"there\"'");
                assert_eq!(rig.run_with(&policy, &command, None).await.text, "", "{kind}: {command}");
            }
        }
        let secret = format!("cat {}", rig.at("home/secret").display());
        assert!(!rig.run_with(&policy, &secret, None).await.text.contains(CANARY), "{kind}");
    }
}

#[tokio::test]
async fn a_path_with_odd_characters_and_a_path_through_a_link_can_be_read() {
    for (kind, rig) in Rig::both() {
        let odd = rig.at("shared/odd \\ \"name\" ü");
        std::fs::create_dir(&odd).unwrap();
        std::fs::write(odd.join("note"), "odd\n").unwrap();
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
        let rig = std::sync::Arc::new(rig);
        let mut runs = tokio::task::JoinSet::new();
        for n in 0..12 {
            let rig = std::sync::Arc::clone(&rig);
            runs.spawn(async move { (n, rig.run(&format!("echo {n} > f{n}; cat f{n}")).await.text) });
        }
        while let Some(done) = runs.join_next().await {
            let (n, text) = done.unwrap();
            assert_eq!(text, format!("{n}\n"), "{kind}");
        }
    }
}
