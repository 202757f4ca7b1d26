//! A first version of a benchmark file from a kernel's signature and use (`Create benchmark`).
//!
//! The file says what was guessed, and errs on the safe side: buffers are rather too large than too small, and what may be
//! read counts as an input. The check is the original version of the code, so a wrong guess shows as a strange input,
//! not as a wrong verdict.

mod launch;
mod sizes;
mod usage;
mod words;
mod write;

use hip_syntax::{Function, Kernel, Launch, Param, Syntax};

use super::{Element, Kind};
use crate::LabError;
use launch::Configuration;
use sizes::Sizes;

/// What will be called.
enum Called<'a> {
    Function(&'a Function),
    Kernel(&'a Kernel, Configuration),
}

/// A parameter of what is called, with its place in the file worked out.
struct Guess {
    name: String,
    element: Element,
    /// `None` for scalars.
    kind: Option<Kind>,
}

/// Writes a benchmark file for `kernel`, or for the first one that can be called, as TOML text with comments.
///
/// A host function that launches the kernel and takes only pointers and numbers is called in preference to the kernel.
/// [`LabError::Usage`] where there is no kernel, or its parameters are of types that the harness cannot fill.
pub fn infer(syntax: &Syntax, kernel: Option<&str>) -> Result<String, LabError> {
    let kernel = choose(syntax, kernel)?;
    let launcher = launcher(syntax, kernel);
    let params = launcher.map_or(&kernel.params, |function| &function.params);
    let mut guesses =
        params.iter().map(|param| guess(syntax, kernel, launcher, param)).collect::<Result<Vec<_>, _>>()?;
    make_sure_of_an_output(&mut guesses, params, &kernel.name)?;
    let text = launcher.map_or(kernel.range.clone(), |function| function.range.clone());
    let sizes = Sizes::find(&guesses, &texts(syntax, kernel, text));
    let called = match launcher {
        Some(function) => Called::Function(function),
        None => Called::Kernel(kernel, launch::configuration(syntax, kernel, &sizes)?),
    };
    Ok(write::file(&called, &guesses, &sizes))
}

/// The kernel that was named, or the first that is complete.
fn choose<'a>(syntax: &'a Syntax, name: Option<&str>) -> Result<&'a Kernel, LabError> {
    let complete = || syntax.kernels().iter().filter(|kernel| kernel.complete);
    match name {
        Some(name) => complete().find(|kernel| kernel.name == name || kernel.qualified_name == name).ok_or_else(|| {
            let known: Vec<&str> = complete().map(|kernel| kernel.name.as_str()).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            LabError::Usage(format!("there is no kernel {name} in the file; there is: {known}"))
        }),
        // One that is launched by a function of the file is more likely the point of it.
        None => complete()
            .find(|kernel| launcher(syntax, kernel).is_some())
            .or_else(|| complete().next())
            .ok_or_else(|| LabError::Usage("there is no kernel (`__global__` function) in the file".into())),
    }
}

/// The last host function that launches `kernel` and whose parameters the harness can fill.
fn launcher<'a>(syntax: &'a Syntax, kernel: &Kernel) -> Option<&'a Function> {
    syntax.functions().iter().rev().find(|function| {
        function.is_host
            && !function.is_template
            && function.name != "main"
            && !function.params.is_empty()
            && function.params.iter().any(|param| param.is_pointer && !param.is_const)
            && function.params.iter().all(|param| !param.name.is_empty() && element(param).is_some())
            && launches_in(syntax, function).any(|launch| launch.kernel == kernel.name)
    })
}

fn launches_in<'a>(syntax: &'a Syntax, function: &'a Function) -> impl Iterator<Item = &'a Launch> {
    let body = function.body.clone();
    syntax.launches().iter().filter(move |launch| body.start <= launch.range.start && launch.range.end <= body.end)
}

/// Texts that show how sizes are used: the function's or kernel's own, and those of the kernels it launches.
fn texts<'a>(syntax: &'a Syntax, kernel: &Kernel, own: std::ops::Range<usize>) -> Vec<&'a str> {
    let text = syntax.text();
    let slice = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    vec![slice(own), slice(kernel.range.clone())]
}

/// The element type of a parameter: of what it points to, or its own.
fn element(param: &Param) -> Option<Element> {
    const QUALIFIERS: [&str; 7] =
        ["const", "volatile", "__restrict__", "__restrict", "restrict", "__constant__", "__global"];
    let stars = param.ty.matches(['*', '[']).count();
    if stars != usize::from(param.is_pointer) || param.ty.contains('&') {
        return None;
    }
    let name = param.ty.replace(['*', '[', ']'], " ");
    let name: Vec<&str> = name.split_whitespace().filter(|word| !QUALIFIERS.contains(word)).collect();
    Element::parse(&name.join(" "))
}

fn guess(syntax: &Syntax, kernel: &Kernel, launcher: Option<&Function>, param: &Param) -> Result<Guess, LabError> {
    let element = element(param).or_else(|| templated(kernel, param)).ok_or_else(|| {
        let what = if param.name.is_empty() { &param.ty } else { &param.name };
        LabError::Usage(format!(
            "the parameter `{what}` of {} has the type `{}`, which the harness cannot fill: write a host function that \
             takes pointers and numbers and launches the kernel, and name it as the entry of a benchmark file",
            kernel.name,
            param.ty.trim()
        ))
    })?;
    let kind = param.is_pointer.then(|| match launcher {
        Some(function) => usage::of_a_launcher(syntax, function, param),
        None => usage::of_a_kernel(syntax, kernel, param),
    });
    Ok(Guess { name: param.name.clone(), element, kind })
}

/// Where no write was seen (inline assembly, a macro), whatever may be written is taken to be.
fn make_sure_of_an_output(guesses: &mut [Guess], params: &[Param], kernel: &str) -> Result<(), LabError> {
    if guesses.iter().any(|guess| matches!(guess.kind, Some(Kind::Output | Kind::Inout))) {
        return Ok(());
    }
    let mut changed = false;
    for (guess, _) in guesses.iter_mut().zip(params).filter(|(_, param)| param.is_pointer && !param.is_const) {
        guess.kind = Some(Kind::Inout);
        changed = true;
    }
    let message =
        || format!("{kernel} has no argument that it could write to, so there is nothing to check its result by");
    changed.then_some(()).ok_or_else(|| LabError::Usage(message()))
}

/// The element type of a parameter whose type is a template parameter: float, as [`launch`] instantiates it.
fn templated(kernel: &Kernel, param: &Param) -> Option<Element> {
    let is_type = |word: &str| kernel.template_params.iter().any(|known| known.is_type() && known.name == word);
    let words = words::words(&param.ty);
    let one_star = param.ty.matches('*').count() == usize::from(param.is_pointer);
    (one_star && words.iter().any(|word| is_type(word))).then(|| Element::parse("float")).flatten()
}

#[cfg(test)]
#[path = "infer/tests.rs"]
mod tests;
