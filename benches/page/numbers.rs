//! The table at the end: what was measured, and its goal.

/// Rows of the table, in their order.
#[derive(Debug, Default)]
pub struct Numbers(Vec<Row>);

#[derive(Debug)]
struct Row {
    what: String,
    measured: f64,
    goal: f64,
    unit: &'static str,
}

impl Numbers {
    /// A figure that is to be at most its goal.
    pub fn take(&mut self, what: impl Into<String>, measured: f64, goal: f64, unit: &'static str) {
        self.0.push(Row { what: what.into(), measured, goal, unit });
    }

    pub fn print(&self) {
        println!("\n{:<58} {:>10} {:>10}", "numbers", "measured", "goal");
        for Row { what, measured, goal, unit } in &self.0 {
            let short = if measured <= goal { "" } else { "  falls short" };
            println!("{what:<58} {measured:>10.1} {goal:>10.1} {unit}{short}");
        }
        println!(
            "binary: `cargo build --release` with and without `--features web`; attacks: `cargo test --test web attacks`"
        );
    }
}
