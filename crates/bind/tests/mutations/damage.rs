//! Damage to programs and data: of bytes, of tokens, of statements and sizes.

use octopus_bind::{Data, DataNumbers, DataValue};
use std::path::PathBuf;

/// A generator that is small and always the same.
pub(crate) struct Xorshift(u64);

impl Xorshift {
    /// The generator of a case, by its number.
    pub(crate) fn of(case: u64) -> Self {
        // SplitMix64's finaliser, so that cases next to each other have nothing in common.
        let mut z = case.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((z ^ (z >> 31)) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Numbers at which things go wrong.
const NUMBERS: [&str; 14] =
    ["0", "1", "-1", "2", "3", "100", "70000", "268435456", "2147483647", "0.5", "-0.0", "1e308", "1e-320", "1000000"];

/// Words and signs of the language.
const WORDS: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "|",
    "~",
    "=",
    "+=",
    "'",
    "?",
    ":",
    "*",
    "/",
    "+",
    "-",
    "^",
    ".*",
    "<",
    "==",
    "&&",
    "!",
    "int",
    "real",
    "vector",
    "matrix",
    "row_vector",
    "simplex",
    "ordered",
    "array[2]",
    "while",
    "for",
    "if",
    "else",
    "return",
    "break",
    "target",
];

/// Functions of one argument that take most things.
const FUNCTIONS: [&str; 32] = [
    "exp",
    "log",
    "sqrt",
    "sum",
    "mean",
    "sd",
    "max",
    "min",
    "rows",
    "cols",
    "size",
    "num_elements",
    "to_vector",
    "to_row_vector",
    "to_array_1d",
    "to_matrix",
    "softmax",
    "log_sum_exp",
    "cumulative_sum",
    "inverse",
    "diagonal",
    "diag_matrix",
    "cholesky_decompose",
    "sort_asc",
    "reverse",
    "inv_logit",
    "log_determinant",
    "prod",
    "dot_self",
    "lgamma",
    "tcrossprod",
    "identity_matrix",
];

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
        let mut words: Vec<String> =
            programs.iter().flat_map(|(text, _)| tokens(text)).filter(|token| !token.trim().is_empty()).collect();
        words.sort();
        words.dedup();
        Self { programs, words }
    }

    /// A program and its data with a few kinds of damage.
    pub(crate) fn damaged(&self, random: &mut Xorshift) -> (String, Data) {
        let (text, data) = random.one_of(&self.programs);
        let (mut text, mut data) = (text.clone(), data.clone());
        for _ in 0..1 + random.below(4) / 2 {
            match random.below(14) {
                0 => text = bytes_damaged(&text, random),
                1..=4 => text = self.tokens_damaged(&text, random),
                5..=9 => text = statements_damaged(&text, random),
                _ => data = data_damaged(data, random),
            }
        }
        (text, data)
    }

    fn tokens_damaged(&self, text: &str, random: &mut Xorshift) -> String {
        let mut tokens = tokens(text);
        let is = |kind: fn(&str) -> bool, tokens: &[String]| -> Vec<usize> {
            (0..tokens.len()).filter(|&k| kind(&tokens[k])).collect()
        };
        let words = is(|t| t.starts_with(|c: char| c.is_ascii_alphabetic()), &tokens);
        let numbers = is(|t| t.starts_with(|c: char| c.is_ascii_digit()), &tokens);
        let all = is(|t| !t.trim().is_empty(), &tokens);
        if words.is_empty() || all.is_empty() {
            return text.to_owned();
        }
        match random.below(9) {
            // Most of all a name stands where another one was: such programs come far.
            0 => {
                let (a, b) = (*random.one_of(&words), *random.one_of(&words));
                tokens[a] = tokens[b].clone();
            }
            1..=3 if !numbers.is_empty() => tokens[*random.one_of(&numbers)] = (*random.one_of(&NUMBERS)).into(),
            4 => {
                let (a, b) = (*random.one_of(&all), *random.one_of(&all));
                tokens.swap(a, b);
            }
            5 => tokens[*random.one_of(&all)] = String::new(),
            6 => tokens[*random.one_of(&all)] = random.one_of(&self.words).clone(),
            7 => {
                tokens[*random.one_of(&words)] =
                    format!("{}({})", random.one_of(&FUNCTIONS), tokens[*random.one_of(&words)])
            }
            _ => tokens[*random.one_of(&all)] = (*random.one_of(&WORDS)).into(),
        }
        tokens.concat()
    }
}

/// Words, numbers, blanks and signs.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut last = 2;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(token) if kind(c) == last && last != 2 => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = kind(c);
    }
    tokens
}

fn bytes_damaged(text: &str, random: &mut Xorshift) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (at, until) = (random.below(bytes.len()), random.below(bytes.len()));
    match random.below(4) {
        0 => bytes[at] = random.below(256) as u8,
        1 => drop(bytes.drain(at..(at + random.below(30)).min(text.len()))),
        2 => bytes.insert(at, b"(){}[];,'~0-^"[random.below(13)]),
        _ => {
            let piece = bytes[at.min(until)..at.max(until).min(at.min(until) + 60)].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, piece);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where statements begin and end: at semicolons and braces.
fn statements(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut open: Vec<usize> = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            ';' => {
                found.push((start, at + 1));
                start = at + 1;
            }
            '{' => {
                open.push(start);
                start = at + 1;
            }
            '}' => {
                start = at + 1;
                if let Some(from) = open.pop()
                    && !open.is_empty()
                {
                    found.push((from, at + 1));
                }
            }
            _ => {}
        }
    }
    found
}

fn statements_damaged(text: &str, random: &mut Xorshift) -> String {
    let all = statements(text);
    if all.is_empty() {
        return text.to_owned();
    }
    let (a, b) = (*random.one_of(&all), *random.one_of(&all));
    let (first, second) = (&text[a.0..a.1], &text[b.0..b.1]);
    let with = |at: (usize, usize), piece: &str| format!("{}{piece}{}", &text[..at.0], &text[at.1..]);
    match random.below(8) {
        0 => with(a, ""),
        1 => with(a, &format!("{first}{first}")),
        2 => with(a, second),
        3 => with((a.1, a.1), second),
        4 => with(a, &format!("for (i_ in 1:{}) {{ {first} }}", random.one_of(&NUMBERS[..9]))),
        5 => with(a, &format!("while (1) {{ {first} {} }}", random.one_of(&["break;", "", "continue;", second]))),
        6 => with(
            a,
            &format!(
                "if ({} > 0) {{ {first} }} else {{ {second} }}",
                random.one_of(&["1", "0", "N", "T", "sigma", "K"])
            ),
        ),
        _ => with(a, &format!("{{ {first} {second} }}")),
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
