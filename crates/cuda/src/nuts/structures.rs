//! The structures that kernels of NUTS take by value (`Launch`, a density's `Data`), field by field.

use super::NutsLaunch;
use super::data::DataPart;
use super::geometry::GeometryNumbers;
use super::layout::{Float, Structure};

/// The addresses of a launch's buffers on the device.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    pub(crate) scale: u64,
    pub(crate) directions: u64,
    pub(crate) stretch: u64,
    pub(crate) states: u64,
    pub(crate) workspaces: u64,
    pub(crate) draws: u64,
    pub(crate) records: u64,
    pub(crate) points: u64,
    pub(crate) end_states: u64,
    pub(crate) end_positions: u64,
}

/// `Launch` of `kernels/nuts/launch.cuh`.
pub(crate) fn launch_structure(
    scalar: Float,
    launch: &NutsLaunch,
    max_depth: u32,
    geometry: &GeometryNumbers,
    at: &Places,
) -> Structure {
    let mut centering = Structure::default();
    let own = &geometry.centering;
    centering.real(scalar, own.lambda).real(scalar, own.total);
    centering.word(u32::from(own.standardised)).word(u32::from(own.is_natural()));
    let mut metric = Structure::default();
    metric.long(at.scale).long(at.directions).long(at.stretch).word(geometry.rank);
    let mut whole = Structure::default();
    whole.long(launch.seed).word(launch.first_chain).word(launch.chains);
    whole.word(launch.first_iteration).word(launch.iterations).word(launch.tune);
    whole.word(launch.window.start).word(launch.window.end).word(max_depth);
    whole.real(scalar, launch.max_energy_error).real(scalar, launch.target_accept);
    whole.structure(&centering).structure(&metric);
    whole.long(at.states).long(at.workspaces);
    whole.long(at.draws).long(at.records).long(at.points).long(at.end_states).long(at.end_positions);
    whole
}

/// Lays out the data that a density reads, in its own order; `address` returns the address of an array.
pub(crate) fn data_structure<A>(scalar: Float, parts: &[DataPart<A>], mut address: impl FnMut(&A) -> u64) -> Structure {
    let mut structure = Structure::default();
    for part in parts {
        match part {
            DataPart::Word(word) => structure.word(*word),
            DataPart::Scalar(value) => structure.real(scalar, *value),
            DataPart::Array(array) => structure.long(address(array)),
        };
    }
    structure
}
