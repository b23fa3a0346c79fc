//! Tests `cache`.

use super::*;

#[test]
fn what_another_process_has_made_anew_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), "a version").unwrap();
    let (epoch, why) = (store.epoch(), IndexError::Torn("a test".to_owned()));
    // Two processes find the same damage.
    let mended = || Store::open_mended(dir.path(), "a version", &why, epoch).unwrap();
    let (first, second) = (mended(), mended());
    assert!(first.epoch() != epoch && first.take_mended().is_some());
    assert!(second.epoch() == first.epoch() && second.take_mended().is_none());
}

#[test]
fn many_may_make_the_cache_at_once() {
    for _ in 0..40 {
        let dir = tempfile::tempdir().unwrap();
        let open = || Store::open(dir.path(), "a version").map(drop);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        });
    }
}
