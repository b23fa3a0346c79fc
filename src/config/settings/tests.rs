use super::*;

#[test]
fn a_host_without_a_name_is_refused() {
    for host in ["", " "] {
        let error = Settings::parse(&format!("[schedule]\nhost = \"{host}\"\n")).unwrap_err();
        assert!(error.message.contains("`schedule.host` is empty"), "{error}");
    }
}

/// What is wrong with settings, and where.
pub(in crate::config) fn problem(text: &str) -> String {
    let error = Settings::parse(text).unwrap_err();
    format!("{:?} {error} | {}", error.place, error.suggestion.as_deref().unwrap_or("-"))
}

#[test]
fn an_empty_file_is_the_defaults() {
    assert_eq!(Settings::parse("").unwrap(), Settings::default());
}

#[test]
fn an_id_is_read_with_and_without_quotes() {
    let text = "[discord]\nguild_id = \"2\"\nchannel_id = 3\nowner_ids = [4, \" 5 \"]\n";
    let discord = Settings::parse(text).unwrap().discord;
    assert_eq!((discord.guild_id, discord.channel_id, discord.owner_ids), (Some(2), Some(3), vec![4, 5]));
}

#[test]
fn errors_point_into_the_file() {
    insta::assert_snapshot!(problem("timezon = \"Europe/London\"\n"), @"Some((1, 1)) unknown key `timezon` | did you mean `timezone`?");
    insta::assert_snapshot!(problem("\n[notify]\nkind = \"dicsord\"\n"), @"Some((3, 8)) unknown value `dicsord` | did you mean `discord`?");
    insta::assert_snapshot!(problem("[paths]\nreminders = \"../x.md\"\n"), @"Some((2, 13)) `paths.reminders`: `../x.md` leaves the vault; `..` is not allowed in a path | give a path inside the vault, such as `Notes/Reminders.md`");
    insta::assert_snapshot!(problem("[paths]\napprovals = \"MEMORY.md\"\n"), @"Some((2, 13)) `paths.approvals` is `MEMORY.md`, which is used for something else (paths.memory) | give it a path of its own, such as `Approvals.md`");
    insta::assert_snapshot!(problem("[assistant]\nallow = [\"bash:*\"]\n"), @"Some((2, 9)) `assistant.allow` holds `bash:*`, which allows nothing: a `*` in a command's first word would allow every program | write `bash:git log *`, `skill:NAME@HASH` or `mcp:SERVER.TOOL`");
    insta::assert_snapshot!(problem("[memory]\nworking_memory_ttl_days = 0\n"), @"Some((2, 27)) `memory.working_memory_ttl_days` is 0, out of range | give a number from 1 to 365");
    insta::assert_snapshot!(problem("[discord]\nchannel_id = \"general\"\n"), @r#"Some((2, 14)) invalid value: string "general", expected an id, the number that Discord copies in developer mode | -"#);
    insta::assert_snapshot!(problem("timezone = 3\n"), @r#"Some((1, 12)) invalid type: integer `3`, expected a string | put it between quotes"#);
    insta::assert_snapshot!(problem("[assistant]\nday_tokens = \"1M\"\n"), @r#"Some((2, 14)) invalid type: string "1M", expected u64 | write a number, without quotes"#);
    insta::assert_snapshot!(problem("[inbox]\nper_day = -3\n"), @"Some((2, 11)) invalid value: integer `-3`, expected usize | write a number of 0 or more");
    insta::assert_snapshot!(problem("[[mcp]]\nname = \"a\"\ntools = [\"x\"]\ncommand = \"x\"\n"), @r#"Some((4, 11)) invalid type: string "x", expected a sequence | write a list, as in `["one", "two"]`"#);
}

/// Each of them is unwrapped as a path of a note later, with a note's name behind it.
#[test]
fn a_path_that_no_note_can_have_is_refused_with_its_place() {
    let long = "a".repeat(3_995);
    for path in ["C:/Users/me/Reminders.md", "Remin\\tders.md", "", "/etc/x", "a/../b", "a//b", &long] {
        for (table, key) in [
            ("paths", "reminders"),
            ("paths", "daily"),
            ("assistant", "persona"),
            ("memory", "user_namespace"),
        ] {
            let said = problem(&format!("[{table}]\n{key} = \"{path}\"\n"));
            let start = format!("Some((2, {})) `{table}.{key}`", key.len() + 4);
            assert!(said.starts_with(&start) && said.len() < 4_300, "{path}: {said}");
        }
    }
}

#[test]
fn a_path_belongs_to_one_setting_alone() {
    for (wrong, key) in [
        ("[paths]\nmemory = \"vault-agent.toml\"\n", "paths.memory"),
        ("[paths]\nlogs = \".obsidian/plugins\"\n", "paths.logs"),
        ("[paths]\nworking = \"MEMORY.md\"\n", "paths.working"),
        ("[paths]\npinned = \"A.md\"\ninbox = \"A.md\"\n", "paths.inbox"),
        ("[paths]\nskills = \"routines\"\n", "paths.skills"),
        ("[paths]\nmemory = \"routines/Facts.md\"\n", "paths.memory"),
        ("[paths]\napprovals = \"daily/Asked.md\"\n", "paths.approvals"),
        ("[paths]\nroutines = \"user\"\n", "paths.routines"),
        ("[paths]\nmemory = \"reminders.md\"\n", "paths.memory"),
        ("[paths]\nlogs = \".Git/logs\"\n", "paths.logs"),
        ("[memory]\nuser_namespace = \"routines\"\n", "memory.user_namespace"),
        ("[paths]\nmemory = \"me/working.md\"\n[memory]\nuser_namespace = \"me\"\n", "paths.memory"),
    ] {
        let said = problem(wrong);
        let words = format!("`{key}` is `");
        assert!(said.contains(&words) && said.contains("used for something else"), "{wrong}: {said}");
        assert!(said.starts_with("Some("), "{wrong}: {said}");
    }
    for fine in [
        "[paths]\nreminders = \"daily/Reminders.md\"\nsummaries = \"logs/summaries\"\n",
        "[paths]\ndaily = \"Journal\"\nlogs = \"Journal\"\n",
        "[assistant]\npersona = \"skills/me/SKILL.md\"\n",
        "[paths]\nmemory = \"Inbox.md\"\ninbox = \"MEMORY.md\"\n",
        "[memory]\nuser_namespace = \"user\"\n",
        "[paths]\nskills = \".claude/skills\"\n[memory]\nuser_namespace = \"daily\"\n",
    ] {
        Settings::parse(fine).unwrap();
    }
}

#[test]
fn of_several_blocks_the_wrong_one_is_pointed_at() {
    let brain = "[[brain]]\nname = \"NAME\"\nkind = \"chat\"\nmodel = \"m\"\n\n";
    let brains = [brain.replace("NAME", "a"), brain.replace("NAME", "a b")].concat();
    insta::assert_snapshot!(problem(&brains), @"Some((6, 1)) `a b` can't be the name of a brain | use letters, digits, `-`, `_` and `.`, and another name than `memory`");
    let server = "[[mcp]]\nname = \"NAME\"\ncommand = [\"x\"]\ntools = [\"x\"]\n\n";
    let servers = [server.replace("NAME", "a"), server.replace("NAME", "a")].concat();
    insta::assert_snapshot!(problem(&servers), @"Some((6, 1)) two MCP servers have the name `a` | name each server once");
    let routes = format!("{brain}[[route]]\nbrain = \"NAME\"\n[[route]]\nbrain = \"b\"\n");
    insta::assert_snapshot!(problem(&routes), @"Some((8, 1)) a route names the brain `b`, and no `[[brain]]` has that name | add a `[[brain]]` with `name = \"b\"`, or name one of `NAME`");
}

#[test]
fn it_is_on_with_a_brain_or_with_its_table_and_off_where_that_says_so() {
    let settings = |text: &str| Settings::parse(text).unwrap();
    let brain = "[[brain]]\nname = \"a\"\nkind = \"chat\"\nmodel = \"m\"\n";
    assert!(!settings("").captures());
    assert!(settings(brain).captures() && settings("[capture]\n").captures());
    assert!(!settings(&format!("[capture]\nenabled = false\n{brain}")).captures());
    let auto = settings("[capture]\nauto = [\"profile\"]\n");
    assert!(auto.captures_at_once(Category::Profile) && !auto.captures_at_once(Category::Events));
    let wrong = Settings::parse("[capture]\nbrain = \"nobody\"\n").unwrap_err().to_string();
    assert!(wrong.contains("capture.brain"), "{wrong}");
    let wrong = Settings::parse("[capture]\nauto = [\"profiles\"]\n").unwrap_err().to_string();
    assert!(wrong.contains("profiles"), "{wrong}");
}

#[test]
fn a_pause_is_a_local_time_or_until_it_is_resumed() {
    let read = |text: &str| PausedUntil::try_from(text.to_owned());
    assert_eq!(read("resumed").unwrap(), PausedUntil::Resumed);
    for text in ["2026-12-24 18:00", "2026-12-24T18:00:00"] {
        assert_eq!(read(text).unwrap().to_string(), "2026-12-24 18:00");
    }
    for text in ["", "soon", "2026-02-30 10:00", "2026-12-24T18:00Z", "2026-12-24 18:00+01:00"] {
        assert!(read(text).unwrap_err().contains("2026-12-24 18:00"), "{text}");
    }
}

#[test]
fn a_list_in_a_table_s_place_is_refused() {
    for (text, key) in [
        ("[[notify]]\nkind = \"console\"\n", "notify"),
        ("[[history]]\nenabled = true\n", "history"),
        ("web = [true]\n", "web"),
        ("notify = [\"desktop\"]\n", "notify"),
        ("[notify]\nntfy = [\"t\"]\n", "notify.ntfy"),
        ("[[machines]]\n", "machines"),
    ] {
        let error = Settings::parse(text).unwrap_err();
        assert_eq!(error.message, format!("`{key}` is one table, not a list"), "{text}");
        assert!(error.place.is_some() && error.suggestion.unwrap().contains(&format!("`[{key}]`")), "{text}");
    }
    let fine = "[reminders]\nfrom = [\"a\"]\n[[brain]]\nname = \"a\"\nkind = \"chat\"\nmodel = \"m\"\n";
    Settings::parse(fine).unwrap();
}

#[test]
fn a_wrong_pattern_is_pointed_at() {
    for (table, key) in [
        ("history", "include"),
        ("history", "exclude"),
        ("index", "include"),
        ("index", "exclude"),
        ("reminders", "from"),
    ] {
        let said = problem(&format!("[{table}]\n{key} = [\"b\", \"Private/{{a,**\"]\n"));
        let start = format!(
            "Some((2, {})) `{table}.{key}` holds `Private/{{a,**`, which is no pattern: ",
            key.len() + 4
        );
        assert!(said.starts_with(&start) && said.contains("for a folder"), "{said}");
    }
}

#[test]
fn text_that_is_no_utf_8_has_a_place_and_a_remedy() {
    let temp = tempfile::tempdir().unwrap();
    for (bytes, place) in [(&b"\xff\xfet\0"[..], (1, 1)), (b"# ok\n# caf\xe9\n", (2, 6))] {
        std::fs::write(temp.path().join(FILE_NAME), bytes).unwrap();
        let error = Settings::load(temp.path()).unwrap_err();
        assert_eq!((error.place, error.suggestion.as_deref()), (Some(place), Some("save it again as UTF-8")));
    }
}

#[test]
fn a_link_is_followed_within_the_vault_alone() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("vault");
    std::fs::create_dir(&root).unwrap();
    for file in [temp.path().join("other.toml"), root.join("own.toml")] {
        std::fs::write(file, "timezone = \"Asia/Tokyo\"\n").unwrap();
    }
    for (to, is_followed) in [("../other.toml", false), ("nothing.toml", false), ("own.toml", true)] {
        std::os::unix::fs::symlink(to, root.join(FILE_NAME)).unwrap();
        match Settings::load(&root) {
            Ok(settings) => assert!(is_followed && settings.timezone == "Asia/Tokyo", "{to}"),
            Err(error) => assert!(!is_followed && error.message.contains("never followed"), "{to}: {error}"),
        }
        std::fs::remove_file(root.join(FILE_NAME)).unwrap();
    }
}
