//! Damaged and hostile programs: an error, never a panic, a hang or a stack that overflows.

mod damage;

use damage::{WORDS, Xorshift};
use octopus_stan::{DiagnosticKind, StanError, StanProgram};
use proptest::prelude::*;

const PROGRAMS: [&str; 3] = [
    include_str!("programs/hierarchy.stan"),
    include_str!("programs/language.stan"),
    include_str!("programs/series.stan"),
];

/// What stands in programs besides the words and signs that damage them.
const ODD: [&str; 15] = [
    ">",
    "\"",
    "/*",
    "#include",
    "1e999",
    ".5",
    "99999999999",
    "i",
    "array",
    "tuple",
    "complex",
    "functions",
    "é",
    "\u{0}",
    "x_lpdf",
];

#[test]
fn mutated_programs_are_taken_or_refused() {
    let words = damage::words_of(PROGRAMS.into_iter());
    let (mut taken, mut in_syntax, mut in_meaning) = (0, 0, 0);
    for round in 0..3000 {
        let mut text = PROGRAMS[round % PROGRAMS.len()].to_owned();
        let mut random = Xorshift::of(round as u64);
        for _ in 0..1 + random.below(3) {
            text = match random.below(4) {
                0 => damage::bytes_damaged(&text, &mut random),
                1 => damage::statements_damaged(&text, &mut random),
                _ => damage::tokens_damaged(&text, &words, &mut random),
            };
        }
        match StanProgram::parse("mutated.stan", &text) {
            Ok(_) => taken += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                match error.diagnostics()[0].kind {
                    DiagnosticKind::Syntax => in_syntax += 1,
                    _ => in_meaning += 1,
                }
            }
        }
    }
    // The mutations reach all parts.
    let counts = [taken, in_syntax, in_meaning];
    assert!(counts.iter().all(|&count| count > 50), "{counts:?} taken, refused by the parser, refused by the checker");
}

proptest! {
    #[test]
    fn any_text_is_taken_or_refused(text in ".{0,200}") {
        let _ = StanProgram::parse("any.stan", &text).map_err(|error| error.to_string());
    }

    #[test]
    fn any_words_are_taken_or_refused(words in proptest::collection::vec(0..WORDS.len() + ODD.len(), 0..60)) {
        let word = |at: usize| WORDS.get(at).unwrap_or_else(|| &ODD[at - WORDS.len()]);
        let text: Vec<&str> = words.into_iter().map(|at| *word(at)).collect();
        let _ = StanProgram::parse("any.stan", &format!("model {{ {} }}", text.join(" "))).map_err(|error| error.to_string());
    }
}

fn refusal(text: &str) -> StanError {
    StanProgram::parse("deep.stan", text).expect_err("it is taken")
}

#[test]
fn what_is_nested_too_deeply_is_an_error() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("{", "1", "}"),
        ("[", "1", "]"),
        ("-", "1", ""),
        ("1 ^ ", "1", ""),
        ("x[", "1", "]"),
        ("f(", "1", ")"),
        ("1 ? 1 : ", "1", ""),
        ("1 + ", "1", ""),
        ("1 < ", "1", ""),
        ("x", "", "'"),
        ("x", "", "[1]"),
    ] {
        let text = format!("model {{ target += {}{middle}{}; }}", open.repeat(50_000), close.repeat(50_000));
        let text = text.replace(&"x".repeat(50_000), "x");
        assert!(refusal(&text).to_string().contains("nested too deeply"), "{open}{middle}{close}");
    }
    for (open, close) in
        [("{", "}"), ("if (1) ", ""), ("for (i in 1:2) ", ""), ("if (1) {} else ", ""), ("profile(\"a\") {", "}")]
    {
        let text = format!("model {{ {} ; {} }}", open.repeat(50_000), close.repeat(50_000));
        assert!(refusal(&text).to_string().contains("nested too deeply"), "{open}");
    }
    let tuples = format!("data {{ {} }}", "tuple(".repeat(50_000));
    assert!(refusal(&tuples).to_string().contains("nested too deeply"));
}

#[test]
fn long_sums_and_deep_brackets_that_people_write_are_taken() {
    let sum = vec!["1"; 400].join(" + ");
    let brackets = format!("{}1{}", "(".repeat(150), ")".repeat(150));
    let blocks = format!("{}{}", "{".repeat(150), "}".repeat(150));
    let text = format!("model {{ target += {sum}; target += {brackets}; {blocks} }}");
    StanProgram::parse("long.stan", &text).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn an_array_of_too_many_dimensions_is_an_error() {
    let sizes = vec!["1"; 300].join(", ");
    assert!(refusal(&format!("data {{ array[{sizes}] int x; }}")).to_string().contains("64 dimensions"));
    let commas = ",".repeat(300);
    let text = format!("functions {{ real f(array[{commas}] int x) {{ return 1; }} }}");
    assert!(refusal(&text).to_string().contains("64 dimensions"));
}

#[test]
fn the_messages_of_a_long_program_are_bounded() {
    let text = format!("model {{ {} }}", "target += unknown_name + 1; ".repeat(20_000));
    let error = refusal(&text);
    assert!(error.diagnostics().len() <= 100);
    assert!(error.to_string().len() < 100_000);
}
