//! Defines the parts of a day: the hours of morning, afternoon, evening and night, and the minute that each means
//! without a time.

use crate::words::words;

words! {
    /// A part of the day.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DayPart, name {
        /// 01:00 to 11:59; 09:00 where no time is given.
        Morning = "morning",
        /// 12:00 to 20:59; 15:00.
        Afternoon = "afternoon",
        /// 16:00 to 23:59; 19:00.
        Evening = "evening",
        /// 19:00 to 23:59; 21:00.
        Night = "night",
    }
}

impl DayPart {
    /// Its first and its last minute of the day.
    pub const fn range(self) -> (i32, i32) {
        match self {
            DayPart::Morning => (60, 719),
            DayPart::Afternoon => (720, 1259),
            DayPart::Evening => (960, 1439),
            DayPart::Night => (1140, 1439),
        }
    }

    /// The minute of the day that is meant where no time is given.
    pub const fn default(self) -> i32 {
        match self {
            DayPart::Morning => 540,
            DayPart::Afternoon => 900,
            DayPart::Evening => 1140,
            DayPart::Night => 1260,
        }
    }
}
