//! What a draw says about the observations: log likelihoods and posterior predictive draws.

use crate::cases::{BOTH, PRIORS, model, position, shapes};
use crate::reference::{constant, log_joint, normal};
use octopus_density::{Centering, LogDensity};
use octopus_random::{Purpose, Stream};

/// Each observation's log likelihood is its normal density, and their sum is the joint density without priors.
#[test]
fn log_likelihoods_sum_to_the_likelihood() {
    for groups in [1, 7, 100] {
        for (shape, data) in shapes(groups) {
            for likelihood in BOTH {
                let model = model(&data, PRIORS[0], likelihood);
                let at = position(groups, 5);
                let mut found = vec![f64::NAN; model.observations()];
                model.log_likelihood(&at, &mut found);
                let (mu, sigma_pop, sigma_obs) = (at[groups], at[groups + 1].exp(), at[groups + 2].exp());
                for ((&y, j), found) in data.values().iter().zip(data.group_index()).zip(&found) {
                    let expected = normal(y, mu + sigma_pop * at[j], sigma_obs);
                    assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{shape}");
                }
                let prior: f64 = normal(mu, PRIORS[0].mu_mean, PRIORS[0].mu_sd)
                    + 2f64.ln()
                    + normal(sigma_pop, 0.0, PRIORS[0].sigma_pop_scale)
                    + at[groups + 1]
                    + 2f64.ln()
                    + normal(sigma_obs, 0.0, PRIORS[0].sigma_obs_scale)
                    + at[groups + 2]
                    + at[..groups].iter().map(|&z| normal(z, 0.0, 1.0)).sum::<f64>();
                let logp = model.logp_grad(&at, &mut vec![0.0; groups + 3]).expect("finite");
                let sum = found.iter().sum::<f64>() + prior - constant(&data, &PRIORS[0]);
                assert!((sum / logp - 1.0).abs() < 1e-12, "{groups} {shape}: {sum}, not {logp}");
                // The same through the reference, which shares no line with the library.
                let joint = log_joint(&data, &PRIORS[0], Centering::NonCentered, &at) - constant(&data, &PRIORS[0]);
                assert!((joint / logp - 1.0).abs() < 1e-12);
            }
        }
    }
}

/// 20,000 predictive draws of each observation: mean and standard deviation within 5 standard errors, and
/// no correlation between the observations of a group.
#[test]
fn predictive_draws_have_the_means_and_spread_of_the_model() {
    let (_, data) = &shapes(7)[1];
    let model = model(data, PRIORS[0], BOTH[0]);
    let at = position(7, 6);
    let (mu, sigma_pop, sigma_obs) = (at[7], at[8].exp(), at[9].exp());
    let n = model.observations();
    let draws = 20_000u32;
    let (mut sum, mut squares, mut products) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut out = vec![0.0; n];
    let groups = data.group_index();
    for draw in 0..draws {
        model.predict(&at, &mut Stream::new(1, 0, draw, Purpose::Predictive), &mut out);
        for i in 0..n {
            let standard = (out[i] - (mu + sigma_pop * at[groups[i]])) / sigma_obs;
            sum[i] += standard;
            squares[i] += standard * standard;
            if i > 0 {
                let before = (out[i - 1] - (mu + sigma_pop * at[groups[i - 1]])) / sigma_obs;
                products[i] += standard * before;
            }
        }
    }
    let count = f64::from(draws);
    for i in 0..n {
        assert!((sum[i] / count).abs() < 5.0 / count.sqrt(), "observation {i}: mean off by {}", sum[i] / count);
        assert!((squares[i] / count - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "observation {i}");
        assert!((products[i] / count).abs() < 5.0 / count.sqrt(), "observations {i} and the one before");
    }
}
