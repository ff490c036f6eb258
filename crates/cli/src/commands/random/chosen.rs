//! The distribution that the command line asks for.

use crate::args::{DistributionName, ParameterArgs};
use crate::exit::UsageError;
use clap::ValueEnum;
use octopus_random::{
    Beta, Draw, Exponential, FloatingPoint, Gamma, Normal, ParameterError, StudentT, Uniform, VonMises, VonMisesFisher,
    WrappedNormal,
};

/// A distribution with its parameters.
pub(super) struct NamedDistribution<T: FloatingPoint> {
    pub(super) distribution: Box<dyn Draw<T>>,
    /// Its name, e.g. `von-mises`.
    pub(super) name: String,
    /// It in words, e.g. `von-mises(loc=0, concentration=5)`.
    pub(super) words: String,
}

/// The parameters that the command line gives, of which a distribution takes its own.
struct GivenParameters {
    name: String,
    left: Vec<(&'static str, f64)>,
    direction: Vec<f64>,
    taken: Vec<String>,
}

impl<T: FloatingPoint> NamedDistribution<T> {
    /// Makes the distribution.
    ///
    /// # Errors
    /// When it lacks a parameter, does not know one, or one is out of range.
    pub(super) fn of(name: DistributionName, parameters: ParameterArgs) -> Result<Self, UsageError> {
        let word = name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let mut given = GivenParameters::new(word, parameters);
        let taken = match name {
            DistributionName::Uniform => boxed(Uniform::<T>::new(given.or("low", 0.0), given.or("high", 1.0))),
            DistributionName::Normal => boxed(Normal::<T>::new(given.or("loc", 0.0), given.or("scale", 1.0))),
            DistributionName::Exponential => boxed(Exponential::<T>::new(given.or("scale", 1.0))),
            DistributionName::Gamma => boxed(Gamma::<T>::new(given.needed("shape")?, given.or("scale", 1.0))),
            DistributionName::Beta => boxed(Beta::<T>::new(given.needed("a")?, given.needed("b")?)),
            DistributionName::StudentT => {
                boxed(StudentT::<T>::new(given.needed("df")?, given.or("loc", 0.0), given.or("scale", 1.0)))
            }
            DistributionName::VonMises => {
                boxed(VonMises::<T>::new(given.or("loc", 0.0), given.needed("concentration")?))
            }
            DistributionName::VonMisesFisher => {
                let direction = given.direction()?;
                boxed(VonMisesFisher::<T>::new(&direction, given.needed("concentration")?))
            }
            DistributionName::WrappedNormal => {
                boxed(WrappedNormal::<T>::new(given.or("loc", 0.0), given.or("scale", 1.0)))
            }
        };
        if let Some((option, value)) = given.left.first() {
            return Err(UsageError(format!("--{option} {value}: {} has no such parameter", given.name)));
        }
        if !given.direction.is_empty() {
            return Err(UsageError(format!("--direction: {} has no such parameter", given.name)));
        }
        let in_options = |error: ParameterError| match error.parameter {
            "direction" | "number of dimensions" => UsageError(format!("--direction: {error}")),
            parameter => UsageError(format!("--{parameter} {}: it must be {}", short(error.value), error.must)),
        };
        let distribution = taken.map_err(in_options)?;
        let words = format!("{}({})", given.name, given.taken.join(", "));
        Ok(Self { distribution, name: given.name, words })
    }
}

/// Returns a number as a user would write it: 1e-320 without its 319 zeros.
fn short(value: f64) -> String {
    let usual = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if usual { value.to_string() } else { format!("{value:e}") }
}

fn boxed<T: FloatingPoint, D: Draw<T> + 'static>(
    made: Result<D, ParameterError>,
) -> Result<Box<dyn Draw<T>>, ParameterError> {
    made.map(|own| Box::new(own) as Box<dyn Draw<T>>)
}

impl GivenParameters {
    fn new(name: String, parameters: ParameterArgs) -> Self {
        let ParameterArgs { loc, direction, concentration, scale, shape, a, b, df, low, high } = parameters;
        let all = [
            ("loc", loc),
            ("concentration", concentration),
            ("scale", scale),
            ("shape", shape),
            ("a", a),
            ("b", b),
            ("df", df),
            ("low", low),
            ("high", high),
        ];
        let left = all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Self { name, left, direction, taken: Vec::new() }
    }

    /// Takes the vector.
    fn direction<T: FloatingPoint>(&mut self) -> Result<Vec<T>, UsageError> {
        let numbers = std::mem::take(&mut self.direction);
        if numbers.is_empty() {
            return Err(UsageError(format!("{} needs --direction", self.name)));
        }
        let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        self.taken.push(format!("direction={}", words.join(",")));
        Ok(numbers.into_iter().map(T::from_f64).collect())
    }

    /// Takes a parameter that has a value without being given.
    fn or<T: FloatingPoint>(&mut self, name: &'static str, default: f64) -> T {
        let place = self.left.iter().position(|(given, _)| *given == name);
        let value = place.map_or(default, |place| self.left.remove(place).1);
        self.taken.push(format!("{name}={value}"));
        T::from_f64(value)
    }

    /// Takes a parameter that must be given.
    fn needed<T: FloatingPoint>(&mut self, name: &'static str) -> Result<T, UsageError> {
        if self.left.iter().any(|(given, _)| *given == name) {
            return Ok(self.or(name, 0.0));
        }
        Err(UsageError(format!("{} needs --{name}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use octopus_models::Registry;

    /// The distribution that these words of the command line ask for.
    fn chosen(words: &str) -> NamedDistribution<f64> {
        let words = format!("octopus random {words} --n 1");
        let cli = Cli::read(Registry::shipped(), words.split_whitespace()).unwrap();
        let Command::Random(args) = cli.command else { panic!("another command") };
        NamedDistribution::of(args.distribution, args.parameters).unwrap()
    }

    #[test]
    fn each_distribution_has_its_defaults_and_its_parameters() {
        for (words, name, told) in [
            ("uniform", "uniform", "low=0, high=1"),
            ("uniform --low -2 --high 3", "uniform", "low=-2, high=3"),
            ("normal", "normal", "loc=0, scale=1"),
            ("normal --loc 2 --scale 3", "normal", "loc=2, scale=3"),
            ("exponential", "exponential", "scale=1"),
            ("gamma --shape 2", "gamma", "shape=2, scale=1"),
            ("beta --a 2 --b 3", "beta", "a=2, b=3"),
            ("student-t --df 4", "student-t", "df=4, loc=0, scale=1"),
            ("von-mises --concentration 5", "von-mises", "loc=0, concentration=5"),
            (
                "von-mises-fisher --direction 0,1 --concentration 5",
                "von-mises-fisher",
                "direction=0,1, concentration=5",
            ),
            ("wrapped-normal", "wrapped-normal", "loc=0, scale=1"),
        ] {
            let found = chosen(words);
            assert_eq!((found.name.as_str(), found.words), (name, format!("{name}({told})")));
        }
    }

    #[test]
    fn numbers_are_short_and_usual_ones_as_people_write_them() {
        for (value, expected) in [
            (0.0, "0"),
            (-2.5, "-2.5"),
            (1e-5, "0.00001"),
            (1.5e-5, "0.000015"),
            (9e-6, "9e-6"),
            (7.5e15, "7500000000000000"),
            (1e16, "1e16"),
            (1.5e16, "1.5e16"),
            (-1e300, "-1e300"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), expected);
        }
    }
}
