//! The model by functions that `docs/models.md` shows, and the same in Stan's language: one density, two ways to it.

use octopus::models::{DensityProblem, Problem};
use octopus::program::{ProgramBuilder, ProgramDensity, ProgramError};
use octopus::stan::{Data, StanProblem, StanProgram};

/// Who recovers, by age, in clinics that differ: a logistic hierarchy.
fn recovery(recovered: Vec<f64>, age: Vec<f64>, clinic: Vec<u32>) -> Result<ProgramDensity, ProgramError> {
    let mut m = ProgramBuilder::new();
    let (intercept, slope) = (m.parameter("intercept"), m.parameter("slope"));
    let spread = m.positive("spread");
    let clinics = clinic.iter().max().map_or(0, |&last| last as usize + 1);
    let level = m.affine("level", Some(clinics), 0.0, spread);
    m.normal(intercept, 0.0, 2.0);
    m.normal(slope, 0.0, 1.0);
    m.normal(spread, 0.0, 1.0);
    m.normal(level, 0.0, spread);
    let (recovered, age) = (m.data(recovered), m.data(age));
    m.bernoulli_logit(recovered, intercept + slope * age + level.gather(clinic));
    m.finish("recovery")
}

const PAGE: &str = include_str!("../../../docs/models.md");
const PROGRAM: &str = include_str!("../../../examples/stan/clinics.stan");
const TABLE: &str = include_str!("../../../examples/stan/clinics.csv");

/// Columns of the table: clinics as numbers from 0 in the order of their appearance, ages, and who recovered.
fn table() -> (Vec<u32>, Vec<f64>, Vec<f64>) {
    let (mut names, mut clinic, mut age, mut recovered) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in TABLE.lines().skip(1) {
        let [name, years, outcome] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let known = names.iter().position(|one| *one == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        clinic.push(known as u32);
        age.push(years.parse().unwrap());
        recovered.push(outcome.parse().unwrap());
    }
    (clinic, age, recovered)
}

fn by_functions() -> DensityProblem<ProgramDensity> {
    let (clinic, age, recovered) = table();
    DensityProblem::new(recovery(recovered, age, clinic).unwrap(), Vec::new()).unwrap()
}

fn of_stan() -> StanProblem {
    let (clinic, age, recovered) = table();
    let clinic: Vec<i64> = clinic.iter().map(|&at| i64::from(at) + 1).collect();
    let recovered: Vec<i64> = recovered.iter().map(|&one| one as i64).collect();
    let data = Data::new("clinics.csv")
        .with_int("N", clinic.len() as i64)
        .with_int("J", clinic.iter().copied().max().unwrap())
        .with_ints("clinic", &clinic)
        .with_reals("age", &age)
        .with_ints("recovered", &recovered);
    StanProblem::bind(StanProgram::parse("clinics.stan", PROGRAM).unwrap(), data).unwrap()
}

#[test]
fn the_page_has_this_model() {
    let (_, section) = PAGE.split_once("## Three ways to a model\n").expect("the section");
    let (_, model) = section.split_once("```rust\n").expect("the model");
    let (model, _) = model.split_once("```\n").expect("its end");
    assert!(include_str!("recovery.rs").contains(model), "the page's model is not the one that is tested here");
    assert!(model.lines().skip_while(|line| !line.starts_with("fn")).count() <= 15, "the page promises 15 lines");
}

#[test]
fn functions_and_stan_make_the_same_density() {
    let (ours, stans) = (by_functions(), of_stan());
    let (ours, stans) = (ours.density(), stans.density());
    let names = |problem: &dyn octopus::density::LogDensity| -> Vec<String> {
        problem.layout().variables.iter().map(|variable| variable.name.clone()).collect()
    };
    assert_eq!(names(ours), names(stans));
    let dim = stans.dim();
    assert_eq!(ours.dim(), dim);
    for point in 0..5 {
        let x: Vec<f64> = (0..dim).map(|k| ((k * 29 + point * 7) % 17) as f64 / 8.0 - 1.0).collect();
        let (mut a, mut b) = (vec![0.0; dim], vec![0.0; dim]);
        let (value, expected) = (ours.logp_grad(&x, &mut a).unwrap(), stans.logp_grad(&x, &mut b).unwrap());
        assert!((value - expected).abs() < 1e-12 * expected.abs(), "{value} is not {expected}");
        let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12 * (1.0 + b.abs());
        assert!(a.iter().zip(&b).all(close), "{a:?} is not {b:?}");
        let width = ours.layout().width();
        let (mut a, mut b) = (vec![0.0; width], vec![0.0; width]);
        ours.expand(&x, &mut a);
        stans.expand(&x, &mut b);
        assert!(a.iter().zip(&b).all(close), "{a:?} is not {b:?}");
    }
    let check = octopus::check_model(&by_functions(), 1);
    assert!(check.good(), "{check}");
}
