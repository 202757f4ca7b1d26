//! Forecasts as a device: a modelled GPU time of a source, from a traced run on the CPU and real code generation.
//!
//! The lab builds and runs the traced program ([`crate::toolchain`]), asks code generation for registers and shared memory,
//! and hands both to the crate `forecast`, whose answer becomes an account here ([`account`]). What a forecast is worth is
//! told with it ([`Basis`]): how often forecasts this far apart were in the right order, and what they were compared with.
//! It is never called a measurement.

pub mod account;
mod basis;
pub(crate) mod compare;

use ::forecast::code::Code;
use ::forecast::device::{Device, Validation as DeviceValidation};
use ::forecast::forecast::Statics;
use ::forecast::odds::Validation;
use ::forecast::trace::Launch;
use ::forecast::{device, registers};

pub use ::forecast::odds::Odds;
pub use account::{AccessForecast, KernelForecast, LineForecast, Occupancy, Roofline};
pub use basis::{Basis, DEFAULT};

use crate::codegen::{Codegen, DEFAULT_ARCH, KernelResources};
use crate::toolchain::CompileOptions;
use crate::toolchain::cpu::Cpu;
use crate::toolchain::forecast::{Target, Tracer};
use crate::{Cancel, Failure, LabError, Source};

/// Names of devices that can be forecast for.
pub fn devices() -> Vec<&'static str> {
    device::known()
}

/// Whether `name` is one of [`devices`], or `forecast`, which stands for the default.
pub fn is_device(name: &str) -> bool {
    name == "forecast" || devices().iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// A device that can be forecast for, with what that takes.
#[derive(Clone, Debug)]
pub struct Forecaster {
    device: Device,
    basis: Basis,
    tracer: Tracer,
    codegen: Option<Codegen>,
}

impl Forecaster {
    /// Opens the table of `name`; `forecast` is the default device.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a device that there is no table of.
    pub fn open(name: &str, cpu: &Cpu, cancel: &Cancel) -> Result<Self, LabError> {
        let name = if name == "forecast" { DEFAULT } else { name };
        let device = Device::named(name).map_err(|error| LabError::Usage(error.to_string()))?;
        let basis = Basis::of(&device);
        // Without code generation registers are estimated, and the account says so.
        let codegen = match Codegen::open(cpu.cache().root(), cancel) {
            Ok(codegen) => Some(codegen),
            Err(LabError::Cancelled) => return Err(LabError::Cancelled),
            Err(error) => {
                tracing::info!("registers are estimated: {error}");
                None
            }
        };
        let tracer = Tracer::open(cpu, target(&device), cancel)?;
        Ok(Self { device, basis, tracer, codegen })
    }

    /// What programs are traced for to forecast for a device; `None` for one that nothing is known of.
    pub(crate) fn target(name: &str) -> Option<Target> {
        let name = if name == "forecast" { DEFAULT } else { name };
        Some(target(&Device::named(name).ok()?))
    }

    /// The device's name, as on the command line.
    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// The architecture that its code is generated for; `None` for a device that is not AMD's.
    pub(crate) fn arch(&self) -> Option<&str> {
        is_amd(&self.device).then_some(&self.device.compiler.cpu)
    }

    /// What a forecast for the device is worth.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Records what kernels do on such a device.
    pub(crate) fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// What real code generation says of the kernels; nothing where the code does not compile with HIP's own headers.
    pub(crate) fn resources(
        &self,
        source: &Source,
        compile: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<Vec<KernelResources>, LabError> {
        let Some(codegen) = &self.codegen else { return Ok(Vec::new()) };
        // Shared memory is the same for every device.
        let arch = if is_amd(&self.device) { &self.device.compiler.cpu } else { DEFAULT_ARCH };
        match codegen.analyze(source, arch, compile, cancel) {
            Ok(analysis) => Ok(analysis.kernels),
            Err(LabError::Cancelled) => Err(LabError::Cancelled),
            Err(error) => {
                tracing::info!("registers are estimated: {error}");
                Ok(Vec::new())
            }
        }
    }

    /// Forecasts traced launches.
    pub(crate) fn forecast(
        &self,
        code: &Code,
        launches: &[Launch],
        resources: &[KernelResources],
    ) -> Result<Vec<KernelForecast>, LabError> {
        if launches.is_empty() {
            return Err(LabError::Usage(
                "it ran to its end and launched no kernel, so there is nothing to forecast; give it the --args that make \
                 it launch, or write a benchmark file"
                    .into(),
            ));
        }
        launches.iter().map(|launch| self.one(code, launch, resources)).collect()
    }

    fn one(&self, code: &Code, launch: &Launch, resources: &[KernelResources]) -> Result<KernelForecast, LabError> {
        let most = *self.device.units.registers_of_item as u32;
        let found = find(resources, &launch.kernel);
        let from_code = found.is_some() && is_amd(&self.device);
        let statics = Statics {
            registers: found
                .filter(|_| is_amd(&self.device))
                .map_or_else(|| registers::estimate(code, launch, most), |kernel| (kernel.vgprs + kernel.agprs).max(1)),
            lds_bytes: found.map_or(0, |kernel| kernel.lds_bytes - kernel.dynamic_lds_bytes.unwrap_or(0)),
        };
        let forecast = ::forecast::forecast::forecast(code, launch, statics, &self.device)
            .map_err(|error| refused(&error.to_string()))?;
        Ok(account::of(launch, statics, from_code, &forecast, &self.device, Validation::shipped().error()))
    }
}

/// A forecast that cannot be made without guessing.
pub(crate) fn refused(why: &str) -> LabError {
    Failure::Refused { detail: format!("there is no forecast: {why}") }.into()
}

/// The instance that a launch names. The names of code generation and of the runtime differ in spaces, and the runtime's have the
/// types of numbers (`4u`, `(Op)1`); where they differ in more, a kernel with one instance is still found.
fn find<'a>(resources: &'a [KernelResources], name: &str) -> Option<&'a KernelResources> {
    let squeezed = |name: &str| name.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    let bare = |name: &str| squeezed(name).split('<').next().unwrap_or_default().rsplit("::").next().map(str::to_owned);
    let wanted = without_types_of_numbers(&squeezed(name));
    if let Some(found) = resources.iter().find(|kernel| without_types_of_numbers(&squeezed(&kernel.name)) == wanted) {
        return Some(found);
    }
    let mut alike = resources.iter().filter(|kernel| bare(&kernel.name) == bare(name));
    alike.next().filter(|_| alike.next().is_none())
}

/// `k<(Op)1,4u,-2l>` -> `k<1,4,-2>`; the name has no spaces.
fn without_types_of_numbers(name: &str) -> String {
    let mut found = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        let begins = found.ends_with(['<', ',', '-']);
        let cast = (begins && letter == '(').then(|| rest.split_once(')')).flatten();
        if let Some((_, number)) =
            cast.filter(|(_, number)| number.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
        {
            rest = number;
            continue;
        }
        let end = if begins { rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()) } else { 0 };
        if end > 0 {
            found.push_str(&rest[..end]);
            rest = rest[end..].trim_start_matches(['u', 'l']);
            continue;
        }
        found.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    found
}

fn target(device: &Device) -> Target {
    if is_amd(device) { Target::Amdgcn } else { Target::Nvptx }
}

/// Whether AMD's code generation makes its code.
fn is_amd(device: &Device) -> bool {
    device.compiler.triple.starts_with("amdgcn")
}

/// Whether forecasts of a device were compared with times on it.
fn is_validated(device: &Device) -> bool {
    device.validation == DeviceValidation::Measured
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn resources(name: &str) -> KernelResources {
        KernelResources {
            name: name.into(),
            symbol: name.into(),
            file: PathBuf::from("k.hip"),
            line: 1,
            vgprs: 40,
            agprs: 0,
            sgprs: 10,
            lds_bytes: 0,
            dynamic_lds_bytes: Some(0),
            scratch_bytes: 0,
            vgpr_spills: 0,
            sgpr_spills: 0,
            wave_size: 64,
            max_block: 1024,
            occupancy: 8,
            limited_by: None,
        }
    }

    #[test]
    fn a_launch_finds_its_instance() {
        let all = [
            resources("tiled<float, 16>"),
            resources("tiled<float, 32>"),
            resources("ns::scale<int>"),
            resources("copy<float>"),
            resources("copy<HIP_vector_type<float, 4> >"),
            resources("fancy<1, true, -3, 65>"),
            resources("fancy<2, true, -3, 65>"),
        ];
        for (name, expected) in [
            ("copy<HIP_vector_type<float, 4u> >", Some("copy<HIP_vector_type<float, 4> >")),
            ("fancy<(ns::Op)1, true, -3l, (char)65>", Some("fancy<1, true, -3, 65>")),
            ("fancy<(ns::Op)3, true, -3l, (char)65>", None),
            ("tiled<float,32>", Some("tiled<float, 32>")),
            ("tiled<double, 16>", None),
            ("scale<(int)4>", Some("ns::scale<int>")),
            ("gone", None),
        ] {
            assert_eq!(find(&all, name).map(|kernel| kernel.name.as_str()), expected, "{name}");
        }
    }

    #[test]
    fn devices_are_known_by_their_names() {
        assert!(is_device("h200") && is_device("H200") && is_device("forecast"));
        assert!(!is_device("cpu") && !is_device("h2"));
    }
}
