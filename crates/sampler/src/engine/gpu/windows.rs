//! Windows of warm-up that stay on the device: only sums and a few draws come to the host.

use super::GpuConfig;
use crate::adapt::{MAX_ROWS, Schedule, Side, Window, WindowPool};
use crate::config::SamplerConfig;
use crate::engine::ChainState;
use crate::error::SamplerError;
use octopus_cuda::{Context, NutsWindows, Stream, WindowSide};
use octopus_density::gpu::KernelText;

/// The windows' kernels, which serve every density.
const KERNELS: KernelText = KernelText::Gzip(include_bytes!("../../../../../kernels/ptx/nuts_windows.ptx.gz"));

/// The windows of a run, if they are to be on the device.
pub(super) struct Room {
    /// The number of draws of each chain in the longest window.
    longest: usize,
    /// The bytes of device memory that the windows take.
    pub(super) bytes: usize,
}

impl Room {
    /// Computes the room for the windows of a run; `None` if the run has none, or the host is to learn.
    pub(super) fn for_windows(config: &SamplerConfig, gpu: &GpuConfig, dim: usize) -> Option<Self> {
        let longest = Schedule::of(config).longest();
        let at_once = config.first_chains() <= gpu.chains_at_once && longest > 0;
        let bytes = NutsWindows::bytes_for(config.first_chains(), longest, dim, MAX_ROWS)?;
        (at_once && bytes <= gpu.window_bytes).then_some(Self { longest, bytes })
    }

    /// Makes this room on the device for chains of `dim` coordinates, and copies there what a checkpoint has of the open
    /// window.
    ///
    /// # Errors
    /// When the device or its memory fails.
    pub(super) fn on_device(
        &self,
        context: &Context,
        dim: usize,
        states: &[ChainState],
    ) -> Result<NutsWindows, SamplerError> {
        let mut windows = NutsWindows::new(context, &KERNELS.text()?, states.len(), self.longest, dim, MAX_ROWS)?;
        for (c, state) in states.iter().enumerate() {
            windows.write(WindowSide::Positions, c, &state.window.positions)?;
            windows.write(WindowSide::Gradients, c, &state.window.gradients)?;
            windows.set_rows(state.window.positions.len() / dim);
        }
        Ok(windows)
    }
}

/// Returns the window of one chain.
///
/// # Errors
/// When the device fails.
pub(super) fn read(windows: &NutsWindows, chain: usize) -> Result<Window, SamplerError> {
    Ok(Window {
        positions: windows.read(WindowSide::Positions, chain)?,
        gradients: windows.read(WindowSide::Gradients, chain)?,
    })
}

/// The windows of all chains where the chains are.
pub(super) struct DevicePool<'e> {
    pub(super) windows: &'e mut NutsWindows,
    pub(super) stream: &'e Stream,
}

fn of_device(side: Side) -> WindowSide {
    match side {
        Side::Positions => WindowSide::Positions,
        Side::Gradients => WindowSide::Gradients,
    }
}

impl WindowPool for DevicePool<'_> {
    fn count(&self) -> usize {
        self.windows.draws()
    }

    fn sums(&mut self, side: Side, about: Option<&[f64]>) -> Result<Vec<f64>, SamplerError> {
        Ok(self.windows.sums(self.stream, of_device(side), about)?)
    }

    fn every(&mut self, side: Side, stride: usize) -> Result<Vec<f64>, SamplerError> {
        Ok(self.windows.every(self.stream, of_device(side), stride)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Strategy, WindowConfig};

    /// Also of a window of a single draw.
    #[test]
    fn there_is_room_where_there_is_a_window() {
        let windows = WindowConfig { init_buffer: 18, base_window: 1, term_buffer: 1 };
        let mut seen = [false; 3];
        for tune in 19..=21 {
            let strategy = Strategy::FourLong;
            let config = SamplerConfig { tune, windows, strategy, ..SamplerConfig::default() };
            let longest = Schedule::of(&config).longest();
            let room = Room::for_windows(&config, &GpuConfig::default(), 3);
            assert_eq!(room.map_or(0, |room| room.longest), longest, "{tune}");
            seen[longest.min(2)] = true;
        }
        assert_eq!(seen, [true; 3]);
    }
}
