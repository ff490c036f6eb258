//! The speedup of the GPU over the CPU by three definitions, and the chains from which on the GPU pays.

use super::{Benchmarks, Measurement};
use octopus_report::{Comparison, EngineTimes, Measured, Speedup, SpeedupDefinition, size_name};

/// Returns the speedups by each definition and size that was timed; only the PRD's problem has baselines.
pub(super) fn speedups(found: &Benchmarks) -> Vec<Speedup> {
    let mut all = identical(found);
    all.extend(sizes(found).into_iter().map(|groups| whole_device(found, groups)));
    let definition = SpeedupDefinition::Baselines;
    if found.prds && found.peers.is_empty() {
        let ratio = Measured::missing("no results of other frameworks were given (--peers)");
        all.push(Speedup { definition, what: "all sizes".into(), ratio });
    }
    all.extend(found.peers.iter().map(|peer| Speedup {
        definition,
        what: peer.what.clone(),
        ratio: Measured::Value(peer.ratio),
    }));
    all
}

/// Returns the speedups by definition (a): the PRD's chains on all cores and on the GPU, by their wall times.
fn identical(found: &Benchmarks) -> Vec<Speedup> {
    let definition = SpeedupDefinition::IdenticalConfiguration;
    let gpu = match found.gpu_figures() {
        Ok(gpu) => gpu,
        Err(reason) => {
            return vec![Speedup { definition, what: "all sizes".into(), ratio: Measured::missing(reason) }];
        }
    };
    // The last of the CPU's measurements that are alike has the most threads.
    let on_cpu = |m: &Measurement| cpu(found).filter(|cpu| cpu.run.alike(&m.run)).last();
    let pairs = gpu.all().filter_map(|m| Some((m, on_cpu(m)?)));
    pairs
        .map(|(m, cpu)| Speedup {
            definition,
            what: format!("{}, {} against {}", m.run.size(), m.run.setting, cpu.run.setting),
            ratio: Measured::Value(time(cpu, EngineTimes::wall_s) / time(m, EngineTimes::wall_s)),
        })
        .collect()
}

/// Returns the speedup by definition (b): the best runs of both sides that meet the limits of R-hat and effective
/// sample sizes, by their effective draws a second.
pub(super) fn whole_device(found: &Benchmarks, groups: usize) -> Speedup {
    let size = size_name(groups);
    let of = |what: String, ratio| Speedup { definition: SpeedupDefinition::WholeDevice, what, ratio };
    let gpu = match found.gpu_figures() {
        Ok(gpu) => gpu,
        Err(reason) => return of(size, Measured::missing(reason)),
    };
    let best = |side: &mut dyn Iterator<Item = &Measurement>| {
        let fit = side.filter(|m| m.run.groups == groups && m.quality.converged());
        fit.map(|m| (time(m, EngineTimes::min_ess_per_s), m.run.setting.clone())).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    match (best(&mut cpu(found).chain(&found.strategies)), best(&mut gpu.all())) {
        (Some((slow, cpu)), Some((fast, gpu))) => {
            of(format!("{size}, {gpu} against {cpu}"), Measured::Value(fast / slow))
        }
        (None, _) => of(size, Measured::missing("no run on the CPU meets R-hat and effective sample sizes")),
        (_, None) => of(size, Measured::missing("no run on the GPU meets R-hat and effective sample sizes")),
    }
}

/// Returns the table of where the GPU begins to pay: for each size, the fewest chains with which the GPU makes more
/// effective draws a second than the CPU's best run.
pub(super) fn break_even(found: &Benchmarks) -> Comparison {
    let gpu = found.gpu_figures();
    let row = |groups: usize| {
        let own = |m: &&Measurement| m.run.groups == groups && m.quality.converged();
        let rate = |m: &Measurement| time(m, EngineTimes::min_ess_per_s);
        let best = cpu(found).chain(&found.strategies).filter(own).max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let of_gpu = match (&gpu, best) {
            (Err(reason), _) => format!("SKIPPED: {reason}"),
            (Ok(_), None) => "any: no run on the CPU meets R-hat and effective sample sizes".into(),
            (Ok(gpu), Some(best)) => {
                let faster = gpu.all().filter(own).filter(|m| rate(m) > rate(best));
                match faster.min_by_key(|m| m.run.chains) {
                    Some(m) => format!("{} chains: {:.0} ({})", m.run.chains, rate(m), m.run.setting),
                    None => "no number of chains that was measured".into(),
                }
            }
        };
        let of_cpu = best.map_or_else(|| "-".into(), |m| format!("{:.0} ({})", rate(m), m.run.setting));
        vec![groups.to_string(), of_cpu, of_gpu]
    };
    Comparison::new(
        "Where the GPU begins to pay",
        "Effective draws a second (the smallest bulk ESS of all parameters, warm-up included) of the CPU's best run \
               that meets R-hat and effective sample sizes, and the fewest chains with which the GPU makes more.",
        "groups | CPU, ESS/s | GPU, ESS/s",
        sizes(found).into_iter().map(row),
    )
}

fn cpu(found: &Benchmarks) -> impl Iterator<Item = &Measurement> {
    found.engines.iter().chain(&found.sizes)
}

fn sizes(found: &Benchmarks) -> Vec<usize> {
    let mut sizes: Vec<usize> = cpu(found).map(|m| m.run.groups).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn time(m: &Measurement, of: fn(&EngineTimes) -> f64) -> f64 {
    m.run.result.value().map_or(f64::NAN, of)
}

#[cfg(test)]
mod tests {
    use super::super::GpuBenchmarks;
    use super::*;
    use crate::Quality;
    use octopus_report::{EngineRun, Repeat};

    fn measured(gpu: bool, groups: usize, chains: usize, wall_s: f64, ess: f64, rhat: f64) -> Measurement {
        let repeat = Repeat { wall_s, warmup_s: 0.0, sampling_s: wall_s };
        let result = EngineTimes { repeats: vec![repeat], leapfrogs: 1, min_ess_bulk: ess, max_rhat: rhat };
        Measurement {
            run: EngineRun {
                engine: String::new(),
                gpu,
                setting: format!("{chains} chains"),
                likelihood: Some("collapsed".to_owned()),
                groups,
                observations: 10 * groups,
                chains,
                draws: 100,
                tune: 100,
                result: Measured::Value(result),
            },
            config: octopus_sampler::SamplerConfig::default(),
            quality: Quality { min_ess_bulk: ess, min_ess_tail: ess, max_rhat: rhat, looked_at: 1, quantities: 1 },
            divergences: 0,
            error: None,
            leapfrogs_per_draw: 7.0,
            batch: 1,
            again: 0,
        }
    }

    fn found(test_double: bool) -> Benchmarks {
        let gpu = GpuBenchmarks {
            test_double,
            engines: vec![measured(true, 100, 4, 4.0, 1000.0, 1.0)],
            // The fastest run has not converged, and does not count.
            many: vec![measured(true, 100, 64, 2.0, 8000.0, 1.001), measured(true, 100, 9, 0.1, 8000.0, 1.2)],
            sizes: vec![measured(true, 500, 4, 1.0, 300.0, 1.0)],
        };
        Benchmarks {
            engines: vec![measured(false, 100, 4, 8.0, 1000.0, 1.0), measured(false, 100, 4, 2.0, 1000.0, 1.0)],
            strategies: vec![measured(false, 100, 16, 2.0, 1600.0, 1.0)],
            sizes: vec![measured(false, 500, 4, 3.0, 900.0, 1.0)],
            gpu: Ok(gpu),
            prds: true,
            ..Benchmarks::default()
        }
    }

    #[test]
    fn each_definition_compares_what_it_says() {
        let all = speedups(&found(false));
        let of = |definition| {
            let own = all.iter().filter(move |s| s.definition == definition);
            own.map(|s| (s.what.as_str(), s.ratio.value().copied())).collect::<Vec<_>>()
        };
        let a = of(SpeedupDefinition::IdenticalConfiguration);
        // The GPU is compared with all cores (2 s), not with one (8 s).
        assert_eq!(a.iter().map(|(_, ratio)| *ratio).collect::<Vec<_>>(), [Some(0.5), Some(3.0)]);
        let b = of(SpeedupDefinition::WholeDevice);
        // 4000 effective draws a second against 800; at 500 groups the GPU's have too few effective draws.
        assert_eq!(b[0], ("100 groups, 64 chains against 16 chains", Some(5.0)));
        assert_eq!(b[1], ("500 groups", None));
        assert_eq!(of(SpeedupDefinition::Baselines)[0].1, None);
        assert_eq!(found(false).whole_device(), Measured::Value(5.0));
    }

    /// A GPU's times count where they are figures.
    #[test]
    fn the_engine_that_varies_most_is_named() {
        let repeated = |gpu: bool, walls: [f64; 2]| {
            let mut m = measured(gpu, 100, 4, 1.0, 1000.0, 1.0);
            m.run.engine = if gpu { "GPU" } else { "CPU" }.to_owned();
            let repeats = walls.map(|wall_s| Repeat { wall_s, warmup_s: 0.0, sampling_s: wall_s });
            let times = EngineTimes { repeats: repeats.into(), leapfrogs: 1, min_ess_bulk: 1000.0, max_rhat: 1.0 };
            m.run.result = Measured::Value(times);
            m
        };
        let worst = |test_double: bool| {
            let gpu = GpuBenchmarks {
                test_double,
                engines: vec![repeated(true, [1.0, 3.0])],
                many: Vec::new(),
                sizes: Vec::new(),
            };
            let engines = vec![repeated(false, [1.0, 1.0]), repeated(false, [1.0, 1.1])];
            Benchmarks { engines, gpu: Ok(gpu), ..Benchmarks::default() }.worst_variation().unwrap()
        };
        assert_eq!(worst(false).engine, "GPU, 4 chains");
        assert_eq!(worst(true).engine, "CPU, 4 chains");
        assert!((worst(false).variation - 0.5f64.sqrt()).abs() < 1e-12, "sd √2, mean 2");
        assert!(found(false).worst_variation().is_none(), "nothing was timed twice");
    }

    #[test]
    fn another_model_has_no_baselines() {
        let other = Benchmarks { prds: false, ..found(false) };
        assert!(speedups(&other).iter().all(|speedup| speedup.definition != SpeedupDefinition::Baselines));
        assert!(other.summary().other_model && !found(false).summary().other_model);
    }

    #[test]
    fn the_fewest_chains_that_beat_the_cpu() {
        let rows = break_even(&found(false)).rows;
        // 1000 / 4 s with 4 chains is less than 1600 / 2 s; at 500 groups the four chains of the GPU have not converged.
        assert_eq!(rows[0], ["100", "800 (16 chains)", "64 chains: 4000 (64 chains)"]);
        assert_eq!(rows[1], ["500", "300 (4 chains)", "no number of chains that was measured"]);
        assert!(break_even(&found(true)).rows.iter().all(|row| row[2].starts_with("SKIPPED: a test double")));
    }

    #[test]
    fn other_frameworks_stand_beside_us_where_a_suite_measured_them() {
        let of = |found: &Benchmarks| -> Vec<Speedup> {
            let all = speedups(found).into_iter();
            all.filter(|speedup| speedup.definition == SpeedupDefinition::Baselines).collect()
        };
        let mut found = found(false);
        assert!(matches!(&of(&found)[..], [one] if one.ratio.value().is_none()));
        let numpyro = super::super::PeerRatio { what: "100 groups: numpyro".into(), ratio: 7.5 };
        found.peers = vec![numpyro.clone(), super::super::PeerRatio { ratio: 0.5, ..numpyro }];
        let ratios: Vec<_> = of(&found).iter().map(|speedup| speedup.ratio.value().copied()).collect();
        assert_eq!(ratios, [Some(7.5), Some(0.5)]);
    }

    #[test]
    fn a_test_double_has_no_speed() {
        let double = found(true);
        let of_gpu = |s: &&Speedup| s.definition != SpeedupDefinition::Baselines;
        let reason = Measured::missing("a test double's speed says nothing");
        assert!(speedups(&double).iter().filter(of_gpu).all(|s| s.ratio == reason));
        assert_eq!(double.whole_device().value(), None);
        assert!(double.summary().runs.iter().all(|run| !run.gpu || run.result.value().is_none()));
    }
}
