//! From debug locations to the user's lines.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

/// The module's numbered metadata, by number.
pub(super) struct Lines<'a> {
    nodes: HashMap<u32, &'a str>,
    /// The main file's path.
    main: Option<String>,
    known: RefCell<HashMap<u32, u32>>,
}

impl<'a> Lines<'a> {
    /// `nodes`: the text after `!7 = `.
    pub fn new(nodes: HashMap<u32, &'a str>, main: Option<&Path>) -> Self {
        let mut lines = Self { nodes, main: None, known: RefCell::default() };
        let unit = lines.nodes.values().find(|node| node.contains("DICompileUnit("));
        let of_unit = || unit.and_then(|unit| lines.file(field(unit, "file")?));
        lines.main = main.map(|main| main.display().to_string()).or_else(of_unit);
        lines
    }

    /// The line of a `DILocation`: the innermost in the main file. 0 where there is none.
    pub fn line(&self, location: u32) -> u32 {
        if let Some(line) = self.known.borrow().get(&location) {
            return *line;
        }
        let mut at = Some(location);
        let mut line = 0;
        while let Some(node) = at.and_then(|at| self.nodes.get(&at)) {
            if self.main.is_some() && self.scope_file(field(node, "scope")) == self.main {
                line = field(node, "line").and_then(|line| line.parse().ok()).unwrap_or(0);
                break;
            }
            at = field(node, "inlinedAt").and_then(reference);
        }
        self.known.borrow_mut().insert(location, line);
        line
    }

    fn scope_file(&self, scope: Option<&str>) -> Option<String> {
        let mut at = reference(scope?)?;
        // Scopes are nested in scopes; one of them names the file.
        for _ in 0..64 {
            let node = self.nodes.get(&at)?;
            if let Some(file) = field(node, "file") {
                return self.file(file);
            }
            at = field(node, "scope").and_then(reference)?;
        }
        None
    }

    fn file(&self, file: &str) -> Option<String> {
        let node = self.nodes.get(&reference(file)?)?;
        let text = |name| field(node, name).map(|text| text.trim_matches('"')).unwrap_or_default();
        let (name, folder) = (text("filename"), text("directory"));
        Some(if name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") })
    }
}

/// 7 in `!7`.
fn reference(text: &str) -> Option<u32> {
    text.strip_prefix('!')?.parse().ok()
}

/// `line` of `!DILocation(line: 7, scope: !8)`.
fn field<'a>(node: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = node;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back();
        let value = rest[at + name.len()..].strip_prefix(": ");
        match (before, value) {
            (Some('(' | ' '), Some(value)) => {
                let end = match value.strip_prefix('"') {
                    Some(quoted) => quoted.find('"').map_or(value.len(), |end| end + 2),
                    None => value.find([',', ')']).unwrap_or(value.len()),
                };
                return Some(&value[..end]);
            }
            _ => rest = &rest[at + name.len()..],
        }
    }
}
