//! Damage to programs and their data.

#[path = "../../../stan/tests/damage/mod.rs"]
mod text;

use octopus_bind::{Data, DataNumbers, DataValue};
use std::path::PathBuf;
pub(crate) use text::Xorshift;
use text::{bytes_damaged, statements_damaged, tokens_damaged, words_of};

/// Programs with data that fit, and all words of them.
pub(crate) struct Corpus {
    programs: Vec<(String, Data)>,
    words: Vec<String>,
}

impl Corpus {
    /// Reads the programs of the tests.
    pub(crate) fn read() -> Self {
        let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
        let mut programs = Vec::new();
        for folder in [tests.join("strangers"), tests.join("../../stan/tests/programs")] {
            let mut paths: Vec<PathBuf> =
                std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path()).collect();
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "stan"));
            paths.sort();
            for path in paths {
                let text = std::fs::read_to_string(&path).expect("a program");
                let text: String =
                    text.lines().filter(|line| !line.starts_with("#include")).map(|l| format!("{l}\n")).collect();
                let data = Data::read(path.with_extension("json")).unwrap_or_else(|_| Data::new("none"));
                programs.push((text, data));
            }
        }
        let words = words_of(programs.iter().map(|(text, _)| text.as_str()));
        Self { programs, words }
    }

    /// A program and its data with a few kinds of damage.
    pub(crate) fn damaged(&self, random: &mut Xorshift) -> (String, Data) {
        let (text, data) = random.one_of(&self.programs);
        let (mut text, mut data) = (text.clone(), data.clone());
        for _ in 0..1 + random.below(4) / 2 {
            match random.below(14) {
                0 => text = bytes_damaged(&text, random),
                1..=4 => text = tokens_damaged(&text, &self.words, random),
                5..=9 => text = statements_damaged(&text, random),
                _ => data = data_damaged(data, random),
            }
        }
        (text, data)
    }
}

fn data_damaged(data: Data, random: &mut Xorshift) -> Data {
    let names: Vec<String> = data.names().map(str::to_owned).collect();
    if names.is_empty() {
        return data;
    }
    let name = random.one_of(&names).clone();
    let Some(DataValue { mut shape, mut numbers }) = data.get(&name).cloned() else { return data };
    let place = random.below(numbers.len());
    match (random.below(4), &mut numbers) {
        (0, _) => {
            // One element less in the first dimension.
            if let Some(first) = shape.first().copied().filter(|&first| first > 0) {
                let length = numbers.len() / first * (first - 1);
                shape[0] = first - 1;
                match &mut numbers {
                    DataNumbers::Ints(values) => values.truncate(length),
                    DataNumbers::Reals(values) => values.truncate(length),
                }
            }
        }
        (_, DataNumbers::Ints(values)) if place < values.len() => {
            values[place] =
                *random.one_of(&[0, 1, -1, 2, 7, 1000, 70_000, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX]);
        }
        (_, DataNumbers::Reals(values)) if place < values.len() => {
            values[place] =
                *random.one_of(&[0.0, -0.0, -1.0, 1e308, 1e-308, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e9]);
        }
        _ => {}
    }
    data.with(&name, DataValue { shape, numbers })
}
