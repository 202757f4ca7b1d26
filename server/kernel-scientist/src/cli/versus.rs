//! Forecast against measurement, where a kernel has both on one device.

use lab::CPU_DEVICE;
use notebook::{ForecastPoint, HistoryPoint};
use serde::Serialize;

/// The latest forecast and the latest measurement of the same code, at the same shape, for the same device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Versus {
    /// The kernel.
    pub kernel: String,
    /// The device of both.
    pub device: String,
    /// The problem size.
    pub shape: String,
    /// Nanoseconds that were forecast.
    pub forecast_ns: f64,
    /// Nanoseconds that were measured.
    pub measured_ns: f64,
    /// Measured over forecast.
    pub ratio: f64,
    /// Versions of the model and of the device's table.
    pub model: String,
}

/// All pairs of a kernel. Emulation on the CPU is no time of a device that is forecast for.
pub fn pairs(kernel: &str, forecasts: &[ForecastPoint], measured: &[HistoryPoint]) -> Vec<Versus> {
    let mut all: Vec<Versus> = Vec::new();
    // The latest come last.
    for measured in measured.iter().rev().map(|point| &point.measurement) {
        let is_same = |forecast: &&notebook::Forecast| {
            forecast.device == measured.device
                && forecast.shape == measured.shape
                && forecast.fingerprint == measured.fingerprint
        };
        let known = |pair: &Versus| pair.device == measured.device && pair.shape == measured.shape;
        if measured.device == CPU_DEVICE || all.iter().any(known) {
            continue;
        }
        if let Some(forecast) = forecasts.iter().rev().map(|point| &point.forecast).find(is_same) {
            all.push(Versus {
                kernel: kernel.to_owned(),
                device: measured.device.clone(),
                shape: measured.shape.clone(),
                forecast_ns: forecast.ns,
                measured_ns: measured.figure.median_ns,
                ratio: measured.figure.median_ns / forecast.ns,
                model: format!("{}, table {}", forecast.model, forecast.table),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use lab::forecast::Basis;
    use lab::{Figure, KernelTiming, TimeReport};
    use notebook::{KernelFingerprint, MeasuredCode, Notebook};

    use super::*;

    #[test]
    fn only_the_same_code_shape_and_device_are_held_against_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
        let file = Path::new("/k.hip");
        let record = |device: &str, shape: &str, fingerprint: &str, ns: f64, is_forecast: bool| {
            let kernels = [KernelFingerprint { kernel: "k".into(), fingerprint: fingerprint.into() }];
            let basis = Basis {
                device: device.into(),
                title: device.to_uppercase(),
                model: "0.1.0".into(),
                table: "t".into(),
                validated_on: "H200".into(),
                of_this_device: true,
                odds: None,
            };
            let figure = Figure { median_ns: ns, low_ns: ns, high_ns: ns, samples: Vec::new() };
            let report = TimeReport {
                device: device.into(),
                device_note: String::new(),
                toolchain: String::new(),
                kernels: vec![KernelTiming { name: "k".into(), shape: shape.into(), figure }],
                output: String::new(),
                forecast: is_forecast.then_some(basis),
            };
            let code = MeasuredCode { text: fingerprint, kernels: &kernels };
            notebook.record_times(file, code, &report, 1, Duration::ZERO).unwrap();
        };
        record("h200", "n=1", "f0", 100.0, true);
        record("h200", "n=1", "f0", 200.0, true);
        record("h200", "n=1", "f0", 250.0, false);
        record("h200", "n=2", "f0", 9.0, true);
        record("h200", "n=3", "f1", 9.0, false);
        record("cpu", "n=2", "f0", 9.0, false);
        let found = pairs("k", &notebook.forecasts(file, "k").unwrap(), &notebook.history(file, "k").unwrap());
        let told: Vec<_> = found.iter().map(|pair| (pair.shape.as_str(), pair.forecast_ns, pair.ratio)).collect();
        assert_eq!(told, [("n=1", 200.0, 1.25)]);
    }
}
