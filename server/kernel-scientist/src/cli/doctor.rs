//! `doctor`: what is and is not usable here, and how to get it.

mod checks;

use serde::Serialize;

use super::provider::ProviderArgs;
use super::{CliError, Context};

/// Arguments of `doctor`.
#[derive(Clone, Debug, clap::Args)]
pub struct DoctorArgs {
    /// Whose models are to answer [default: the settings' provider].
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// The model that is to answer, as `PROVIDER:MODEL`.
    #[arg(long, value_name = "PROVIDER:MODEL")]
    model: Option<String>,
    /// Address of the provider's server.
    #[arg(long, value_name = "URL", env = "KERNEL_SCIENTIST_BASE_URL")]
    base_url: Option<String>,
}

/// How one thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Usable.
    Good,
    /// Usable in part, or not needed for the embedded defaults.
    Limited,
    /// Not usable, and the embedded defaults need it.
    Missing,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
struct Check {
    /// What it is.
    name: String,
    /// How it stands.
    state: State,
    /// What was found, or what is wrong.
    found: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Check {
    fn good(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Good, found: found.into(), remedy: None }
    }

    fn limited(name: impl Into<String>, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Limited, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn missing(name: impl Into<String>, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Missing, found: found.into(), remedy: Some(remedy.into()) }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    version: &'static str,
    usable: bool,
    checks: &'a [Check],
}

/// Runs the command. The exit status is 3 when the embedded defaults are not usable.
pub fn run(context: &Context, args: &DoctorArgs) -> Result<(), CliError> {
    let DoctorArgs { provider, model, base_url } = args.clone();
    let checks = checks::all(context, &ProviderArgs { provider, model, base_url, record: None });
    let broken: Vec<&str> =
        checks.iter().filter(|check| check.state == State::Missing).map(|check| check.name.as_str()).collect();
    if context.json() {
        context.print_json(&Answer {
            version: env!("CARGO_PKG_VERSION"),
            usable: broken.is_empty(),
            checks: &checks,
        })?;
    } else {
        context.print(&text(&checks))?;
    }
    if broken.is_empty() {
        return Ok(());
    }
    Err(CliError::Unavailable(format!("the embedded defaults cannot be used without: {}", broken.join(", "))))
}

fn text(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let mut out = format!("kernel-scientist {}\n", env!("CARGO_PKG_VERSION"));
    for check in checks {
        let mark = match check.state {
            State::Good => "ok     ",
            State::Limited => "limited",
            State::Missing => "MISSING",
        };
        out.push_str(&format!("  {mark}  {:width$}  {}\n", check.name, check.found));
        if let Some(remedy) = &check.remedy {
            out.push_str(&format!("           {:width$}  -> {remedy}\n", ""));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortcoming_comes_with_a_remedy() {
        let checks = [
            Check::good("clang", "clang 19"),
            Check::limited("sandbox", "no Landlock", "use a newer kernel"),
            Check::missing("notebook", "not writable", "pass --notebook"),
        ];
        insta::assert_snapshot!(text(&checks).replace(env!("CARGO_PKG_VERSION"), "VERSION"), @r"
        kernel-scientist VERSION
          ok       clang     clang 19
          limited  sandbox   no Landlock
                             -> use a newer kernel
          MISSING  notebook  not writable
                             -> pass --notebook
        ");
    }
}
