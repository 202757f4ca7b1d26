//! The templates, built in or the user's own.

use std::path::Path;

use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde::Serialize;

/// Steps of one rendering at most: some hundred times what those built in take, and less than a second.
const STEPS: u64 = 2_000_000;
/// Longest question, in bytes: no model has room for more.
const LONGEST: usize = 16 << 20;

/// The templates that are built in, by their file's name.
pub const TEMPLATES: [(&str, &str); 6] = [
    ("system.md", include_str!("../../../../prompts/system.md")),
    ("selector.md", include_str!("../../../../prompts/selector.md")),
    ("designer.md", include_str!("../../../../prompts/designer.md")),
    ("replace.md", include_str!("../../../../prompts/replace.md")),
    ("writer.md", include_str!("../../../../prompts/writer.md")),
    ("repair.md", include_str!("../../../../prompts/repair.md")),
];

/// A template that cannot be read or rendered; the text names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PromptError(String);

/// The templates, ready to be rendered.
#[derive(Clone, Debug)]
pub struct Prompts(Environment<'static>);

impl Prompts {
    /// The templates that are built in; a file of the same name in `folder` takes one's place.
    ///
    /// # Errors
    /// When the folder has none of them, or one cannot be read or is no template.
    pub fn load(folder: Option<&Path>) -> Result<Self, PromptError> {
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(PromptError(format!("{}: there is no such folder", folder.display())));
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_trim_blocks(true);
        environment.set_keep_trailing_newline(false);
        // A template may be that of somebody else's folder.
        environment.set_fuel(Some(STEPS));
        let mut own = 0;
        for (name, built_in) in TEMPLATES {
            let path = folder.map(|folder| folder.join(name)).filter(|path| path.is_file());
            let (shown, text) = match &path {
                Some(path) => {
                    own += 1;
                    let text = std::fs::read_to_string(path)
                        .map_err(|error| PromptError(format!("{}: {error}", path.display())))?;
                    (path.display().to_string(), text)
                }
                None => (format!("prompts/{name}"), built_in.to_owned()),
            };
            environment
                .add_template_owned(name, text)
                .map_err(|error| PromptError(format!("{shown}: {}", in_words(&error))))?;
        }
        match folder {
            Some(folder) if own == 0 => Err(PromptError(format!(
                "{}: there is no template in it; expected one of {}",
                folder.display(),
                TEMPLATES.map(|(name, _)| name).join(", ")
            ))),
            _ => Ok(Self(environment)),
        }
    }

    /// Renders a template.
    ///
    /// # Errors
    /// When it uses a name that is not there, or is wrong in another way.
    pub(crate) fn render(&self, name: &str, facts: &impl Serialize) -> Result<String, PromptError> {
        let template = self.0.get_template(name).map_err(|error| PromptError(format!("{name}: {error}")))?;
        let mut text = Bounded(Vec::new());
        template
            .render_captured_to(facts, &mut text)
            .map_err(|error| PromptError(format!("{name}: {}", in_words(&error))))?;
        let text = String::from_utf8(text.0).map_err(|error| PromptError(format!("{name}: {error}")))?;
        Ok(text.trim().to_owned() + "\n")
    }
}

/// Takes so much of a text and no more.
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn in_words(error: &minijinja::Error) -> String {
    let line = error.line().map_or_else(String::new, |line| format!("line {line}: "));
    match error.kind() {
        ErrorKind::OutOfFuel => format!("{line}it takes more than {STEPS} steps; shorten its loops"),
        ErrorKind::WriteFailure => {
            format!("{line}what it makes is longer than {} MiB; shorten its loops", LONGEST >> 20)
        }
        _ => format!("{line}{error}"),
    }
}
