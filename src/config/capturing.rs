//! Computes the effective settings of capture, with and without a table for it.

use super::settings::Settings;
use crate::format::candidate::Category;

impl Settings {
    /// Whether logs are looked through for what could be remembered: where the settings say so, else where a brain is
    /// named at all.
    pub fn captures(&self) -> bool {
        match &self.capture {
            Some(capture) => capture.enabled.unwrap_or(true),
            None => !self.brains.is_empty(),
        }
    }

    /// The brain that finds what could be remembered; none for rules.
    pub fn capture_brain(&self) -> Option<&str> {
        self.capture.as_ref()?.brain.as_deref()
    }

    /// Whether a category is let in at once.
    pub fn captures_at_once(&self, category: Category) -> bool {
        self.capture.as_ref().is_some_and(|capture| capture.auto.contains(&category))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_on_with_a_brain_or_with_its_table_and_off_where_that_says_so() {
        let settings = |text: &str| Settings::parse(text).unwrap();
        let brain = "[[brain]]\nname = \"a\"\nkind = \"chat\"\nmodel = \"m\"\n";
        assert!(!settings("").captures());
        assert!(settings(brain).captures() && settings("[capture]\n").captures());
        assert!(!settings(&format!("[capture]\nenabled = false\n{brain}")).captures());
        let auto = settings("[capture]\nauto = [\"profile\"]\n");
        assert!(auto.captures_at_once(Category::Profile) && !auto.captures_at_once(Category::Events));
        let wrong = Settings::parse("[capture]\nbrain = \"nobody\"\n").unwrap_err().to_string();
        assert!(wrong.contains("capture.brain"), "{wrong}");
        let wrong = Settings::parse("[capture]\nauto = [\"profiles\"]\n").unwrap_err().to_string();
        assert!(wrong.contains("profiles"), "{wrong}");
    }
}
