//! Follow-ups whose blocks come back, stand there twice, or are written on after they were told.

use vault_agent::deliver::PassMode;

use crate::deliver::crashes::at_each_step;
use crate::deliver::world::{World, secs};

const NOW: &str = "2026-12-01T09:30:20Z";

fn block(status: &str, text: &str) -> String {
    format!("---\nid: c-2026-12-01-001\nstatus: {status}\ndue: 2026-12-01T09:30:00Z\n---\n{text}\n")
}

fn write(world: &World, text: &str) {
    std::fs::write(world.commitments_path(), text).unwrap();
}

fn read(world: &World) -> String {
    std::fs::read_to_string(world.commitments_path()).unwrap()
}

#[test]
fn a_block_that_a_merge_brings_back_beside_itself_is_not_told_again() {
    let mut world = World::new(NOW, "");
    write(&world, &block("pending", "Ask Kyle"));
    assert_eq!(world.tick().fired.len(), 1);
    let delivered = block("delivered", "Ask Kyle");
    assert_eq!(read(&world), delivered);
    for gap in ["", "\n", "\n\n"] {
        for turned in [false, true] {
            let merged = |status| {
                let other = block(status, "Ask Kyle");
                if turned { format!("{delivered}{gap}{other}") } else { format!("{other}{gap}{delivered}") }
            };
            write(&world, &merged("pending"));
            assert!(world.later(secs(60)).tick().fired.is_empty(), "{gap:?} {turned}");
            assert_eq!(read(&world), merged("delivered"));
        }
    }
}

#[test]
fn copies_that_wait_are_told_once_and_marked_all() {
    let both = |status| block(status, "Ask Kyle");
    for gap in ["", "\n", "\r\n \n"] {
        let text = |status| format!("{0}{gap}{0}```\n{1}```\n", both(status), both("pending"));
        let mut world = World::new(NOW, "");
        write(&world, &text("pending"));
        let report = world.tick();
        assert!(world.tick().fired.is_empty());
        // The last one has a fenced example in its words, and so differs.
        assert_eq!(report.fired.len(), 2, "{gap:?}");
        assert_eq!(read(&world), text("delivered"));
        let text = |status| format!("{0}{gap}{0}", both(status));
        let mut world = World::new(NOW, "");
        write(&world, &text("pending"));
        assert_eq!(world.tick().fired.len(), 1, "{gap:?}");
        assert_eq!(read(&world), text("delivered"));
        assert!(world.tick().fired.is_empty());
        assert_eq!(world.place.texts(), ["Follow-up: Ask Kyle"]);
    }
}

#[test]
fn words_that_were_told_to_nobody_stay_and_are_named_once() {
    let mut world = World::new(NOW, "");
    let mut findings = Vec::new();
    for words in ["Ask", "Ask Kyle", "Ask Kyle whether the dentist moved"] {
        write(&world, &block("pending", words));
        findings.extend(world.pass(PassMode::Daemon).near_misses);
        world.later(secs(2));
    }
    for _ in 0..3 {
        findings.extend(world.later(secs(60)).pass(PassMode::Daemon).near_misses);
    }
    assert_eq!(world.place.texts(), ["Follow-up: Ask"]);
    assert_eq!(read(&world), block("pending", "Ask Kyle whether the dentist moved"));
    assert_eq!(findings.len(), 1, "{findings:?}");
    insta::assert_snapshot!(format!("{}:{}: {}: {}", findings[0].path, findings[0].line, findings[0].reason, findings[0].suggestion), @"COMMITMENTS.md:1: this follow-up was delivered already (`c-2026-12-01-001@2026-12-01T09:30`), before its text was changed; it does not fire again: give it another `due`, or set its `status` to delivered");
    // The words that were told are marked; another time is another one.
    write(&world, &block("pending", "Ask"));
    assert!(world.tick().fired.is_empty());
    assert_eq!(read(&world), block("delivered", "Ask"));
    write(&world, &block("pending", "Ask Kyle").replace("09:30", "09:31"));
    assert_eq!(world.tick().fired.len(), 1);
}

#[test]
fn words_changed_after_a_crash_are_delivered_only_if_they_were_told() {
    at_each_step(1, &[30, 600], 12, |crash| {
        let mut world = World::new(NOW, "");
        write(&world, &block("pending", "Ask"));
        crash.tick(&mut world);
        write(&world, &block("pending", "Ask Kyle"));
        world.later(secs(crash.wait)).tick();
        world.later(secs(60)).tick();
        let texts = world.place.texts();
        assert_eq!(texts.len(), 1, "{}: {texts:?}", crash.context);
        let status = if texts[0].contains("Kyle") { "delivered" } else { "pending" };
        assert_eq!(read(&world), block(status, "Ask Kyle"), "{}: {texts:?}", crash.context);
    });
}
