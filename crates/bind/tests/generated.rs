//! Generated quantities: compiled where that can be, else computed draw by draw with random numbers; and what the trace has
//! of the observations.

use octopus_bind::{BindOptions, BoundModel, Data, StanDensity};
use octopus_density::{DrawAddress, LogDensity};
use octopus_stan::StanProgram;

fn bound(text: &str, data: &Data) -> BoundModel {
    BoundModel::new(&StanProgram::parse("model.stan", text).expect("a program"), data).expect("a model")
}

fn density(text: &str, data: &Data) -> StanDensity {
    bound(text, data).density("model").expect("a density")
}

/// The variables of a draw.
fn expanded(density: &StanDensity, x: &[f64], address: DrawAddress) -> Vec<f64> {
    let mut out = vec![0.0; density.layout().width()];
    density.expand_draw(x, address, &mut out).expect("values");
    out
}

fn at(draw: u32) -> DrawAddress {
    DrawAddress { seed: 56, chain: 0, draw }
}

const COIN: &str = "data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
    parameters { real<lower=0, upper=1> theta; }
    model { theta ~ beta(1, 1); y ~ bernoulli(theta); }
    generated quantities {
      array[N] int<lower=0, upper=1> y_rep;
      vector[N] log_lik;
      for (n in 1:N) { y_rep[n] = bernoulli_rng(theta); log_lik[n] = bernoulli_lpmf(y[n] | theta); }
      real mean_rep = mean(to_vector(y_rep));
      int heads = sum(y_rep);
    }";

fn coin() -> Data {
    Data::new("coin").with_int("N", 8).with_ints("y", &[1, 0, 1, 1, 0, 1, 1, 1])
}

#[test]
fn observations_go_to_their_groups_and_agree_with_the_posterior() {
    let density = density(COIN, &coin());
    let names: Vec<&str> = density.layout().variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["theta", "mean_rep", "heads"]);
    assert_eq!(density.observations(), 8);
    assert!(density.has_predictions() && density.has_log_likelihood());
    let [observed] = density.observed() else { panic!("{:?}", density.observed()) };
    assert_eq!((observed.name.as_str(), &observed.shape[..]), ("y", &[8][..]));
    assert_eq!(observed.values, [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    let x = [0.8_f64];
    let theta = 1.0 / (1.0 + (-0.8_f64).exp());
    let (mut replicate, mut terms) = (vec![0.0; 8], vec![0.0; 8]);
    density.log_likelihood(&x, &mut terms);
    for (term, y) in terms.iter().zip(&observed.values) {
        assert!((term - if *y == 1.0 { theta.ln() } else { (1.0 - theta).ln() }).abs() < 1e-14);
    }
    let mut heads = Vec::new();
    for draw in 0..4000 {
        let out = expanded(&density, &x, at(draw));
        density.predict(&x, &mut at(draw).stream(), &mut replicate);
        let sum: f64 = replicate.iter().sum();
        assert!(out[1] == sum / 8.0 && out[2] == sum, "the replicate of draw {draw} is the posterior's");
        heads.push(sum);
    }
    let mean = heads.iter().sum::<f64>() / 4000.0;
    let variance = heads.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3999.0;
    let expected = 8.0 * theta * (1.0 - theta);
    assert!((mean - 8.0 * theta).abs() < 5.0 * (expected / 4000.0).sqrt(), "{mean}");
    assert!((variance - expected).abs() < 5.0 * expected * (2.0_f64 / 4000.0).sqrt(), "{variance}");
    assert_eq!(density.failures().count, 0);
}

#[test]
fn sizes_that_differ_leave_replicates_in_the_posterior() {
    let text =
        COIN.replace("vector[N] log_lik;", "vector[2] log_lik = [0, theta]';").replace("log_lik[n] =", "real l =");
    let model = bound(&text, &coin());
    assert!(
        model.warnings.iter().any(|warning| warning.contains("`y_rep` stays in the posterior")),
        "{:?}",
        model.warnings
    );
    let density = model.density("coin").expect("a density");
    assert!(density.layout().variables.iter().any(|variable| variable.name == "y_rep"));
    assert!(density.observations() == 2 && !density.has_predictions() && density.observed().is_empty());
}

/// A funnel of two stages; `generated` has the program's own replicates.
fn stages(generated: &str) -> StanDensity {
    let text = format!(
        "data {{ int N; array[N] int sends; array[N] int opens; array[N] int clicks; }}
         parameters {{ real a; real b; }}
         model {{
           a ~ normal(0, 1);
           b ~ normal(0, 1);
           opens ~ binomial_logit(sends, a);
           clicks ~ binomial_logit(opens, b);
         }}
         generated quantities {{ {generated} }}"
    );
    let data = Data::new("stages").with_int("N", 3).with_ints("sends", &[50, 70, 90]);
    density(&text, &data.with_ints("opens", &[20, 30, 40]).with_ints("clicks", &[6, 9, 12]))
}

#[test]
fn several_variables_are_replicated() {
    let opens = "array[N] int opens_rep = binomial_rng(sends, inv_logit(a)); int all_opens = sum(opens_rep);";
    let clicks = "array[N] int clicks_rep = binomial_rng(opens_rep, inv_logit(b)); int all_clicks = sum(clicks_rep);";
    let own_terms = "vector[N] log_lik; for (n in 1:N) log_lik[n] = binomial_logit_lpmf(clicks[n] | opens[n], b);";
    let x = [0.3, -0.4];
    let rate = |x: f64| 1.0 / (1.0 + (-x).exp());
    let log_choose = |n: u64, k: u64| (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum::<f64>();
    let term = |n: u64, k: u64, p: f64| log_choose(n, k) + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p();
    let by_stage = [
        [(50, 20), (70, 30), (90, 40)].map(|(n, k)| term(n, k, rate(x[0]))),
        [(20, 6), (30, 9), (40, 12)].map(|(n, k)| term(n, k, rate(x[1]))),
    ];
    for (generated, terms) in [
        (format!("{opens} {clicks}"), by_stage.concat()),
        // The statements replicate all data, or none.
        (opens.to_owned(), by_stage.concat()),
        (format!("{opens} {clicks} {own_terms}"), by_stage[1].to_vec()),
    ] {
        let density = stages(&generated);
        let observed: Vec<&str> = density.observed().iter().map(|one| one.name.as_str()).collect();
        assert_eq!(observed, ["opens", "clicks"], "{generated}");
        let mut found = vec![0.0; density.observations()];
        density.log_likelihood(&x, &mut found);
        assert_eq!(found.len(), terms.len(), "{generated}");
        found.iter().zip(&terms).for_each(|(found, term)| assert!((found - term).abs() < 1e-12, "{found} {term}"));
        let names: Vec<&str> = density.layout().variables.iter().map(|variable| variable.name.as_str()).collect();
        let is_whole = generated.contains("clicks_rep");
        assert_eq!(names.contains(&"opens_rep"), !is_whole, "{names:?}");
        let place = |name: &str| names.iter().position(|one| *one == name);
        let totals: Vec<usize> = ["all_opens", "all_clicks"].into_iter().filter_map(place).collect();
        let mut sums = [0.0; 2];
        for draw in 0..1000 {
            let mut replicate = vec![f64::NAN; 6];
            density.predict(&x, &mut at(draw).stream(), &mut replicate);
            let own: Vec<f64> = replicate.chunks(3).map(|stage| stage.iter().sum()).collect();
            let out = expanded(&density, &x, at(draw));
            if is_whole {
                totals.iter().zip(&own).for_each(|(&at, own)| assert_eq!(out[at], *own, "{generated}"));
            }
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        let opens = 210.0 * rate(x[0]);
        assert!((sums[0] / 1000.0 - opens).abs() < 1.2, "{sums:?}");
        assert!((sums[1] / 1000.0 - opens * rate(x[1])).abs() < 1.2, "{sums:?}");
    }
}

#[test]
fn compiled_log_likelihoods_are_observations_too() {
    let text = "data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m, 1); }
        generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | m, 1); real d = 2 * m; }";
    let density = density(text, &Data::new("d").with_int("N", 2).with_reals("y", &[0.5, -1.0]));
    let mut terms = [0.0; 2];
    density.log_likelihood(&[0.25], &mut terms);
    let constant = -0.5 * (2.0 * std::f64::consts::PI).ln();
    assert!((terms[0] - constant + 0.5 * 0.0625).abs() < 1e-15 && (terms[1] - constant + 0.5 * 1.5625).abs() < 1e-15);
    assert!(density.has_predictions() && density.observed()[0].name == "y");
    assert_eq!(expanded(&density, &[0.25], at(0)), [0.25, 0.5]);
}

/// Random loops in lanes and pass by pass draw the same numbers.
#[test]
fn lanes_draw_what_passes_draw() {
    let text = "functions { real noisy_rng(real m) { real z = 0; for (k in 1:3) z += normal_rng(m, 1); return z; } }
        data { int N; vector[N] x; } parameters { real a; real<lower=0> s; } model { a ~ normal(0, 1); s ~ exponential(1); }
        generated quantities {
          vector[N] one; array[N] int two; vector[N] three; array[N] real four; matrix[N, 5] five; real six = 0;
          array[N] int seven; vector[3] eight; vector[N] nine;
          for (n in 1:N) {
            real m = a * x[n];
            one[n] = normal_rng(m, s);
            two[n] = poisson_log_rng(m);
            three[n] = noisy_rng(m) + two[n];
            four[n] = x[n] > 0 ? gamma_rng(2, s) : -gamma_rng(2, s);
            for (j in 1:5) five[n, j] = normal_rng(j, s);
            six += one[n];
            seven[n] = one[n] > 0 ? 1 : two[n];
            if (one[n] > a) four[n] += exponential_rng(1);
          }
          for (k in 1:3) eight[k] = multi_normal_rng(rep_vector(k, 2), identity_matrix(2))[2];
          // A walk: its first passes branch in another way, and the rest keeps its streams.
          for (n in 1:N) { if (n < 6) nine[n] = normal_rng(0, 1); else nine[n] = nine[n - 1] + normal_rng(0, s); }
        }";
    let x: Vec<f64> = (0..20).map(|k| (k as f64).sin()).collect();
    let data = Data::new("d").with_int("N", 20).with_reals("x", &x);
    let program = StanProgram::parse("model.stan", text).expect("a program");
    let of = |vectorise_loops| {
        let model =
            BoundModel::with_options(&program, &data, BindOptions { vectorise_loops, ..BindOptions::default() })
                .expect("a model");
        let density = model.density("model").expect("a density");
        let all: Vec<f64> = (0..20).flat_map(|draw| expanded(&density, &[0.3, -0.2], at(draw))).collect();
        assert_eq!(density.failures(), Default::default());
        all
    };
    let (lanes, passes) = (of(true), of(false));
    let width = lanes.len() / 20;
    // a, s, one to four of 20, five of 20 x 5: then six, a sum, whose order differs.
    let sum = 2 + 4 * 20 + 100;
    for (place, (a, b)) in lanes.iter().zip(&passes).enumerate() {
        let is_same =
            if place % width == sum { (a - b).abs() < 1e-12 * (1.0 + b.abs()) } else { a.to_bits() == b.to_bits() };
        assert!(is_same, "{place}: {a} {b}");
    }
    assert!(lanes.iter().all(|x| x.is_finite()));
}

#[test]
fn branches_loops_and_integers_may_depend_on_the_draw() {
    let text = "parameters { real a; } model { a ~ normal(0, 1); }
        generated quantities {
          int waited = 0;
          int side;
          if (a > 0) side = 1; else side = -1;
          { real u = 0; while (u < 3) { u += exponential_rng(1); waited += 1; } }
          int whole = to_int(floor(a * 10));
          real last = 0;
          for (k in 1:waited) last += k;
          print(\"waited \", waited);
        }";
    let density = density(text, &Data::new("none"));
    let mut sum = 0.0;
    for draw in 0..4000 {
        let a = 0.37 * if draw % 2 == 0 { 1.0 } else { -1.0 };
        let out = expanded(&density, &[a], at(draw));
        assert_eq!((out[0], out[2], out[3]), (a, a.signum(), (a * 10.0).floor()));
        assert_eq!(out[4], out[1] * (out[1] + 1.0) / 2.0);
        sum += out[1] - 1.0;
    }
    // Arrivals until 3 are Poisson with mean 3.
    assert!((sum / 4000.0 - 3.0).abs() < 5.0 * (3.0_f64 / 4000.0).sqrt(), "{}", sum / 4000.0);
}

#[test]
fn a_draw_that_fails_has_no_generated_quantities() {
    let text = "parameters { real a; } model { a ~ normal(0, 1); }
        generated quantities { real b = a; real c = normal_rng(0, a); if (a > 2) reject(\"a is \", a); }";
    let model = density(text, &Data::new("none"));
    assert!(expanded(&model, &[1.0], at(0))[1..].iter().all(|x| x.is_finite()));
    let negative = expanded(&model, &[-1.0], at(1));
    assert!(negative[0] == -1.0 && negative[1].is_nan() && negative[2].is_nan());
    let failures = model.failures();
    let first = failures.first.expect("a message");
    assert!(
        failures.count == 1 && first.contains("model.stan:2:") && first.contains("normal_rng: sigma is -1"),
        "{first}"
    );
    assert!(expanded(&model, &[3.0], at(2))[1].is_nan());
    assert_eq!(model.failures().count, 2);
    // Bounds, of quantities that are compiled and of others.
    for random in ["", "real z = std_normal_rng();"] {
        let text = format!(
            "parameters {{ real a; }} model {{ a ~ normal(0, 1); }}
             generated quantities {{ real<lower=0> b = a; real c = 1; {random} }}"
        );
        let model = density(&text, &Data::new("none"));
        assert_eq!(expanded(&model, &[1.0], at(0))[..3], [1.0, 1.0, 1.0]);
        let outside = expanded(&model, &[-1.0], at(0));
        assert!(outside[0] == -1.0 && outside[1..].iter().all(|x| x.is_nan()), "{outside:?}");
        assert_eq!(model.failures().count, 1);
        assert!(model.logp_grad(&[-1.0], &mut [0.0]).is_ok());
    }
}

#[test]
fn data_may_be_simulated() {
    let text = "transformed data { vector[100] y; for (n in 1:100) y[n] = normal_rng(3, 1); }
        parameters { real m; } model { y ~ normal(m, 1); }";
    let (first, second) = (bound(text, &Data::new("none")), bound(text, &Data::new("none")));
    assert_eq!(first.log_density(&[0.5]).to_bits(), second.log_density(&[0.5]).to_bits());
    assert!(first.log_density(&[3.0]) > first.log_density(&[2.0]));
}

#[test]
fn a_run_draws_the_same_for_any_number_of_threads() {
    use octopus_sampler::{Phase, Sampler, SamplerConfig};
    let run = |threads: usize| {
        let density = density(COIN, &coin());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let config = SamplerConfig { chains: 4, tune: 300, draws: 1000, seed: 7, ..Default::default() };
            let mut sampler = Sampler::new(&density, config).expect("a good start");
            let mut all = Vec::new();
            while let Some(block) = sampler.advance(250).expect("draws") {
                if block.phase != Phase::Sampling {
                    continue;
                }
                for (chain, part) in block.chains.iter().enumerate() {
                    for (draw, x) in part.positions.chunks(1).enumerate() {
                        let (chain, draw) = (chain as u32, (block.first + draw) as u32);
                        all.extend(expanded(&density, x, DrawAddress { seed: 7, chain, draw }));
                    }
                }
            }
            all
        })
    };
    let (one, three) = (run(1), run(3));
    assert!(one.len() == 12_000 && one.iter().zip(&three).all(|(a, b)| a.to_bits() == b.to_bits()));
    // 6 of 8 with a flat prior: theta is Beta(7, 3), and replicated heads are beta-binomial.
    let heads: Vec<f64> = one.chunks(3).map(|draw| draw[2]).collect();
    let mean = heads.iter().sum::<f64>() / heads.len() as f64;
    let variance = heads.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / heads.len() as f64;
    assert!((mean - 5.6).abs() < 0.2 && (variance - 8.0 * 0.21 * 18.0 / 11.0).abs() < 0.3, "{mean} {variance}");
}

/// Generated quantities of posteriordb's programs at a point near 0, for the list that `OCTOPUS_POSTERIORDB_LIST` names.
#[test]
fn posteriordb_generates() {
    let Ok(list) = std::env::var("OCTOPUS_POSTERIORDB_LIST") else {
        eprintln!("SKIPPED: OCTOPUS_POSTERIORDB_LIST is not set");
        return;
    };
    let list = std::fs::read_to_string(list).expect("the list can be read");
    let (mut all, mut lacking, mut seen) = (0, 0, std::collections::HashSet::new());
    for line in list.lines() {
        let [name, program, data] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let Ok(program) = StanProgram::read(program) else { continue };
        if !seen.insert(name.to_owned()) {
            continue;
        }
        let Ok(data) = Data::read(data) else { continue };
        let Ok(model) = BoundModel::new(&program, &data) else { continue };
        let density = model.density(name).expect("a density");
        let x: Vec<f64> = (0..model.dim()).map(|k| 0.3 * (0.7 + 1.3 * k as f64).sin()).collect();
        let begin = std::time::Instant::now();
        expanded(&density, &x, at(0));
        let took = begin.elapsed().as_secs_f64() * 1e6;
        let left_out = model.warnings.iter().find(|warning| warning.contains("left out")).cloned();
        let reason = left_out.or(density.failures().first);
        let unread = model.unread().map(|told| told.to_string().replace(char::from(10), " "));
        let groups = [density.has_log_likelihood(), density.has_predictions(), !density.observed().is_empty()];
        all += 1;
        lacking += usize::from(reason.is_some());
        println!("{name}: {took:.0} us, {groups:?} {} {}", reason.unwrap_or_default(), unread.unwrap_or_default());
    }
    println!("{lacking} of {all} programs lack their generated quantities");
    assert!(lacking == 0, "{lacking} of {all} programs lack their generated quantities");
}

/// Prints what a draw costs: `cargo test --release -p octopus-bind --test generated cost -- --nocapture --ignored`.
fn print_cost(name: &str, text: &str, rows: &[usize]) {
    for &n in rows {
        let x: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        let y: Vec<i64> = (0..n as i64).map(|k| k % 4).collect();
        let data = Data::new("d").with_int("N", n as i64).with_reals("x", &x).with_ints("y", &y);
        let density = density(text, &data);
        let repeats = 300_000 / n;
        let begin = std::time::Instant::now();
        for draw in 0..repeats {
            expanded(&density, &[0.2, 0.3], at(draw as u32));
        }
        let each = begin.elapsed().as_secs_f64() * 1e6 / repeats as f64;
        println!("{name}, {n} rows: {each:.1} us a draw, {:.3} us a row", each / n as f64);
    }
}

#[test]
#[ignore = "a measurement"]
fn cost_in_lanes() {
    let text = "data { int N; vector[N] x; array[N] int y; } parameters { real a; real b; } model { a ~ normal(0, 1); }
        generated quantities { vector[N] log_lik; array[N] int y_rep;
          for (n in 1:N) { real eta = a + b * x[n];
            log_lik[n] = poisson_log_lpmf(y[n] | eta); y_rep[n] = poisson_log_rng(eta); } }";
    print_cost("log_lik and y_rep", text, &[10, 1000, 10_000]);
    let text = "data { int N; vector[N] x; array[N] int y; } parameters { real a; real b; } model { a ~ normal(0, 1); }
        generated quantities { vector[N] eta = a + b * x; array[N] int y_rep;
          for (n in 1:N) y_rep[n] = poisson_log_rng(eta[n]); }";
    print_cost("y_rep", text, &[10, 1000, 10_000]);
}

#[test]
#[ignore = "a measurement"]
fn cost_pass_by_pass() {
    let text = "data { int N; vector[N] x; array[N] int y; } parameters { real a; real b; } model { a ~ normal(0, 1); }
        generated quantities { vector[N] h; vector[N] log_lik; h[1] = a;
          for (n in 2:N) { h[n] = normal_rng(a + b * h[n - 1], 0.1); log_lik[n] = normal_lpdf(x[n] | h[n], 1); } }";
    print_cost("a walk", text, &[10, 1000, 10_000]);
}

/// A program without parameters has a coordinate for the sampler's sake, and draws anew at every draw, wherever that stands.
#[test]
fn a_program_without_parameters_draws() {
    let text = "data { int N; } generated quantities { vector[N] x; for (n in 1:N) x[n] = normal_rng(3, 2); }";
    let density = density(text, &Data::new("the size").with_int("N", 2));
    assert_eq!((density.dim(), density.layout().width()), (1, 2));
    let (mut slope, count) = ([0.0], 4000);
    assert_eq!((density.logp_grad(&[0.5], &mut slope).unwrap(), slope), (-0.125, [-0.5]));
    let draws: Vec<Vec<f64>> = (0..count).map(|draw| expanded(&density, &[0.5], at(draw))).collect();
    assert_eq!(expanded(&density, &[-1.0], at(0)), draws[0]);
    let all: Vec<f64> = draws.concat();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (all.len() - 1) as f64;
    let error = (1.0 / f64::from(2 * count)).sqrt();
    assert!((mean - 3.0).abs() < 5.0 * 2.0 * error, "{mean}");
    assert!((variance - 4.0).abs() < 5.0 * 4.0 * 2.0_f64.sqrt() * error, "{variance}");
}
