//! From the device that a user names to the lab's.

use lab::forecast;
use lab::workbench::Workbench;
use scientist::run::Settings;

use crate::config::{Config, Toolchain};

/// The device that is there without any settings.
pub const DEFAULT: &str = forecast::DEFAULT;
/// The device that runs HIP on the CPU.
pub const CPU: &str = "cpu";
/// Names the default device in the environment.
pub const VARIABLE: &str = "KERNEL_SCIENTIST_DEVICE";

/// Why a device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is none of that name, or its settings have a mistake.
    #[error("{0}")]
    Unknown(String),
    /// It is there and not in this version.
    #[error("{0}")]
    Elsewhere(String),
}

/// The lab's name of the device that a user names: `cpu`, one that is forecast for, or one of the settings.
///
/// # Errors
/// [`DeviceError`], which says what is known.
pub fn find(config: &Config, device: &str) -> Result<String, DeviceError> {
    if let Some(found) = config.device.get(device) {
        let is_here = found.ssh.is_none() && found.slurm.is_none();
        return match found.toolchain {
            Toolchain::Cpu if is_here => Ok(CPU.to_owned()),
            Toolchain::Forecast if is_here => table_of(device, found.arch.as_deref()),
            toolchain => Err(DeviceError::Elsewhere(format!(
                "device {device} ({}): toolchain {toolchain:?} or its place is not in this version, which runs on the \
                 local {CPU} and forecasts; leave the device out to use {DEFAULT}",
                config.path.as_deref().unwrap_or("kernel-scientist.toml".as_ref()).display()
            ))),
        };
    }
    if device == CPU {
        return Ok(CPU.to_owned());
    }
    if let Some(table) = table_named(device) {
        return Ok(table);
    }
    let known: Vec<&str> =
        std::iter::once(CPU).chain(forecast::devices()).chain(config.device.keys().map(String::as_str)).collect();
    Err(DeviceError::Unknown(format!(
        "there is no device {device}; known: {}. Name one with a [device.{device}] section in kernel-scientist.toml",
        known.join(", ")
    )))
}

/// The table that a section of the settings asks for: by its `arch`, which may be a table's name, else by its own name.
fn table_of(section: &str, arch: Option<&str>) -> Result<String, DeviceError> {
    let wanted = match arch {
        Some("gfx942") => "mi300x",
        Some("gfx90a") => "mi250x",
        Some("sm_90") => "h200",
        Some(other) => other,
        None if forecast::is_device(section) => section,
        None => DEFAULT,
    };
    table_named(wanted).ok_or_else(|| {
        DeviceError::Unknown(format!(
            "device {section}: there is no forecast for arch {wanted}; known: {}",
            forecast::devices().join(", ")
        ))
    })
}

/// The table of that name, in whatever case; `forecast` stands for the default one.
fn table_named(name: &str) -> Option<String> {
    let name = if name == "forecast" { DEFAULT } else { name };
    forecast::devices().into_iter().find(|known| known.eq_ignore_ascii_case(name)).map(str::to_owned)
}

/// The lab's name of a device as it is shown: `MI300X`, and `cpu emulation`, which nobody may take for a GPU's.
pub fn shown(device: &str) -> String {
    match device {
        CPU => "cpu emulation".to_owned(),
        table if forecast::is_device(table) => table.to_uppercase(),
        other => other.to_owned(),
    }
}

/// How long and how precisely a run measures on the device that a workbench was opened for.
pub fn measuring(bench: &Workbench) -> Settings {
    if bench.basis().is_some() { Settings::of_forecasts() } else { Settings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_by_their_names_and_by_the_settings() {
        let config: Config = toml::from_str(
            "[device.old]\ntoolchain = \"forecast\"\narch = \"gfx90a\"\n[device.card]\ntoolchain = \"hip\"\n\
             [device.h200]\ntoolchain = \"forecast\"\n[device.odd]\ntoolchain = \"forecast\"\narch = \"gfx1\"\n",
        )
        .unwrap();
        for (name, expected) in [
            ("cpu", "cpu"),
            ("MI300X", "mi300x"),
            ("forecast", "mi300x"),
            ("old", "mi250x"),
            ("h200", "h200"),
            ("card", "is not in this version"),
            ("odd", "no forecast for arch gfx1"),
            ("gone", "there is no device gone; known: cpu, "),
        ] {
            match find(&config, name) {
                Ok(found) => assert_eq!(found, expected, "{name}"),
                Err(error) => assert!(error.to_string().contains(expected), "{name}: {error}"),
            }
        }
    }
}
