//! Points in time and durations in words.

use std::time::{Duration, UNIX_EPOCH};

/// `2025-11-30 03:38 UTC` of milliseconds since 1970; earlier moments, which no clock that runs gives, count as 1970.
pub fn utc(milliseconds: i64) -> String {
    let moment = UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
    // 2025-11-30T03:38:00Z
    let text = humantime::format_rfc3339_seconds(moment).to_string();
    let minutes = text.rsplit_once(':').map_or(text.as_str(), |(minutes, _)| minutes);
    format!("{} UTC", minutes.replace('T', " "))
}

/// `42 s`, `3 min 07 s`, `2 h 05 min`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_764_473_880, "2025-11-30 03:38 UTC"),
            (-1, "1970-01-01 00:00 UTC"),
        ] {
            assert_eq!(utc(seconds * 1000), expected);
        }
    }

    #[test]
    fn durations_read_well() {
        for (seconds, expected) in [(0.25, "0.2 s"), (42.9, "42 s"), (187.0, "3 min 07 s"), (7500.0, "2 h 05 min")] {
            assert_eq!(duration(Duration::from_secs_f64(seconds)), expected);
        }
    }
}
