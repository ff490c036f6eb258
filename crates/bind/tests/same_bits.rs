//! A program of many rows has the same log density and gradient, bit for bit, for any number of threads, vector width and
//! block; and so have its draws.

use octopus_bind::{BoundModel, Data, StanDensity};
use octopus_program::VectorWidth;
use octopus_sampler::{Sampler, SamplerConfig};
use octopus_stan::StanProgram;

const ROWS: usize = 200_000;

const PROGRAM: &str = "data { int N; int J; vector[N] age; array[N] int<lower=1, upper=J> clinic;
                              array[N] int<lower=0, upper=1> ill; }
    parameters { real slope; real<lower=0> spread; vector<multiplier=spread>[J] level; real<lower=0> wide; }
    model { slope ~ normal(0, 1); spread ~ normal(0, 1); level ~ normal(0, spread); wide ~ normal(1, 1);
            ill ~ bernoulli_logit(slope * age + level[clinic]); age ~ student_t(4, slope, wide); }";

fn noise(i: usize, k: usize) -> f64 {
    ((i * 7919 + k * 104_729 + 13) % 1009) as f64 / 504.0 - 1.0
}

fn bound(rows: usize) -> BoundModel {
    let age: Vec<f64> = (0..rows).map(|i| noise(i, 0)).collect();
    let clinic: Vec<i64> = (0..rows).map(|i| (i * 31 % 300) as i64 + 1).collect();
    let ill: Vec<i64> = (0..rows).map(|i| i64::from(noise(i, 9) > 0.1)).collect();
    let data = Data::new("noise").with_int("N", rows as i64).with_int("J", 300).with_reals("age", &age);
    let data = data.with_ints("clinic", &clinic).with_ints("ill", &ill);
    let program = StanProgram::parse("clinics.stan", PROGRAM).expect("a program");
    BoundModel::new(&program, &data).expect("a model")
}

fn density(rows: usize) -> StanDensity {
    bound(rows).density("clinics").expect("a density")
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

#[test]
fn two_hundred_thousand_rows_have_the_same_bits_for_all_threads_widths_and_blocks() {
    let program = bound(ROWS).compile().expect("a program");
    let x: Vec<f64> = (0..program.dim()).map(|k| 0.3 * noise(k, 5)).collect();
    let mut first: Option<Vec<u64>> = None;
    for threads in [1, 2, 3] {
        for width in VectorWidth::available() {
            for block in [512, 64] {
                let program = program.clone().with_width(width).with_block(block);
                let mut gradient = vec![0.0; x.len()];
                let value = with_threads(threads, || program.logp_grad(&mut program.workspace(), &x, &mut gradient));
                let bits = [&[value.expect("a value")], &gradient[..]].concat().iter().map(|x| x.to_bits()).collect();
                let expected = first.get_or_insert_with(|| Vec::clone(&bits));
                assert!(bits == *expected, "{threads} threads, {width:?}, blocks of {block}");
            }
        }
    }
    // The same number by another way: rows one by one, added in order.
    let value = f64::from_bits(first.expect("a value")[0]);
    let (slope, spread, wide) = (x[0], x[1].exp(), x[x.len() - 1].exp());
    let levels = &x[2..x.len() - 1];
    let mut sum = -0.5 * (slope * slope + spread * spread + (wide - 1.0).powi(2)) + x[1] + x[x.len() - 1];
    sum -= 0.5 * levels.iter().map(|z| z * z).sum::<f64>();
    for i in 0..ROWS {
        let eta = slope * noise(i, 0) + spread * levels[i * 31 % 300];
        let z = (noise(i, 0) - slope) / wide;
        sum -= if noise(i, 9) > 0.1 { (-eta).exp().ln_1p() } else { eta.exp().ln_1p() };
        sum -= 2.5 * (z * z / 4.0).ln_1p() + wide.ln();
    }
    assert!((value - sum).abs() < 1e-10 * sum.abs(), "{value} is not {sum}");
}

/// Rows that threads share within a gradient, while chains are shared too.
#[test]
fn draws_are_the_same_for_any_number_of_threads() {
    let density = density(70_000);
    let run = |threads: usize| {
        with_threads(threads, || {
            let config = SamplerConfig { chains: 2, tune: 3, draws: 2, seed: 7, ..Default::default() };
            let mut sampler = Sampler::new(&density, config).expect("a good start");
            let mut bits = Vec::new();
            while let Some(block) = sampler.advance(10).expect("draws") {
                bits.extend(block.chains.iter().flat_map(|chain| &chain.positions).map(|x| x.to_bits()));
            }
            bits
        })
    };
    let one = run(1);
    assert!(!one.is_empty());
    assert!(one == run(2) && one == run(3));
}
