//! The stage that repeats the run on the GPU. It finds whether the draws have the CPU's bits, how much of the device's
//! memory the run takes, and whether a GPU's faster arithmetic samples the same posterior.
//!
//! How many more chains that comparison has stands here.

use super::verify::VerifiedMachine;
use crate::error::Phase0Error;
use crate::options::Phase0Options;
use octopus_bench::engines::Gpu;
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;
use octopus_device::{Device, DeviceChoice, DeviceUsage, Monitor};
use octopus_diag::{ParameterDifference, PosteriorDifference, moments_as_text, posterior_difference};
use octopus_report::{Comparison, Measured, MemoryUse, PosteriorMatch};
use octopus_runs::{MemoryRun, Placement, RunCost, posterior_of, sample_in_memory};
use octopus_sampler::{Begin, SamplerConfig};
use rayon::ThreadPool;

/// The chains of the runs whose posteriors are compared, as a multiple of the run's own. With fewer chains, the Monte
/// Carlo error of some of hundreds of means would come near the PRD's 5 %.
const MORE_CHAINS: usize = 4;

/// A GPU, and the results of the run on it.
pub(super) struct OnGpu {
    /// The name of the GPU.
    pub(super) name: String,
    /// Whether the GPU is the software GPU of the tests.
    pub(super) test_double: bool,
    /// The device, e.g. `cuda:0`.
    pub(super) device: Device,
    /// The device made ready, for further runs.
    pub(super) place: Placement,
    /// The outcome of the run in words, or the error that it failed with.
    pub(super) run: Result<String, String>,
    /// How much of the device's memory the run took.
    pub(super) memory: Measured<MemoryUse>,
    /// How close the posterior of mixed precision on the GPU is to that of f64 on the CPU.
    pub(super) posterior: Measured<PosteriorMatch>,
    /// The same for each parameter; empty where there is no posterior to compare.
    parameters: Vec<ParameterDifference>,
    usage: Option<DeviceUsage>,
    /// It goes on watching the device until the report is made.
    monitor: Monitor,
}

/// Samples on the GPU, and announces that with `stage`. Returns the reason instead where there is no GPU to sample on.
///
/// # Errors
/// When a run on the CPU fails, or two posteriors cannot be compared.
pub(super) fn run(
    options: &Phase0Options<'_>,
    machine: &VerifiedMachine,
    stage: &dyn Fn(&str),
) -> Result<Result<OnGpu, String>, Phase0Error> {
    let device = match (options.run.device.device, machine.gpu(), options.asked()) {
        (device @ Device::Cuda(_), _, _) => device,
        (Device::Cpu, Measured::NotMeasured(reason), _) => return Ok(Err(reason)),
        (Device::Cpu, Measured::Value(_), DeviceChoice::Cpu) => {
            return Ok(Err("`--device cpu` leaves the GPU out".into()));
        }
        (Device::Cpu, Measured::Value(_), _) => Device::Cuda(0),
    };
    let (model, config, pool) = (options.problem.density(), options.sampler(), &options.run.pool);
    if let Some(why) = RunCost::of_run(model, config).no_gpu {
        return Ok(Err(why));
    }
    let (place, monitor) = match Placement::open(&[device]).and_then(|place| Ok((place, Monitor::start(device)?))) {
        Ok(ready) => ready,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    let before = monitor.usage();
    stage(&format!("gpu: the run again on {}", before.device_name));
    let on_cpu = sample_in_memory(model, Begin::Anew(config.clone()), &Placement::Cpu, pool)?;
    let mut found = OnGpu {
        test_double: before.is_test_double(),
        name: before.device_name,
        device,
        place,
        run: Err(String::new()),
        memory: Measured::missing("the run on the GPU failed"),
        posterior: Measured::missing("the run on the GPU failed"),
        parameters: Vec::new(),
        usage: None,
        monitor,
    };
    match sample_in_memory(model, Begin::Anew(config.clone()), &found.place, pool) {
        Err(error) => found.run = Err(octopus::with_causes(&error)),
        Ok(on_gpu) => {
            let usage = found.monitor.usage();
            found.run = same_run(&on_cpu, &on_gpu, config);
            found.memory = memory(model, config, &usage);
            found.usage = Some(usage);
            (found.posterior, found.parameters) = match posterior(model, config, &found.place, pool)? {
                Ok(difference) => (Measured::Value(overall(&difference)), difference.parameters),
                Err(reason) => (Measured::missing(reason), Vec::new()),
            };
        }
    }
    Ok(Ok(found))
}

/// Compares the runs bit by bit: returns in words how the run on the GPU went, as an error where a bit differs.
fn same_run(on_cpu: &MemoryRun, on_gpu: &MemoryRun, config: &SamplerConfig) -> Result<String, String> {
    let transitions = config.chains * (config.tune + config.draws);
    let seconds = on_gpu.warmup_s + on_gpu.sampling_s;
    let ran = format!("{transitions} transitions in f64 in {seconds:.2} s");
    match first_difference(on_cpu, on_gpu) {
        None => Ok(format!("{ran}, with the bits of the CPU's draws")),
        Some((chain, draw)) => Err(format!("{ran}, and chain {chain} leaves the CPU's bits at draw {draw}")),
    }
}

/// Returns the first chain in which two runs differ, and its first draw that differs.
fn first_difference(a: &MemoryRun, b: &MemoryRun) -> Option<(usize, usize)> {
    let bits = |run: &MemoryRun, chain: usize| {
        let own: Vec<Vec<u64>> = run
            .blocks
            .iter()
            .flat_map(|block| {
                let dim = block.chains[chain].positions.len() / block.draws.max(1);
                let rows = block.chains[chain].positions.chunks_exact(dim.max(1));
                rows.map(|row| row.iter().map(|x| x.to_bits()).collect()).collect::<Vec<_>>()
            })
            .collect();
        own
    };
    let chains = a.blocks.first().map_or(0, |block| block.chains.len());
    (0..chains).find_map(|chain| {
        let (a, b) = (bits(a, chain), bits(b, chain));
        let first = a.iter().zip(&b).position(|(a, b)| a != b);
        first.or((a.len() != b.len()).then_some(a.len().min(b.len()))).map(|draw| (chain, draw))
    })
}

fn memory(model: &dyn LogDensity, config: &SamplerConfig, usage: &DeviceUsage) -> Measured<MemoryUse> {
    let foretold = octopus_sampler::GpuMemory::of_run(model, config, &Default::default());
    match (foretold, usage.memory_share()) {
        (Ok(foretold), Some(share)) => Measured::Value(MemoryUse {
            peak_bytes: usage.peak_bytes,
            foretold_bytes: foretold.total(),
            per_chain_bytes: foretold.chains / config.chains as u64,
            share,
        }),
        (Err(error), _) => Measured::missing(error.to_string()),
        (_, None) => Measured::missing("the driver does not tell the device's memory"),
    }
}

/// Compares the posterior of the GPU in mixed precision with that of the CPU in f64. Where mixed precision fails, the
/// result is a reason, not an error.
fn posterior(
    model: &dyn LogDensity,
    config: &SamplerConfig,
    gpu: &Placement,
    pool: &ThreadPool,
) -> Result<Result<PosteriorDifference, String>, Phase0Error> {
    let config = SamplerConfig { chains: MORE_CHAINS * config.chains, ..config.clone() };
    let mixed = SamplerConfig { precision: Precision::Mixed, ..config.clone() };
    let on_gpu = match sample_in_memory(model, Begin::Anew(mixed.clone()), gpu, pool) {
        Ok(run) => run,
        Err(error) => {
            return Ok(Err(format!("mixed precision: {}", octopus::with_causes(&error))));
        }
    };
    let on_cpu = sample_in_memory(model, Begin::Anew(config.clone()), &Placement::Cpu, pool)?;
    let of = |run: &MemoryRun| posterior_of(model, &run.blocks);
    Ok(Ok(posterior_difference(&of(&on_cpu)?, &of(&on_gpu)?, [None; 2])?))
}

/// Returns the differences of all parameters together.
fn overall(found: &PosteriorDifference) -> PosteriorMatch {
    let worst = |size: fn(&ParameterDifference) -> f64| {
        // NaN must not pass.
        let sizes = found.parameters.iter().map(|p| if size(p).is_nan() { f64::INFINITY } else { size(p).abs() });
        sizes.fold(0.0, f64::max)
    };
    let (means, sds) = (worst(|p| p.relative_mean), worst(|p| p.relative_sd));
    PosteriorMatch { rmse: found.rmse, means, sds }
}

/// Returns the table of the parameters' posteriors on CPU and GPU, where they were compared.
fn parameter_table(parameters: &[ParameterDifference]) -> Option<Comparison> {
    let moments = moments_as_text(&parameters.iter().map(|p| (p.mean, p.sd)).collect::<Vec<_>>());
    let row = |(p, [[mean_cpu, mean_gpu], [sd_cpu, sd_gpu]]): (&ParameterDifference, [[String; 2]; 2])| {
        let same = p.relative_mean.abs() <= PosteriorMatch::MEANS && p.relative_sd.abs() <= PosteriorMatch::SDS;
        let numbers = [mean_cpu, sd_cpu, mean_gpu, sd_gpu];
        let differences = [p.relative_mean, p.relative_sd].map(|share| format!("{:+.2} %", 100.0 * share));
        let words = std::iter::once(p.name.clone()).chain(numbers).chain(differences);
        words.chain([if same { "MATCH" } else { "DIFFER" }.to_owned()]).collect()
    };
    let note = format!(
        "Means within {:.0} % and standard deviations within {:.0} % match. The differences are those of P1.3.",
        100.0 * PosteriorMatch::MEANS,
        100.0 * PosteriorMatch::SDS
    );
    (!parameters.is_empty()).then(|| {
        Comparison::new(
            "Posteriors of CPU and GPU",
            note,
            "parameter | CPU mean | CPU sd | GPU mean | GPU sd | means differ by | sds differ by | result",
            parameters.iter().zip(moments).map(row),
        )
    })
}

impl OnGpu {
    /// Returns the GPU as the benchmark takes it.
    pub(super) fn to_time(&self) -> Gpu<'_> {
        Gpu { device: self.device, place: &self.place, test_double: self.test_double, works: self.run.is_ok() }
    }

    /// Returns the table of the parameters' posteriors on CPU and GPU, where they were compared.
    pub(super) fn parameter_table(&self) -> Option<Comparison> {
        parameter_table(&self.parameters)
    }

    /// Returns the table for the report.
    pub(super) fn table(&self) -> Comparison {
        let mut rows = vec![("device", self.name.clone())];
        match &self.run {
            Ok(words) => rows.push(("the run again", words.clone())),
            Err(error) => rows.push(("the run again", format!("failed: {error}"))),
        }
        if let Some(usage) = &self.usage {
            rows.push(("device memory at the most", format!("{} bytes of {}", usage.peak_bytes, usage.total_bytes)));
            rows.push(("kernels launched", usage.launches.to_string()));
            rows.push(("copied", format!("{} bytes", usage.transferred_bytes)));
            if !self.test_double {
                rows.push(("in kernels, by the device's clock", format!("{:.3} s", usage.kernel_seconds)));
                rows.push(("in copies", format!("{:.3} s", usage.transfer_seconds)));
            }
        }
        if let Some(load) = self.monitor.usage().load {
            rows.push(("a look a second, benchmarks included", load.to_string()));
        }
        let note = format!(
            "{}The run of this report again, in f64 and in memory. P1.3 compares {MORE_CHAINS} times its chains in \
             mixed precision on the GPU with as many in f64 on the CPU: differences of means over the larger of \
             the CPU's |mean| and standard deviation, so that means near 0 count in standard deviations; its RMSE \
             is the root mean square of these differences over that of these scales.",
            if self.test_double { "A test double: nothing here is a figure of a GPU. " } else { "" }
        );
        let rows = rows.into_iter().map(|(what, found)| vec![what.to_owned(), found]);
        Comparison::new("On the GPU", note, "what | found", rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_sampler::Phase;

    fn run_of(positions: &[f64]) -> MemoryRun {
        let chain = octopus_sampler::ChainBlock { positions: positions.to_vec(), stats: Vec::new() };
        let chains =
            vec![octopus_sampler::ChainBlock { positions: vec![0.0; positions.len()], ..chain.clone() }, chain];
        let block = octopus_sampler::Block { phase: Phase::Sampling, first: 0, draws: 2, chains };
        MemoryRun {
            blocks: vec![block],
            warmup_s: 1.0,
            sampling_s: 0.5,
            tally: Default::default(),
            adaptation: Default::default(),
        }
    }

    #[test]
    fn parameters_match_within_the_prds_limits() {
        let of = |relative_mean: f64, relative_sd: f64| ParameterDifference {
            name: "mu".to_owned(),
            mean: [50.0, 50.0 + relative_mean],
            sd: [1.0, 1.0 + relative_sd],
            quantiles: [[0.0; 3]; 2],
            relative_mean,
            relative_sd,
            z_mean: 0.0,
            z_sd: 0.0,
            z_quantiles: [0.0; 3],
            wasserstein: 0.0,
            p_value: 1.0,
        };
        let parameters =
            [(0.05, -0.1), (-0.05, 0.1), (0.0501, 0.0), (-0.0501, 0.0), (0.0, 0.1001), (0.0, -0.1001), (f64::NAN, 0.0)];
        let parameters = parameters.map(|(mean, sd)| of(mean, sd));
        let table = parameter_table(&parameters).unwrap();
        let found: Vec<&str> = table.rows.iter().map(|row| row[7].as_str()).collect();
        assert_eq!(found, ["MATCH", "MATCH", "DIFFER", "DIFFER", "DIFFER", "DIFFER", "DIFFER"]);
        assert_eq!(table.rows[0][1..7], ["50.0000", "1.0000", "50.0500", "0.9000", "+5.00 %", "-10.00 %"]);
        assert_eq!(table.columns.len(), table.rows[0].len());
        assert!(table.note.starts_with("Means within 5 % and standard deviations within 10 %"), "{}", table.note);
        assert!(parameter_table(&[]).is_none());
    }

    #[test]
    fn one_bit_of_one_draw_is_found() {
        let config = SamplerConfig { chains: 2, tune: 10, draws: 2, ..SamplerConfig::default() };
        let (a, b) = (run_of(&[1.0, 2.0, 3.0, 4.0]), run_of(&[1.0, 2.0, 3.0, 4.0_f64.next_up()]));
        let fine = same_run(&a, &a, &config).unwrap();
        assert_eq!(fine, "24 transitions in f64 in 1.50 s, with the bits of the CPU's draws");
        let error = same_run(&a, &b, &config).unwrap_err();
        assert!(error.ends_with("chain 1 leaves the CPU's bits at draw 1"), "{error}");
        // 0 and -0 are different bits.
        assert!(same_run(&run_of(&[0.0; 4]), &run_of(&[-0.0; 4]), &config).is_err());
    }
}
