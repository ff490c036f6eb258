//! What a draw says: variables, log likelihoods and predictive draws.

use crate::reference::{constant, half_cauchy, models, normal, position};
use octopus_density::LogDensity;
use octopus_models::EightSchools;
use octopus_random::{Purpose, Stream};

#[test]
fn variables_have_posteriordbs_names_and_the_models_values() {
    let model = EightSchools::rubin();
    let names: Vec<String> = model
        .layout()
        .variables
        .iter()
        .flat_map(|variable| (0..variable.len()).map(|i| variable.element_name(i)))
        .collect();
    assert_eq!(names[..4], ["mu", "tau", "theta[A]", "theta[B]"]);
    assert_eq!((names[10].as_str(), names[17].as_str(), names.len()), ("theta_trans[A]", "theta_trans[H]", 18));
    let at = position(8, 1);
    let mut out = vec![f64::NAN; 18];
    model.expand(&at, &mut out);
    let (mu, tau) = (at[8], at[9].exp());
    assert_eq!(out[0], mu);
    assert!((out[1] / tau - 1.0).abs() < 1e-15);
    for j in 0..8 {
        assert!((out[2 + j] - (mu + tau * at[j])).abs() < 1e-14 * (1.0 + tau));
        assert_eq!(out[10 + j], at[j]);
    }
}

#[test]
fn log_likelihoods_sum_to_the_likelihood() {
    for model in models() {
        let schools = model.schools();
        let at = position(schools, 5);
        let mut found = vec![f64::NAN; model.observations()];
        model.log_likelihood(&at, &mut found);
        let (mu, tau) = (at[schools], at[schools + 1].exp());
        for j in 0..schools {
            let expected = normal(model.y()[j], mu + tau * at[j], model.sigma()[j]);
            assert!((found[j] - expected).abs() < 1e-12 * expected.abs().max(1.0), "{j}: {}, {expected}", found[j]);
        }
        let prior = normal(mu, 0.0, 5.0)
            + half_cauchy(tau, 5.0)
            + at[schools + 1]
            + at[..schools].iter().map(|&z| normal(z, 0.0, 1.0)).sum::<f64>();
        let logp = model.logp_grad(&at, &mut vec![0.0; schools + 2]).unwrap();
        let sum = found.iter().sum::<f64>() + prior - constant(&model);
        assert!((sum / logp - 1.0).abs() < 1e-12, "{schools} schools: {sum}, not {logp}");
    }
}

/// 20,000 predictive draws: mean, standard deviation and independence within 5 standard errors.
#[test]
fn predictive_draws_have_the_means_and_spread_of_the_model() {
    let model = EightSchools::rubin();
    let at = position(8, 6);
    let (mu, tau) = (at[8], at[9].exp());
    let draws = 20_000u32;
    let (mut sum, mut squares, mut products) = ([0.0; 8], [0.0; 8], [0.0; 8]);
    let mut out = [0.0; 8];
    for draw in 0..draws {
        model.predict(&at, &mut Stream::new(1, 0, draw, Purpose::Predictive), &mut out);
        let standard: [f64; 8] = std::array::from_fn(|j| (out[j] - (mu + tau * at[j])) / model.sigma()[j]);
        for j in 0..8 {
            sum[j] += standard[j];
            squares[j] += standard[j] * standard[j];
            products[j] += standard[j] * standard[(j + 1) % 8];
        }
    }
    let count = f64::from(draws);
    for j in 0..8 {
        assert!((sum[j] / count).abs() < 5.0 / count.sqrt(), "school {j}: mean off by {}", sum[j] / count);
        assert!((squares[j] / count - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "school {j}");
        assert!((products[j] / count).abs() < 5.0 / count.sqrt(), "schools {j} and the next");
    }
}
