//! Re-exports the items that almost every place (one address of the page, such as `/inbox`) needs. A place's file
//! imports them with `use super::prelude::*`.

pub(in crate::web) use std::sync::Arc;

pub(in crate::web) use maud::{Markup, html};
pub(in crate::web) use serde::Serialize;

pub(in crate::web) use crate::web::answer::{MadeChange, PageError, PageView, Result};
pub(in crate::web) use crate::web::parts;
pub(in crate::web) use crate::web::visit::{FormData, Visit, encoded, note_address};
