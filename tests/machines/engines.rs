//! Tests what every engine promises, with each of them.

use crate::parts::*;

/// A change of `key` from one value to another.
pub fn change(key: &str, expected: Option<&str>, value: Option<&str>) -> EntryChange {
    let [expected, value] = [expected, value].map(|text| text.map(str::to_owned));
    EntryChange { key: key.to_owned(), expected, value }
}

/// Insists that an engine refused, and said why.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(answer: Result<T, EngineError>, why: &str) {
    let error = answer.unwrap_err();
    assert!(matches!(&error, EngineError::Refused(said) if said.contains(why)), "{error}");
}

/// Two machines with connections to one empty store: what one changes the other sees, and who was wrong changes nothing.
pub async fn keeps_its_promises(one: &dyn StoreEngine, other: &dyn StoreEngine) {
    assert!(one.read().await.unwrap().is_empty());
    let first = [change("claim/a", None, Some(r#"{"by":"one"}"#)), change("lease", None, Some("1"))];
    assert_eq!(one.swap(&first).await.unwrap(), SwapOutcome::Done);

    let late = [change("claim/b", None, Some("x")), change("claim/a", None, Some(r#"{"by":"other"}"#))];
    let SwapOutcome::Lost(stands) = other.swap(&late).await.unwrap() else { panic!("claimed twice") };
    assert_eq!(stands, [("claim/a".to_owned(), r#"{"by":"one"}"#.to_owned())].into());
    let claims = other.read().await.unwrap().keys().filter(|key| key.starts_with("claim/")).count();
    assert_eq!(claims, 1, "a part of a lost swap was made");

    assert_eq!(other.swap(&[change("lease", Some("1"), Some("2"))]).await.unwrap(), SwapOutcome::Done);
    let late = [change("lease", Some("1"), Some("3"))];
    let SwapOutcome::Lost(stands) = one.swap(&late).await.unwrap() else { panic!("a lease taken twice") };
    assert_eq!(stands["lease"], "2");
    let release = [change("claim/a", Some(r#"{"by":"one"}"#), None)];
    assert_eq!(one.swap(&release).await.unwrap(), SwapOutcome::Done);
    let gone = one.swap(&[change("claim/a", Some("x"), Some("y"))]).await.unwrap();
    assert_eq!(gone, SwapOutcome::Lost([].into()));
    assert_eq!(other.read().await.unwrap(), [("lease".to_owned(), "2".to_owned())].into());

    for change in [change("../x", None, Some("1")), change("a", None, Some(&"x".repeat(2000)))] {
        assert!(matches!(one.swap(&[change]).await, Err(EngineError::Refused(_))));
    }
    one.swap(&[change("claim/c", None, Some("1"))]).await.unwrap();
    assert!(other.read().await.unwrap().contains_key("claim/c"));
}
