//! Recomputes what a window of warm-up has learned (the metric), from the window's draws alone.
//!
//! The documents say: the first window opens after `init_buffer` iterations; each is twice as long as the one before;
//! the last takes the iterations that would be too few for another; `term_buffer` iterations follow it. At a window's
//! end the metric's diagonal is sqrt(Var x / Var g), or the shrunken variance of the draws, over all chains, in
//! coordinates that were fixed beforehand.

use super::Tally;
use crate::CalibrateError;
use octopus_density::{Centering, LogDensity, gradient_to_centered, to_centered};
use octopus_sampler::{Adaptation, Block, MetricKind, Parameterization, SamplerConfig};

/// Variances agree this closely, relatively.
const CLOSE: f64 = 1e-9;

pub(super) struct WarmUp<'a> {
    density: &'a dyn LogDensity,
    config: &'a SamplerConfig,
    /// First and last + 1 iteration of each window that is still to come.
    windows: std::vec::IntoIter<std::ops::Range<usize>>,
    pub(super) tally: Tally,
    /// Draws of all iterations so far, by chain.
    draws: Vec<Vec<f64>>,
}

/// Returns the windows of warm-up; all lengths must fit.
fn windows(config: &SamplerConfig) -> Vec<std::ops::Range<usize>> {
    let last = config.tune - config.windows.term_buffer;
    let (mut begin, mut length) = (config.windows.init_buffer, config.windows.base_window);
    let mut windows = Vec::new();
    while begin < last {
        // Another window of twice the length must fit behind this one.
        let end = if begin + 3 * length > last { last } else { begin + length };
        windows.push(begin..end);
        (begin, length) = (end, 2 * length);
    }
    windows
}

impl<'a> WarmUp<'a> {
    pub(super) fn new(density: &'a dyn LogDensity, config: &'a SamplerConfig) -> Self {
        let tally = Tally::new("what warm-up learns", "windows");
        Self { density, config, windows: windows(config).into_iter(), tally, draws: vec![Vec::new(); config.chains] }
    }

    /// Takes a block of warm-up and what was learned at its end.
    pub(super) fn window(&mut self, block: &Block, learned: &Adaptation) -> Result<(), CalibrateError> {
        for (draws, chain) in self.draws.iter_mut().zip(&block.chains) {
            draws.extend_from_slice(&chain.positions);
        }
        let done = block.first + block.draws;
        let Some(window) = self.windows.clone().next().filter(|window| window.end <= done) else { return Ok(()) };
        self.windows.next();
        let wrong = if window.end == done {
            self.compare(&window, learned)?
        } else {
            Some(format!("the window should end after {} iterations, not {done}", window.end))
        };
        self.tally.case(wrong.map(|what| format!("iterations {} to {}: {what}", window.start + 1, window.end)));
        Ok(())
    }

    fn compare(&self, window: &std::ops::Range<usize>, learned: &Adaptation) -> Result<Option<String>, CalibrateError> {
        let dim = self.density.dim();
        let rows = self.draws.iter().flat_map(|chain| chain[window.start * dim..window.end * dim].chunks_exact(dim));
        let mut draws: Vec<Vec<f64>> = rows.map(<[f64]>::to_vec).collect();
        let mut gradients = vec![vec![0.0; dim]; draws.len()];
        for (x, g) in draws.iter().zip(&mut gradients) {
            self.density.logp_grad(x, g)?;
        }
        let blocks = &*learned.hierarchies(self.density);
        for (block, found) in blocks.iter().zip(&learned.centerings) {
            let expected = match self.config.parameterization {
                Parameterization::Adaptive if block.is_informed() => Centering::Standardised,
                Parameterization::Centered => Centering::Centered,
                Parameterization::Adaptive | Parameterization::NonCentered | Parameterization::AsWritten => {
                    Centering::NonCentered
                }
            };
            if *found != expected {
                return Ok(Some(format!("effects are {found:?}, {expected:?} was asked for")));
            }
        }
        let centerings: &[Centering] = &learned.centerings;
        for (x, g) in draws.iter_mut().zip(&mut gradients) {
            if let Some((effects, own)) = learned.effects(self.density) {
                effects.take_natural(&own, x);
                effects.logp_grad_in(&own, x, g)?;
                continue;
            }
            gradient_to_centered(blocks, centerings, x, g);
            to_centered(blocks, centerings, x);
        }
        let (spread, steepness, n) = (variances(&draws), variances(&gradients), draws.len() as f64);
        for i in 0..dim {
            let expected = match self.config.metric {
                MetricKind::DiagDraws => n / (n + 5.0) * spread[i] + 1e-3 * 5.0 / (n + 5.0),
                MetricKind::Identity => 1.0,
                MetricKind::Diag | MetricKind::LowRank | MetricKind::Auto => (spread[i] / steepness[i]).sqrt(),
            };
            let found = learned.metric.diagonal[i];
            if differs(found, expected) {
                return Ok(Some(format!("the metric of coordinate {i} is {found}, its draws say {expected}")));
            }
        }
        Ok(None)
    }
}

/// Returns whether a variance differs from the one expected by more than rounding.
fn differs(found: f64, expected: f64) -> bool {
    (found - expected).abs() > CLOSE * expected
}

/// Variance of each column, divisor n - 1.
fn variances(rows: &[Vec<f64>]) -> Vec<f64> {
    let n = rows.len() as f64;
    let dim = rows.first().map_or(0, Vec::len);
    (0..dim)
        .map(|i| {
            let mean = rows.iter().map(|row| row[i]).sum::<f64>() / n;
            rows.iter().map(|row| (row[i] - mean) * (row[i] - mean)).sum::<f64>() / (n - 1.0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{DensityError, Layout, Role, Transform, Variable};
    use octopus_sampler::{ChainBlock, MetricEstimate, Phase, WindowConfig};

    /// What Stan prints for 1000 iterations.
    #[test]
    fn windows_of_stan() {
        let config = SamplerConfig { tune: 1000, windows: WindowConfig::STAN, ..Default::default() };
        assert_eq!(windows(&config), [75..100, 100..150, 150..250, 250..450, 450..950]);
        // Another window of 30 iterations just fits, and then one fewer.
        let tune = |tune| windows(&SamplerConfig { tune, ..Default::default() });
        assert_eq!(tune(105), [10..25, 25..55]);
        assert_eq!((tune(104).len(), tune(104)[0].clone()), (1, 10..54));
    }

    #[test]
    fn variances_differ_from_the_billionth_on() {
        assert!(!differs(4.0, 4.0) && differs(4.0 + 1e-8, 4.0) && differs(4.0 - 1e-8, 4.0));
        // A billionth of the larger is one, exactly.
        assert!(!differs(1e9 + 1.0, 1e9) && differs(1e9 + 2.0, 1e9));
    }

    /// A normal with standard deviation 2.
    struct Normal {
        layout: Layout,
    }

    impl LogDensity for Normal {
        fn dim(&self) -> usize {
            1
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            gradient[0] = -0.25 * x[0];
            Ok(-0.125 * x[0] * x[0])
        }

        fn expand(&self, x: &[f64], out: &mut [f64]) {
            out.copy_from_slice(x);
        }

        fn name(&self) -> &str {
            "normal"
        }
    }

    /// One window, of iterations 3 to 6: its draws 1 to 4 and 5 to 8 have variance 6. The gradient is a quarter of a
    /// draw, so that the root of the variances' ratio is 4; the shrunken variance is (8 * 6 + 5 / 1000) / 13.
    #[test]
    fn a_metric_is_held_against_its_draws() {
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        let variables = vec![Variable { name: "x".into(), dims: Vec::new(), role }];
        let density = Normal { layout: Layout { variables } };
        let checked = |metric, draws: usize, diagonal: f64| {
            let windows = WindowConfig { init_buffer: 2, base_window: 4, term_buffer: 2 };
            let config = SamplerConfig { chains: 2, tune: 8, metric, windows, ..Default::default() };
            let mut warm_up = WarmUp::new(&density, &config);
            let chain = |first: f64| {
                let positions = (0..draws).map(|draw| if draw < 2 { 100.0 } else { first + (draw - 2) as f64 });
                ChainBlock { positions: positions.collect(), stats: Vec::new() }
            };
            let block = Block { phase: Phase::Warmup, first: 0, draws, chains: vec![chain(1.0), chain(5.0)] };
            let metric = MetricEstimate { diagonal: vec![diagonal], ..MetricEstimate::default() };
            warm_up.window(&block, &Adaptation { metric, ..Adaptation::default() }).unwrap();
            let done = warm_up.tally.done();
            (done.passed, done.detail)
        };
        let agrees = (true, "1 windows agree".to_owned());
        for metric in [MetricKind::Diag, MetricKind::LowRank, MetricKind::Auto] {
            assert_eq!(checked(metric, 6, 4.0), agrees, "{metric:?}");
            assert!(!checked(metric, 6, 48.005 / 13.0).0);
        }
        assert_eq!(checked(MetricKind::DiagDraws, 6, 48.005 / 13.0), agrees);
        let (passed, detail) = checked(MetricKind::Diag, 6, 4.001);
        assert!(!passed && detail.contains("iterations 3 to 6: the metric of coordinate 0 is 4.001"), "{detail}");
        let (passed, detail) = checked(MetricKind::Diag, 7, 4.0);
        assert!(!passed && detail.contains("should end after 6 iterations, not 7"), "{detail}");
        assert_eq!(checked(MetricKind::Diag, 5, 4.0), (false, "0 windows agree".to_owned()), "it is still open");
    }

    #[test]
    fn variances_by_hand() {
        assert_eq!(variances(&[vec![1.0, 5.0], vec![3.0, 5.0]]), [2.0, 0.0]);
        assert!(variances(&[]).is_empty());
        // A mean far from 0 costs no digits, as differences of squares would.
        assert_eq!(variances(&[vec![8e15 + 1.0], vec![8e15 + 3.0]]), [2.0]);
    }
}
