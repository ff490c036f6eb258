//! What draws mean, said by the device: the CPU's bits in f64, and numbers near them in f32 and mixed.

use crate::scenario::{Kernels, Otherwise, context, model, on_software_gpu, short};
use octopus_cuda::{CudaError, ExpansionShape, Float, NutsData, NutsExpansion, NutsField, NutsFormat, NutsPrediction};
use octopus_density::LogDensity;
use octopus_density::gpu::GpuDensity;
use octopus_models::{EightSchools, Likelihood};
use octopus_random::exact::normal_quantile;
use octopus_random::{Purpose, Stream};
use octopus_sampler::{GpuExpander, Precision, Sampler, SamplerConfig, SamplerError};

const SEED: u64 = 0xfedc_ba98_7654_3210;
/// All kernels that expand.
const UNITS: &[&str] = &[
    "nuts_expand_eight_schools_f32",
    "nuts_expand_eight_schools_f64",
    "nuts_expand_eight_schools_mixed",
    "nuts_expand_hierarchical_normal_f32",
    "nuts_expand_hierarchical_normal_f64",
    "nuts_expand_hierarchical_normal_mixed",
];

/// The draws of a run, `chains x draws x dim`.
struct Draws {
    all: Vec<f64>,
    chains: usize,
    each: usize,
}

impl Draws {
    fn of(model: &impl LogDensity) -> Self {
        let config = SamplerConfig { chains: 3, draws: 50, ..short() };
        let (chains, each) = (config.chains, config.draws);
        let mut sampler = Sampler::new(model, config).unwrap();
        let mut rows = vec![Vec::new(); chains];
        while let Some(block) = sampler.advance(usize::MAX).unwrap() {
            rows.iter_mut().zip(block.chains).for_each(|(rows, chain)| rows.extend(chain.positions));
        }
        // Warm-up's are the same as others to those who expand them; the last are the draws.
        let all = rows.iter().flat_map(|rows| &rows[rows.len() - each * model.dim()..]).copied().collect();
        Self { all, chains, each }
    }

    fn row<'a>(&'a self, model: &impl LogDensity, chain: usize, draw: usize) -> &'a [f64] {
        let dim = model.dim();
        &self.all[(chain * self.each + draw) * dim..][..dim]
    }
}

fn expanded(model: &impl LogDensity, draws: &Draws) -> Vec<f64> {
    let mut out = vec![f64::NAN; model.layout().width()];
    let expand = |x: &[f64]| {
        model.expand(x, &mut out);
        out.clone()
    };
    draws.all.chunks_exact(model.dim()).flat_map(expand).collect()
}

fn replicated(model: &impl LogDensity, draws: &Draws, picks: &[usize]) -> Vec<f64> {
    let mut all = Vec::new();
    for chain in 0..draws.chains {
        for &draw in picks {
            let mut random = Stream::new(SEED, chain as u32, draw as u32, Purpose::Predictive);
            let mut out = vec![f64::NAN; model.observations()];
            model.predict(draws.row(model, chain, draw), &mut random, &mut out);
            all.extend(out);
        }
    }
    all
}

#[track_caller]
fn assert_same(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let first = ours.iter().zip(theirs).position(|(a, b)| a.to_bits() != b.to_bits());
    assert_eq!(first, None, "{what}: this number is another, of {}", ours.len());
}

/// Picks that lie near and far, from which some parts are long and some are of one draw; one comes again, one is late.
const PICKS: [usize; 8] = [0, 1, 2, 30, 31, 49, 31, 7];

pub(crate) fn compare(name: &str, model: &impl GpuDensity) {
    let (context, draws) = (context(), Draws::of(model));
    let (variables, replicates) = (expanded(model, &draws), replicated(model, &draws, &PICKS));
    // From one row at a time over some chains together to all at once.
    for bytes in [0, 4_000, 16_000, 60_000, 300_000, GpuExpander::BYTES] {
        let mut gpu = GpuExpander::with_bytes(model, Precision::F64, &context, bytes).unwrap();
        let what = format!("{name}, {bytes} bytes");
        assert_same(&format!("{what}: variables"), &variables, &gpu.expand(&draws.all).unwrap());
        let theirs = gpu.predict(SEED, draws.chains, &draws.all, &PICKS).unwrap();
        assert_same(&format!("{what}: replicates"), &replicates, &theirs);
        // What was asked before leaves nothing behind.
        let last = draws.row(model, draws.chains - 1, draws.each - 1);
        assert_same(
            &format!("{what}: the last"),
            &variables[variables.len() - model.layout().width()..],
            &gpu.expand(last).unwrap(),
        );
        assert_eq!(gpu.expand(&[]).unwrap(), [0.0; 0]);
        assert_eq!(gpu.predict(SEED, draws.chains, &draws.all, &[]).unwrap(), [0.0; 0]);
        assert_eq!(gpu.predict(SEED, 0, &[], &[]).unwrap(), [0.0; 0]);
    }
}

on_software_gpu!(what_draws_mean_has_the_bits_of_the_cpu, "", UNITS, {
    compare("100 unbalanced groups", &model(100, false, Likelihood::Collapsed));
    compare("8 groups, pointwise", &model(8, true, Likelihood::Pointwise));
    compare("eight schools", &EightSchools::rubin());
});

// More coordinates than the sampler's kernels hold: those that expand hold any number.
on_software_gpu!(more_coordinates_than_a_chain_may_have, "", UNITS, {
    let large = model(1100, false, Likelihood::Collapsed);
    let mut random = Stream::new(1, 0, 0, Purpose::User);
    let draws = Draws { all: (0..4 * large.dim()).map(|_| random.normal()).collect(), chains: 2, each: 2 };
    let mut gpu = GpuExpander::new(&large, Precision::F64, &context()).unwrap();
    assert_same("variables", &expanded(&large, &draws), &gpu.expand(&draws.all).unwrap());
    let theirs = gpu.predict(SEED, 2, &draws.all, &[1]).unwrap();
    assert_same("replicates", &replicated(&large, &draws, &[1]), &theirs);
});

/// The PTX itself.
#[test]
fn what_draws_mean_as_ptx() {
    crate::scenario::run_as_ptx(concat!(module_path!(), "::what_draws_mean_as_ptx"), || {
        let model = EightSchools::rubin();
        let draws = Draws::of(&model);
        let mut gpu = GpuExpander::with_bytes(&model, Precision::F64, &context(), 16_000).unwrap();
        assert_same("variables", &expanded(&model, &draws), &gpu.expand(&draws.all).unwrap());
        let theirs = gpu.predict(SEED, draws.chains, &draws.all, &PICKS).unwrap();
        assert_same("replicates", &replicated(&model, &draws, &PICKS), &theirs);
    });
}

/// Half a unit in the last place of f32, relative.
const U: f64 = 1.0 / (1 << 24) as f64;

/// A number and how far one that was computed in f32 may be from it.
#[derive(Clone, Copy, Debug)]
struct Rounded {
    value: f64,
    error: f64,
}

impl Rounded {
    /// A number as it comes to the device.
    fn given(value: f64) -> Self {
        Self { value, error: U * value.abs() }
    }

    /// `e^x`: `x` is off by what it is, the exponential by a unit in the last place (`octopus_random::exact::single`).
    fn exp(x: Self) -> Self {
        let value = x.value.exp();
        Self { value, error: value * (x.error.exp_m1() + 2.0 * U * x.error.exp()) }
    }

    fn plus(self, other: Self) -> Self {
        let (value, error) = (self.value + other.value, self.error + other.error);
        Self { value, error: error + U * (value.abs() + error) }
    }

    fn times(self, other: Self) -> Self {
        let value = self.value * other.value;
        let error = self.error * other.value.abs() + other.error * self.value.abs() + self.error * other.error;
        Self { value, error: error + U * (value.abs() + error) }
    }

    /// The normal number of a uniform one, of which f32 has the first 23 bits: it is at most half of 2^-23 away. The
    /// quantile's slope is steepest at the end that is farther out, and in f32 it is within 4.6e-7 of the true one.
    fn normal(uniform: f64) -> Self {
        let value = normal_quantile(uniform);
        // 52 bits and 23 of them, each in the middle of what it stands for.
        let near = [-1.0, 1.0].map(|side| (uniform + side * U).clamp(f64::EPSILON, 1.0 - f64::EPSILON));
        let reach = near.map(|p| (normal_quantile(p) - value).abs()).into_iter().fold(0.0, f64::max);
        Self { value, error: reach + 4.6e-7 * (value.abs() + reach) }
    }
}

/// The largest share of its bound that a number uses, and how many there are.
#[derive(Debug, Default)]
struct Seen {
    most: f64,
    numbers: usize,
    others: usize,
}

impl Seen {
    #[track_caller]
    fn number(&mut self, what: &str, exact: Rounded, ours: f64, theirs: f64) {
        // The bound is of the exact number, which f64 has but for its own rounding.
        assert!((exact.value - ours).abs() <= 1e-13 * (1.0 + ours.abs()), "{what}: {exact:?} and {ours:e}");
        let off = (theirs - exact.value).abs();
        assert!(off <= exact.error + 1e-13 * (1.0 + ours.abs()), "{what}: {theirs:e} is {off:e} from {exact:?}");
        self.most = self.most.max(off / exact.error.max(f64::MIN_POSITIVE));
        self.numbers += 1;
        self.others += usize::from(theirs != ours);
    }
}

/// Of the hierarchical normal, whose group `j` has the location `mu + exp(log sigma) z_j`, and of eight schools.
struct Read {
    location: Rounded,
    scale: Rounded,
    z: Vec<Rounded>,
}

impl Read {
    fn from_draw(draw: &[f64], effects: usize) -> Self {
        Self {
            location: Rounded::given(draw[effects]),
            scale: Rounded::exp(Rounded::given(draw[effects + 1])),
            z: draw[..effects].iter().map(|&z| Rounded::given(z)).collect(),
        }
    }

    fn effect(&self, j: usize) -> Rounded {
        self.location.plus(self.scale.times(self.z[j]))
    }

    fn effects(&self) -> impl Iterator<Item = Rounded> {
        (0..self.z.len()).map(|j| self.effect(j))
    }
}

/// Compares all variables and replicates of a model with their bounds: `variables` says what they are of a draw in the
/// layout's order, `observation` of a draw, an index and a normal number.
fn near<M: GpuDensity>(
    model: &M,
    precision: Precision,
    variables: impl Fn(&[f64]) -> Vec<Rounded>,
    observation: impl Fn(&[f64], usize, Rounded) -> Rounded,
) {
    let (draws, picks) = (Draws::of(model), [0, 9, 40]);
    let mut gpu = GpuExpander::with_bytes(model, precision, &context(), 20_000).unwrap();
    let mut seen = [Seen::default(), Seen::default()];
    let (ours, theirs) = (expanded(model, &draws), gpu.expand(&draws.all).unwrap());
    let exact: Vec<Rounded> = draws.all.chunks_exact(model.dim()).flat_map(&variables).collect();
    assert_eq!((exact.len(), theirs.len()), (ours.len(), ours.len()));
    for ((exact, ours), theirs) in exact.into_iter().zip(ours).zip(theirs) {
        seen[0].number("a variable", exact, ours, theirs);
    }
    let ours = replicated(model, &draws, &picks);
    let theirs = gpu.predict(SEED, draws.chains, &draws.all, &picks).unwrap();
    assert_eq!(ours.len(), theirs.len());
    let mut each = ours.into_iter().zip(theirs);
    for chain in 0..draws.chains {
        for &pick in &picks {
            let random = Stream::new(SEED, chain as u32, pick as u32, Purpose::Predictive);
            for (i, (ours, theirs)) in (0..model.observations()).zip(&mut each) {
                let normal = Rounded::normal(random.uniform_at(i as u64));
                seen[1].number("a replicate", observation(draws.row(model, chain, pick), i, normal), ours, theirs);
            }
        }
    }
    for seen in seen {
        eprintln!("{} in {precision}: {seen:?}", model.name());
        // A bound that nothing comes near to would prove nothing, nor would kernels that compute in f64.
        assert!(seen.most > 0.1 && seen.others > seen.numbers / 4, "{} in {precision}: {seen:?}", model.name());
    }
}

on_software_gpu!(lower_precisions_are_within_the_bounds_of_rounding, "", UNITS, {
    for precision in [Precision::F32, Precision::Mixed] {
        let groups = model(100, false, Likelihood::Collapsed);
        let of_group = groups.data().group_index();
        let noise = |draw: &[f64]| Rounded::exp(Rounded::given(draw[102]));
        let variables = |draw: &[f64]| {
            let read = Read::from_draw(draw, 100);
            let effects: Vec<Rounded> = read.effects().collect();
            [vec![read.location, read.scale, noise(draw)], read.z, effects].concat()
        };
        let observation = |draw: &[f64], i: usize, normal| {
            Read::from_draw(draw, 100).effect(of_group[i]).plus(noise(draw).times(normal))
        };
        near(&groups, precision, variables, observation);
        let schools = EightSchools::rubin();
        let variables = |draw: &[f64]| {
            let read = Read::from_draw(draw, 8);
            let effects: Vec<Rounded> = read.effects().collect();
            [vec![read.location, read.scale], effects, read.z].concat()
        };
        let observation = |draw: &[f64], i: usize, normal| {
            Read::from_draw(draw, 8).effect(i).plus(Rounded::given(schools.sigma()[i]).times(normal))
        };
        near(&schools, precision, variables, observation);
    }
});

on_software_gpu!(device_memory_is_bounded, "", UNITS, {
    let (model, context) = (model(100, false, Likelihood::Collapsed), context());
    let draws = Draws::of(&model);
    let many = draws.all.repeat(20);
    let row = 8 * (model.dim() + model.layout().width().max(model.observations())) + 4;
    let with = |bytes| GpuExpander::with_bytes(&model, Precision::F64, &context, bytes).unwrap();
    let read = with(0).device_bytes() - row;
    for bytes in [0, row, 100_000, 1 << 20, GpuExpander::BYTES] {
        context.reset_usage();
        let mut gpu = with(bytes);
        let buffers = gpu.device_bytes() - read;
        assert!(buffers <= bytes.max(row) && buffers + 2 * row > bytes, "{buffers} bytes of {bytes}");
        for draws in [&draws.all, &many] {
            gpu.expand(draws).unwrap();
            let picks: Vec<usize> = (0..draws.len() / model.dim()).collect();
            gpu.predict(SEED, 1, draws, &picks).unwrap();
        }
        assert_eq!(context.usage().peak_device_bytes as usize, gpu.device_bytes(), "whatever the draws");
        drop(gpu);
        assert_eq!(context.usage().device_bytes, 0, "all is given back");
    }
});

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, SamplerError>, words: &str) {
    assert_eq!(result.unwrap_err().to_string(), words);
}

on_software_gpu!(what_cannot_be_expanded_says_so, "total_mb=64;free_mb=60", UNITS, {
    let (model, context) = (EightSchools::rubin(), context());
    let unexpanded = Otherwise { inner: EightSchools::rubin(), kernels: Kernels::ExpandingInF32 };
    refused(
        GpuExpander::new(&unexpanded, Precision::F64, &context),
        "no GPU kernel for 'otherwise' with 10 coordinates in f64: none that expands draws is compiled in this precision; \
         use the CPU, or another precision",
    );
    // Without observations there is nothing to replicate them of; that the kernel would read some is found.
    let error = GpuExpander::with_bytes(&unexpanded, Precision::F32, &context, 0)
        .and_then(|mut gpu| gpu.predict(SEED, 1, &[0.5; 10], &[0]))
        .unwrap_err();
    assert!(matches!(error, SamplerError::Device(CudaError::KernelSignature { .. })), "{error}");
    let error = GpuExpander::new(&model, Precision::F64, &context).unwrap_err();
    assert!(matches!(&error, SamplerError::Device(error) if error.is_out_of_memory()), "{error}");
    let mut gpu = GpuExpander::with_bytes(&model, Precision::F64, &context, 1 << 20).unwrap();
    let few = "the draws cannot be expanded: 19 numbers are no whole rows of 10 coordinates";
    refused(gpu.expand(&[0.5; 19]), few);
    refused(gpu.predict(SEED, 1, &[0.5; 19], &[0]), few);
    refused(gpu.predict(SEED, 2, &[0.5; 30], &[0]), &"{} for each of 2 chains".replace("{}", few).replace("19", "30"));
    refused(gpu.predict(SEED, 0, &[0.5; 10], &[]), &"{} for each of 0 chains".replace("{}", few).replace("19", "10"));
    refused(
        gpu.predict(SEED, 2, &[0.5; 60], &[1, 3]),
        "the draws cannot be expanded: draw 3 is picked, and each chain has 3",
    );
    refused(gpu.predict(SEED, 0, &[], &[0]), "the draws cannot be expanded: draw 0 is picked, and each chain has 0");
    gpu.predict(SEED, 2, &[0.5; 60], &[1, 2]).unwrap();
});

// What stands between the kernels' addresses and a caller without `GpuExpander`.
on_software_gpu!(the_driver_s_side_checks_its_arguments, "", UNITS, {
    let (model, context) = (EightSchools::rubin(), context());
    let format = NutsFormat { element: Float::F64, scalar: Float::F64, lanes: 32, rows: 1 };
    let load = |of_observations: NutsFormat, width: usize| {
        let fields = [
            NutsField::Word(8),
            NutsField::Scalar(5.0),
            NutsField::Scalar(5.0),
            // What the data say about mu.
            NutsField::Scalar(1.0),
            NutsField::Scalar(8.0),
            NutsField::Scalar(0.0),
            NutsField::Scalar(0.04),
            NutsField::PerCoordinate(&[0.0; 8]),
            NutsField::PerCoordinate(&[1.0; 8]),
            NutsField::PerCoordinate(&[1.0]),
            NutsField::PerCoordinate(&[8.0]),
            NutsField::PerCoordinate(&[0.0]),
            NutsField::PerCoordinate(&[0.0]),
            NutsField::Word(1),
        ];
        let data = NutsData::upload(&context, format, &fields)?;
        let observations = NutsData::upload(&context, of_observations, &[NutsField::Reals(model.sigma())])?;
        let text = model.expansion_modules()[0].ptx.text().unwrap();
        let shape = ExpansionShape { dim: 10, width, observations: 8 };
        NutsExpansion::load(&context, &text, "eight_schools_f64", data, observations, shape, 10_000)
    };
    let error = load(NutsFormat { element: Float::F32, ..format }, 18).unwrap_err();
    assert!(matches!(error, CudaError::LengthMismatch { .. }), "{error}");
    let error = load(format, 1 << 31).unwrap_err();
    assert!(matches!(error, CudaError::TooLarge { .. }), "{error}");
    let stream = octopus_cuda::Stream::new(&context).unwrap();
    let mut expansion = load(format, 18).unwrap();
    assert_eq!(expansion.expand(&stream, &[0.5; 20]).unwrap().len(), 36);
    let error = expansion.expand(&stream, &[0.5; 19]).unwrap_err();
    assert!(matches!(error, CudaError::LengthMismatch { found: 19, expected: 20, .. }), "{error}");
    let mut predict = |chains, picks: &[u32], draws: &[f64]| {
        expansion.predict(&stream, &NutsPrediction { seed: SEED, chains, picks }, draws)
    };
    assert_eq!(predict(2, &[2, 0], &[0.5; 60]).unwrap().len(), 2 * 2 * 8);
    let error = predict(2, &[2, 3], &[0.5; 60]).unwrap_err();
    assert!(matches!(error, CudaError::RangeOutside { start: 3, length: 3, .. }), "{error}");
    let error = predict(2, &[0], &[0.5; 30]).unwrap_err();
    assert!(matches!(error, CudaError::LengthMismatch { found: 30, expected: 40, .. }), "{error}");
    let error = predict(0, &[0], &[]).unwrap_err();
    assert!(matches!(error, CudaError::RangeOutside { .. }), "{error}");
});

on_software_gpu!(a_device_that_is_lost_expands_nothing, "lost=200", UNITS, {
    let model = EightSchools::rubin();
    let mut gpu = GpuExpander::with_bytes(&model, Precision::F64, &context(), 0).unwrap();
    let error = (0..200).find_map(|_| gpu.expand(&[0.5; 10]).err()).expect("the device was not lost");
    assert!(matches!(error, SamplerError::Device(_)), "{error}");
});
