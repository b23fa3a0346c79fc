//! The forms of a page, read as a browser without scripts reads them.

/// A form that posts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Where it goes: a path, with its query.
    pub action: String,
    /// Names and values, in the order of the page.
    pub fields: Vec<(String, String)>,
}

impl Form {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether some field's value has this part.
    pub fn holds(&self, part: &str) -> bool {
        part.is_empty() || self.fields.iter().any(|(_, value)| value.contains(part))
    }

    /// The form with another value in a field, which is added where it isn't there.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.fields.push((name.to_owned(), value.to_owned())),
        }
        self
    }
}

/// All forms of a page that post.
pub fn forms(page: &str) -> Vec<Form> {
    page.split("<form ").skip(1).filter_map(|text| form(text.split("</form>").next()?)).collect()
}

fn form(text: &str) -> Option<Form> {
    let (head, inside) = text.split_once('>')?;
    if !attribute(head, "method").is_some_and(|method| method.eq_ignore_ascii_case("post")) {
        return None;
    }
    let mut fields = Vec::new();
    for (at, _) in inside.match_indices('<') {
        let tag = &inside[at + 1..];
        let end = tag.find('>').unwrap_or(tag.len());
        let head = &tag[..end];
        let Some(name) = attribute(head, "name") else { continue };
        let kind = attribute(head, "type").unwrap_or_default();
        let value = if head.starts_with("textarea") {
            let text = &tag[(end + 1).min(tag.len())..];
            Some(unescaped(text.split("</textarea>").next().unwrap_or_default()))
        } else if head.starts_with("select") {
            let options = tag.split("</select>").next().unwrap_or_default();
            let all: Vec<&str> = options.split("<option").skip(1).collect();
            let is_chosen =
                |option: &&&str| option.split('>').next().unwrap_or_default().contains(" selected");
            let chosen = all.iter().find(is_chosen);
            chosen.or(all.first()).and_then(|option| attribute(option.split('>').next()?, "value"))
        } else if head.starts_with("input") {
            let is_off = matches!(kind.as_str(), "checkbox" | "radio") && !head.contains(" checked");
            (!is_off).then(|| attribute(head, "value").unwrap_or_default())
        } else {
            // A button counts only where it is pressed; the first one is.
            let is_button = head.starts_with("button") && !fields.iter().any(|(known, _)| *known == name);
            is_button.then(|| attribute(head, "value").unwrap_or_default())
        };
        fields.extend(value.map(|value| (name, value)));
    }
    Some(Form { action: attribute(head, "action").unwrap_or_default(), fields })
}

fn attribute(head: &str, name: &str) -> Option<String> {
    let at = head.find(&format!(" {name}=\"")).map(|at| at + name.len() + 3);
    let at = at.or_else(|| head.strip_prefix(&format!("{name}=\"")).map(|_| name.len() + 2))?;
    Some(unescaped(head[at..].split('"').next()?))
}

/// Text of a page without its escapes.
pub fn unescaped(text: &str) -> String {
    let escapes =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];
    escapes.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}
