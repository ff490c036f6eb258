//! What users call the ways in which chains start.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// How the chains of a run start. Its text is a word, or the path of a file or run folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Init {
    /// Uniformly around the density's center.
    #[default]
    Jitter,
    /// At draws from the model's prior.
    Prior,
    /// At draws of normals along paths to the modes.
    Pathfinder,
    /// At the values of parameters in this file, or at draws of the run in this folder, whose coordinates, metric and step
    /// size are the first guesses of warm-up.
    From(PathBuf),
}

impl Init {
    /// The ways that have a word, with their words.
    const WORDS: [(Self, &'static str); 3] =
        [(Self::Jitter, "jitter"), (Self::Prior, "prior"), (Self::Pathfinder, "pathfinder")];

    /// Returns whether chains start as they do where nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Init {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, Self::WORDS.iter().find(|(init, _)| init == self)) {
            (Self::From(path), _) => write!(f, "{}", path.display()),
            (_, word) => f.write_str(word.map_or("", |(_, word)| word)),
        }
    }
}

impl FromStr for Init {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let known = Self::WORDS.into_iter().find(|(_, word)| *word == text);
        Ok(known.map_or_else(|| Self::From(text.into()), |(init, _)| init))
    }
}

impl Serialize for Init {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Init {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ok(init) = String::deserialize(deserializer)?.parse();
        Ok(init)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_ways_and_all_else_is_a_path() {
        for text in ["jitter", "prior", "pathfinder", "/a/starts.json"] {
            let Ok(init) = text.parse::<Init>();
            assert_eq!((init.to_string().as_str(), init.is_default()), (text, text == "jitter"));
            assert_eq!(matches!(init, Init::From(_)), text.contains('/'));
        }
    }
}
