//! The text of a kernel that is split.

use std::collections::BTreeSet;
use std::ops::Range;

use super::locals::{Local, Locals};
use super::plan::{Fate, Plan, Region};
use super::strides::Stride;
use crate::code::Code;
use crate::rewrite::Edit;

/// The edits for a kernel whose body begins at the byte `start`.
pub(super) fn edits(code: &Code, locals: &Locals, plan: &Plan, start: usize) -> Vec<Edit> {
    let writer = Writer { code, locals, plan };
    let leaves = plan.regions.iter().any(|region| !region.returns.is_empty());
    let mut edits = vec![Edit::insert(start, if leaves { " KS_SPLIT_LEAVING;" } else { " KS_SPLIT;" })];
    for barrier in &plan.barriers {
        edits.push(Edit::replace(barrier.clone(), "KS_SPLIT_BARRIER;"));
    }
    for region in &plan.regions {
        match &region.stride {
            Some(stride) => writer.stride(region, stride, leaves, &mut edits),
            None => writer.region(region, leaves, &mut edits),
        }
    }
    edits
}

struct Writer<'a> {
    code: &'a Code,
    locals: &'a Locals,
    plan: &'a Plan,
}

impl Writer<'_> {
    fn text(&self, range: &Range<usize>) -> String {
        self.code.text[range.clone()].replace(['\n', '\r'], " ")
    }

    fn region(&self, region: &Region, leaves: bool, edits: &mut Vec<Edit>) {
        let all = || self.locals.all.iter().enumerate();
        let declared: Vec<usize> =
            all().filter(|(_, local)| region.range.contains(&local.at)).map(|(index, _)| index).collect();
        let needed =
            self.needed(self.locals.mentioned_in(&region.range).collect(), &|local| region.range.contains(&local.at));

        let mut open = String::new();
        if region.unbraced {
            open.push_str("{ ");
        }
        for &index in &declared {
            open.push_str(&self.storage(index));
        }
        open.push_str(" KS_ITEMS {");
        if leaves {
            open.push_str(" if (ks_left[ks_i]) continue;");
        }
        if !region.returns.is_empty() {
            open.push_str(" [&]() __attribute__((always_inline)) {");
        }
        for &index in &needed {
            open.push_str(&self.load(index));
        }
        edits.push(Edit::insert(region.start, open));

        for &at in &region.returns {
            edits.push(Edit::insert(at + "return".len(), " ks_left.leave(ks_i)"));
        }
        for &index in declared.iter().filter(|&&index| self.plan.fates[index] == Fate::Place) {
            let local = &self.locals.all[index];
            edits.push(Edit::insert(local.at, "ks_first_"));
            let put = format!(" auto &{0} = ks_kept_{index}.put(ks_i, ks_first_{0});", local.name);
            edits.push(Edit::insert(local.declaration.end, put));
        }

        let mut close = String::new();
        for &index in needed.iter().chain(&declared) {
            close.push_str(&self.save(index, declared.contains(&index)));
        }
        close.push_str(if region.returns.is_empty() { " }" } else { " }(); } if (ks_left.all()) return;" });
        if region.unbraced {
            close.push_str(" }");
        }
        edits.push(Edit::insert(region.range.end, close));
    }

    /// A loop that is turned inside out: in each turn all work-items that are left in it look whether they go on, and those
    /// that do run its body.
    fn stride(&self, region: &Region, stride: &Stride, leaves: bool, edits: &mut Vec<Edit>) {
        let walker = &self.locals.all[stride.variable];
        let mentioned = |ranges: &[&Range<usize>]| {
            ranges.iter().flat_map(|range| self.locals.mentioned_in(range)).collect::<Vec<usize>>()
        };
        let first = walker.initialiser.clone().unwrap_or_default();
        let is_there = |local: &Local| region.range.contains(&local.at);
        let asked = self.needed(mentioned(&[&first, &stride.condition]), &is_there);
        let needed = self.needed(mentioned(&[&first, &stride.body]), &is_there);
        let load = |indices: &[usize]| indices.iter().map(|&index| self.load(index)).collect::<String>();

        let turns = format!("ks_turns_{}", stride.variable);
        let (name, specifiers) = (&walker.name, self.text(&walker.specifiers));
        let begin = format!("if (!{turns}[ks_i]) continue;");
        let left = if leaves { format!(" if (ks_left[ks_i]) {turns}.leave(ks_i);") } else { String::new() };
        let position = format!(
            " {{ {specifiers} ks_first_{name}{}; {specifiers} {name} = {turns}.at(ks_first_{name});",
            self.text(&first)
        );
        let (advance, step) = (if stride.backwards { "retreat" } else { "advance" }, self.text(&stride.step));
        let (brace, condition) = (if region.unbraced { "{ " } else { "" }, self.text(&stride.condition));
        let calls = !stride.jumps.is_empty() || !region.returns.is_empty();
        let call = if calls { " [&]() __attribute__((always_inline)) { " } else { " " };
        let lines = "\n".repeat(self.code.text[stride.head.clone()].matches('\n').count());
        let head = format!(
            "{brace}for (::ks::Turns {turns}(ks_extent);; {turns}.{advance}({step})) {{ KS_ITEMS {{{left} {begin}{}{position} \
             if (!({condition})) {turns}.leave(ks_i); }} }} if (!{turns}.any()) break; KS_ITEMS {{ {begin}{}{position}{call}{lines}",
            load(&asked),
            load(&needed),
        );
        edits.push(Edit::replace(stride.head.clone(), head));

        for &at in &region.returns {
            edits.push(Edit::insert(at + "return".len(), " ks_left.leave(ks_i)"));
        }
        for jump in &stride.jumps {
            let is_break = &self.code.text[jump.clone()] == "break";
            let text = if is_break { format!("return {turns}.leave(ks_i)") } else { "return".into() };
            edits.push(Edit::replace(jump.clone(), text));
        }
        let save: String = needed.iter().map(|&index| self.save(index, false)).collect();
        let all = if region.returns.is_empty() { "" } else { " if (ks_left.all()) return;" };
        let (called, brace) = (if calls { " }();" } else { "" }, if region.unbraced { " }" } else { "" });
        edits.push(Edit::insert(region.range.end, format!("{called} }}{save} }} }}{all}{brace}")));
    }

    /// The variables among `mentioned`, and those that they are made of, that must be brought in: in the order of their
    /// declarations, without those that are there already.
    fn needed(&self, mentioned: Vec<usize>, is_there: &dyn Fn(&Local) -> bool) -> Vec<usize> {
        let mut open = mentioned;
        let mut needed = BTreeSet::new();
        while let Some(index) = open.pop() {
            let local = &self.locals.all[index];
            let fate = self.plan.fates[index];
            if matches!(fate, Fate::Region | Fate::Block) || is_there(local) || !needed.insert((local.at, index)) {
                continue;
            }
            if let (Fate::Again, Some(initialiser)) = (fate, &local.initialiser) {
                open.extend(self.locals.mentioned_in(initialiser));
            }
        }
        needed.into_iter().map(|(_, index)| index).collect()
    }

    /// The storage of a variable that is kept, before the region that declares it.
    fn storage(&self, index: usize) -> String {
        let local = &self.locals.all[index];
        let fate = self.plan.fates[index];
        if !matches!(fate, Fate::Value | Fate::Place | Fate::Reference) {
            return String::new();
        }
        let name = &local.name;
        let specifiers = self.text(&local.specifiers);
        let is_auto = self.code.tokens_in(&local.specifiers).any(|at| self.code.word(at) == "auto");
        let ty = if is_auto {
            let declarator = self.text(&local.declarator);
            let initialiser = local.initialiser.as_ref().map_or(String::new(), |range| self.text(range));
            let made_of = local.initialiser.iter().flat_map(|range| self.locals.mentioned_in(range)).collect();
            let needed = self.needed(made_of, &|_| false);
            let kept = |&&other: &&usize| self.plan.fates[other] != Fate::Again;
            let seen = |other: usize| match self.plan.fates[other] {
                Fate::Reference => format!("::std::remove_pointer_t<ks_type_{other}> &"),
                _ => format!("ks_type_{other} &"),
            };
            let parameter = |&other: &usize| format!("{}{}", seen(other), self.locals.all[other].name);
            let argument = |&other: &usize| format!("::std::declval<{}>()", seen(other));
            let parameters: Vec<String> = needed.iter().filter(kept).map(parameter).collect();
            let arguments: Vec<String> = needed.iter().filter(kept).map(argument).collect();
            let again: String = needed.iter().filter(|index| !kept(index)).map(|&other| self.load(other)).collect();
            let address = if fate == Fate::Reference { "&" } else { "" };
            return format!(
                " const auto ks_made_{index} = [&]({}) {{{again} {specifiers}{declarator}{initialiser}; return {address}{name}; }}; \
                 using ks_type_{index} = decltype(ks_made_{index}({})); ::ks::Kept<ks_type_{index}> ks_kept_{index}(ks_extent);",
                parameters.join(", "),
                arguments.join(", "),
            );
        } else {
            let before = self.text(&(local.declarator.start..local.at));
            let after = self.text(&(local.at + name.len()..local.declarator.end));
            format!("{specifiers}{before}{after}")
        };
        let trait_name = if fate == Fate::Reference { "Referred" } else { "Stored" };
        format!(
            " using ks_type_{index} = ::ks::{trait_name}<{ty}>; ::ks::Kept<ks_type_{index}> ks_kept_{index}(ks_extent);"
        )
    }

    /// What brings a variable into a region.
    fn load(&self, index: usize) -> String {
        let local = &self.locals.all[index];
        let declared = format!("{}{}", self.text(&local.specifiers), self.text(&local.declarator));
        match self.plan.fates[index] {
            Fate::Again => {
                format!(" {declared}{};", local.initialiser.as_ref().map_or(String::new(), |range| self.text(range)))
            }
            Fate::Value => format!(" {declared} = ks_kept_{index}[ks_i];"),
            Fate::Reference => format!(" {declared} = *ks_kept_{index}[ks_i];"),
            Fate::Place => {
                let constant = self.code.tokens_in(&local.specifiers).any(|at| self.code.word(at) == "const");
                format!(" {}auto &{} = ks_kept_{index}[ks_i];", if constant { "const " } else { "" }, local.name)
            }
            Fate::Region | Fate::Block => String::new(),
        }
    }

    /// What keeps a variable at the end of a region.
    fn save(&self, index: usize, declared_here: bool) -> String {
        let local = &self.locals.all[index];
        let changes = || self.locals.mentions_of(index).any(|mention| mention.modifies);
        match self.plan.fates[index] {
            Fate::Value if declared_here || changes() => format!(" ks_kept_{index}[ks_i] = {};", local.name),
            Fate::Reference if declared_here => format!(" ks_kept_{index}[ks_i] = &{};", local.name),
            _ => String::new(),
        }
    }
}
