//! What times are taken by: the clock on the wall, or the processor time that the code used.
//!
//! On an idle machine both say the same. Where other programs want the processors too, the code is displaced now and then
//! and the clock on the wall goes on: then processor time tells how long the code runs. Each figure says so in its device
//! note, which is kept with it.

use serde::{Deserialize, Serialize};

/// Wall time and processor time differ by less than this share on a machine that is idle.
const NOTICEABLE_SHARE: f64 = 0.01;

/// What the note of a figure in processor time ends with.
const NOTE: &str = "; processor time, since other programs kept the machine busy";

/// What a time was taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The system's monotonic clock.
    Wall,
    /// The processor time of the thread that ran the code.
    Processor,
}

/// Everything that was timed in a measurement, all versions together: the choice of the clock must not favour one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timed {
    /// By the clock on the wall, in nanoseconds.
    pub(crate) wall_ns: f64,
    /// Processor time of the timed thread, in nanoseconds.
    pub(crate) processor_ns: f64,
    /// Processor time of the process's other threads, in nanoseconds.
    pub(crate) others_ns: f64,
    /// How often another process took the processor away.
    pub(crate) displaced: u64,
    /// Whether the two clocks differ also where no other process did: the code waits, or a clock is not true.
    pub(crate) differs_undisturbed: bool,
}

/// Whether wall time and processor time of code that nobody displaced differ.
pub(crate) fn differ(wall_ns: f64, processor_ns: f64) -> bool {
    wall_ns - processor_ns > 2.0 * NOTICEABLE_SHARE * wall_ns
}

impl Clock {
    /// The clock to believe. Wall time that is missing in the processor time was taken by other programs only if they did
    /// displace the code, and if it is not missing otherwise: code that sleeps takes its time. And where it has threads of
    /// its own at work, the processor time of one of them is not all of its work.
    pub(crate) fn to_believe(timed: Timed) -> Self {
        let missing = timed.wall_ns - timed.processor_ns;
        let alone = timed.others_ns <= NOTICEABLE_SHARE * timed.processor_ns;
        let taken = missing > NOTICEABLE_SHARE * timed.wall_ns && timed.displaced > 0 && !timed.differs_undisturbed;
        if taken && alone { Self::Processor } else { Self::Wall }
    }

    /// A device's note for figures by this clock.
    pub(crate) fn note(self, device_note: &str) -> String {
        match self {
            Self::Wall => device_note.to_owned(),
            Self::Processor => format!("{device_note}{NOTE}"),
        }
    }

    /// What figures with this note were taken by.
    pub fn of_note(device_note: &str) -> Self {
        if device_note.ends_with(NOTE) { Self::Processor } else { Self::Wall }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_taken_only_where_other_programs_were_in_the_way() {
        let busy =
            Timed { wall_ns: 200.0, processor_ns: 100.0, others_ns: 0.0, displaced: 3, differs_undisturbed: false };
        for (timed, expected) in [
            (busy, Clock::Processor),
            (Timed { wall_ns: 100.5, ..busy }, Clock::Wall),
            (Timed { displaced: 0, ..busy }, Clock::Wall),
            (Timed { others_ns: 90.0, ..busy }, Clock::Wall),
            (Timed { differs_undisturbed: true, ..busy }, Clock::Wall),
            (Timed::default(), Clock::Wall),
        ] {
            assert_eq!(Clock::to_believe(timed), expected, "{timed:?}");
            assert_eq!(Clock::of_note(&expected.note("on a test")), expected);
        }
    }
}
