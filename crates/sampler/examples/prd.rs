//! scratch experiment
use octopus_density::*;
use octopus_random::numpy::LegacyRandom;
use octopus_sampler::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let groups: usize = args[1].parse().unwrap();
    let par: Parameterization = serde_json::from_str(&format!("\"{}\"", args[2])).unwrap();
    let metric: MetricKind = serde_json::from_str(&format!("\"{}\"", args[3])).unwrap();
    let seed: u64 = args[4].parse().unwrap();
    let lik = if args.get(5).map(|s| s == "pointwise").unwrap_or(false) {
        Likelihood::Pointwise
    } else {
        Likelihood::Collapsed
    };
    let mut rng = LegacyRandom::new(42);
    let means: Vec<f64> = (0..groups).map(|_| rng.normal(50.0, 10.0)).collect();
    let idx: Vec<usize> = (0..groups).flat_map(|j| std::iter::repeat_n(j, 10)).collect();
    let y: Vec<f64> = idx.iter().map(|&j| rng.normal(means[j], 2.0)).collect();
    let data = GroupedData::new(Labels::Range(groups), &idx, &y).unwrap();
    let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), lik).unwrap();
    let config = SamplerConfig {
        draws: 2000,
        tune: 1000,
        chains: 4,
        target_accept: 0.95,
        seed,
        parameterization: par,
        metric,
        ..Default::default()
    };
    for rep in 0..3 {
        let t = Instant::now();
        let mut s = Sampler::new(&model, config.clone()).unwrap();
        let (mut wsteps, mut steps, mut div) = (0u64, 0u64, 0);
        let mut twarm = 0.0;
        let mut sum = vec![0.0; model.dim()];
        let mut sum2 = sum.clone();
        let mut n = 0.0;
        let mut chains: Vec<Vec<f64>> = vec![vec![]; 4];
        while let Some(b) = s.advance(usize::MAX).unwrap() {
            for (c, ch) in b.chains.iter().enumerate() {
                for (i, st) in ch.stats.iter().enumerate() {
                    if b.phase == Phase::Warmup {
                        wsteps += st.n_steps as u64;
                    } else {
                        steps += st.n_steps as u64;
                        div += st.diverging as u32;
                        let x = &ch.positions[i * model.dim()..(i + 1) * model.dim()];
                        for k in 0..x.len() {
                            sum[k] += x[k];
                            sum2[k] += x[k] * x[k];
                        }
                        n += 1.0;
                        chains[c].push(x[groups]);
                    }
                }
            }
            if b.phase == Phase::Warmup {
                twarm = t.elapsed().as_secs_f64();
                if rep == 0 {
                    let a = s.adaptation();
                    println!(
                        "done {} warm steps {} rank {} vars {:?} lambda {:.3?} step {:.3?}",
                        s.done(),
                        wsteps,
                        a.metric.variances.len(),
                        a.metric.variances,
                        &a.centerings[0].lambda()[..3.min(groups)],
                        s.step_sizes()
                    );
                }
            }
        }
        let tt = t.elapsed().as_secs_f64();
        let m: Vec<f64> = sum.iter().map(|s| s / n).collect();
        println!(
            "wall {:.4} warm {:.4} leapfrogs warm {} samp {} per draw {:.1} ns/leapfrog(1 core equiv) {:.0} div {} | mu {:.4} sd {:.4} logsp {:.4} logso {:.4}",
            tt,
            twarm,
            wsteps,
            steps,
            steps as f64 / n,
            2.0 * tt * 1e9 / (wsteps + steps) as f64,
            div,
            m[groups],
            (sum2[groups] / n - m[groups] * m[groups]).sqrt(),
            m[groups + 1],
            m[groups + 2]
        );
    }
}
