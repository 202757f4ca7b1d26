//! Keys: where they come from, and where they may go.
//!
//! A key comes from an environment variable, else from a command that the user named (a password manager). It is wrapped
//! in [`SecretString`], which has no way to be printed and is wiped when dropped. It goes to the provider's own address, and to
//! one that the user named; never to one that a workspace's settings alone name, since opening somebody else's folder would then
//! be enough to lose it. A server on this machine may be somebody else's, too: it gets questions, and no key.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Url;
use secrecy::ExposeSecret;
pub use secrecy::SecretString;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::timeout;

use crate::error::LlmError;
use crate::name::{Kind, ModelName};

/// How long a command may take to print a key: it may ask its user for a passphrase.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Longest key that is believed to be one, in bytes.
const LONGEST: usize = 16 << 10;

/// How often it is asked whether a command has ended, and whether it is still waited for.
const LOOK: Duration = Duration::from_millis(10);

/// How long a command's output is looked at after its end. What it printed is there by then; that there is no end of it only
/// means that something which it started has the pipe too.
const AFTER_END: Duration = Duration::from_millis(100);

/// Whether somebody wants a command to be given up.
pub type Cancelled = Arc<dyn Fn() -> bool + Send + Sync>;

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
/// `variable` reads an environment variable; `is_cancelled` is asked while a command runs.
///
/// # Errors
/// [`LlmError::NoKey`] when there is none and one is needed, or the command fails; [`LlmError::Cancelled`].
pub fn find(
    name: &ModelName,
    base: &Url,
    sources: &Sources,
    variable: impl Fn(&str) -> Option<String>,
    is_cancelled: &dyn Fn() -> bool,
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
        return printed_by(name, command, COMMAND_LIMIT, is_cancelled).map(Some);
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

/// Whether an address is of the network that this machine is in: a private number, or a name that only such a network knows.
fn is_near(base: &Url) -> bool {
    use std::net::IpAddr;
    let Some(host) = base.host_str() else { return false };
    match host.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
        Err(_) => {
            let endings = [".local", ".internal", ".lan", ".home.arpa"];
            !host.contains('.') || endings.iter().any(|ending| host.ends_with(ending))
        }
    }
}

/// Whether questions go to an address without encryption over a network, and with them no key.
pub(crate) fn is_readable_on_the_way(base: &Url) -> bool {
    base.scheme() != "https" && !is_local(base)
}

/// Whether a key may go to an address; questions may in any case that is no error.
///
/// # Errors
/// [`LlmError::Setup`] for an address that only a workspace named, or that is not encrypted, and neither on this machine nor in
/// its network.
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
             so: {NAMING}"
        )));
    }
    if is_readable_on_the_way(base) {
        // Ollama and the like on another machine of the house want no key.
        if is_near(base) {
            return Ok(false);
        }
        return Err(LlmError::Setup(format!(
            "{name}: {shown} is not encrypted, so anyone on the way could read the key and your code; use https, or a tunnel to \
             this machine"
        )));
    }
    Ok(true)
}

/// How a user names a server that only a folder's settings name.
const NAMING: &str = "pass --base-url, name the settings file with --config, or write the address into your own settings, \
                      kernel-scientist/kernel-scientist.toml in the configuration folder (~/.config on Linux)";

/// What to do where a server wants a key and got none.
pub(crate) fn remedy(kind: Kind, address: &Url) -> String {
    if is_readable_on_the_way(address) {
        return "none goes there, since it is not encrypted: use https, or a tunnel to this machine".to_owned();
    }
    let variable = kind.key_variables().first().copied().unwrap_or_default();
    format!(
        "set {variable}; where a folder's settings name the server, name it yourself too, since none goes there else: {NAMING}"
    )
}

/// Replaces the key in a text that came from elsewhere.
pub(crate) fn redacted(text: &str, key: Option<&SecretString>) -> String {
    match key.map(ExposeSecret::expose_secret) {
        Some(key) if !key.is_empty() => text.replace(key, "[key]"),
        _ => text.to_owned(),
    }
}

fn printed_by(
    name: &ModelName,
    command: &str,
    limit: Duration,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<SecretString, LlmError> {
    let failed = |why: String| LlmError::NoKey { who: name.to_string(), remedy: format!("`api_key_command` {why}") };
    let (reader, writer) = std::io::pipe().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let mut process = Command::new("/bin/sh");
    // In our own group: it may ask at the terminal, and ends with us when the user interrupts.
    process.arg("-c").arg(command).stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
    // No other provider's key is for it to see.
    for variable in Kind::ALL.iter().flat_map(|kind| kind.key_variables()) {
        process.env_remove(variable);
    }
    let mut child = process.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
    // It holds the pipe's other end.
    drop(process);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.and_then(|runtime| runtime.block_on(watched(&mut child, reader.into(), limit, is_cancelled)));
    if !matches!(ended, Ok(Ended::By(..))) {
        // It is given up; that it may have ended just now changes nothing.
        let _ = child.kill();
        let _ = child.wait();
    }
    match ended.map_err(|error| failed(format!("cannot be read: {error}")))? {
        Ended::Cancelled => Err(LlmError::Cancelled),
        Ended::Late => Err(failed(format!("did not end within {} s", limit.as_secs()))),
        Ended::By(status, _) if !status.success() => Err(failed(format!("ended with {status}"))),
        Ended::By(_, printed) => match String::from_utf8(printed) {
            Ok(text) if !text.trim().is_empty() => Ok(SecretString::from(text.trim().to_owned())),
            _ => Err(failed("printed no key".into())),
        },
    }
}

/// What came of a command.
enum Ended {
    /// It ended, and printed this.
    By(ExitStatus, Vec<u8>),
    Late,
    Cancelled,
}

/// Waits for a command's end, and not for that of what it left behind.
async fn watched(
    child: &mut Child,
    stdout: OwnedFd,
    limit: Duration,
    is_cancelled: &dyn Fn() -> bool,
) -> std::io::Result<Ended> {
    let mut stdout = Receiver::from_owned_fd(stdout)?;
    let (mut printed, mut buffer) = (Vec::new(), [0; 1024]);
    let (began, mut is_open) = (Instant::now(), true);
    let mut status = None;
    loop {
        let patience = if status.is_some() { AFTER_END } else { LOOK };
        let read = match is_open {
            true => timeout(patience, stdout.read(&mut buffer)).await.ok().transpose()?,
            false => {
                tokio::time::sleep(LOOK).await;
                None
            }
        };
        if let Some(count) = read {
            is_open = count > 0;
            printed.extend_from_slice(&buffer[..count]);
        }
        let is_all = !is_open || read.is_none() || printed.len() >= LONGEST;
        match status {
            Some(status) if is_all => {
                printed.truncate(LONGEST);
                return Ok(Ended::By(status, printed));
            }
            _ if is_cancelled() => return Ok(Ended::Cancelled),
            _ if began.elapsed() > limit || printed.len() > LONGEST => return Ok(Ended::Late),
            _ => status = child.try_wait()?,
        }
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
        find(&name(), base, sources, variable, &|| false)
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
    fn a_command_is_waited_for_and_not_what_it_leaves_behind() {
        let run = |command: &str, limit: u64, is_cancelled: bool| {
            let printed = printed_by(&name(), command, Duration::from_secs(limit), &|| is_cancelled);
            printed.map(|key| key.expose_secret().to_owned())
        };
        // An agent that it starts keeps its output.
        assert_eq!(run("sleep 50 & echo sk-1", 40, false), Ok("sk-1".into()));
        assert_eq!(run("exec >&-; sleep 0.1", 40, false).unwrap_err().to_string().matches("printed no key").count(), 1);
        let began = Instant::now();
        let late = run("sleep 50", 0, false).unwrap_err().to_string();
        assert!(late.contains("did not end within"), "{late}");
        assert_eq!(run("sleep 50; true", 40, true), Err(LlmError::Cancelled));
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
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
        for public in
            ["http://openrouter.ai/api/v1", "http://8.8.8.8/v1", "http://172.32.0.1/v1", "http://[2001:db8::1]/v1"]
        {
            check(public, true, Err("not encrypted"));
        }
        for near in [
            "192.168.1.5:11434",
            "10.0.0.1",
            "172.16.9.9",
            "169.254.1.1",
            "[fd00::1]:80",
            "gpu-box",
            "host.docker.internal",
        ] {
            check(&format!("http://{near}/v1"), true, Ok(false));
            check(&format!("https://{near}/v1"), true, Ok(true));
            check(&format!("http://{near}/v1"), false, Err("only if you say so"));
        }
        for local in ["http://localhost:1234/v1", "http://127.0.0.1:1/", "http://[::1]:8080/v1", "http://127.9.9.9/"] {
            check(local, false, Ok(false));
            check(local, true, Ok(true));
        }
        check("http://localhost.evil.example/v1", false, Err("only if you say so"));
    }
}
