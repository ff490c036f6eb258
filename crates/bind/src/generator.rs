//! Draws of Stan's distributions from a stream, with the same bits everywhere: what the `_rng` functions do.
//!
//! Parameters are checked as Stan's functions check them: a wrong one is an error in words, without the function's name.

mod matrices;
mod reals;
mod vectors;
mod wholes;

use octopus_random::Stream;

/// A draw, or what is wrong with a parameter.
pub(crate) type Drawn<T> = Result<T, String>;

/// A draw of one number, given as many parameters.
pub(crate) type DrawNumber = fn(&mut Stream, &[f64]) -> Drawn<f64>;

/// What a draw of a container is given: its numbers with the last index fastest, and its sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawParameter<'a> {
    pub(crate) values: &'a [f64],
    pub(crate) dims: &'a [usize],
}

/// A draw of a container, with its sizes.
pub(crate) type DrawMany = fn(&mut Stream, &[DrawParameter<'_>]) -> Drawn<(Vec<f64>, Vec<usize>)>;

/// A generator.
#[derive(Clone, Copy)]
pub(crate) enum Generator {
    /// It draws one number, or one for each element of containers.
    Each(DrawNumber),
    /// It draws one whole number given containers, or a container.
    Many(DrawMany),
    /// It draws a square matrix, of which the first parameter is the number of rows.
    Square(DrawMany),
}

/// The generator of a name with `_rng` at its end.
pub(crate) fn generator(name: &str) -> Option<Generator> {
    let name = name.strip_suffix("_rng")?;
    if let Some(draw) = reals::generator(name).or_else(|| wholes::generator(name)) {
        return Some(Generator::Each(draw));
    }
    if let Some(draw) = matrices::square(name) {
        return Some(Generator::Square(draw));
    }
    vectors::generator(name).or_else(|| matrices::generator(name)).map(Generator::Many)
}

/// A parameter that must be positive and finite.
fn positive(name: &str, x: f64) -> Drawn<f64> {
    if x > 0.0 && x.is_finite() { Ok(x) } else { Err(format!("{name} is {x}, but must be positive and finite")) }
}

/// A parameter that must be finite.
fn finite(name: &str, x: f64) -> Drawn<f64> {
    if x.is_finite() { Ok(x) } else { Err(format!("{name} is {x}, but must be finite")) }
}

/// A parameter that must be a probability.
fn probability(name: &str, x: f64) -> Drawn<f64> {
    if (0.0..=1.0).contains(&x) { Ok(x) } else { Err(format!("{name} is {x}, but must be from 0 to 1")) }
}

/// A parameter that must be a number of things.
fn size(name: &str, x: f64) -> Drawn<f64> {
    if x >= 0.0 { Ok(x) } else { Err(format!("{name} is {x}, but must not be below 0")) }
}

/// A draw of the gamma distribution with scale 1.
fn standard_gamma(random: &mut Stream, shape: f64) -> Drawn<f64> {
    let gamma = octopus_random::Gamma::new(shape, 1.0).map_err(|error| error.to_string())?;
    Ok(gamma.draw_from(random))
}

/// The logarithm of such a draw: of a small shape the draw itself may be too small for a number.
fn log_gamma(random: &mut Stream, shape: f64) -> Drawn<f64> {
    if shape >= 1.0 {
        return Ok(octopus_random::exact::ln(standard_gamma(random, shape)?));
    }
    let above = standard_gamma(random, shape + 1.0)?;
    Ok(octopus_random::exact::ln(above) + octopus_random::exact::ln(random.uniform()) / shape)
}

fn chi_square(random: &mut Stream, degrees: f64) -> Drawn<f64> {
    Ok(2.0 * standard_gamma(random, 0.5 * degrees)?)
}

#[cfg(test)]
mod tests;
