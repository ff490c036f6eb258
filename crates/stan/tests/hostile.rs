//! Damaged and hostile programs: an error, never a panic, a hang or a stack that overflows.

use octopus_stan::{DiagnosticKind, StanError, StanProgram};
use proptest::prelude::*;

const PROGRAMS: [&str; 3] = [
    include_str!("programs/hierarchy.stan"),
    include_str!("programs/language.stan"),
    include_str!("programs/series.stan"),
];

/// Words and signs that are put into programs.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    "|",
    "~",
    "=",
    "+=",
    "'",
    "\"",
    "/*",
    "#include",
    "1e999",
    ".5",
    "99999999999",
    "i",
    "array",
    "real",
    "int",
    "vector",
    "matrix",
    "tuple",
    "complex",
    "target",
    "for",
    "while",
    "if",
    "else",
    "return",
    "functions",
    "é",
    "\u{0}",
    "x_lpdf",
    "-",
];

/// A generator that is small and always the same.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// The program with a piece cut out, moved or put in; pieces begin and end between words.
fn mutated(text: &str, random: &mut Xorshift) -> String {
    let cuts: Vec<usize> = text.char_indices().filter(|(_, c)| !c.is_alphanumeric()).map(|(at, _)| at).collect();
    let cut = |random: &mut Xorshift| cuts[random.below(cuts.len())];
    let mut text = text.to_owned();
    let (a, b, to) = (cut(random), cut(random), cut(random));
    let (from, until) = (a.min(b), a.max(b).min(a.min(b) + 40));
    let until = (until..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    match random.below(6) {
        // Most of all a word stands where another one was: such programs come to the checker.
        4.. => {
            let is_word = |word: &&str| word.starts_with(|c: char| c.is_alphanumeric());
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_word).collect();
            let (old, new) = (words[random.below(words.len())], words[random.below(words.len())]);
            let at = text.match_indices(old).map(|(at, _)| at).nth(random.below(3));
            let (length, new) = (old.len(), new.to_owned());
            if let Some(at) = at {
                text.replace_range(at..at + length, &new);
            }
        }
        0 => text.replace_range(from..until, ""),
        1 => {
            let piece = text[from..until].to_owned();
            text.insert_str(to, &piece);
        }
        2 => text.insert_str(to, &format!(" {} ", PIECES[random.below(PIECES.len())])),
        _ => text.replace_range(from..until, PIECES[random.below(PIECES.len())]),
    }
    text
}

#[test]
fn mutated_programs_are_taken_or_refused() {
    let mut random = Xorshift(0x5eed);
    let (mut taken, mut in_syntax, mut in_meaning) = (0, 0, 0);
    for round in 0..3000 {
        let mut text = PROGRAMS[round % PROGRAMS.len()].to_owned();
        for _ in 0..1 + random.below(3) {
            text = mutated(&text, &mut random);
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
    fn any_words_are_taken_or_refused(words in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: Vec<&str> = words.into_iter().map(|at| PIECES[at]).collect();
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
