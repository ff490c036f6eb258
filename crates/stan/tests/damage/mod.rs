//! Damage to programs: to bytes, to words and signs, to statements. The tests of `octopus-bind` damage programs so, too.

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

    pub(crate) fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Numbers at which things go wrong.
const NUMBERS: [&str; 14] =
    ["0", "1", "-1", "2", "3", "100", "70000", "268435456", "2147483647", "0.5", "-0.0", "1e308", "1e-320", "1000000"];

/// Words and signs of the language.
pub(crate) const WORDS: [&str; 40] = [
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

/// All words and signs of some programs.
pub(crate) fn words_of<'a>(programs: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut words: Vec<String> = programs.flat_map(tokens).filter(|token| !token.trim().is_empty()).collect();
    words.sort();
    words.dedup();
    words
}

/// Damages a token; `words` are tokens that take the place of others.
pub(crate) fn tokens_damaged(text: &str, words_of_all: &[String], random: &mut Xorshift) -> String {
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
        6 => tokens[*random.one_of(&all)] = random.one_of(words_of_all).clone(),
        7 => {
            tokens[*random.one_of(&words)] =
                format!("{}({})", random.one_of(&FUNCTIONS), tokens[*random.one_of(&words)])
        }
        _ => tokens[*random.one_of(&all)] = (*random.one_of(&WORDS)).into(),
    }
    tokens.concat()
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

/// Damages bytes.
pub(crate) fn bytes_damaged(text: &str, random: &mut Xorshift) -> String {
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

/// Damages statements: takes them away, repeats, exchanges and nests them.
pub(crate) fn statements_damaged(text: &str, random: &mut Xorshift) -> String {
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
