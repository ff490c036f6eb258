//! Synthetic results of the phase 0 model, to look at the pictures and the page without a sampler.
//! Also the material of the crate's own tests.

use octopus_diag::ParameterSummary;
use octopus_report::{
    Benchmark, Comparison, Convergence, DataFacts, Deliverable, EngineRun, EngineTimes, Evidence, ForestPlot, Machine,
    Measured, ModelFacts, PosteriorPlot, PpcPlot, PredictiveStatistic, Repeat, Report, SCHEMA, Speedup,
    SpeedupDefinition, Stories, SummaryRow, TracePlot, WorstVariation,
};
use octopus_trace::{Array, Dataset, Values};

/// A small generator of normal numbers (SplitMix64 and Box-Muller): pictures need no better one.
pub(crate) struct Normals(u64);

impl Normals {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + 1e-17
    }

    pub(crate) fn next(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// What a run of the model would leave behind.
pub(crate) struct Sample {
    pub(crate) posterior: Dataset,
    pub(crate) stats: Dataset,
    pub(crate) summary: Vec<SummaryRow>,
    pub(crate) observed: Vec<f64>,
    pub(crate) replicates: Vec<Vec<f64>>,
    pub(crate) statistics: Vec<PredictiveStatistic>,
}

/// The shape of a run.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) groups: usize,
    pub(crate) chains: usize,
    pub(crate) draws: usize,
    /// Whether the values that made the data are known.
    pub(crate) truth: bool,
    pub(crate) divergences: bool,
}

/// A variable of `size` elements whose draws scatter around `centers`.
fn variable(normals: &mut Normals, shape: Shape, centers: &[f64], sd: f64, positive: bool) -> Vec<f64> {
    let size = centers.len();
    let mut values = vec![0.0; shape.chains * shape.draws * size];
    for chain in 0..shape.chains {
        for (element, &center) in centers.iter().enumerate() {
            let mut state = normals.next();
            for draw in 0..shape.draws {
                state = 0.3 * state + (1.0f64 - 0.09).sqrt() * normals.next();
                let value = if positive {
                    center * (state * sd / center - 0.5 * (sd / center).powi(2)).exp()
                } else {
                    center + sd * state
                };
                values[(chain * shape.draws + draw) * size + element] = value;
            }
        }
    }
    values
}

impl Sample {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut normals = Normals::new(20_261_121);
        let truth: Vec<f64> = (0..shape.groups).map(|_| 50.0 + 10.0 * normals.next()).collect();
        let observed: Vec<f64> = truth.iter().flat_map(|&m| [m; 10]).map(|m| m + 2.0 * normals.next()).collect();
        let mut posterior = Dataset::default();
        let mut summary = Vec::new();
        let spread = 10.0 / (shape.groups as f64).sqrt();
        let centers: Vec<f64> = truth.iter().map(|&m| m + 0.6 * normals.next()).collect();
        let z: Vec<f64> = centers.iter().map(|m| (m - 50.0) / 10.0).collect();
        let z_truth: Vec<f64> = truth.iter().map(|m| (m - 50.0) / 10.0).collect();
        let parts = [
            ("mu_pop", vec![50.0 - 0.6 * spread], spread, false, vec![50.0]),
            ("sigma_pop", vec![10.0 + 0.4 * spread], 0.7 * spread, true, vec![10.0]),
            ("z", z, 0.07, false, z_truth),
            ("sigma_obs", vec![1.98], 1.4 / (observed.len() as f64).sqrt(), true, vec![2.0]),
            ("mu_group", centers, 0.63, false, truth),
        ];
        for (name, centers, sd, positive, truth) in parts {
            let values = variable(&mut normals, shape, &centers, sd, positive);
            let size = centers.len();
            let array = name == "z" || name == "mu_group";
            let mut dims = vec!["chain".to_owned(), "draw".to_owned()];
            let mut lengths = vec![shape.chains, shape.draws];
            if array {
                dims.push("group".to_owned());
                lengths.push(size);
            }
            for (element, truth) in truth.iter().enumerate() {
                let mut draws: Vec<f64> = values.iter().skip(element).step_by(size).copied().collect();
                let label = if array { format!("{name}[{element}]") } else { name.to_owned() };
                let truth = shape.truth.then_some(*truth);
                summary.push(summarise(label, &mut draws, truth, &mut normals));
            }
            posterior.variables.insert(name.to_owned(), Array { dims, shape: lengths, values: Values::F64(values) });
        }
        let (replicates, statistics) = replicate(&mut normals, &observed);
        Self { posterior, stats: stats(shape, &mut normals), summary, observed, replicates, statistics }
    }

    pub(crate) fn trace(&self) -> TracePlot {
        TracePlot::from_posterior(&self.posterior, Some(&self.stats), &self.summary)
    }

    pub(crate) fn posterior_plot(&self) -> PosteriorPlot {
        PosteriorPlot::from_posterior(&self.posterior, &self.summary)
    }

    pub(crate) fn forest(&self) -> ForestPlot {
        ForestPlot::from_posterior(&self.posterior, &self.summary)
    }

    pub(crate) fn ppc(&self) -> PpcPlot {
        PpcPlot {
            observed: self.observed.clone(),
            replicates: self.replicates.clone(),
            statistics: self.statistics.clone(),
        }
    }
}

fn summarise(name: String, draws: &mut [f64], truth: Option<f64>, normals: &mut Normals) -> SummaryRow {
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let sd = (draws.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    draws.sort_by(f64::total_cmp);
    let at = |p: f64| draws[((n - 1.0) * p).round() as usize];
    let ess = n * (0.55 + 0.05 * normals.next()).abs();
    let summary = ParameterSummary {
        name,
        mean,
        sd,
        hdi: [at(0.055), at(0.945)],
        eti: [at(0.055), at(0.945)],
        rhat: 1.0 + 0.0012 * normals.next().abs(),
        ess_bulk: ess,
        ess_tail: 0.8 * ess,
        mcse_mean: sd / ess.sqrt(),
        ..ParameterSummary::default()
    };
    SummaryRow { summary, truth }
}

fn stats(shape: Shape, normals: &mut Normals) -> Dataset {
    let flags = (0..shape.chains * shape.draws).map(|_| shape.divergences && normals.next() > 3.0).collect();
    let dims = vec!["chain".to_owned(), "draw".to_owned()];
    let mut stats = Dataset::default();
    let array = Array { dims, shape: vec![shape.chains, shape.draws], values: Values::Bool(flags) };
    stats.variables.insert("diverging".to_owned(), array);
    stats
}

fn replicate(normals: &mut Normals, observed: &[f64]) -> (Vec<Vec<f64>>, Vec<PredictiveStatistic>) {
    let replicates: Vec<Vec<f64>> = (0..80)
        .map(|_| {
            let (shift, scale) = (0.1 * normals.next(), 1.0 + 0.01 * normals.next());
            observed.iter().map(|y| 50.0 + shift + scale * (y - 50.0) + 1.8 * normals.next()).collect()
        })
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let sd = |values: &[f64]| {
        let m = mean(values);
        (values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
    };
    let statistic = |name: &str, values: &[f64]| match name {
        "mean" => mean(values),
        "sd" => sd(values),
        "min" => values.iter().copied().fold(f64::INFINITY, f64::min),
        _ => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    };
    let statistics = ["mean", "sd", "min", "max"]
        .into_iter()
        .map(|name| {
            let own = statistic(name, observed);
            let replicated: Vec<f64> = replicates.iter().map(|values| statistic(name, values)).collect();
            let above = replicated.iter().filter(|&&v| v >= own).count();
            let p_value = above as f64 / replicated.len() as f64;
            PredictiveStatistic { name: name.to_owned(), observed: own, replicated, p_value }
        })
        .collect();
    (replicates, statistics)
}

/// A whole report on a sample, without a GPU.
pub(crate) fn report(sample: &Sample, shape: Shape) -> Report {
    let no_gpu = || "no NVIDIA driver on this machine".to_owned();
    let benchmark = benchmark(false);
    let made = ["trace_plot.png", "posterior_plot.png", "forest_plot.png", "traces/phase0_test_trace.nc"];
    let made = made.map(|name| Deliverable { name: name.to_owned(), made: true });
    let evidence = Evidence {
        require_gpu: false,
        gpu: Measured::missing(no_gpu()),
        test_double: false,
        gpu_run: Measured::missing(no_gpu()),
        parameters: &sample.summary,
        divergences: 0,
        speedup: Measured::missing(no_gpu()),
        deliverables: Measured::Value(&made),
        gpu_memory: Measured::missing(no_gpu()),
        posterior_match: Measured::missing(no_gpu()),
        timing_variation: Measured::Value(WorstVariation {
            variation: 0.031,
            engine: "CPU, 2 threads, collapsed".to_owned(),
        }),
        strategies: &[],
        samplers: &["NUTS low-rank".to_owned(), "NUTS diagonal".to_owned()],
        dashboard: true,
        exact_hdi89: &[],
        predictive: Measured::Value(&sample.statistics),
        other_model: false,
    };
    let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let settings = [
        ("draws", shape.draws.into()),
        ("tune", 1000.into()),
        ("chains", shape.chains.into()),
        ("target_accept", 0.95.into()),
        ("max_depth", 10.into()),
        ("seed", 42.into()),
        ("parameterization", "adaptive".into()),
        ("metric", "auto".into()),
    ];
    let per_chain = |value: f64| (0..shape.chains).map(|chain| value * (1.0 + 0.01 * chain as f64)).collect::<Vec<_>>();
    Report {
        schema: SCHEMA,
        title: "Octopus phase 0".to_owned(),
        created: "2026-11-21T08:55:00Z".to_owned(),
        program: "octopus 0.1.0".to_owned(),
        reproduce: texts(&["octopus validate --out reports/phase0", "# or, from the sources:", "cargo xtask validate"]),
        verdict: evidence.verdict(),
        data: DataFacts {
            source: "NumPy's legacy generator, seed 42".to_owned(),
            groups: shape.groups,
            observations: sample.observed.len(),
            group_sizes: Some((10, 10)),
            sha256: "1f0c6e2b7a94d35880c1e6f29ab4473de05d8b61c79f2a3e4b5c6d7e8f901234".to_owned(),
        },
        model: ModelFacts {
            name: "hierarchical-normal".to_owned(),
            statements: texts(&[
                "mu_pop ~ Normal(50, 20)",
                "sigma_pop ~ HalfNormal(15)",
                "z[j] ~ Normal(0, 1)",
                "mu_group[j] = mu_pop + sigma_pop z[j]",
                "sigma_obs ~ HalfNormal(5)",
                "y[i] ~ Normal(mu_group[group[i]], sigma_obs)",
            ]),
            likelihood: Some("collapsed".to_owned()),
            dimension: shape.groups + 3,
        },
        settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        machine: Machine {
            cpu: "AMD EPYC 7B13".to_owned(),
            cores: 2,
            memory_bytes: 16 << 30,
            os: "Linux 6.1 x86_64".to_owned(),
            host_peak_bytes: Some(1 << 28),
            gpu: Measured::missing(no_gpu()),
            gpu_facts: None,
        },
        versions: [("octopus", "0.1.0"), ("rustc", "1.95.0")].map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
        convergence: Convergence {
            chains: shape.chains,
            draws: shape.draws,
            tune: 1000,
            divergences: 0,
            max_depth_hits: 0,
            bfmi: per_chain(0.93),
            step_size: per_chain(0.31),
            acceptance_rate: per_chain(0.941),
            n_steps: per_chain(15.2),
        },
        parameters: sample.summary.clone(),
        stories: Stories::from_posterior(&sample.posterior, None).expect("a whole posterior"),
        predictive: sample.statistics.clone(),
        benchmark: Some(benchmark),
        comparisons: vec![Comparison {
            title: "Against the exact posterior".to_owned(),
            note: "Means and standard deviations from quadrature; the difference in Monte Carlo standard errors."
                .to_owned(),
            columns: texts(&["parameter", "mean", "exact", "difference", "sd", "exact"]),
            rows: vec![texts(&["mu_pop", "48.96", "48.97", "0.41 MCSE", "0.917", "0.918"])],
        }],
    }
}

/// Times as a CPU run of the three sizes would leave them; with `gpu` also made-up times of a GPU, to see the picture.
pub(crate) fn benchmark(gpu: bool) -> Benchmark {
    let mut runs = Vec::new();
    for (groups, wall, ess) in [(100, 0.11, 9_800.0), (500, 0.42, 11_200.0), (1000, 0.93, 10_900.0)] {
        let mut run = |engine: &str, setting: &str, likelihood: &str, result| {
            runs.push(EngineRun {
                engine: engine.to_owned(),
                gpu: engine == "GPU",
                setting: setting.to_owned(),
                likelihood: Some(likelihood.to_owned()),
                groups,
                observations: 10 * groups,
                chains: 4,
                draws: 2000,
                tune: 1000,
                result,
            });
        };
        let times = |factor: f64| {
            let repeats = [1.0, 1.02, 0.97, 1.05, 1.01].map(|jitter: f64| {
                let wall_s: f64 = wall * factor * jitter;
                Repeat { wall_s, warmup_s: 0.4 * wall_s, sampling_s: 0.6 * wall_s }
            });
            EngineTimes { repeats: repeats.into(), leapfrogs: 182_400, min_ess_bulk: ess, max_rhat: 1.003 }
        };
        for (threads, likelihood, factor) in
            [("1 thread", "collapsed", 1.9), ("2 threads", "collapsed", 1.0), ("2 threads", "pointwise", 3.4)]
        {
            run("CPU", &format!("{threads}, {likelihood}"), likelihood, Measured::Value(times(factor)));
        }
        if gpu {
            for (likelihood, factor) in [("collapsed", 0.23), ("pointwise", 0.31)] {
                let setting = format!("f64, {likelihood}, made up");
                run("GPU", &setting, likelihood, Measured::Value(times(factor)));
            }
        } else {
            run("GPU", "", "collapsed", Measured::missing("no NVIDIA driver on this machine"));
        }
    }
    let ratio = if gpu { Measured::Value(4.35) } else { Measured::missing("no NVIDIA driver on this machine") };
    let of = |definition| Speedup { definition, what: "100 groups".to_owned(), ratio: ratio.clone() };
    let speedups = SpeedupDefinition::ALL.map(of);
    Benchmark { runs, speedups: speedups.into(), other_model: false }
}
