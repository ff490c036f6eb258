//! What the functions of the math library take and give: one table, `signatures.txt`, whose head says how to read it.

use crate::types::{BaseType, StanType};
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// What a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArgumentType {
    /// The type.
    pub ty: StanType,
    /// Whether it must not depend on parameters.
    pub is_data: bool,
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// What it takes, in order.
    pub arguments: Vec<ArgumentType>,
    /// What it gives; `None` is void.
    pub result: Option<StanType>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<String> = self.arguments.iter().map(ArgumentType::to_string).collect();
        let result = self.result.map_or("void".into(), |ty| ty.to_string());
        write!(f, "({}) => {result}", arguments.join(", "))
    }
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_data { "data " } else { "" }, self.ty)
    }
}

/// The table, read line by line and written out per function when one is asked for.
struct Library {
    entries: HashMap<String, Entry>,
}

#[derive(Default)]
struct Entry {
    forms: Vec<LibraryForm>,
    written_out: OnceLock<Vec<Signature>>,
}

/// A piece of a line that gives signatures.
enum LibraryForm {
    /// `(arguments) -> result range`.
    Function(&'static str),
    /// `(variate, parameters)` of a density or a cumulative function.
    Distribution(&'static str),
    /// The same, of a generator.
    Generator(&'static str),
}

/// All signatures of a function; none if the library has no such function. `_lupdf` is `_lpdf` here.
pub(crate) fn of(name: &str) -> &'static [Signature] {
    library().entries.get(&normalised(name)).map_or(&[], Entry::signatures)
}

/// Whether the library has a function of this name.
pub(crate) fn is_function(name: &str) -> bool {
    library().entries.contains_key(&normalised(name))
}

/// The names of all functions.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    library().entries.keys().map(String::as_str)
}

/// The name with `_lpdf` for `_lupdf` and `_lpmf` for `_lupmf`.
pub(crate) fn normalised(name: &str) -> String {
    [("_lupdf", "_lpdf"), ("_lupmf", "_lpmf")]
        .into_iter()
        .find_map(|(from, to)| Some(format!("{}{to}", name.strip_suffix(from)?)))
        .unwrap_or_else(|| name.to_owned())
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::read(include_str!("signatures.txt")))
}

impl Library {
    fn read(table: &'static str) -> Self {
        let mut library = Self { entries: HashMap::new() };
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        for (names, forms) in lines.filter_map(|line| line.split_once(": ")) {
            for name in names.split(' ') {
                library.add(name, forms);
            }
        }
        library
    }

    fn add(&mut self, name: &str, forms: &'static str) {
        if forms.starts_with('(') {
            let entry = self.entries.entry(name.to_owned()).or_default();
            entry.forms.extend(forms.split("; ").map(LibraryForm::Function));
        } else if let Some((suffixes, arguments)) = forms.split_once('(') {
            for suffix in suffixes.split_whitespace() {
                let entry = self.entries.entry(format!("{name}_{suffix}")).or_default();
                entry.forms.push(match suffix {
                    "rng" => LibraryForm::Generator(arguments),
                    _ => LibraryForm::Distribution(arguments),
                });
            }
        }
    }
}

impl Entry {
    fn signatures(&self) -> &[Signature] {
        self.written_out.get_or_init(|| {
            let mut all: Vec<Signature> = self.forms.iter().flat_map(LibraryForm::signatures).collect();
            all.sort_unstable();
            all.dedup();
            all
        })
    }
}

impl LibraryForm {
    fn signatures(&self) -> Vec<Signature> {
        match self {
            Self::Function(text) => function(text).unwrap_or_default(),
            Self::Distribution(arguments) => {
                let arguments = list(arguments, false);
                each(&arguments, Binding::NONE, |_| Some(StanType::REAL))
            }
            Self::Generator(arguments) => {
                let arguments = list(arguments, true);
                let Some((variate, parameters)) = arguments.split_first() else { return Vec::new() };
                let is_int = variate.kinds.iter().all(|kind| kind.base == Base::One(BaseType::Int));
                let base = if is_int { BaseType::Int } else { BaseType::Real };
                each(parameters, Binding::NONE, |arguments| {
                    let arrays = u8::from(!arguments.iter().all(|argument| argument.ty.is_scalar()));
                    Some(StanType { base, arrays })
                })
            }
        }
    }
}

/// The signatures of a form `(arguments) -> result range`.
fn function(text: &str) -> Option<Vec<Signature>> {
    let (arguments, rest) = text.strip_prefix('(')?.split_once(") -> ")?;
    let (result, range) = rest.split_once(' ').unwrap_or((rest, "0..0"));
    let (low, high) = range.split_once("..")?;
    let (low, high): (u8, u8) = (low.parse().ok()?, high.parse().ok()?);
    let arguments = list(arguments, false);
    let variable = arguments.iter().flat_map(|argument| &argument.kinds).find_map(|kind| match kind.base {
        Base::Any(variable) => Some(variable),
        Base::One(_) => None,
    });
    let bases: Vec<Option<StanType>> = match variable {
        None => vec![None],
        Some(variable) => variable.bound_to().into_iter().map(Some).collect(),
    };
    let mut all = Vec::new();
    for of in bases {
        for deeper in low..=high {
            let binding = Binding { of, deeper };
            all.extend(each(&arguments, binding, |arguments| give(result, arguments, binding)));
        }
    }
    Some(all)
}

/// What a form gives for these arguments.
fn give(result: &str, arguments: &[ArgumentType], binding: Binding) -> Option<StanType> {
    let first = arguments.first().map(|argument| argument.ty);
    match result {
        "same" => first,
        "reals" => {
            let container = arguments.iter().map(|argument| argument.ty).find(|ty| !ty.is_scalar());
            container.or(first).map(StanType::with_reals)
        }
        "vectorised" => {
            let all_scalars = arguments.iter().all(|argument| argument.ty.is_scalar());
            Some(if all_scalars { StanType::REAL } else { StanType::VECTOR })
        }
        _ => Some(kinds(result).first()?.bound(binding)),
    }
}

/// An argument's alternatives.
struct Alternatives {
    kinds: Vec<TypeKind>,
    is_data: bool,
}

/// A type of the table: a base or a variable, in arrays, and perhaps in as many more as the whole form.
#[derive(Clone, Copy)]
struct TypeKind {
    base: Base,
    arrays: u8,
    is_deeper: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Base {
    One(BaseType),
    Any(TypeVariable),
}

/// The variables `T`, `V`, `M`, `C` and `D` of the table.
#[derive(Clone, Copy, PartialEq)]
enum TypeVariable {
    All,
    Vectors,
    Linear,
    Containers,
    RealContainers,
}

impl TypeVariable {
    fn bound_to(self) -> Vec<StanType> {
        let plain = BaseType::ALL.map(StanType::plain);
        let linear = [StanType::VECTOR, StanType::ROW_VECTOR, StanType::MATRIX];
        let reals = StanType::array(BaseType::Real, 1);
        let ints = StanType::array(BaseType::Int, 1);
        match self {
            Self::All => plain.to_vec(),
            Self::Vectors => linear[..2].to_vec(),
            Self::Linear => linear.to_vec(),
            Self::Containers => [&[ints, reals], &linear[..]].concat(),
            Self::RealContainers => [&[reals], &linear[..]].concat(),
        }
    }
}

/// What a form's variable stands for, and how many dimensions its marked types have more.
#[derive(Clone, Copy)]
struct Binding {
    of: Option<StanType>,
    deeper: u8,
}

impl Binding {
    const NONE: Self = Self { of: None, deeper: 0 };
}

impl TypeKind {
    const fn new(base: BaseType, arrays: u8) -> Self {
        Self { base: Base::One(base), arrays, is_deeper: false }
    }

    fn bound(self, binding: Binding) -> StanType {
        let ty = match self.base {
            Base::One(base) => StanType::plain(base),
            Base::Any(_) => binding.of.unwrap_or(StanType::REAL),
        };
        let deeper = if self.is_deeper { binding.deeper } else { 0 };
        StanType { arrays: ty.arrays + self.arrays + deeper, ..ty }
    }
}

/// Arguments parted by commas; `with_ints` adds the kinds of integers to the kinds of reals.
fn list(text: &str, with_ints: bool) -> Vec<Alternatives> {
    let text = text.trim_end_matches(')');
    let mut arguments = Vec::new();
    for argument in text.split(", ").filter(|argument| !argument.is_empty()) {
        let (argument, is_data) = argument.strip_prefix("data ").map_or((argument, false), |rest| (rest, true));
        let argument = if with_ints && argument == "reals" && !arguments.is_empty() { "numbers" } else { argument };
        arguments.push(Alternatives { kinds: kinds(argument), is_data });
    }
    arguments
}

/// The alternatives of one argument.
fn kinds(text: &str) -> Vec<TypeKind> {
    text.split('|').flat_map(kind).collect()
}

fn kind(word: &str) -> Vec<TypeKind> {
    use BaseType::*;
    match word {
        "ints" => vec![TypeKind::new(Int, 0), TypeKind::new(Int, 1)],
        "reals" => {
            vec![TypeKind::new(Real, 0), TypeKind::new(Real, 1), TypeKind::new(Vector, 0), TypeKind::new(RowVector, 0)]
        }
        "numbers" => kinds("ints|reals"),
        "vectors" => [Vector, RowVector].into_iter().flat_map(|b| [TypeKind::new(b, 0), TypeKind::new(b, 1)]).collect(),
        "deep" => BaseType::ALL.into_iter().flat_map(|base| (0..8).map(move |n| TypeKind::new(base, n))).collect(),
        _ => {
            let (word, is_deeper) = word.strip_suffix('^').map_or((word, false), |rest| (rest, true));
            let (name, arrays) = match word.split_once('[') {
                Some((name, rest)) => (name, rest.len() as u8),
                None => (word, 0),
            };
            let base = match name {
                "T" => Some(Base::Any(TypeVariable::All)),
                "V" => Some(Base::Any(TypeVariable::Vectors)),
                "M" => Some(Base::Any(TypeVariable::Linear)),
                "C" => Some(Base::Any(TypeVariable::Containers)),
                "D" => Some(Base::Any(TypeVariable::RealContainers)),
                _ => BaseType::ALL.into_iter().find(|base| base.name() == name).map(Base::One),
            };
            base.map(|base| TypeKind { base, arrays, is_deeper }).into_iter().collect()
        }
    }
}

/// The signatures for all choices of alternatives.
fn each(
    arguments: &[Alternatives],
    binding: Binding,
    result: impl Fn(&[ArgumentType]) -> Option<StanType>,
) -> Vec<Signature> {
    let mut choices: Vec<Vec<ArgumentType>> = vec![Vec::new()];
    for Alternatives { kinds, is_data } in arguments {
        let argument = |kind: &TypeKind| ArgumentType { ty: kind.bound(binding), is_data: *is_data };
        let longer = |choice: &Vec<ArgumentType>| {
            let choice = choice.clone();
            kinds.iter().map(move |kind| [&choice[..], &[argument(kind)]].concat()).collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(longer).collect();
    }
    let signature = |arguments: Vec<ArgumentType>| Some(Signature { result: Some(result(&arguments)?), arguments });
    choices.into_iter().filter_map(signature).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str) -> Vec<String> {
        of(name).iter().map(Signature::to_string).collect()
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        for name in names() {
            let entry = &library().entries[name];
            assert!(entry.forms.iter().all(|form| !form.signatures().is_empty()), "{name}");
        }
        assert_eq!(names().count(), 532);
    }

    #[test]
    fn densities_are_vectorised_in_each_argument() {
        assert_eq!(of("normal_lpdf").len(), 64);
        assert_eq!(of("normal_lupdf").len(), 64);
        assert!(written("normal_lpdf").contains(&"(vector, real, row_vector) => real".into()));
        assert!(written("normal_rng").contains(&"(real, array[] int) => array[] real".into()));
        assert!(written("poisson_rng").contains(&"(real) => int".into()));
    }

    #[test]
    fn elementwise_functions_keep_shapes_and_make_reals() {
        let exp = written("exp");
        assert!(exp.contains(&"(array[,] int) => array[,] real".into()) && exp.contains(&"(matrix) => matrix".into()));
        assert!(written("fma").contains(&"(real, vector, real) => vector".into()));
        assert_eq!(of("pow").len(), 204);
    }

    #[test]
    fn arguments_that_must_be_data_say_so() {
        assert_eq!(written("hmm_hidden_state_prob"), ["(data matrix, data matrix, data vector) => matrix"]);
    }

    /// Every signature of the table against stanc's own list, which is not part of the repository.
    #[test]
    fn the_table_is_stancs() {
        let Some(stanc) = std::env::var_os("OCTOPUS_STANC3") else {
            eprintln!("SKIPPED: OCTOPUS_STANC3 names no checkout of stan-dev/stanc3");
            return;
        };
        let path = std::path::Path::new(&stanc).join("test/integration/signatures/stan_math_signatures.t");
        let list = std::fs::read_to_string(path).expect("no list of signatures");
        let is_ours =
            |line: &&str| !line.contains("complex") && !line.contains("tuple") && !line.contains(") => vector,");
        let is_first_order = |line: &&str| line.matches("=>").count() == 1;
        let mut theirs: Vec<String> =
            list.lines().skip(2).map(str::trim).filter(is_ours).filter(is_first_order).map(str::to_owned).collect();
        let mut ours: Vec<String> = names()
            .flat_map(|name| of(name).iter().map(move |signature| format!("{name}{signature}").replace("data ", "")))
            .collect();
        theirs.sort();
        theirs.dedup();
        ours.sort();
        let lacking: Vec<_> = theirs.iter().filter(|line| ours.binary_search(line).is_err()).take(20).collect();
        let invented: Vec<_> = ours.iter().filter(|line| theirs.binary_search(line).is_err()).take(20).collect();
        assert!(lacking.is_empty() && invented.is_empty(), "lacking {lacking:#?}, invented {invented:#?}");
        assert!(ours.len() > 15_000, "{}", ours.len());
    }
}
