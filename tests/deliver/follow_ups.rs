//! Follow-ups whose blocks come back or stand there twice.

use jiff::SignedDuration;

use crate::world::World;

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
            assert!(world.later(SignedDuration::from_mins(1)).tick().fired.is_empty(), "{gap:?} {turned}");
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
