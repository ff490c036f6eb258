//! The list of samplers, and how a setting names one.

use super::{Chees, Hmc, Kernel, Mams, Walnuts, nuts};
use crate::draw::{DrawStats, ReadStatistic};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Makes the enumeration of the samplers from their list: the name of each, and the file that has its settings and moves
/// its chains.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident($settings:ty) = $name:literal,)*) => {
        /// The sampler that moves the chains, with its settings.
        ///
        /// In a file of settings it is a name, `algorithm = "hmc"`, or a name with settings,
        /// `algorithm = { hmc = { steps = 20 } }`.
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

            pub(crate) fn kernel(&self) -> &dyn Kernel {
                match self {
                    Self::Nuts => &nuts::Nuts,
                    $(Self::$variant(settings) => settings,)*
                }
            }
        }
    };
}

algorithms! {
    /// Hamiltonian Monte Carlo with trajectories of a given length (Duane et al. 1987; Neal 2011).
    Hmc(Hmc) = "hmc",
    /// Hamiltonian Monte Carlo that learns the length of its trajectories from many chains (Hoffman, Radul and Sountsov 2021).
    Chees(Chees) = "chees",
    /// The adjusted microcanonical sampler (Robnik, Cohn-Gordon and Seljak 2025).
    Mams(Mams) = "mams",
    /// NUTS whose steps are halved where the energy asks for it (Bou-Rabee, Carpenter, Kleppe and Liu 2025).
    Walnuts(Walnuts) = "walnuts",
}

impl Default for Algorithm {
    fn default() -> Self {
        Self::Nuts
    }
}

impl Algorithm {
    /// Returns the statistics of a draw that it reports, in the order of a run folder's columns: each under ArviZ's name,
    /// with how it is read.
    pub fn statistics(&self) -> impl Iterator<Item = (&'static str, ReadStatistic)> + use<> {
        let own = self.kernel().statistics();
        DrawStats::ALL.iter().copied().filter(|(name, _)| own.contains(name))
    }

    /// Returns the target of acceptance that suits it.
    pub fn target_accept(&self) -> f64 {
        self.kernel().target_accept()
    }

    /// Returns whether it has kernels for GPUs.
    pub fn is_on_gpu(&self) -> bool {
        self.kernel().is_on_gpu()
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
            deserializer.deserialize_any(Written)
        } else {
            Self::deserialize(deserializer)
        }
    }
}

/// A sampler as text has it: its name, or a table of its settings under its name.
struct Written;

impl<'de> Visitor<'de> for Written {
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
