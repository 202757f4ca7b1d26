//! Keys: where they come from, and where they may go.
//!
//! A key comes from an environment variable, else from a command that the user named (a password manager). It is wrapped
//! in [`SecretString`], which has no way to be printed and is wiped when dropped. It goes to the provider's own address, and to
//! one that the user named; never to one that a workspace's settings alone name, since opening somebody else's folder would then
//! be enough to lose it. A server on this machine may be somebody else's, too: it gets questions, and no key.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::Url;
use secrecy::ExposeSecret;
pub use secrecy::SecretString;

use crate::error::LlmError;
use crate::name::{Kind, ModelName};

/// How long a command may take to print a key: it may ask its user for a passphrase.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Longest key that is believed to be one, in bytes.
const LONGEST: u64 = 16 << 10;

/// Where a key may come from.
#[derive(Clone, Default)]
pub struct Sources {
    /// A key in hand, as an editor hands it over. It counts before the others.
    pub given: Option<SecretString>,
    /// A shell command that prints the key. Only from the user's own settings, never from a workspace's.
    pub command: Option<String>,
}

/// The key of a provider. `Ok(None)` for one that needs none: a server on this machine, the editor, a recording.
///
/// `variable` reads an environment variable.
///
/// # Errors
/// [`LlmError::NoKey`] when there is none and one is needed, or the command fails.
pub fn find(
    name: &ModelName,
    base: &Url,
    sources: &Sources,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<SecretString>, LlmError> {
    if let Some(key) = &sources.given {
        return Ok(Some(key.clone()));
    }
    let variables = name.kind.key_variables();
    let set = variables.iter().find_map(|name| variable(name).filter(|value| !value.trim().is_empty()));
    if let Some(value) = set {
        return Ok(Some(SecretString::from(value.trim().to_owned())));
    }
    if let Some(command) = &sources.command {
        return printed_by(name, command).map(Some);
    }
    if is_local(base) || variables.is_empty() {
        return Ok(None);
    }
    Err(LlmError::NoKey {
        who: name.to_string(),
        remedy: format!("set {}, or `api_key_command` in the settings file that you pass with --config", variables[0]),
    })
}

/// Whether an address is this very machine.
pub(crate) fn is_local(base: &Url) -> bool {
    match base.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// Whether a key may go to an address; questions may in any case that is no error.
///
/// # Errors
/// [`LlmError::Setup`] for an address that only a workspace named, or that is not encrypted, and not on this machine.
pub(crate) fn may_go_to(name: &ModelName, base: &Url, named_by_user: bool) -> Result<bool, LlmError> {
    if is_local(base) {
        return Ok(named_by_user);
    }
    let own = Url::parse(name.kind.base_url()).ok();
    let is_own = own.is_some_and(|own| own.origin() == base.origin());
    let shown = base.origin().ascii_serialization();
    if !is_own && !named_by_user {
        return Err(LlmError::Setup(format!(
            "{name}: the settings of this folder send requests to {shown}; a key and your code go there only if you say \
             so: pass --base-url, or name the settings file with --config"
        )));
    }
    if base.scheme() != "https" {
        return Err(LlmError::Setup(format!(
            "{name}: {shown} is not encrypted, so anyone on the way could read the key; use https, or a tunnel to this \
             machine"
        )));
    }
    Ok(true)
}

/// What to do where a server wants a key and got none.
pub(crate) fn remedy(kind: Kind) -> String {
    let variable = kind.key_variables().first().copied().unwrap_or_default();
    format!(
        "set {variable}; where a folder's settings name the server, name it yourself too, since none goes there else: pass \
         --base-url, or name the settings file with --config"
    )
}

/// Replaces the key in a text that came from elsewhere.
pub(crate) fn redacted(text: &str, key: Option<&SecretString>) -> String {
    match key.map(ExposeSecret::expose_secret) {
        Some(key) if !key.is_empty() => text.replace(key, "[key]"),
        _ => text.to_owned(),
    }
}

fn printed_by(name: &ModelName, command: &str) -> Result<SecretString, LlmError> {
    let failed = |why: String| LlmError::NoKey { who: name.to_string(), remedy: format!("`api_key_command` {why}") };
    let mut process = Command::new("/bin/sh");
    process.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // No other provider's key is for it to see.
    for variable in Kind::ALL.iter().flat_map(|kind| kind.key_variables()) {
        process.env_remove(variable);
    }
    let mut child = process.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let Some(mut stdout) = child.stdout.take() else { return Err(failed("has no output".into())) };
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.by_ref().take(LONGEST).read_to_string(&mut text).map(|_| text)
    });
    let began = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if began.elapsed() < COMMAND_LIMIT => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                // It is given up; that it may have ended just now changes nothing.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(format!("did not end within {} s", COMMAND_LIMIT.as_secs())));
            }
        }
    };
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    match reader.join() {
        Ok(Ok(text)) if !text.trim().is_empty() => Ok(SecretString::from(text.trim().to_owned())),
        _ => Err(failed("printed no key".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> ModelName {
        "openai:m".parse().unwrap()
    }

    fn far() -> Url {
        Url::parse("https://api.openai.com/v1").unwrap()
    }

    fn found(sources: &Sources, variable: Option<&str>, base: &Url) -> Result<Option<String>, String> {
        let variable = |name: &str| (name == "OPENAI_API_KEY").then(|| variable.map(str::to_owned)).flatten();
        find(&name(), base, sources, variable)
            .map(|key| key.map(|key| key.expose_secret().to_owned()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_variable_counts_before_the_command() {
        let command = |text: &str| Sources { given: None, command: Some(text.into()) };
        let key = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(found(&command("echo from-command"), Some(" from-variable\n"), &far()), key("from-variable"));
        assert_eq!(found(&command("echo from-command"), Some("  "), &far()), key("from-command"));
        assert_eq!(found(&command("echo $OPENAI_API_KEY none"), None, &far()), key("none"));
        for (text, expected) in [("exit 3", "exit status: 3"), ("true", "printed no key")] {
            let error = found(&command(text), None, &far()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let error = found(&Sources::default(), None, &far()).unwrap_err();
        assert!(error.contains("set OPENAI_API_KEY"), "{error}");
        assert_eq!(found(&Sources::default(), None, &Url::parse("http://127.0.0.1:8080/v1").unwrap()), Ok(None));
    }

    #[test]
    fn a_key_goes_only_where_it_may() {
        let check = |base: &str, named_by_user: bool, expected: Result<bool, &str>| {
            let found = may_go_to(&name(), &Url::parse(base).unwrap(), named_by_user);
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{base}"),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{base}: {error}"),
                (found, expected) => panic!("{base}: {found:?}, expected {expected:?}"),
            }
        };
        check("https://api.openai.com/v1", false, Ok(true));
        check("https://api.openai.com.evil.example/v1", false, Err("only if you say so"));
        check("https://api.anthropic.com", false, Err("only if you say so"));
        check("https://user@evil.example/v1", false, Err("only if you say so"));
        check("https://openrouter.ai/api/v1", true, Ok(true));
        check("http://openrouter.ai/api/v1", true, Err("not encrypted"));
        for local in ["http://localhost:1234/v1", "http://127.0.0.1:1/", "http://[::1]:8080/v1", "http://127.9.9.9/"] {
            check(local, false, Ok(false));
            check(local, true, Ok(true));
        }
        check("http://localhost.evil.example/v1", false, Err("only if you say so"));
    }
}
