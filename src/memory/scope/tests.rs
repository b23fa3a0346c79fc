use proptest::prelude::*;

use super::*;

#[test]
fn a_scope_is_text_and_tag() {
    for (text, tag) in [
        ("global", None),
        ("project:vault-agent", Some("#project/vault-agent")),
        ("agent:openclawd", Some("#agent/openclawd")),
        ("user:7", Some("#user/7")),
        ("custom:Müllers/Garten", Some("#custom/Müllers/Garten")),
    ] {
        let scope: Scope = text.parse().unwrap();
        assert_eq!((scope.to_string().as_str(), scope.tag().as_deref()), (text, tag));
        assert_eq!(tag.map_or(Some(Scope::Global), Scope::of_tag), Some(scope));
    }
    let odd: Scope = "project: My  App (v2.0)/".parse().unwrap();
    assert_eq!(odd.tag().as_deref(), Some("#project/My-App-v2-0"));
    assert_eq!(odd, "PROJECT:my-app-v2-0".parse().unwrap());
}

#[test]
fn what_is_no_scope_says_what_one_is() {
    let said = |text: &str| text.parse::<Scope>().unwrap_err().to_string();
    insta::assert_snapshot!(said("projekt:x"), @"`projekt:x` is no scope: write `global`, `project:ID`, `agent:ID`, `user:ID` or `custom:NAME`");
    insta::assert_snapshot!(said("project: !"), @"the scope `project: !` lacks its id: write it as in `project:vault-agent`");
    assert!("".parse::<Scope>().is_err() && "global:x".parse::<Scope>().is_err());
    assert!(format!("project:{}", "x".repeat(101)).parse::<Scope>().is_err());
}

#[test]
fn what_is_seen() {
    let project: Scope = "project:a".parse().unwrap();
    let seen = accessible(&project, Some("pai"));
    let visible =
        |tags: &[&str]| is_visible(&tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>(), &seen);
    assert!(
        visible(&[]) && visible(&["tea"]) && visible(&["#Project/A"]) && visible(&["agent/pai", "project/b"])
    );
    assert!(visible(&["project/a/sub"]) && !visible(&["project/ab"]));
    assert!(!visible(&["project/b"]) && !visible(&["user/anna"]));
    assert_eq!(accessible(&Scope::Global, None), [Scope::Global]);
}

#[test]
fn a_text_is_marked_by_its_tags() {
    let scopes = Scope::of_text("runs on #project/a, not `#project/b` #tea #user/anna ^x");
    assert_eq!(scopes, [Scope::Project("a".into()), Scope::User("anna".into())]);
}

#[test]
fn folders_and_the_environment_name_the_project() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    let dir = |path: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let inner = dir("My App/src/deep");
    dir("My App/.git");
    dir("notes/.obsidian");
    let tree = dir("trees/feature");
    std::fs::write(tree.join(".git"), format!("gitdir: {}/My App/.git/worktrees/feature\n", root.display()))
        .unwrap();
    let home = root.to_string_lossy().into_owned();
    let derived = |cwd: &Path, scope: Option<&str>, project: Option<&str>| {
        let env = |name: &str| match name {
            "HOME" => Some(home.clone()),
            SCOPE_VARIABLE => scope.map(str::to_owned),
            PROJECT_VARIABLE => project.map(str::to_owned),
            _ => None,
        };
        derive(cwd, env).to_string()
    };
    let of_app = derived(&inner, None, None);
    assert!(of_app.starts_with("project:My-App-") && of_app.len() == 21, "{of_app}");
    assert_eq!(derived(&tree, None, None), of_app);
    assert!(derived(&dir("plain"), None, None).starts_with("project:plain-"));
    assert_ne!(derived(&dir("a/site"), None, None), derived(&dir("b/site"), None, None));
    let old = |cwd: &Path| legacy_scope(cwd, |name| (name == "HOME").then(|| home.clone()));
    assert_eq!(old(&inner), Some(Scope::Project("My-App".into())));
    assert_eq!(old(&root), None);
    assert_eq!(derived(&dir("notes/daily"), None, None), "global");
    assert_eq!(derived(&root, None, None), "global");
    assert_eq!(derived(Path::new("/"), None, None), "global");
    assert_eq!(derived(&inner, Some("user:anna"), Some("x")), "user:anna");
    assert_eq!(derived(&inner, Some("nonsense"), Some("x y")), "project:x-y");
    assert_eq!(derived(&inner, Some(" "), Some("")), of_app);
    // Clones of one remote are one project, wherever they are.
    let remote = |path: &str, url: &str| {
        let dir = dir(path);
        std::fs::create_dir_all(dir.join(".git")).unwrap();
        std::fs::write(dir.join(".git/config"), format!("[remote \"origin\"]\n\turl = {url}\n")).unwrap();
        derived(&dir, None, None)
    };
    let first = remote("one/website", "git@github.com:anna/website.git");
    assert!(first.starts_with("project:website-"), "{first}");
    assert_eq!(remote("two/clone", "https://github.com/Anna/website"), first);
    assert_ne!(remote("three/website", "https://github.com/bob/website"), first);
}

#[test]
fn a_text_gets_no_scope_by_its_tags() {
    let a = Scope::Project("a".into());
    let text = "of #project/b, `#user/x` and #tea (#agent/pai) #Project/A #project/a/sub \\#user/y";
    let alone = r"of \#project/b, `#user/x` and #tea (\#agent/pai) #Project/A #project/a/sub \#user/y";
    assert_eq!(a.escape_other_scopes(text), alone);
    assert_eq!(a.escape_other_scopes(alone), alone);
    assert_eq!(Scope::of_text(alone), [a, Scope::Project("a/sub".into())]);
    assert_eq!(Scope::Global.escape_other_scopes("x #custom/y"), r"x \#custom/y");
}

proptest! {
    #[test]
    fn every_scope_survives_its_tag(kind in "project|agent|user|custom", id in "\\PC{1,20}") {
        if let Ok(scope) = format!("{kind}:{id}").parse::<Scope>() {
            let tag = scope.tag().unwrap();
            prop_assert_eq!(tags::tags(&tag, &[]), [tag[1..].to_owned()]);
            prop_assert_eq!(Scope::of_tag(&tag), Some(scope.clone()));
            prop_assert_eq!(scope.to_string().parse::<Scope>().unwrap(), scope);
        }
    }
}

#[test]
fn one_repository_has_one_address() {
    let root = Path::new("/work/site");
    for url in [
        "https://github.com/Anna/Website.git",
        "https://token:x@github.com/anna/website",
        "git@github.com:anna/website.git",
        "ssh://git@github.com:22/anna/website.git/",
        "git://github.com/anna/website",
    ] {
        assert_eq!(repository_address(url, root).as_deref(), Some("github.com/anna/website"), "{url}");
    }
    assert_eq!(repository_address("/srv/git/site.git", root).as_deref(), Some("/srv/git/site"));
    assert_eq!(repository_address("file:///srv/git/site.git", root).as_deref(), Some("/srv/git/site"));
    assert_eq!(repository_address("https://", root), None);
}

#[test]
fn origin_comes_first() {
    let settings =
        "[core]\n\turl = no\n[remote \"fork\"]\n\turl = a:b\n[remote \"origin\"]\n\tfetch = x\n\turl = c:d\n";
    assert_eq!(url(settings).as_deref(), Some("c:d"));
    assert_eq!(url("[remote \"fork\"]\nurl = \"a:b\"\n").as_deref(), Some("a:b"));
    assert_eq!(url("[paths]\ndefault = https://x/y\n").as_deref(), Some("https://x/y"));
    assert_eq!(url("[core]\nbare = false\n"), None);
}
