//! A word to stop counts though the program dies before it is obeyed, or was away when it was said.

use super::rig::*;
use super::traps::{STOP, Traps};
use super::turns::{Look, looking};

/// The turn is ended by the word, once, also after one more restart, and nobody was asked again for it.
async fn is_stopped(rig: &Rig, tool: &Look) {
    let running = rig.run().await;
    rig.wait_done(1).await;
    assert_eq!((rig.answers(), rig.server.requests().len()), (vec!["Stopped.".to_owned()], 1));
    running.crash().await;
    let _running = rig.run().await;
    rig.answer("and now?", 2).await;
    assert_eq!((rig.answers(), tool.count()), (vec!["Stopped.".to_owned(), "Yes.".to_owned()], 1));
    assert_eq!(rig.noted("Alice stopped the answer."), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_to_stop_that_was_said_while_the_program_was_away_ends_what_ran() {
    let (rig, tool, running) = looking().await;
    running.crash().await;
    rig.ask("stop");
    is_stopped(&rig, &tool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_to_stop_counts_though_the_program_dies_before_it_is_obeyed() {
    let (rig, tool, running) = looking().await;
    let traps = Traps::set(&rig);
    traps.arm(STOP, 0);
    rig.ask("stop");
    traps.crash(&rig, running).await;
    is_stopped(&rig, &tool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_after_a_word_to_stop_is_answered() {
    let (rig, _, running) = looking().await;
    running.crash().await;
    rig.ask("and this?");
    rig.ask("stop");
    rig.ask("but this?");
    let _running = rig.run().await;
    rig.wait_done(3).await;
    assert_eq!(rig.answers(), ["Stopped.", "Stopped.", "Yes."]);
}
