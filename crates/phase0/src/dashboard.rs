//! The pictures of speed in phase 0: over the sizes of the problem, and against the error of the draws.

use crate::options::Phase0Options;
use octopus_bench::engines::{Benchmarks, Measurement};
use octopus_report::{Figure, FrontPoint, Measured, ParetoFrontPlot, ScalingMeasure, ScalingPlot, ScalingSeries};

/// Returns the pictures: engines side by side, and effective draws a second against the error of the means, and against the number of groups.
pub(super) fn figures(benchmark: &Benchmarks, options: &Phase0Options<'_>) -> Vec<Figure> {
    let mut figures = vec![Figure::new(benchmark.summary().plot()), front(&benchmark.strategies)];
    figures.extend(scaling(benchmark, options));
    figures
}

/// Returns the picture of speed against the number of groups; `None` where only one size was measured.
fn scaling(benchmark: &Benchmarks, options: &Phase0Options<'_>) -> Option<Figure> {
    let sampler = options.sampler();
    if benchmark.sizes.is_empty() {
        return None;
    }
    let (auto, others) = benchmark.strategies.split_first()?;
    let own = |m: &&Measurement| (m.run.chains, m.run.draws) == (sampler.chains, sampler.draws);
    let point = |m: &Measurement| Some((m.run.groups as f64, ess_per_s(m)?));
    // The first strategy after the choice of auto is the run's own.
    let prds = others.first().into_iter().chain(benchmark.sizes.iter().filter(own));
    let chosen = std::iter::once(auto).chain(benchmark.sizes.iter().filter(|m| !own(m)));
    let (chains, draws) = (sampler.chains, sampler.draws);
    let series = [
        ScalingSeries {
            name: format!("CPU, {chains} chains x {draws} draws"),
            points: prds.filter_map(point).collect(),
        },
        ScalingSeries { name: "CPU, --strategy auto".into(), points: chosen.filter_map(point).collect() },
    ];
    let measured = ScalingMeasure::PerSecond("effective draws");
    Some(Figure::new(ScalingPlot { title: String::new(), along: "groups".into(), measured, series: series.into() }))
}

fn front(strategies: &[Measurement]) -> Figure {
    let point = |m: &Measurement| {
        Some(FrontPoint {
            label: short(&m.run.setting),
            sampler: m.run.engine.clone(),
            error: m.error?,
            ess_per_s: ess_per_s(m)?,
        })
    };
    Figure::new(ParetoFrontPlot {
        error: "root mean square error of the means, in posterior sds".into(),
        points: strategies.iter().filter_map(point).collect(),
    })
}

fn ess_per_s(m: &Measurement) -> Option<f64> {
    let Measured::Value(times) = &m.run.result else { return None };
    let wall: f64 = times.repeats.iter().map(|repeat| repeat.wall_s).sum();
    Some(times.min_ess_bulk / (wall / times.repeats.len() as f64))
}

/// Shortens a setting to the few words that a picture has room for.
fn short(setting: &str) -> String {
    setting.replace(" chains x ", " x ").replace(" draws", "").replace(" metric", "")
}
