//! Computes the cost of a call: tokens times the prices of the settings.

use super::event::Usage;
pub use crate::config::Price;

impl Price {
    /// US dollars for `usage`.
    #[expect(clippy::cast_precision_loss, reason = "tokens of a call are far below 2^52")]
    pub fn of(&self, usage: &Usage) -> f64 {
        let fresh = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_write);
        let sum = fresh as f64 * self.input
            + usage.cached as f64 * self.cached.unwrap_or(self.input)
            + usage.cache_write as f64 * self.cache_write.unwrap_or(self.input)
            + usage.output as f64 * self.output;
        sum / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage { input: 10_000, cached: 6_000, cache_write: 1_000, output: 500 };
        let price = Price { input: 3.0, cached: Some(0.3), cache_write: Some(3.75), output: 15.0 };
        let usd = price.of(&usage);
        assert!((usd - (3_000.0 * 3.0 + 6_000.0 * 0.3 + 1_000.0 * 3.75 + 500.0 * 15.0) / 1e6).abs() < 1e-12);
        let plain = Price { input: 1.0, cached: None, cache_write: None, output: 0.0 };
        assert!((plain.of(&usage) - 0.01).abs() < 1e-12);
        // A provider that counts badly costs nothing extra, and nothing negative.
        assert!(price.of(&Usage { input: 1, cached: 5, ..Usage::default() }) >= 0.0);
    }
}
