//! Runs a test's body in a process that has a software GPU with the sampler's kernels.

use octopus_cuda::{Context, Device};
use octopus_density::gpu::{GpuDensity, KernelField, KernelModule};
use octopus_density::{Centering, DensityError, Hierarchy, Layout, LogDensity};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::{Adaptation, Backend, Begin, Block, GpuConfig, Sampler, SamplerConfig, SamplerError, Strategy};
use octopus_softgpu::{Body, KernelSources, Lanes, SoftwareGpu, Unavailable, Variant};

/// A test on a software GPU with these settings and units of kernels, whose lanes are arrays; on any GPU when there are
/// no settings.
macro_rules! on_software_gpu {
    ($(#[$words:meta])* $name:ident, $settings:expr, $units:expr, $body:block) => {
        $(#[$words])*
        #[test]
        fn $name() {
            let name = concat!(module_path!(), "::", stringify!($name));
            $crate::scenario::run(name, $settings, octopus_softgpu::Lanes::Arrays, $units, || $body);
        }
    };
}

pub(crate) use on_software_gpu;

/// Calls `body` when this is the process for it, else starts that process.
pub(crate) fn run(path: &str, settings: &str, lanes: Lanes, units: &[&str], body: impl FnOnce()) {
    Body::new(test_of(path), settings).run(|| built(Variant::Plain, lanes, units), body);
}

/// As [`Body::run_as_ptx`], for a test of this path.
pub(crate) fn run_as_ptx(path: &str, body: impl FnOnce()) {
    Body::run_as_ptx(test_of(path), body);
}

/// As [`run_as_ptx`], with these settings of the software GPU, one after the other.
pub(crate) fn run_as_ptx_with(path: &str, settings: &[String], body: impl FnOnce()) {
    if Body::is_here() {
        return body();
    }
    let none: &[&str] = &[];
    for settings in settings {
        Body { software_only: true, ..Body::new(test_of(path), settings) }
            .start(|| built(Variant::Plain, Lanes::Ptx, none));
    }
}

/// As [`run_as_ptx`], once, with all checks of the interpreter.
pub(crate) fn run_checked(path: &str, body: impl FnOnce()) {
    let none: &[&str] = &[];
    Body::new(test_of(path), "checked=1").run(|| built(Variant::Plain, Lanes::Ptx, none), body);
}

/// As [`run`], with the kernels compiled with the sanitizers.
pub(crate) fn run_sanitized(path: &str, lanes: Lanes, units: &[&str], body: impl FnOnce()) {
    let apart = Body { software_only: true, ..Body::new(test_of(path), "") };
    apart.run(|| built(Variant::Sanitized, lanes, units), body);
}

/// Calls `body` once when this is a process for it, else starts one for each of these settings; what they have told, of
/// each, nothing where there is no software GPU.
pub(crate) fn run_with_each(path: &str, settings: &[String], units: &[&str], body: impl FnOnce()) -> Vec<String> {
    if Body::is_here() {
        body();
        return Vec::new();
    }
    let start =
        |settings: &String| Body::new(test_of(path), settings).start(|| built(Variant::Plain, Lanes::Arrays, units));
    settings.iter().filter_map(start).collect()
}

/// The test's name in its harness, which is without the crate's.
fn test_of(path: &str) -> &str {
    path.split_once("::").map_or(path, |(_, test)| test)
}

fn built(variant: Variant, lanes: Lanes, units: &[&str]) -> Result<SoftwareGpu, Unavailable> {
    SoftwareGpu::build_with(&KernelSources::of_workspace(), variant)?.with_sampler(lanes, units)
}

/// The context of the first device.
pub(crate) fn context() -> Context {
    contexts(1).remove(0)
}

/// Those of the first `count` devices.
pub(crate) fn contexts(count: u32) -> Vec<Context> {
    (0..count).map(|device| Context::primary(&Device::get(device).expect("a device")).expect("a context")).collect()
}

/// The model of phase 0 on its data, or on groups of different sizes.
pub(crate) fn model(groups: usize, balanced: bool, likelihood: Likelihood) -> HierarchicalNormal {
    let spec = HierarchicalSpec { groups, ..Default::default() };
    let made = if balanced { spec.generate() } else { spec.unbalanced() };
    HierarchicalNormal::new(made.expect("valid").data, HierarchicalPrior::default(), likelihood).expect("valid")
}

/// The PRD's settings.
pub(crate) fn prd() -> SamplerConfig {
    let strategy = Strategy::FourLong;
    SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed: 42, strategy, ..Default::default() }
}

/// A shorter run.
pub(crate) fn short() -> SamplerConfig {
    SamplerConfig { draws: 60, tune: 140, chains: 5, seed: 7, strategy: Strategy::FourLong, ..Default::default() }
}

/// Iterations at which a [`short`] run is checkpointed: in and between windows, at the end of warm-up, among the draws.
pub(crate) const STOPS: [usize; 7] = [1, 10, 25, 77, 140, 141, 180];

/// The run on the software GPU.
pub(crate) fn on_gpu<'d>(
    model: &'d dyn LogDensity,
    config: &SamplerConfig,
    gpu: &GpuConfig,
) -> Result<Sampler<'d>, SamplerError> {
    Sampler::begin(model, Begin::Anew(config.clone()), Backend::gpu(&context(), gpu))
}

/// Adds the bits of what a sampler gives until `stop` iterations are done.
pub(crate) fn advance_to(sampler: &mut Sampler<'_>, stop: usize, bits: &mut Bits) {
    while sampler.done() < stop {
        let left = stop - sampler.done();
        bits.add(&sampler.advance(left).expect("runs").expect("goes on"));
    }
}

/// The bits of everything that a sampler still gives, in blocks of at most `limit` iterations.
pub(crate) fn finish(sampler: &mut Sampler<'_>, limit: usize) -> Bits {
    finish_watched(sampler, limit, |_, _| ())
}

/// The same; `watch` sees each block, and what is learned with its last draw.
pub(crate) fn finish_watched(
    sampler: &mut Sampler<'_>,
    limit: usize,
    mut watch: impl FnMut(&Block, &Adaptation),
) -> Bits {
    let mut bits = Bits::default();
    while let Some(block) = sampler.advance(limit).expect("runs") {
        bits.add(&block);
        watch(&block, sampler.adaptation());
    }
    bits.learned(sampler.adaptation(), &sampler.step_sizes());
    bits
}

/// Draws and statistics of each chain, bit for bit, and what was learned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    chains: Vec<Vec<u64>>,
    adaptation: String,
}

impl Bits {
    pub(crate) fn add(&mut self, block: &Block) {
        self.chains.resize(block.chains.len(), Vec::new());
        for (all, chain) in self.chains.iter_mut().zip(&block.chains) {
            let dim = chain.positions.len() / block.draws;
            for (x, s) in chain.positions.chunks_exact(dim).zip(&chain.stats) {
                all.extend(x.iter().map(|x| x.to_bits()));
                let reals = [s.lp, s.acceptance_rate, s.step_size, s.energy, s.energy_error, s.max_energy_error];
                all.extend(reals.map(f64::to_bits));
                all.extend([u64::from(s.tree_depth), u64::from(s.n_steps), s.index_in_trajectory as u64]);
                all.extend([s.diverging, s.reached_max_treedepth].map(u64::from));
            }
        }
    }

    /// Adds what was learned.
    pub(crate) fn learned(&mut self, adaptation: &Adaptation, step_sizes: &[f64]) {
        self.adaptation = format!("{adaptation:?} {step_sizes:?}");
    }

    /// What follows after a part that was taken before.
    pub(crate) fn then(mut self, rest: Bits) -> Self {
        self.chains.resize(rest.chains.len(), Vec::new());
        self.chains.iter_mut().zip(rest.chains).for_each(|(all, more)| all.extend(more));
        Self { adaptation: rest.adaptation, ..self }
    }

    /// Says where they differ first, which millions of numbers side by side would not.
    #[track_caller]
    pub(crate) fn assert_same(&self, other: &Self, what: &str) {
        assert_eq!(self.chains.len(), other.chains.len(), "{what}");
        for (c, (a, b)) in self.chains.iter().zip(&other.chains).enumerate() {
            assert_eq!(a.len(), b.len(), "{what}, chain {c}");
            let first = a.iter().zip(b).position(|(a, b)| a != b);
            assert_eq!(first, None, "{what}: chain {c} differs from this word on, of {}", a.len());
        }
        assert_eq!(self.adaptation, other.adaptation, "{what}");
    }
}

/// A density with other kernels than its own. Its name is `otherwise`.
pub(crate) struct Otherwise<D> {
    pub(crate) inner: D,
    pub(crate) kernels: Kernels,
}

/// The kernels of an [`Otherwise`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernels {
    /// It has none.
    None,
    /// The last scalar of the data that they read is no number.
    OfSpoiledData,
}

impl<D: GpuDensity> LogDensity for Otherwise<D> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.inner.logp_grad(position, gradient)
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        self.inner.expand(position, out);
    }

    fn name(&self) -> &str {
        "otherwise"
    }

    fn center(&self) -> Option<Vec<f64>> {
        self.inner.center()
    }

    fn init_scale(&self) -> Option<Vec<f64>> {
        self.inner.init_scale()
    }

    fn hierarchies(&self) -> &[Hierarchy] {
        self.inner.hierarchies()
    }

    fn kernels(&self) -> Option<&dyn GpuDensity> {
        (self.kernels != Kernels::None).then_some(self)
    }

    fn logp_grad_centered(
        &self,
        centerings: &[Centering],
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        self.inner.logp_grad_centered(centerings, position, gradient)
    }
}

impl<D: GpuDensity> GpuDensity for Otherwise<D> {
    fn kernel_name(&self) -> &str {
        self.inner.kernel_name()
    }

    fn trajectory_modules(&self) -> &[KernelModule] {
        self.inner.trajectory_modules()
    }

    fn kernel_modules(&self) -> &[KernelModule] {
        self.inner.kernel_modules()
    }

    fn batch_modules(&self) -> &[KernelModule] {
        self.inner.batch_modules()
    }

    fn kernel_data(&self) -> Vec<KernelField<'_>> {
        let mut fields = self.inner.kernel_data();
        if self.kernels == Kernels::OfSpoiledData {
            let last = fields.iter_mut().rfind(|field| matches!(field, KernelField::Scalar(_)));
            *last.expect("there are scalars") = KernelField::Scalar(f64::NAN);
        }
        fields
    }
}
