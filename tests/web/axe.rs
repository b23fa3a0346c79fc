//! axe-core over the open page.

use crate::support::prelude::*;

/// The rules of WCAG 2.2 AA.
const RUN: &str = r#"
const done = arguments[arguments.length - 1];
axe.run(document, {
  runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
  resultTypes: ["violations"],
}).then(found => done(found.violations.flatMap(rule => rule.nodes.map(node =>
  `${rule.id} (${rule.help}) at ${node.target.join(" ")}: ${node.html.slice(0, 200)} ${node.failureSummary.replaceAll("\n", " ")}`))),
  error => done(["axe-core failed: " + error]));
"#;

/// One line a finding. `run` is the driver's asynchronous script, which the page's own policy doesn't concern.
pub fn findings(run: &dyn Fn(String) -> Value, axe: &str) -> Vec<String> {
    // Half a megabyte, which a page that was looked at before has.
    let mut found =
        run(format!("if (!window.axe) {{ arguments[arguments.length - 1](null); return; }}\n{RUN}"));
    if found.is_null() {
        found = run(format!("{axe}\n{RUN}"));
    }
    let lines = found.as_array().unwrap_or_else(|| panic!("axe-core said {found}"));
    lines.iter().map(|line| line.as_str().unwrap_or_default().to_owned()).collect()
}
