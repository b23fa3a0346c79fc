//! Discord's own OpenAPI 3.1 description as a check on what is asked and answered. The file is not part of this
//! repository: `DISCORD_OPENAPI`, else `shared/discord/openapi.json` beside the checkout. Absent, nothing is
//! checked, and one line says so.

use crate::support::prelude::*;
use std::sync::OnceLock;

/// The description, and the validators that were built from it so far.
pub struct Schema {
    document: &'static Value,
}

type Validators = Mutex<HashMap<String, Option<Arc<jsonschema::Validator>>>>;

impl Schema {
    /// Finds and reads the file, once a process.
    pub fn find() -> Option<Self> {
        static DOCUMENT: OnceLock<Option<Value>> = OnceLock::new();
        let document = DOCUMENT.get_or_init(|| {
            let Some(path) = location() else {
                eprintln!("openapi.json is not at hand: requests and answers are not checked against it");
                return None;
            };
            let text = std::fs::read_to_string(&path).expect("openapi.json can be read");
            Some(serde_json::from_str(&text).expect("openapi.json is JSON"))
        });
        document.as_ref().map(|document| Self { document })
    }

    /// What is wrong with a request's body, if anything.
    pub fn request(&self, method: &str, path: &str, body: &Value) -> Option<String> {
        self.check(method, path, "requestBody/content/application~1json/schema", body)
    }

    /// What is wrong with an answer's body, if anything.
    pub fn answer(&self, method: &str, path: &str, status: u16, body: &Value) -> Option<String> {
        self.check(method, path, &format!("responses/{status}/content/application~1json/schema"), body)
    }

    /// The path as the description names it: the one with the fewest parts that stand for any.
    fn template(&self, path: &str) -> Option<&'static str> {
        let parts: Vec<&str> = path.split('/').collect();
        let is_any = |part: &str| part.starts_with('{');
        let fits = |name: &&String| {
            let mut pairs = name.split('/').zip(&parts);
            name.split('/').count() == parts.len() && pairs.all(|(own, part)| own == *part || is_any(own))
        };
        let names = self.document["paths"].as_object()?.keys().filter(fits);
        names.min_by_key(|name| name.split('/').filter(|part| is_any(part)).count()).map(String::as_str)
    }

    fn check(&self, method: &str, path: &str, part: &str, body: &Value) -> Option<String> {
        let template = self.template(path)?;
        let pointer = format!("/paths/{}/{}/{part}", template.replace('/', "~1"), method.to_lowercase());
        let validator = self.validator(&pointer)?;
        let errors: Vec<String> = validator
            .iter_errors(body)
            // The description knows replies alone; 1 is a forward (Discord's documentation, message reference types).
            .filter(|e| !e.instance_path().to_string().ends_with("/message_reference/type"))
            .take(3)
            .map(|e| format!("{} at `{}`", e, e.instance_path()))
            .collect();
        (!errors.is_empty())
            .then(|| format!("{method} {template} ({part}): {}\n  body: {body}", errors.join("; ")))
    }

    fn validator(&self, pointer: &str) -> Option<Arc<jsonschema::Validator>> {
        static BUILT: OnceLock<Validators> = OnceLock::new();
        let mut built = BUILT.get_or_init(Mutex::default).lock().unwrap();
        let build = || {
            let schema = self.document.pointer(pointer)?;
            let whole = json!({ "allOf": [schema], "components": self.document["components"] });
            Some(Arc::new(jsonschema::draft202012::options().build(&whole).expect("a valid schema")))
        };
        built.entry(pointer.to_owned()).or_insert_with(build).clone()
    }
}

fn location() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("DISCORD_OPENAPI").map(PathBuf::from);
    let beside = ["../shared", "../../shared"].map(|d| here.join(d).join("discord/openapi.json"));
    named.into_iter().chain(beside).find(|p| p.is_file())
}
