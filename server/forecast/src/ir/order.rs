//! The order of a function's blocks: each comes after those that lead to it, but for the way back in loops, and a loop's
//! blocks come before what follows the loop. So whoever waits for the work-items at the lowest number waits where a wave's
//! work-items meet again.

/// The blocks that the first one leads to, in order.
pub(super) fn order(successors: &[Vec<usize>]) -> Vec<usize> {
    let reachable = reachable(successors);
    let mut result = Vec::with_capacity(successors.len());
    let all: Vec<usize> = (0..successors.len()).filter(|node| reachable[*node]).collect();
    let mut work = vec![(all, 0)];
    // Parts that are still to be put in order, the next one last.
    while let Some((nodes, first)) = work.pop() {
        if nodes.len() == 1 {
            result.push(nodes[0]);
            continue;
        }
        // Without the ways back to its first block, a loop falls apart.
        let components = components(successors, &nodes, first);
        let mut parts = Vec::new();
        for component in components {
            let entry = entry_of(successors, &component, &nodes, first);
            parts.push((component, entry));
        }
        // Of a loop the first block stands alone, then the rest.
        work.extend(parts.into_iter().rev());
    }
    result
}

fn reachable(successors: &[Vec<usize>]) -> Vec<bool> {
    let mut seen = vec![false; successors.len()];
    let mut waiting = vec![0];
    while let Some(node) = waiting.pop() {
        if !std::mem::replace(&mut seen[node], true) {
            waiting.extend(&successors[node]);
        }
    }
    seen
}

/// The block of a loop that is reached from outside of it.
fn entry_of(successors: &[Vec<usize>], component: &[usize], nodes: &[usize], first: usize) -> usize {
    if component.contains(&first) {
        return first;
    }
    let outside = nodes.iter().filter(|node| !component.contains(node));
    outside.flat_map(|node| &successors[*node]).find(|node| component.contains(node)).copied().unwrap_or(component[0])
}

/// The strongly connected components of `nodes`, without the ways to `first`, each after those that lead to it.
fn components(successors: &[Vec<usize>], nodes: &[usize], first: usize) -> Vec<Vec<usize>> {
    let mut search = Search {
        successors,
        first,
        inside: vec![false; successors.len()],
        index: vec![0; successors.len()],
        low: vec![0; successors.len()],
        on_stack: vec![false; successors.len()],
        stack: Vec::new(),
        next: 1,
        found: Vec::new(),
    };
    for node in nodes {
        search.inside[*node] = true;
    }
    search.visit(first);
    for node in nodes {
        if search.index[*node] == 0 {
            search.visit(*node);
        }
    }
    search.found.reverse();
    search.found
}

/// Tarjan's search, without recursion: unrolled code has thousands of blocks.
struct Search<'a> {
    successors: &'a [Vec<usize>],
    first: usize,
    inside: Vec<bool>,
    index: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, root: usize) {
        self.begin(root);
        let mut path = vec![(root, 0)];
        while let Some((node, child)) = path.last_mut() {
            let node = *node;
            if let Some(next) = self.successors[node].get(*child).copied() {
                *child += 1;
                if !self.inside[next] || next == self.first {
                    continue;
                }
                if self.index[next] == 0 {
                    self.begin(next);
                    path.push((next, 0));
                } else if self.on_stack[next] {
                    self.low[node] = self.low[node].min(self.index[next]);
                }
            } else {
                path.pop();
                self.end(node, path.last().map(|(parent, _)| *parent));
            }
        }
    }

    fn begin(&mut self, node: usize) {
        self.index[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    fn end(&mut self, node: usize, parent: Option<usize>) {
        if let Some(parent) = parent {
            self.low[parent] = self.low[parent].min(self.low[node]);
        }
        if self.low[node] == self.index[node] {
            let begin = self.stack.iter().rposition(|other| *other == node).unwrap_or(0);
            let mut component = self.stack.split_off(begin);
            for member in &component {
                self.on_stack[*member] = false;
            }
            component.sort_unstable();
            self.found.push(component);
        }
    }
}
