//! The lineage as a drawing: generations from left to right, the winner's line straight along the top.

use std::collections::BTreeMap;

use serde::Serialize;

use super::data::{CandidateFacts, ReportData, Standing};

/// Width of the page's sections, which the drawing fills if it can; a wider one is scrolled.
const PAGE: f64 = 1012.0;
const WIDEST_NODE: f64 = 212.0;
const NARROWEST_NODE: f64 = 176.0;
const NODE_HEIGHT: f64 = 50.0;
const GAP: f64 = 28.0;
const ROW: f64 = NODE_HEIGHT + 16.0;
const MARGIN: f64 = 8.0;
const HEADING: f64 = 30.0;

/// Pixels of a node that are not for its title, and of one of the title's characters on average.
const TITLE_MARGIN: f64 = 24.0;
const TITLE_CHARACTER: f64 = 6.9;

/// Width of nodes in a drawing of so many columns.
fn node_width(columns: usize) -> f64 {
    let columns = columns.max(1) as f64;
    let fitting = (PAGE - 2.0 * MARGIN - (columns - 1.0) * GAP) / columns;
    fitting.floor().clamp(NARROWEST_NODE, WIDEST_NODE)
}

/// The whole drawing; all positions in pixels.
#[derive(Debug, Serialize)]
pub struct Lineage {
    width: f64,
    height: f64,
    columns: Vec<Column>,
    edges: Vec<Edge>,
    nodes: Vec<Node>,
}

#[derive(Debug, Serialize)]
struct Column {
    x: f64,
    generation: u32,
}

#[derive(Debug, Serialize)]
struct Edge {
    path: String,
    /// Whether it leads to the second parent.
    is_reference: bool,
    on_line: bool,
}

#[derive(Debug, Serialize)]
struct Node {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    number: u32,
    title: String,
    full_title: String,
    figure: String,
    standing: Standing,
    on_line: bool,
    is_winner: bool,
}

/// Places every candidate; `winner` is the one whose line is made to stand out.
pub fn draw(report: &ReportData, winner: Option<u32>, words: impl Fn(&CandidateFacts) -> String) -> Lineage {
    let line: Vec<u32> = winner
        .map(|number| report.lineage(number).iter().map(|candidate| candidate.number).collect())
        .unwrap_or_default();
    let places = Places::of(report, &line);
    let mut generations: Vec<u32> = report.candidates.iter().map(|candidate| candidate.generation).collect();
    generations.sort_unstable();
    generations.dedup();
    let column_of = |generation: u32| generations.binary_search(&generation).unwrap_or(0) as f64;
    let width = node_width(generations.len());
    let column = width + GAP;
    let position = |candidate: &CandidateFacts| {
        let row = places.rows.get(&candidate.number).copied().unwrap_or(0);
        (MARGIN + column_of(candidate.generation) * column, HEADING + f64::from(row) * ROW)
    };
    let title_characters = ((width - TITLE_MARGIN) / TITLE_CHARACTER) as usize;
    let mut edges = Vec::new();
    for candidate in &report.candidates {
        for (other, is_reference) in [(candidate.reference, true), (candidate.parent, false)] {
            let Some(from) = other.and_then(|number| report.candidate(number)) else { continue };
            let on_line = !is_reference && line.contains(&candidate.number) && line.contains(&from.number);
            edges.push(Edge { path: curve(position(from), position(candidate), width), is_reference, on_line });
        }
    }
    // What stands out is drawn last, over the rest.
    edges.sort_by_key(|edge| edge.on_line);
    Lineage {
        width: 2.0 * MARGIN + generations.len().saturating_sub(1) as f64 * column + width,
        height: HEADING + f64::from(places.next_row.max(1)) * ROW,
        columns: generations
            .iter()
            .map(|&generation| Column { x: MARGIN + column_of(generation) * column, generation })
            .collect(),
        edges,
        nodes: report
            .candidates
            .iter()
            .map(|candidate| {
                let (x, y) = position(candidate);
                Node {
                    x,
                    y,
                    width,
                    height: NODE_HEIGHT,
                    number: candidate.number,
                    title: shortened(&candidate.title, title_characters),
                    full_title: candidate.title.clone(),
                    figure: words(candidate),
                    standing: candidate.standing,
                    on_line: line.contains(&candidate.number),
                    is_winner: winner == Some(candidate.number),
                }
            })
            .collect(),
    }
}

/// The row of each candidate: children stand at their parent's row and below it, none over another.
#[derive(Default)]
struct Places {
    rows: BTreeMap<u32, u32>,
    next_row: u32,
}

impl Places {
    fn of(report: &ReportData, line: &[u32]) -> Self {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut roots = Vec::new();
        for candidate in &report.candidates {
            match candidate.parent.filter(|parent| *parent < candidate.number && report.candidate(*parent).is_some()) {
                Some(parent) => children.entry(parent).or_default().push(candidate.number),
                None => roots.push(candidate.number),
            }
        }
        for siblings in children.values_mut() {
            siblings.sort_by_key(|number| (!line.contains(number), *number));
        }
        let mut places = Self::default();
        // Depth first with a stack of its own, so that a long line cannot exhaust the program's.
        let mut open: Vec<u32> = roots.into_iter().rev().collect();
        while let Some(number) = open.pop() {
            let parent = report.candidate(number).and_then(|candidate| candidate.parent);
            let is_first =
                parent.and_then(|parent| children.get(&parent)).is_some_and(|siblings| siblings[0] == number);
            let row = match parent.and_then(|parent| places.rows.get(&parent)) {
                Some(&row) if is_first => row,
                _ => places.next_row,
            };
            places.rows.insert(number, row);
            places.next_row = places.next_row.max(row + 1);
            open.extend(children.get(&number).into_iter().flatten().rev());
        }
        places
    }
}

/// A curve from the right edge of one node to the left edge of another.
fn curve(from: (f64, f64), to: (f64, f64), width: f64) -> String {
    let (x1, y1) = (from.0 + width, from.1 + NODE_HEIGHT / 2.0);
    let (x2, y2) = (to.0, to.1 + NODE_HEIGHT / 2.0);
    let bend = ((x2 - x1) / 2.0).abs().max(24.0);
    format!("M{x1:.1} {y1:.1}C{:.1} {y1:.1} {:.1} {y2:.1} {x2:.1} {y2:.1}", x1 + bend, x2 - bend)
}

/// The text without its backticks, or its beginning and an ellipsis.
pub fn shortened(text: &str, characters: usize) -> String {
    let text = text.replace('`', "");
    if text.chars().count() <= characters {
        return text;
    }
    let mut short: String = text.chars().take(characters - 1).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn no_two_nodes_overlap_and_the_winners_line_is_straight() {
        let report = example::report();
        let winner = report.shown().map(|candidate| candidate.number);
        let drawing = draw(&report, winner, |_| String::new());
        assert_eq!(drawing.nodes.len(), report.candidates.len());
        for (index, a) in drawing.nodes.iter().enumerate() {
            assert!(a.x + a.width <= drawing.width && a.y + a.height <= drawing.height, "{a:?}");
            for b in &drawing.nodes[index + 1..] {
                let apart = (a.x - b.x).abs() >= a.width || (a.y - b.y).abs() >= NODE_HEIGHT;
                assert!(apart, "{a:?} {b:?}");
            }
        }
        let heights: Vec<_> = drawing.nodes.iter().filter(|node| node.on_line).map(|node| node.y).collect();
        assert!(heights.len() > 2 && heights.iter().all(|y| *y == heights[0]), "{heights:?}");
    }

    #[test]
    fn few_generations_fill_the_page_and_many_are_scrolled() {
        for (columns, expected) in [(1, WIDEST_NODE), (4, WIDEST_NODE), (5, NARROWEST_NODE), (40, NARROWEST_NODE)] {
            assert_eq!(node_width(columns), expected, "{columns}");
        }
        let five = 5.0 * node_width(5) + 4.0 * GAP + 2.0 * MARGIN;
        assert!(five <= PAGE, "{five}");
    }

    #[test]
    fn long_titles_are_shortened_at_characters() {
        assert_eq!(shortened("`größer`", 6), "größer");
        assert_eq!(shortened("größere Kachel", 9), "größere…");
    }
}
