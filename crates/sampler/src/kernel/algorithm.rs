//! The list of samplers, and how a setting names one.

use super::{Chees, Hmc, Kernel, Mams, Nuts, Walnuts};
use crate::config::{ConfigError, SamplerConfig};
use crate::draw::{DrawStats, ReadStatistic};
use crate::population::{ImportanceConfig, PathfinderConfig, PopulationMethod, SmcConfig};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// What draws for a sampler.
pub(crate) enum Method {
    /// A kernel moves chains.
    Chains(Box<dyn Kernel>),
    /// All draws are particles of a population, which is drawn at once, without warm-up.
    Population(Box<dyn PopulationMethod>),
}

/// Makes the enumeration of the samplers from their list: the name of each, whether it moves chains or draws a population,
/// and the type that has its settings and does it.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident($settings:ty) = $name:literal by $method:ident,)*) => {
        /// The sampler that moves the chains, with its settings.
        ///
        /// In a file of settings it is a name, `algorithm = "hmc"`, or a name with settings,
        /// `algorithm = { hmc = { leapfrogs = 20 } }`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(remote = "Self")]
        pub enum Algorithm {
            /// The No-U-Turn Sampler (Hoffman and Gelman 2014; Betancourt 2017).
            #[serde(rename = "nuts")]
            Nuts,
            $($(#[$doc])* #[serde(rename = $name)] $variant($settings),)*
        }

        impl Algorithm {
            /// The names of all samplers, as settings have them.
            pub const NAMES: &[&str] = &["nuts", $($name),*];

            /// Returns its name.
            pub fn name(&self) -> &'static str {
                match self {
                    Self::Nuts => "nuts",
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Returns the sampler of this name with its default settings.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    "nuts" => Some(Self::Nuts),
                    $($name => Some(Self::$variant(<$settings>::default())),)*
                    _ => None,
                }
            }

            /// Returns what draws for it.
            pub(crate) fn method(&self) -> Method {
                match self {
                    Self::Nuts => Method::Chains(Box::new(Nuts)),
                    $(Self::$variant(settings) => Method::$method(Box::new(settings.clone())),)*
                }
            }
        }
    };
}

algorithms! {
    /// Hamiltonian Monte Carlo with trajectories of a given length (Duane et al. 1987; Neal 2011).
    Hmc(Hmc) = "hmc" by Chains,
    /// Hamiltonian Monte Carlo that learns the length of its trajectories from many chains (Hoffman, Radul and Sountsov 2021).
    Chees(Chees) = "chees" by Chains,
    /// The adjusted microcanonical sampler (Robnik, Cohn-Gordon and Seljak 2025).
    Mams(Mams) = "mams" by Chains,
    /// NUTS whose steps are halved where the energy asks for it (Bou-Rabee, Carpenter, Kleppe and Liu 2025).
    Walnuts(Walnuts) = "walnuts" by Chains,
    /// [Importance sampling](crate::importance): draws are chosen among weighted particles.
    Importance(ImportanceConfig) = "importance" by Population,
    /// [Sequential Monte Carlo](crate::smc): each chain is a repetition, each of its draws a particle.
    Smc(SmcConfig) = "smc" by Population,
    /// [Pathfinder](crate::pathfinder), an approximation: draws are chosen among those of normals.
    Pathfinder(PathfinderConfig) = "pathfinder" by Population,
}

impl Default for Algorithm {
    fn default() -> Self {
        Self::Nuts
    }
}

impl Algorithm {
    /// Returns the kernel that moves its chains, if it has chains.
    pub(crate) fn kernel(&self) -> Option<Box<dyn Kernel>> {
        match self.method() {
            Method::Chains(kernel) => Some(kernel),
            Method::Population(_) => None,
        }
    }

    /// Returns the statistics of a draw that it reports, in the order of a run folder's columns: each under ArviZ's name,
    /// with how it is read.
    pub fn statistics(&self) -> impl Iterator<Item = (&'static str, ReadStatistic)> + use<> {
        let own = match self.method() {
            Method::Chains(kernel) => kernel.statistics(),
            Method::Population(_) => &["lp", "log_weight"],
        };
        DrawStats::ALL.iter().copied().filter(|(name, _)| own.contains(name))
    }

    /// Returns the target of acceptance that suits it.
    pub fn target_accept(&self) -> f64 {
        self.kernel().map_or(SamplerConfig::default().target_accept, |kernel| kernel.target_accept())
    }

    /// Returns whether it draws a population of particles, without warm-up, and moves no chain.
    pub fn draws_population(&self) -> bool {
        matches!(self.method(), Method::Population(_))
    }

    /// Returns whether its chains warm up together with [`Strategy::CrossChain`](crate::Strategy::CrossChain).
    pub(crate) fn warms_up_across_chains(&self) -> bool {
        self.kernel().is_some_and(|kernel| kernel.warms_up_across_chains())
    }

    /// Returns the smallest number of coordinates that it samples.
    pub fn least_dim(&self) -> usize {
        self.kernel().map_or(1, |kernel| kernel.least_dim())
    }

    /// Returns whether it has kernels for GPUs.
    pub fn is_on_gpu(&self) -> bool {
        match self.method() {
            Method::Chains(kernel) => kernel.is_on_gpu(),
            Method::Population(method) => method.is_on_gpu(),
        }
    }

    /// Returns whether a run is given the particles of its population, as [`Starts::Points`](crate::Starts::Points).
    pub fn takes_particles(&self) -> bool {
        matches!(self.method(), Method::Population(method) if method.takes_particles())
    }

    /// Checks its settings.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self.method() {
            Method::Chains(kernel) => kernel.validate(),
            Method::Population(method) => method.validate(),
        }
    }
}

impl Serialize for Algorithm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if Self::named(self.name()).as_ref() == Some(self) && serializer.is_human_readable() {
            return serializer.serialize_str(self.name());
        }
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Algorithm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(AlgorithmText)
        } else {
            Self::deserialize(deserializer)
        }
    }
}

/// A sampler as text has it: its name, or a table of its settings under its name.
struct AlgorithmText;

impl<'de> Visitor<'de> for AlgorithmText {
    type Value = Algorithm;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "a sampler ({}), or a table of its settings under its name", Algorithm::NAMES.join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Algorithm, E> {
        Algorithm::named(name).ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Algorithm, A::Error> {
        Algorithm::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SamplerConfig;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error as ValueError, MapDeserializer};
    use std::collections::BTreeMap;

    fn of_text(name: &str) -> Result<Algorithm, ValueError> {
        <Algorithm as Deserialize>::deserialize(name.into_deserializer())
    }

    fn of_table(name: &str, settings: &[(&str, f64)]) -> Result<Algorithm, ValueError> {
        let settings: BTreeMap<&str, f64> = settings.iter().copied().collect();
        <Algorithm as Deserialize>::deserialize(MapDeserializer::new([(name, settings)].into_iter()))
    }

    #[test]
    fn a_name_or_a_table_is_a_sampler() {
        for name in Algorithm::NAMES {
            let algorithm = of_text(name).unwrap();
            assert_eq!((algorithm.name(), Algorithm::named(name)), (*name, Some(algorithm.clone())));
            assert_eq!(algorithm.validate(), Ok(()));
        }
        let short = Algorithm::Hmc(Hmc { length: 0.5, ..Hmc::default() });
        assert_eq!(of_table("hmc", &[("length", 0.5)]).unwrap(), short);
        let unknown = of_text("gibbs").unwrap_err().to_string();
        assert!(unknown.contains("\"gibbs\"") && unknown.contains("nuts, hmc, chees"), "{unknown}");
        let foreign = of_table("chees", &[("steps", 3.0)]).unwrap_err().to_string();
        assert!(foreign.contains("`steps`") && foreign.contains("`jitter`"), "{foreign}");
    }

    /// Checkpoints of NUTS have no byte of it; those of others have it with its settings.
    #[test]
    fn bytes_of_settings_know_no_sampler() {
        let algorithm = Algorithm::Hmc(Hmc { leapfrogs: Some(3), ..Hmc::default() });
        let (nuts, hmc) = (SamplerConfig::default(), SamplerConfig { algorithm, ..SamplerConfig::default() });
        let bytes = postcard::to_stdvec(&hmc).unwrap();
        assert_eq!(bytes, postcard::to_stdvec(&nuts).unwrap());
        assert_eq!(postcard::from_bytes::<SamplerConfig>(&bytes).unwrap(), nuts);
        let own = postcard::to_stdvec(&hmc.algorithm).unwrap();
        assert_eq!(postcard::from_bytes::<Algorithm>(&own).unwrap(), hmc.algorithm);
    }

    /// The table of names and meanings has every one of them.
    #[test]
    fn samplers_report_statistics_of_the_table() {
        for name in Algorithm::NAMES {
            let algorithm = Algorithm::named(name).unwrap();
            let own = algorithm.kernel().map_or(2, |kernel| kernel.statistics().len());
            assert_eq!(algorithm.statistics().count(), own, "{name}");
            assert!(algorithm.statistics().any(|(name, _)| name == "lp"), "{name}");
        }
    }

    #[test]
    fn settings_are_refused_beyond_their_limits() {
        let field = |algorithm: Algorithm| {
            let config = SamplerConfig { algorithm, ..SamplerConfig::default() };
            config.validate().err().map(|error| error.field)
        };
        let hmc = |change: &dyn Fn(&mut Hmc)| {
            let mut settings = Hmc::default();
            change(&mut settings);
            field(Algorithm::Hmc(settings))
        };
        assert_eq!((hmc(&|h| h.leapfrogs = Some(1)), hmc(&|h| h.leapfrogs = Some(0))), (None, Some("leapfrogs")));
        assert_eq!((hmc(&|h| h.step_size = Some(1e-9)), hmc(&|h| h.step_size = Some(0.0))), (None, Some("step_size")));
        assert_eq!((hmc(&|h| h.length = 1e-9), hmc(&|h| h.length = f64::INFINITY)), (None, Some("length")));
        for (jitter, expected) in [(0.0, None), (1.0, None), (1.0 + 1e-9, Some("jitter")), (-1e-9, Some("jitter"))] {
            assert_eq!(hmc(&|h| h.jitter = jitter), expected);
            assert_eq!(field(Algorithm::Chees(Chees { jitter })), expected);
            assert_eq!(field(Algorithm::Mams(Mams { jitter })), expected);
        }
        let walnuts = |max_error, max_halvings| field(Algorithm::Walnuts(Walnuts { max_error, max_halvings }));
        assert_eq!((walnuts(1e-9, 0), walnuts(0.5, 20)), (None, None));
        assert_eq!((walnuts(0.0, 0), walnuts(0.5, 21)), (Some("max_error"), Some("max_halvings")));
    }
}
