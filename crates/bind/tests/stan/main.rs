//! Our log densities and gradients beside Stan's own.
//!
//! | module | what is compared |
//! |--|--|
//! | `values.rs` | small programs of ours with Stan's values in `values.json`, at every run |
//! | `posteriordb.rs` | posteriordb's programs with Stan's executables, on request; also how long a gradient takes |

mod posteriordb;
mod values;

use octopus_bind::{BoundModel, Data};
use octopus_program::Program;
use octopus_stan::StanProgram;

/// A log density with its gradient.
type Slopes = (f64, Vec<f64>);

/// Binds and compiles.
fn compiled(program: &StanProgram, data: &Data) -> Result<Program, String> {
    let model = BoundModel::new(program, data).map_err(|error| error.to_string())?;
    let program = model.compile().map_err(|error| error.to_string())?;
    Ok(program.with_threads(false))
}

/// Ours at a point; none where it is refused.
fn ours_at(program: &Program, x: &[f64]) -> Option<Slopes> {
    let mut gradient = vec![0.0; x.len()];
    let value = program.logp_grad(&mut program.workspace(), x, &mut gradient).ok()?;
    Some((value, gradient))
}

/// How far two results are apart.
#[derive(Clone, Copy, Default)]
struct Distance {
    /// The largest difference of a slope, relative to it or to 1.
    slope: f64,
    /// The same, relative to the largest slope of the point or to 1.
    largest_slope: f64,
    /// The largest difference of two points' densities, relative to the density or to 1.
    value: f64,
    /// Our log density less Stan's, at the first point.
    constant: f64,
    /// The coordinate of the largest difference of a slope.
    coordinate: usize,
}

impl std::fmt::Display for Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { slope, largest_slope, value, constant, coordinate } = self;
        write!(f, "slope {slope:.1e} of coordinate {coordinate} ({largest_slope:.1e} of the largest), ")?;
        write!(f, "value {value:.1e}, constant {constant:.1e}")
    }
}

impl Distance {
    /// Compares results at the same points.
    fn of(ours: &[Slopes], stans: &[Slopes]) -> Self {
        let worst = |most: f64, x: f64| if x.is_nan() { f64::INFINITY } else { most.max(x) };
        let mut all = Self::default();
        for (k, ((value, slopes), (expected, expected_slopes))) in ours.iter().zip(stans).enumerate() {
            if k == 0 {
                all.constant = value - expected;
            }
            all.value = worst(all.value, (value - expected - all.constant).abs() / expected.abs().max(1.0));
            let largest = expected_slopes.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            for (coordinate, (slope, expected)) in slopes.iter().zip(expected_slopes).enumerate() {
                let difference = (slope - expected).abs();
                let most = worst(all.slope, difference / expected.abs().max(1.0));
                if most > all.slope {
                    (all.slope, all.coordinate) = (most, coordinate);
                }
                all.largest_slope = worst(all.largest_slope, difference / largest);
            }
        }
        all
    }
}
