//! The time of a draw of each distribution, on one core and on all: the least of 15 passes over a million draws.
//!
//! `cargo run --release -p octopus-random --example speed`; `benchmarks/peers/random_speed.py` puts NumPy, SciPy and JAX
//! beside it.

use octopus_random::{
    Beta, Draw, Exponential, FloatingPoint, Gamma, Key, Normal, StudentT, Uniform, VonMises, VonMisesFisher,
    WrappedNormal,
};
use std::time::Instant;

const DRAWS: usize = 1_000_000;
const PASSES: u64 = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("distribution,type,ns_one_core,ns_all_cores");
    all::<f64>()?;
    all::<f32>()
}

fn all<T: FloatingPoint>() -> Result<(), Box<dyn std::error::Error>> {
    let number = T::from_f64;
    let (zero, one) = (number(0.0), number(1.0));
    timed("uniform", &Uniform::<T>::new(zero, one)?)?;
    timed("normal", &Normal::<T>::new(zero, one)?)?;
    timed("exponential", &Exponential::<T>::new(one)?)?;
    timed("gamma 3", &Gamma::<T>::new(number(3.0), one)?)?;
    timed("gamma 0.5", &Gamma::<T>::new(number(0.5), one)?)?;
    timed("beta 2 3", &Beta::<T>::new(number(2.0), number(3.0))?)?;
    timed("student-t 4", &StudentT::<T>::new(number(4.0), zero, one)?)?;
    for concentration in [0.1, 1.0, 5.0, 1e4] {
        timed(&format!("von-mises {concentration}"), &VonMises::<T>::new(zero, number(concentration))?)?;
    }
    timed("wrapped-normal", &WrappedNormal::<T>::new(zero, one)?)?;
    for (dimensions, concentration) in [(3, 0.1), (3, 5.0), (3, 1e4), (100, 5.0)] {
        let own = VonMisesFisher::new(&vec![one; dimensions], number(concentration))?;
        timed(&format!("von-mises-fisher {dimensions} {concentration}"), &own)?;
    }
    Ok(())
}

fn timed<T: FloatingPoint>(name: &str, distribution: &dyn Draw<T>) -> Result<(), Box<dyn std::error::Error>> {
    // Of vectors so many numbers are made.
    let mut out = vec![T::default(); DRAWS / distribution.dimensions() * distribution.dimensions()];
    let mut least = [f64::INFINITY; 2];
    for pass in 0..PASSES {
        let begin = Instant::now();
        distribution.fill(Key::new(pass), 0, &mut out)?;
        let one = begin.elapsed();
        let begin = Instant::now();
        distribution.par_fill(Key::new(pass), 0, &mut out)?;
        let all = begin.elapsed();
        for (least, time) in least.iter_mut().zip([one, all]) {
            *least = least.min(time.as_secs_f64());
        }
    }
    let [one, all] = least.map(|seconds| seconds * 1e9 * distribution.dimensions() as f64 / DRAWS as f64);
    println!("{name},{},{one:.2},{all:.2}", T::NAME);
    Ok(())
}
