//! Foretells the memory of the host that a run on the CPU takes at least.

use crate::adapt::Schedule;
use crate::config::SamplerConfig;

/// Bytes of a chain beside its vectors: step size, its adaptation, statistics of a draw.
const CHAIN: u64 = 512;
/// Vectors of a chain beside its windows: its point, where a trajectory began, and a draw on its way to the disk, in
/// the sampler's coordinates and in those of the model.
const VECTORS: u64 = 4;
/// Copies of a window: the chain's, and that in the checkpoint.
const COPIES: u64 = 2;

/// Returns the bytes that the chains of a run of `dim` coordinates take at least while they warm up: most of it are the
/// positions and gradients of the longest window of warm-up, from which the metric is learned.
pub fn least_host_memory(config: &SamplerConfig, dim: usize) -> u64 {
    let product = |factors: &[u64]| factors.iter().fold(1_u64, |all, &factor| all.saturating_mul(factor));
    let (vector, longest) = (8 * dim as u64, Schedule::of(config).longest() as u64);
    let window = product(&[2, COPIES, longest, vector]);
    let learning = product(&[config.first_chains() as u64, window.saturating_add(CHAIN)]);
    learning.saturating_add(product(&[config.chains as u64, VECTORS, vector]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Begin, Sampler};

    /// A density of many coordinates that are all alike.
    #[derive(Default)]
    struct Standard(octopus_density::Layout);

    impl octopus_density::LogDensity for Standard {
        fn name(&self) -> &str {
            "standard"
        }

        fn dim(&self) -> usize {
            1000
        }

        fn layout(&self) -> &octopus_density::Layout {
            &self.0
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, octopus_density::DensityError> {
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
            Ok(-0.5 * x.iter().map(|x| x * x).sum::<f64>())
        }

        fn expand(&self, _x: &[f64], _values: &mut [f64]) {}
    }

    #[test]
    fn what_cannot_be_counted_is_very_much() {
        let config = SamplerConfig { chains: usize::MAX, ..SamplerConfig::default() };
        assert_eq!(least_host_memory(&config, 1000), u64::MAX);
    }

    /// By hand: of 475 draws, the longest window of the default, positions and gradients twice; 512 bytes of each chain, and
    /// four vectors.
    #[test]
    fn memory_is_that_of_windows_and_vectors() {
        let config = SamplerConfig { chains: 3, tune: 1000, ..SamplerConfig::default() };
        assert_eq!(least_host_memory(&config, 10), 3 * (2 * 2 * 475 * 80 + 512) + 3 * 4 * 80);
        let config = SamplerConfig { superchains: 4, tune: 19, ..config };
        assert_eq!(least_host_memory(&config, 7), 3 * 512 + 3 * 4 * 56);
        // Four of 64 chains warm up.
        let many = SamplerConfig { superchains: 4, tune: 1000, ..SamplerConfig::many_short(64) };
        let longest = Schedule::of(&many).longest() as u64;
        assert_eq!(least_host_memory(&many, 10), 4 * (2 * 2 * longest * 80 + 512) + 64 * 4 * 80);
    }

    /// The run is in a process of its own, so that the most memory that it ever had is that of the run.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_run_takes_what_was_foretold_or_some_more() {
        const INSIDE: &str = "OCTOPUS_SAMPLER_TEST_INSIDE";
        if std::env::var_os(INSIDE).is_none() {
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            let name = "engine::host_memory::tests::a_run_takes_what_was_foretold_or_some_more";
            let output = command.args([name, "--exact", "--nocapture"]).env(INSIDE, "1").output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            // A name that matches no test would pass in silence.
            assert!(output.status.success() && told.contains("1 passed"), "{told}{:?}", output.stderr);
            return;
        }
        let peak = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
            1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
        };
        let density = Standard::default();
        let config = SamplerConfig { chains: 64, tune: 300, draws: 1, max_depth: 3, ..SamplerConfig::default() };
        let foretold = least_host_memory(&config, 1000);
        let before = peak();
        let mut sampler = Sampler::begin(&density, Begin::Anew(config), Backend::Cpu).unwrap();
        let mut checkpoint = Vec::new();
        while let Some(block) = sampler.advance(5).unwrap() {
            drop(block);
            checkpoint = sampler.checkpoint().unwrap();
        }
        drop(checkpoint);
        let found = peak() - before;
        assert!(foretold > 100 << 20, "{foretold}");
        assert!(found > foretold / 10 * 9 && found < 3 * foretold, "{found} bytes, {foretold} foretold");
    }
}
