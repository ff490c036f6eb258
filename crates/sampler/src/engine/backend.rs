//! Where chains are moved (the backend), and how a run uses a GPU.
//!
//! The time of a launch, bytes of buffers, chains at once and blocks of a chain have their defaults here.

use octopus_cuda::Context;
use std::time::Duration;

/// Where chains are moved: on the CPU or on GPUs. In f64 both give the same bits.
#[derive(Clone, Copy, Debug, Default)]
pub enum Backend<'a> {
    /// The CPU: the threads of the current rayon pool.
    #[default]
    Cpu,
    /// The GPUs that share the chains or data sets in proportion to their multiprocessors, and the settings of each
    /// GPU.
    Gpus(&'a [Context], &'a GpuConfig),
}

impl<'a> Backend<'a> {
    /// Returns the backend of one GPU.
    pub fn gpu(context: &'a Context, config: &'a GpuConfig) -> Self {
        Self::Gpus(std::slice::from_ref(context), config)
    }
}

/// How a run uses a GPU. Nothing here changes a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuConfig {
    /// The time that one launch should take: Ctrl-C and other programs on the device wait for it.
    pub launch_time: Duration,
    /// The most time that one kernel may take if every trajectory in it is as long as can be, on a device whose watchdog
    /// ends kernels that take too long: a launch of many chains is then several kernels. Half of the two seconds after
    /// which Windows resets a display's driver; X waits longer. On other devices nothing depends on it.
    pub kernel_time: Duration,
    /// The most iterations of one launch.
    pub most_iterations: usize,
    /// The most bytes of page-locked memory of the host for each of the two buffers through which draws leave the device;
    /// of a batch, twice as many. The buffers are smaller for a run of few draws, and larger where one iteration of
    /// every chain needs more.
    pub slot_bytes: usize,
    /// The most chains on the device at once; more take turns.
    pub chains_at_once: usize,
    /// The most blocks of threads that share a chain's evaluations. Blocks share them only where the density has very
    /// many observations.
    pub blocks_per_chain: usize,
    /// How long the host waits for a launch whose blocks wait for each other, at least: such a launch may never end, and
    /// is then [`CudaError::Overdue`](octopus_cuda::CudaError::Overdue). For large data the host waits longer.
    pub patience: Duration,
    /// The most bytes of device memory for the draws that warm-up learns from. Where these draws need more, or chains
    /// take turns, the host learns from the draws that have left the device, to the same bits.
    pub window_bytes: usize,
    /// Whether the CPU goes on with a run in f64 when the last GPU fails, instead of an error: see
    /// [`Sampler::advance`](crate::Sampler::advance).
    pub cpu_fallback: bool,
}

impl Default for GpuConfig {
    fn default() -> Self {
        Self {
            launch_time: Duration::from_millis(20),
            kernel_time: Duration::from_secs(1),
            most_iterations: 1024,
            slot_bytes: 16 << 20,
            chains_at_once: usize::MAX,
            blocks_per_chain: usize::MAX,
            patience: Duration::from_secs(60),
            window_bytes: 1 << 30,
            cpu_fallback: false,
        }
    }
}

impl GpuConfig {
    /// Returns these settings with no more chains at once than a run has.
    pub fn first_turn(&self, chains: usize) -> Self {
        Self { chains_at_once: self.chains_at_once.min(chains), ..self.clone() }
    }

    /// Returns the settings to try when memory does not suffice: half as many chains at once, and half the buffers for
    /// draws; `None` for less than one chain.
    pub fn shorter_turn(&self) -> Option<Self> {
        let (chains_at_once, slot_bytes) = (self.chains_at_once / 2, self.slot_bytes / 2);
        (chains_at_once > 0).then(|| Self { chains_at_once, slot_bytes, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_what_they_were() {
        let expected = GpuConfig {
            launch_time: Duration::from_micros(20_000),
            kernel_time: Duration::from_millis(1000),
            most_iterations: 1024,
            slot_bytes: 16_777_216,
            chains_at_once: usize::MAX,
            blocks_per_chain: usize::MAX,
            patience: Duration::from_millis(60_000),
            window_bytes: 1_073_741_824,
            cpu_fallback: false,
        };
        assert_eq!(GpuConfig::default(), expected);
    }

    #[test]
    fn turns_are_halved_down_to_one_chain() {
        let gpu = GpuConfig { slot_bytes: 100, most_iterations: 7, ..GpuConfig::default() };
        let mut turns = vec![gpu.first_turn(13)];
        while let Some(next) = turns[turns.len() - 1].shorter_turn() {
            assert_eq!(
                next,
                GpuConfig { chains_at_once: next.chains_at_once, slot_bytes: next.slot_bytes, ..gpu.clone() }
            );
            turns.push(next);
        }
        let found: Vec<(usize, usize)> = turns.iter().map(|turn| (turn.chains_at_once, turn.slot_bytes)).collect();
        assert_eq!(found, [(13, 100), (6, 50), (3, 25), (1, 12)]);
        assert_eq!(turns[1].first_turn(200).chains_at_once, 6);
    }
}
