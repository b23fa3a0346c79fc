//! Parses a file of answers for `setup`: TOML, with a key for each question.
//!
//! An unknown key, a wrong type or a line break is refused before the first question. Each value is checked when its
//! question comes. A missing answer takes the question's default, but a missing brain is `none` and a missing service
//! is `no`. The file holds no secrets: it names the files that hold them.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::QuestionKey;
use crate::format::nearest;

/// The answers of a file, by their questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetupAnswers(BTreeMap<QuestionKey, String>);

impl SetupAnswers {
    /// The answers of a TOML text.
    ///
    /// # Errors
    /// A sentence that names the place: no TOML, a key that is no question, a value that is no answer.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table: Table =
            text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
        let mut found = BTreeMap::new();
        for (key, value) in &table {
            match value {
                Value::Table(inner) => {
                    for (name, value) in inner {
                        take(&mut found, &format!("{key}.{name}"), value)?;
                    }
                }
                value => take(&mut found, key, value)?,
            }
        }
        Ok(Self(found))
    }

    /// The answer to a question, if the file has one.
    pub fn of(&self, step: QuestionKey) -> Option<&str> {
        self.0.get(&step).map(String::as_str)
    }
}

fn take(found: &mut BTreeMap<QuestionKey, String>, key: &str, value: &Value) -> Result<(), String> {
    // The settings' names of what these two questions ask.
    let asked = match key {
        "discord.owner_ids" => "discord.owner_id",
        "notify.kinds" | "notify.kind" => "notify",
        key => key,
    };
    let Some(step) = QuestionKey::named(asked) else {
        let near = nearest(key, &QuestionKey::NAMES);
        let hint = near.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        return Err(format!("`{key}` is no question{hint}"));
    };
    let text = match value {
        Value::Array(all) => all.iter().map(one).collect::<Option<Vec<_>>>().map(|all| all.join(", ")),
        value => one(value),
    };
    let Some(text) = text else {
        let kind = value.type_str();
        return Err(format!(
            "`{key}` can't be of the type {kind}: give a text, a number, true, false or a list"
        ));
    };
    if text.contains(['\n', '\r', '\0']) {
        return Err(format!("`{key}` has a line break, which no answer has"));
    }
    found.insert(step, text);
    Ok(())
}

/// An answer as a person would type it.
fn one(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(true) => Some("yes".to_owned()),
        Value::Boolean(false) => Some("no".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_by_their_questions() {
        let answers = SetupAnswers::parse(
            "vault = \"~/V\"\nservice = false\nnotify = [\"discord\"]\n[discord]\nchannel_id = 100000000000000003\n",
        )
        .unwrap();
        assert_eq!(answers.of(QuestionKey::Vault), Some("~/V"));
        assert_eq!(answers.of(QuestionKey::Service), Some("no"));
        assert_eq!(answers.of(QuestionKey::Notify), Some("discord"));
        assert_eq!(answers.of(QuestionKey::DiscordChannel), Some("100000000000000003"));
        assert_eq!(answers.of(QuestionKey::Brain), None);
        let as_set = SetupAnswers::parse(
            "[notify]\nkinds = [\"ntfy\", \"desktop\"]\n[discord]\nowner_ids = [4, \"5\"]\n",
        );
        let as_set = as_set.unwrap();
        assert_eq!(as_set.of(QuestionKey::Notify), Some("ntfy, desktop"));
        assert_eq!(as_set.of(QuestionKey::DiscordOwner), Some("4, 5"));
    }

    #[test]
    fn the_example_is_understood() {
        let answers = SetupAnswers::parse(include_str!("../../examples/setup-answers.toml")).unwrap();
        assert_eq!(answers.of(QuestionKey::Notify), Some("discord, ntfy"));
        assert_eq!(answers.of(QuestionKey::Brain), Some("ollama"));
    }

    #[test]
    fn what_is_no_answer_is_pointed_at() {
        let wrong = |text: &str| SetupAnswers::parse(text).unwrap_err();
        assert_eq!(wrong("timezon = \"UTC\""), "`timezon` is no question; did you mean `timezone`?");
        assert!(wrong("[discord]\ntoken = \"abc\"").contains("did you mean `discord.token_file`?"));
        assert!(wrong("vault = 1.5").starts_with("`vault` can't be of the type float"));
        assert!(
            wrong("[discord]\nowner_id = [1.5]").starts_with("`discord.owner_id` can't be of the type array")
        );
        assert_eq!(wrong("vault = \"a\\nb\""), "`vault` has a line break, which no answer has");
        assert!(wrong("vault = ").contains("line 1, column 9"));
    }
}
