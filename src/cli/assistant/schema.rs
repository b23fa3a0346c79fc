//! Checks an answer against a JSON schema.

use std::path::Path;

use crate::cli::CommandError;

/// A compiled JSON schema.
pub(super) struct Schema {
    pub value: serde_json::Value,
    pub compiled: boon::Schemas,
    pub whole: boon::SchemaIndex,
}

/// Refuses references to other schemas: nothing is read or fetched.
pub(super) struct NoLoader;

impl boon::UrlLoader for NoLoader {
    fn load(&self, url: &str) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
        Err(format!("it refers to `{url}`, which isn't read: put it into the schema").into())
    }
}

impl Schema {
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        const NAME: &str = "schema:answer";
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| CommandError::usage(format!("can't read the schema `{shown}`: {error}")))?;
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| CommandError::usage(format!("the schema `{shown}` is no JSON: {error}")))?;
        let (mut compiler, mut compiled) = (boon::Compiler::new(), boon::Schemas::new());
        compiler.use_loader(Box::new(NoLoader));
        let wrong =
            |error: boon::CompileError| CommandError::usage(format!("`{shown}` is no JSON schema: {error}"));
        compiler.add_resource(NAME, value.clone()).map_err(wrong)?;
        let whole = compiler.compile(NAME, &mut compiled).map_err(wrong)?;
        Ok(Self { value, compiled, whole })
    }

    pub(super) fn check(&self, text: &str) -> Result<(), String> {
        let value: serde_json::Value =
            serde_json::from_str(bare_json(text)).map_err(|error| format!("it is no JSON ({error})"))?;
        self.compiled.validate(&value, self.whole).map_err(|error| first_cause(&error))
    }
}

/// The first cause of a validation error, with its place.
pub(super) fn first_cause(error: &boon::ValidationError<'_, '_>) -> String {
    let mut cause = error;
    while let Some(first) = cause.causes.first() {
        cause = first;
    }
    let place = cause.instance_location.to_string();
    if place.is_empty() { cause.kind.to_string() } else { format!("at `{place}`: {}", cause.kind) }
}

/// The JSON of an answer, without a code fence around it.
pub(super) fn bare_json(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.trim_end().strip_suffix("```")).map_or(text, str::trim)
}
