//! What works in the box: it isn't merely dead. What a policy hides doesn't come out, in both kinds of box, and all around it
//! is there.

use crate::rig::*;

/// A command that has to work, what it needs, and what it says; `@` is the folder.
const CASES: &[(&str, &str, &str)] = &[
    ("", "echo hello", "hello\n"),
    ("", "printf 'a\\nb\\n' | sort -r", "b\na\n"),
    ("grep", "grep -rl tea @/vault/notes | sort", "@/vault/notes/a.md\n"),
    ("sed", "sed -n 2p @/vault/notes/a.md", "Anna likes green tea.\n"),
    ("awk", "awk '/likes/ {print $1}' @/vault/notes/[ab].md", "Anna\nBen\n"),
    ("find", "find @/vault -name '*.md' -type f | sort", "@/vault/notes/a.md\n@/vault/notes/b.md\n"),
    ("", "cat <<END\nhere $((6*7))\nEND", "here 42\n"),
    ("", "cat <<< word", "word\n"),
    ("", "echo x > f && mkdir d && mv f d/ && ln d/f hard && ln -s d/f soft && cat hard soft", "x\nx\n"),
    ("", "cd && pwd", "@/scratch\n"),
    ("", "echo $HOME $TMPDIR", "@/scratch @/scratch\n"),
    ("mktemp", "f=$(mktemp) && echo ok > $f && cat $f", "ok\n"),
    ("", "x=$(false); echo $?", "1\n"),
    ("", "(sleep 0.01; echo late) & wait; echo end", "late\nend\n"),
    ("", "echo out; echo err >&2; echo out2", "out\nerr\nout2\n"),
    ("", "printf '#!/bin/bash\necho script' > s && chmod +x s && bash s", "script\n"),
    ("", "for i in 1 2 3; do echo $i; done | tail -1", "3\n"),
    ("", "{ time true; } 2>&1 | grep -c real", "1\n"),
    ("", "trap 'echo bye' EXIT; echo hi", "hi\nbye\n"),
    ("", "mkfifo p && (echo through > p &) && cat p", "through\n"),
    ("", "head -c 4 /dev/zero | wc -c", "4\n"),
    ("", "head -c 4 /dev/urandom | wc -c", "4\n"),
    ("", "echo gone > /dev/null; echo $?", "0\n"),
    ("tar", "tar cf - -C @/vault notes/a.md | tar xf - && cat notes/a.md | head -1", "# Tea\n"),
    ("perl", "perl -e 'print 6*7, \"\\n\"'", "42\n"),
    ("python3", "python3 -c 'import json, hashlib; print(json.dumps([1]))'", "[1]\n"),
    (
        "python3",
        "python3 -c 'import socket as s; a, b = s.socketpair(); a.send(b\"x\"); print(b.recv(1))'",
        "b'x'\n",
    ),
    (
        "python3",
        "python3 -c 'import subprocess as s; print(s.check_output([\"echo\", \"sub\"]))'",
        "b'sub\\n'\n",
    ),
    (
        "python3",
        "python3 -c 'import threading as t; t.Thread(target=print, args=[\"thread\"]).start()'",
        "thread\n",
    ),
    ("git", "git --version | cut -c1-3", "git\n"),
    (
        "git",
        "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m && git log --oneline | wc -l",
        "1\n",
    ),
    ("rg", "rg -l tea @/vault", "@/vault/notes/a.md\n"),
    ("diff", "diff @/vault/notes/a.md @/vault/notes/b.md | wc -l", "6\n"),
    ("date", "TZ=UTC date -d @0 +%Y", "1970\n"),
    ("xargs", "find @/vault/notes -name '?.md' -print0 | sort -z | xargs -0 head -qn1", "# Tea\n# Coffee\n"),
    ("id", "test $(id -u) -ge 0 && echo id", "id\n"),
    ("", "cat; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo no terminal", "no terminal\n"),
    // Output is made harmless.
    ("", r"printf '\033[31mred\033[0m\033]0;title\007\n'", "red\n"),
    ("", r"printf '\033]52;c;ZXZpbA==\007x\033[2J'", "x"),
    ("", r"printf 'a\0b\377c'", "ab\u{fffd}c"),
    ("", r"printf '10%%\r20%%\r\n'", "10%\n20%\n"),
    ("", r"printf 'pay \342\200\256tneg'", "pay tneg"),
    ("", "exec >&- 2>&-; echo nobody hears this; true", ""),
    ("", "exec 1>&2; echo err", "err\n"),
    ("", "type vault-agent > /dev/null && vault-agent --version | cut -d' ' -f1", "vault-agent\n"),
];

#[tokio::test]
async fn ordinary_commands_work() {
    let mut wrong = Vec::new();
    for (kind, rig) in Rig::both() {
        for (needs, command, said) in CASES {
            if !has(needs) {
                continue;
            }
            rig.clear();
            let fill = |text: &str| text.replace("@/", &format!("{}/", rig.dir.path().display()));
            let ran = rig.run(&fill(command)).await;
            if (ran.text.as_str(), ran.exit) != (fill(said).as_str(), Exit::Code(0)) {
                wrong.push(format!("{kind}: {command}\n{ran:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn exit_codes_and_signals_are_the_commands() {
    for (kind, rig) in Rig::both() {
        for (command, exit) in [
            ("exit 7", Exit::Code(7)),
            ("false", Exit::Code(1)),
            ("no-such-program", Exit::Code(127)),
            ("kill -TERM $$", Exit::Signal(15)),
            ("kill -KILL $$", Exit::Signal(9)),
            ("(", Exit::Code(2)),
            ("", Exit::Code(0)),
        ] {
            assert_eq!(rig.run(command).await.exit, exit, "{kind}: {command}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_hidden_is_read_by_nobody_and_the_rest_is() {
    for (name, mut rig) in Rig::both() {
        for (file, text) in [
            ("vault/work/plan.md", "the plan\n"),
            ("vault/work/deep/more.md", "more\n"),
            ("vault/work/.obsidian/plugins/p/data.json", CANARY),
            ("vault/work/.env", CANARY),
            ("vault/notes/.git/config", CANARY),
        ] {
            rig.write(file, text);
        }
        std::os::unix::fs::symlink(rig.at("vault/work/.env"), rig.at("vault/work/link.md")).unwrap();
        for hidden in ["work/.obsidian", "work/.env", "notes/.git", "work/.gone"] {
            rig.policy.hide.push(rig.at("vault").join(hidden));
        }
        let vault = rig.at("vault").display().to_string();
        for script in [
            format!("cat {vault}/work/.env {vault}/work/link.md {vault}/notes/.git/config"),
            format!("cat {vault}/work/.obsidian/plugins/p/data.json"),
            format!("cd {vault}/work/.obsidian/plugins && cat p/data.json"),
            format!("grep -Rn . {vault}"),
            format!(
                "ln {vault}/work/.env x; cp -a {vault}/work . ; chmod -R u+rwX {vault}; cat x work/.env work/.obsidian/*/*/*"
            ),
            format!("cd {vault}/work; mv .env env; rm .env; umount .env; cat .env env"),
        ] {
            let ran = rig.run(&script).await;
            assert!(!ran.text.contains(CANARY), "{name}: {script}: {}", ran.text);
        }
        let script = format!("ls {vault}/work; grep -Rhs . {vault}; cat {vault}/work/deep/more.md");
        let ran = rig.run(&script).await;
        for there in ["plan.md", "the plan", "Anna likes green tea.", "more"] {
            assert!(ran.text.contains(there), "{name}: {there}: {}", ran.text);
        }
        assert_eq!(std::fs::read_to_string(rig.at("vault/work/.env")).unwrap(), CANARY, "{name}");
    }
}
