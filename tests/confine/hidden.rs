//! What a policy hides within what may be read: in both kinds of box nothing of it comes out, and all around it is there.

use crate::rig::{CANARY, Rig};

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
            std::fs::create_dir_all(rig.at(file).parent().unwrap()).unwrap();
            std::fs::write(rig.at(file), text).unwrap();
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
            format!(
                "mv {vault}/work/.env {vault}/work/env; rm {vault}/work/.env; umount {vault}/work/.env; cat {vault}/work/.env {vault}/work/env"
            ),
        ] {
            let ran = rig.run(&script).await;
            assert!(!ran.text.contains(CANARY), "{name}: {script}: {}", ran.text);
        }
        let ran =
            rig.run(&format!("ls {vault}/work; grep -Rhs . {vault}; cat {vault}/work/deep/more.md")).await;
        for there in ["plan.md", "the plan", "Anna likes green tea.", "more"] {
            assert!(ran.text.contains(there), "{name}: {there}: {}", ran.text);
        }
        assert_eq!(std::fs::read_to_string(rig.at("vault/work/.env")).unwrap(), CANARY, "{name}");
    }
}
