//! What a file is worked on with, for a status bar: its device, who thinks hypotheses up, and what that has cost.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lab::forecast;
use notebook::{Notebook, NotebookError};

use super::panel;
use super::protocol::{DeviceChoice, Status, StatusParams};
use super::session::Session;
use super::settings::Settings;
use crate::cli::provider::{Provider, ProviderArgs};
use crate::config::{Config, Toolchain};
use crate::devices::{self, CPU};

/// Answers a request for a file's status.
pub async fn status(session: &Arc<Session>, params: StatusParams) -> Result<Status, String> {
    let path = panel::path_of(session, &params.uri)?;
    let settings = Arc::clone(&session.state().settings);
    let named: Option<PathBuf> = session.world.config.clone();
    let notebook: PathBuf = session.world.notebook.clone();
    let read = move || {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut status = match Config::load(named.as_deref(), folder) {
            Ok(config) => of(&settings, &config, None),
            Err(error) => of(&settings, &Config::default(), Some(error.to_string())),
        };
        match spent_usd(&notebook, &path) {
            Ok(usd) => status.spent_usd = usd,
            Err(error) => {
                status.problem.get_or_insert_with(|| error.to_string());
            }
        }
        status
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())
}

/// Dollars that the runs of a file have cost.
fn spent_usd(notebook: &Path, file: &Path) -> Result<f64, NotebookError> {
    let Some(notebook) = Notebook::open_existing(notebook)? else { return Ok(0.0) };
    let mut usd = 0.0;
    for run in notebook.runs(file)? {
        usd += notebook.spent(run.id)?.usd;
    }
    Ok(usd)
}

fn of(settings: &Settings, config: &Config, mut problem: Option<String>) -> Status {
    let lab_name = devices::find(config, &settings.device)
        .inspect_err(|error| {
            problem.get_or_insert_with(|| error.to_string());
        })
        .ok();
    let args = ProviderArgs { provider: settings.provider.clone(), ..ProviderArgs::default() };
    let provider = Provider::choose(&args, config).map(|provider| provider.name()).unwrap_or_else(|error| {
        problem.get_or_insert_with(|| error.to_string());
        settings.provider.clone().unwrap_or_else(|| "none".into())
    });
    Status {
        device: settings.device.clone(),
        device_title: devices::shown(lab_name.as_deref().unwrap_or(&settings.device)),
        is_forecast: lab_name.as_deref().is_some_and(forecast::is_device),
        provider,
        spent_usd: 0.0,
        devices: choices(config),
        problem,
    }
}

fn choices(config: &Config) -> Vec<DeviceChoice> {
    let own = config.device.iter().map(|(name, device)| DeviceChoice {
        name: name.clone(),
        detail: match device.toolchain {
            Toolchain::Cpu => "of kernel-scientist.toml: HIP on the CPU".into(),
            Toolchain::Forecast => "of kernel-scientist.toml: forecast times".into(),
            Toolchain::Hip | Toolchain::Cuda => "of kernel-scientist.toml; not in this version".into(),
        },
    });
    let tables = forecast::devices().into_iter().map(|name| DeviceChoice {
        name: name.to_owned(),
        detail: format!("forecast of {}, checked on the CPU; not a measurement", devices::shown(name)),
    });
    let cpu = DeviceChoice { name: CPU.into(), detail: "HIP on the CPU: emulation, not GPU time".into() };
    let is_built_in = |choice: &DeviceChoice| !config.device.contains_key(&choice.name);
    tables.chain([cpu]).filter(is_built_in).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(device: &str, config: &str) -> Status {
        let settings = Settings { device: device.into(), ..Settings::default() };
        of(&settings, &toml::from_str(config).unwrap(), None)
    }

    #[test]
    fn a_forecast_device_says_so_and_a_mistake_is_named() {
        let status = check("mi300x", "");
        assert_eq!((status.device_title.as_str(), status.is_forecast, status.problem), ("MI300X", true, None));
        assert_eq!(status.provider, "catalog");
        let status = check("cpu", "[scientist]\nprovider = \"anthropic\"\nmodel = \"m\"\n");
        assert_eq!((status.device_title.as_str(), status.is_forecast), ("cpu emulation", false));
        assert_eq!(status.provider, "anthropic:m");
        let status = check("gone", "[scientist]\nprovider = \"openai\"\n");
        assert!(status.problem.unwrap().contains("there is no device gone"));
        assert_eq!(status.devices.iter().filter(|choice| choice.name == "mi300x").count(), 1);
    }

    #[test]
    fn a_device_of_the_settings_takes_the_place_of_one_that_is_built_in() {
        let status = check("cpu", "[device.mi300x]\ntoolchain = \"cpu\"\n");
        let found: Vec<_> = status.devices.iter().filter(|choice| choice.name == "mi300x").collect();
        assert!(found.len() == 1 && found[0].detail.contains("kernel-scientist.toml"), "{found:?}");
    }
}
