//! What templates are filled with: the population and the forecast's account, in words and round numbers.
//!
//! Nothing of a held-out shape, a seed or the harness is in the types that this is made from.

use std::collections::BTreeSet;

use lab::SpeedRatio;
use lab::forecast::KernelForecast;
use serde::Serialize;

use crate::evolution::speed_against_original;
use crate::findings::ratio_in_words;
use crate::stages::{Member, Population};
use crate::symptoms;

/// Rows of the population's table at most.
const ROWS: usize = 60;
/// Lines of a kernel's account at most.
const LINES: usize = 12;
/// Launches in an account at most, the longest ones.
const LAUNCHES: usize = 4;
/// Lines that take less of the time are not told.
const LEAST_SHARE: f64 = 0.01;

/// A version in the table.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) id: u32,
    parent: String,
    reference: String,
    generation: u32,
    speed: String,
    /// In microseconds, in the order of the table's shapes.
    times: Vec<String>,
    verdict: String,
    summary: String,
}

/// The versions of the table; of a large population the original, the fastest and the newest.
pub(super) fn shown(population: &Population) -> Vec<&Member> {
    let members = &population.members;
    if members.len() <= ROWS {
        return members.iter().collect();
    }
    let mut by_speed: Vec<usize> = (0..members.len()).filter(|at| members[*at].failure.is_none()).collect();
    let faster = |a: &usize, b: &usize| {
        speed_against_original(&members[*b]).total_cmp(&speed_against_original(&members[*a])).then(a.cmp(b))
    };
    if by_speed.len() > ROWS / 2 {
        // Which they are is enough: the table is in the order of numbers.
        by_speed.select_nth_unstable_by(ROWS / 2, faster);
    }
    let mut kept: BTreeSet<usize> =
        by_speed.into_iter().take(ROWS / 2).chain(members.len() - ROWS / 2 + 1..members.len()).collect();
    kept.insert(0);
    kept.into_iter().map(|at| &members[at]).collect()
}

/// Names of the shapes, in the order in which versions have them.
pub(super) fn shapes(shown: &[&Member]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = shown.iter().rev().flat_map(|member| member.times.iter().map(|(shape, _)| shape));
    all.filter(|shape| seen.insert(*shape)).cloned().collect()
}

/// The table.
pub(super) fn rows(shown: &[&Member], shapes: &[String]) -> Vec<Row> {
    shown.iter().map(|member| row(member, shapes)).collect()
}

fn row(member: &Member, shapes: &[String]) -> Row {
    let number = |id: Option<u32>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let time = |shape: &String| member.times.iter().find(|(name, _)| name == shape).map(|(_, ns)| micros(*ns));
    Row {
        id: member.id,
        parent: number(member.parent),
        reference: number(member.reference),
        generation: member.generation,
        speed: speed(member),
        times: shapes.iter().map(|shape| time(shape).unwrap_or_else(|| "-".into())).collect(),
        verdict: match (&member.failure, member.verdict) {
            (Some(failure), _) => failure.label().to_owned(),
            (None, Some(verdict)) => verdict.to_string(),
            (None, None) => "-".into(),
        },
        // A bar or a line feed would break the table.
        summary: one_line(&member.summary).replace('|', "/"),
    }
}

/// A version that a question is about.
#[derive(Serialize)]
pub(super) struct Version<'a> {
    id: u32,
    text: &'a str,
    speed: String,
    summary: String,
    times_in_words: String,
}

impl<'a> Version<'a> {
    pub(super) fn of(member: &'a Member) -> Self {
        let times: Vec<String> =
            member.times.iter().map(|(shape, ns)| format!("{shape}: {} us", micros(*ns))).collect();
        let times_in_words = if times.is_empty() { "not known".to_owned() } else { times.join("; ") };
        Self {
            id: member.id,
            text: &member.text,
            speed: speed(member),
            summary: one_line(&member.summary),
            times_in_words,
        }
    }
}

/// The text with its lines' numbers before them.
pub(super) fn numbered(text: &str) -> String {
    let lines: Vec<String> = (1..).zip(text.lines()).map(|(number, line)| format!("{number:4}  {line}")).collect();
    lines.join("\n")
}

/// A launch's account.
#[derive(Serialize)]
pub(super) struct Launch {
    name: String,
    shape: String,
    us: String,
    bound: String,
    busy: String,
    occupancy: String,
    roofline: String,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    line: u32,
    share: String,
    text: String,
    what: String,
}

/// The account of the longest launches, with the lines that cost most.
pub(super) fn account(forecast: &[KernelForecast], text: &str) -> Vec<Launch> {
    let mut launches: Vec<&KernelForecast> = forecast.iter().collect();
    launches.sort_by(|a, b| b.total_ns().total_cmp(&a.total_ns()));
    launches.into_iter().take(LAUNCHES).map(|launch| of_launch(launch, text)).collect()
}

fn of_launch(launch: &KernelForecast, text: &str) -> Launch {
    let KernelForecast { occupancy, roofline, .. } = launch;
    let busy: Vec<String> =
        launch.busy.iter().take(4).map(|busy| format!("{} {:.0}%", busy.resource, busy.share * 100.0)).collect();
    let lines = launch.lines.iter().filter(|line| line.line > 0 && line.share >= LEAST_SHARE).take(LINES);
    Launch {
        name: launch.name.clone(),
        shape: launch.shape(),
        us: micros(launch.us * 1e3),
        bound: launch.bound.clone(),
        busy: busy.join(", "),
        occupancy: format!(
            "{} registers a work-item, {} bytes of LDS a block, {} of {} waves a unit, limited by {}",
            occupancy.registers, occupancy.lds_bytes, occupancy.waves, occupancy.most_waves, occupancy.limited_by
        ),
        roofline: format!(
            "It moves {:.3} MB to and from memory, {:.0}% of what the memory can; {} at {:.0}% of its peak",
            roofline.memory_bytes / 1e6,
            roofline.memory_share * 100.0,
            roofline.arithmetic,
            roofline.arithmetic_share * 100.0
        ),
        lines: lines
            .map(|line| Line {
                line: line.line,
                share: format!("{:.0}", line.share * 100.0),
                text: one_line(text.lines().nth(line.line as usize - 1).unwrap_or_default()),
                what: symptoms::of_line(line).into_iter().map(|sick| sick.what).collect::<Vec<_>>().join(", "),
            })
            .collect(),
    }
}

/// Speed against the original with its interval.
pub(super) fn speed(member: &Member) -> String {
    let itself = SpeedRatio { ratio: 1.0, low: 1.0, high: 1.0 };
    match (&member.failure, member.id, member.against_original) {
        (Some(_), ..) => "-".into(),
        (None, 0, _) => "1.00x".into(),
        (None, _, speed) => ratio_in_words(&speed.unwrap_or(itself)),
    }
}

fn micros(ns: f64) -> String {
    let us = ns / 1e3;
    match us {
        us if us >= 100.0 => format!("{us:.0}"),
        us if us >= 1.0 => format!("{us:.2}"),
        us => format!("{us:.4}"),
    }
}

/// A text on one line, without what does something to a terminal.
pub(super) fn one_line(text: &str) -> String {
    llm::foreign::one_line(text)
}
