//! Energy plot (E-BFMI): does the refresh of the momentum reach all energies that the posterior has?

mod draw;

use octopus_diag::{Chains, bfmi, bfmi_of_chains};
use octopus_trace::Dataset;

use crate::draws;

/// The data of an energy plot (Betancourt 2016, arXiv:1604.00695).
#[derive(Clone, Debug)]
pub struct EnergyPlot {
    /// The energy of each draw, of each chain in order.
    pub chains: Vec<Vec<f64>>,
    /// E-BFMI of each chain, NaN where it is not defined.
    pub bfmi: Vec<f64>,
    /// E-BFMI of all chains together, which is what many short chains have.
    pub bfmi_of_all: f64,
}

impl EnergyPlot {
    /// Reads the statistic `energy` of `sample_stats` (or what another sampler calls it), `chain x draw`; without it there is nothing to draw.
    pub fn from_sample_stats(sample_stats: &Dataset) -> Self {
        let energy = draws::statistic(sample_stats, "energy");
        let chains = energy.map(|energy| energy.chains()).unwrap_or_default();
        let values = chains.concat();
        let (bfmi, bfmi_of_all) = match Chains::new(&values, chains.len(), chains.first().map_or(0, Vec::len)) {
            Ok(view) => (bfmi(&view), bfmi_of_chains(&view)),
            Err(_) => (Vec::new(), f64::NAN),
        };
        Self { chains, bfmi, bfmi_of_all }
    }

    /// Energies less their mean, and their steps within each chain; what is not finite is left out.
    fn marginal_and_steps(&self) -> (Vec<f64>, Vec<f64>) {
        let finite: Vec<f64> = self.chains.iter().flatten().copied().filter(|v| v.is_finite()).collect();
        let mean = finite.iter().sum::<f64>() / finite.len() as f64;
        let steps = self.chains.iter().flat_map(|chain| chain.windows(2).map(|pair| pair[1] - pair[0]));
        (finite.iter().map(|v| v - mean).collect(), steps.filter(|step| step.is_finite()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ReportError;
    use crate::plot::{Plot, sound};
    use octopus_trace::{Array, Values};

    fn stats(chains: usize, draws: usize, value: impl Fn(usize) -> f64) -> Dataset {
        let dims = vec!["chain".to_owned(), "draw".to_owned()];
        let values = Values::F64((0..chains * draws).map(value).collect());
        let mut stats = Dataset::default();
        stats.variables.insert("energy".into(), Array { dims, shape: vec![chains, draws], values });
        stats
    }

    #[test]
    fn steps_stay_within_chains() {
        let plot = EnergyPlot::from_sample_stats(&stats(2, 3, |i| [1.0, 3.0, 2.0, 10.0, f64::NAN, 14.0][i]));
        let (marginal, steps) = plot.marginal_and_steps();
        assert_eq!(marginal, [-5.0, -3.0, -4.0, 4.0, 8.0]);
        assert_eq!(steps, [2.0, -1.0]);
        assert_eq!(plot.bfmi[0], 2.5);
        assert!(plot.bfmi[1].is_nan());
    }

    #[test]
    fn every_shape_is_drawn_without_flaws() {
        let wave = |i: usize| 100.0 + ((i * 7919) % 1009) as f64;
        for (chains, draws) in [(1, 300), (4, 300), (64, 50), (3000, 4), (2, 1)] {
            sound("energies", &EnergyPlot::from_sample_stats(&stats(chains, draws, wave)));
        }
        sound("constant", &EnergyPlot::from_sample_stats(&stats(4, 50, |_| 7.0)));
        sound("NaN", &EnergyPlot::from_sample_stats(&stats(4, 50, |_| f64::NAN)));
        let one = |i: usize| if i == 3 { f64::INFINITY } else { wave(i) };
        sound("infinite", &EnergyPlot::from_sample_stats(&stats(4, 50, one)));
        // A chain that sticks: steps far smaller than the spread.
        sound("sticky", &EnergyPlot::from_sample_stats(&stats(4, 200, |i| (i % 200) as f64)));
    }

    #[test]
    fn nothing_to_draw_says_what_is_missing() {
        let error = EnergyPlot::from_sample_stats(&Dataset::default()).scene().unwrap_err();
        assert!(matches!(error, ReportError::Empty { missing: "the statistic `energy`", .. }), "{error}");
    }
}
