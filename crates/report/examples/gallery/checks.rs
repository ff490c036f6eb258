//! Pictures that check a model and compare runs, on synthetic data of several sizes.

use octopus_report::{
    Figure, ForestPlot, FrontPoint, LooPitPlot, ParetoFrontPlot, ParetoKPlot, PpcEcdfPlot, PpcStatisticPlot,
    PriorPosteriorPlot, RunComparisonPlot, RunDifference, RunRatio, ScalingMeasure, ScalingPlot, ScalingSeries,
    ShrinkagePlot, ShrunkGroup, SummaryRow,
};
use octopus_trace::{Array, Dataset, Values};

use crate::sample::{Normals, Sample, Shape};

/// The numbers of groups that [`of_groups`] is drawn for.
pub(crate) const GROUPS: [usize; 4] = [3, 100, 1003, 10_000];

/// Pictures of a run with so many groups.
pub(crate) fn of_groups(groups: usize) -> Vec<Figure> {
    let mut figures = vec![
        Figure::new(shrinkage(groups)),
        Figure::new(pareto_k(10 * groups)),
        Figure::new(loo_pit(10 * groups, if groups == 100 { 1.25 } else { 1.0 })),
        Figure::new(run_comparison(2 * groups + 3)),
    ];
    if groups < 10_000 {
        let shape = Shape { groups, chains: 4, draws: 500, truth: true, divergences: false };
        let sample = Sample::new(shape);
        figures.push(Figure::new(prior_posterior(&sample)));
        figures.push(Figure::new(forests(&sample, groups)));
        figures.push(Figure::new(PpcEcdfPlot { observed: sample.observed, replicates: sample.replicates }));
        figures.push(Figure::new(PpcStatisticPlot { statistics: sample.statistics }));
    }
    figures
}

/// Pictures of time and error.
pub(crate) fn of_speed() -> Vec<Figure> {
    vec![Figure::new(scaling()), Figure::new(front())]
}

/// A hundred thousand observations: what aggregation makes of them.
pub(crate) fn of_many_observations() -> Vec<Figure> {
    vec![Figure::new(pareto_k(100_000)), Figure::new(loo_pit(100_000, 1.0))]
}

/// Groups of 2 to 40 observations around 50, pulled as in a hierarchical normal model.
fn shrinkage(groups: usize) -> ShrinkagePlot {
    let mut normals = Normals::new(7);
    let group = |i: usize| {
        let size = 2 + (39.0 * (0.5 + 0.28 * normals.next()).clamp(0.0, 1.0).powi(2)) as usize;
        let (error, spread) = (9.0 / (size as f64).sqrt(), 4.0);
        let raw = 50.0 + spread * normals.next() + error * normals.next();
        let share = spread * spread / (spread * spread + error * error);
        let (mean, sd) = (50.0 + share * (raw - 50.0), error * share.sqrt());
        ShrunkGroup { label: format!("school {}", i + 1), raw, mean, hdi89: (mean - 1.6 * sd, mean + 1.6 * sd), size }
    };
    ShrinkagePlot { name: "mu_group".to_owned(), groups: (0..groups).map(group).collect(), grand_mean: Some(50.0) }
}

fn pareto_k(observations: usize) -> ParetoKPlot {
    let mut normals = Normals::new(11);
    let k = |_| {
        let usual = 0.12 + 0.13 * normals.next();
        if normals.next() > 2.6 { usual + 0.35 + 0.25 * normals.next().abs() } else { usual }
    };
    ParetoKPlot { k: (0..observations).map(k).collect(), draws: 4000, labels: vec![] }
}

/// Normal probabilities of normal numbers with `scale` times the predicted standard deviation.
fn loo_pit(observations: usize, scale: f64) -> LooPitPlot {
    let mut normals = Normals::new(13);
    // The logistic function of 1.702 z is the normal distribution function to 0.01: enough to look at.
    let pit = |_| 1.0 / (1.0 + (-1.702 * scale * normals.next()).exp());
    LooPitPlot { pit: (0..observations).map(pit).collect() }
}

fn run_comparison(parameters: usize) -> RunComparisonPlot {
    let mut normals = Normals::new(17);
    let names = ["mu_pop", "sigma_pop", "sigma_obs"].map(str::to_owned).into_iter();
    let names =
        names.chain((0..).map(|i| if i % 2 == 0 { format!("mu_group[{}]", i / 2) } else { format!("z[{}]", i / 2) }));
    let row = |(i, name): (usize, String)| {
        let (z_mean, z_sd) = (normals.next(), normals.next() + if i == 4 { 4.6 } else { 0.0 });
        RunDifference {
            name,
            z_mean,
            z_sd,
            relative_mean: 0.004 * z_mean,
            relative_sd: 0.01 * z_sd,
            wasserstein: 0.02 + 0.01 * z_mean.abs(),
        }
    };
    let rows = names.take(parameters).enumerate().map(row).collect();
    let ratio = |name: &str, ratio| RunRatio { name: name.to_owned(), ratio };
    let ratios = vec![
        ratio("effective draws a second", 2.31),
        ratio("effective draws a gradient", 1.18),
        ratio("wall time", 0.82),
    ];
    RunComparisonPlot { runs: ("four-long on the CPU".to_owned(), "many-short on the GPU".to_owned()), rows, ratios }
}

/// The sample beside a prior of the same variables.
fn prior_posterior(sample: &Sample) -> PriorPosteriorPlot {
    let mut normals = Normals::new(19);
    let mut prior = Dataset::default();
    let mut summary: Vec<SummaryRow> = Vec::new();
    for (name, array) in &sample.posterior.variables {
        let size: usize = array.shape[2..].iter().product();
        let (center, sd) = match name.as_str() {
            "mu_pop" => (0.0, 60.0),
            "sigma_pop" | "sigma_obs" => (0.0, 12.0),
            "mu_group" => (0.0, 60.0),
            _ => (0.0, 1.0),
        };
        let positive = name.starts_with("sigma");
        let draw = |_| center + sd * if positive { normals.next().abs() } else { normals.next() };
        let axes = [("chain", 1), ("draw", 1000), ("group", size)];
        let axes = if array.shape.len() == 2 { &axes[..2] } else { &axes[..] };
        let values = Values::F64((0..1000 * size).map(draw).collect());
        prior.insert(name.clone(), Array::new(axes.iter().copied(), values));
        let rows = sample.summary.iter().filter(|row| row.name.split('[').next() == Some(name.as_str()));
        summary.extend(rows.cloned().map(|mut row| {
            row.sd = if positive { 0.6 * sd } else { sd };
            row
        }));
    }
    PriorPosteriorPlot::from_groups(&prior, &summary, &sample.posterior, &sample.summary)
}

fn forests(sample: &Sample, groups: usize) -> octopus_report::ForestComparisonPlot {
    let mut normals = Normals::new(23);
    let moved: Vec<SummaryRow> = sample
        .summary
        .iter()
        .cloned()
        .map(|mut row| {
            let shift = 0.15 * row.sd * normals.next();
            row.mean += shift;
            row.hdi = [row.hdi[0] + shift, row.hdi[1] + 1.2 * shift];
            if groups != 3 {
                row.rhat = 1.004;
            }
            row
        })
        .collect();
    ForestPlot::compared(&[
        ("non-centered", &sample.posterior, &sample.summary),
        ("collapsed", &sample.posterior, &moved),
    ])
}

fn scaling() -> ScalingPlot {
    let mut normals = Normals::new(29);
    let mut series = |name: &str, fixed: f64, scale: f64, power: f64| {
        let at = |groups: f64| (0..3).map(move |_| groups);
        let points = [100.0, 300.0, 1000.0, 3000.0, 10_000.0].into_iter().flat_map(at);
        let time = |groups: f64| (groups, (fixed + scale * groups.powf(power)) * (0.04 * normals.next()).exp());
        ScalingSeries { name: name.to_owned(), points: points.map(time).collect() }
    };
    let series = vec![
        series("CPU, 1 thread", 0.02, 1.1e-3, 1.05),
        series("CPU, 2 threads", 0.02, 6e-4, 1.04),
        series("GPU, f64", 1.2, 2e-5, 1.0),
        series("PyMC", 2.0, 9e-3, 1.1),
    ];
    ScalingPlot { title: String::new(), along: "groups".to_owned(), measured: ScalingMeasure::Seconds, series }
}

fn front() -> ParetoFrontPlot {
    let point = |sampler: &str, label: &str, error, ess_per_s| FrontPoint {
        label: label.to_owned(),
        sampler: sampler.to_owned(),
        error,
        ess_per_s,
    };
    let points = vec![
        point("NUTS", "4 chains, auto metric", 0.011, 9_800.0),
        point("NUTS", "4 chains, diagonal", 0.012, 6_100.0),
        point("NUTS", "4 chains, dense", 0.0115, 5_200.0),
        point("NUTS", "1024 chains", 0.018, 88_000.0),
        point("static HMC", "16 steps", 0.021, 21_000.0),
        point("static HMC", "64 steps", 0.016, 11_000.0),
        point("MCLMC", "untuned", 0.34, 260_000.0),
        point("MCLMC", "adjusted", 0.034, 130_000.0),
        point("ChEES", "128 chains", 0.023, 64_000.0),
        point("ChEES", "512 chains", 0.02, 71_000.0),
        point("Pathfinder", "ADVI start", 0.5, 150_000.0),
    ];
    ParetoFrontPlot { error: "largest error of a posterior mean, in posterior standard deviations".to_owned(), points }
}
