//! The page as a person, a browser and an attacker meet it: the real program over a hermetic vault.
//!
//! - [`served`], [`http`], [`forms`]: the program that serves, and a client that sends what it is told to, byte for byte;
//! - [`browser`], [`tab`], [`hand`], [`axe`]: one headless Chromium for all tests of this binary, and the checker of accessibility.
//!
//! Tests that need a browser are left out, with one line that says so, where `chromium`, `chromedriver` or axe-core is
//! missing; with `VAULT_AGENT_BROWSER=required` (set by `.ci/run`) that is a failure.
#![cfg(all(unix, feature = "assistant"))]
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/models/mod.rs"]
mod models;
#[path = "../support/mod.rs"]
mod support;

mod attacks;
mod axe;
mod browser;
mod changes;
mod crashes;
mod doors;
mod elsewhere;
mod escapes;
mod forms;
mod hand;
#[path = "../support/http.rs"]
mod http;
mod lives;
mod looking;
mod odd;
mod pictures;
mod refusals;
mod sample;
mod scripts;
mod served;
mod tab;
mod touching;
mod visits;
