//! Points in time and durations in words.

use std::time::Duration;

/// `2025-11-30 03:38 UTC` of milliseconds since 1970.
pub fn utc(milliseconds: i64) -> String {
    let minutes = milliseconds.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

/// Year, month and day of a number of days since 1970-01-01 in the Gregorian calendar (Howard Hinnant's
/// `civil_from_days`: eras of 400 years that begin on 1 March, so that the leap day is a year's last).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
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
            (-1, "1969-12-31 23:59 UTC"),
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
