//! From and to elsewhere: `migrate`, `import` and `export`, as a person types them, and the calendar
//! against an independent reader.

mod calendar;
mod export;
mod hostile;
mod import;
mod migrate;
