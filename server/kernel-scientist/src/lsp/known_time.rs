//! The best that is known of a kernel's time.
//!
//! A time measured on a GPU beats every forecast. Without one the device that the user works with decides: on one that is
//! forecast for the forecast comes before a time of the CPU emulation, on `cpu` after it. What was found of the code as it is
//! beats what was found of another version, which is stale.

use super::analysis::KernelFacts;
use super::forecasts::Account;
use super::history::{KernelHistory, Row};
use super::view::View;
use crate::devices::CPU;

/// A time and where it comes from.
pub struct KnownTime<'a> {
    /// Where from.
    pub source: Source<'a>,
    /// It is that of the code as it is.
    pub is_current: bool,
    /// What the notebook has of the kernel.
    pub history: Option<&'a KernelHistory>,
}

/// Where a time comes from.
pub enum Source<'a> {
    /// The notebook: the newest of each shape, the slowest first. All of one device and kind.
    Rows(Vec<&'a Row>),
    /// A forecast of this session.
    Account(&'a Account),
}

/// In which order sources are asked.
#[derive(Clone, Copy)]
enum Rank {
    Gpu,
    Session,
    Forecast,
    Cpu,
}

impl<'a> KnownTime<'a> {
    /// The best that is known of a kernel; `None` where nothing is.
    pub fn of(view: &'a View, kernel: &KernelFacts) -> Option<Self> {
        let order = if view.device == CPU {
            [Rank::Gpu, Rank::Cpu, Rank::Session, Rank::Forecast]
        } else {
            [Rank::Gpu, Rank::Session, Rank::Forecast, Rank::Cpu]
        };
        let all = || [true, false].into_iter().flat_map(|is_current| order.map(|rank| (is_current, rank)));
        all().find_map(|(is_current, rank)| Self::find(view, kernel, rank, is_current))
    }

    fn find(view: &'a View, kernel: &KernelFacts, rank: Rank, is_current: bool) -> Option<Self> {
        let history = view.history_of(kernel);
        let source = match rank {
            Rank::Session => {
                let account = view.account_of(kernel).filter(|_| is_of_device(view));
                Source::Account(account.filter(|account| !is_current || account.fingerprint == kernel.fingerprint)?)
            }
            _ => {
                let wanted = |row: &Row| match rank {
                    Rank::Gpu => row.is_measured() && row.device != CPU,
                    Rank::Cpu => row.is_measured() && row.device == CPU,
                    _ => !row.is_measured() && (!lab::forecast::is_device(&view.device) || row.device == view.device),
                };
                let history = history?;
                let rows = match is_current {
                    true => history.current(&kernel.fingerprint, wanted),
                    false => history.last(wanted),
                };
                Source::Rows(Some(rows).filter(|rows| !rows.is_empty())?)
            }
        };
        Some(Self { source, is_current, history })
    }
}

/// Whether the session's forecast is for the device that the user works with, or at least for one where that has none.
fn is_of_device(view: &View) -> bool {
    let of = view.forecast.as_ref().map(|shown| shown.forecast.basis.device.as_str());
    !lab::forecast::is_device(&view.device) || of.is_some_and(|device| device.eq_ignore_ascii_case(&view.device))
}
