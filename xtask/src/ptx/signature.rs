//! The kernels' declarations in the sources, and how they agree with the PTX's.

use super::listing::Listed;
use super::manifest::Entry;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// How every kernel's declaration begins.
const MARK: &str = "extern \"C\" __global__";

/// A kernel as the sources declare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) name: String,
    /// Type and name of each parameter; a name that `using` has given a type is written out.
    pub(super) parameters: Vec<String>,
}

/// The kernels that a file declares.
///
/// # Errors
/// When a declaration cannot be understood.
pub(super) fn signatures(text: &str) -> Result<Vec<Signature>> {
    let aliases = aliases(text);
    text.split(MARK).skip(1).map(|declaration| signature(declaration, &aliases)).collect()
}

/// What `using Name = type;` says, for each line that begins so: in a unit they are its structures.
fn aliases(text: &str) -> BTreeMap<&str, &str> {
    let alias = |line| {
        let (name, kind) = str::strip_prefix(line, "using ")?.strip_suffix(';')?.split_once(" = ")?;
        Some((name, kind))
    };
    text.lines().filter_map(alias).collect()
}

/// What follows the mark: `void __launch_bounds__(256) name(type name, ...) {`.
fn signature(declaration: &str, aliases: &BTreeMap<&str, &str>) -> Result<Signature> {
    let (head, _) = declaration.split_once('{').context("a kernel's declaration without a body")?;
    let (before, parameters) = head.rsplit_once('(').context("a kernel's declaration without parameters")?;
    let (parameters, _) = parameters.split_once(')').context("the parameters do not end")?;
    let name = before.split_whitespace().next_back().context("a kernel without a name")?;
    let parameters = at_commas(parameters).into_iter().map(|text| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match words.split_once(' ') {
            Some((kind, rest)) if aliases.contains_key(kind) => format!("{} {rest}", aliases[kind]),
            _ => words,
        }
    });
    Ok(Signature { name: name.to_owned(), parameters: parameters.filter(|text| !text.is_empty()).collect() })
}

/// The parts of a list, whose elements may have commas of their own between `<` and `>`.
fn at_commas(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = list.split(|sign| {
        match sign {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        sign == ',' && depth == 0
    });
    parts.collect()
}

/// PTX's kind of a parameter of C++: `b8` for a structure, whose size only the compiler knows.
fn kind(parameter: &str) -> Result<&'static str> {
    let (kind, name) = parameter.rsplit_once(' ').with_context(|| format!("{parameter:?} has no name"))?;
    Ok(match kind.strip_prefix("const ").unwrap_or(kind) {
        pointer if pointer.ends_with('*') => "u64",
        "unsigned long long" | "long long" => "u64",
        "unsigned" | "int" => "u32",
        "double" => "f64",
        "float" => "f32",
        structure if structure.starts_with("octopus::") => "b8",
        other => {
            bail!("{name}: a kernel takes no {other:?}; this list in xtask/src/ptx/signature.rs has what it takes")
        }
    })
}

/// The PTX's kernels with the declarations that they come from, in the order of their names, without resources.
///
/// # Errors
/// When sources and PTX disagree.
pub(super) fn join(module: &str, signatures: Vec<Signature>, listed: Vec<Listed>) -> Result<Vec<Entry>> {
    let mut signatures: BTreeMap<String, Vec<String>> =
        signatures.into_iter().map(|signature| (signature.name, signature.parameters)).collect();
    let mut entries = Vec::new();
    for Listed { name, parameters, threads } in listed {
        let declared =
            signatures.remove(&name).with_context(|| format!("{name} is in the PTX and not in the sources"))?;
        let kinds = declared.iter().map(|parameter| kind(parameter)).collect::<Result<Vec<_>>>();
        let kinds = kinds.with_context(|| format!("the declaration of {name}"))?;
        // Of a structure the PTX tells the size as well.
        let same = |(ours, theirs): (&&str, &String)| match *ours {
            "b8" => theirs.starts_with("b8["),
            plain => plain == theirs,
        };
        if kinds.len() != parameters.len() || !kinds.iter().zip(&parameters).all(same) {
            bail!("{name} takes {kinds:?} by its declaration and {parameters:?} by the PTX");
        }
        let module = module.to_owned();
        entries.push(Entry {
            name,
            module,
            parameters: declared,
            kinds: parameters,
            threads,
            resources: BTreeMap::new(),
            newest: BTreeMap::new(),
        });
    }
    if let Some((name, _)) = signatures.into_iter().next() {
        bail!("{name} is declared and not in the PTX of {module}");
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: &str = "extern \"C\" __global__ void __launch_bounds__(256)\n    scale(const float* x, float a,\n unsigned long long n) {\n  f([=](u64 i) { x[i]; });\n}\n";
    const RUN: &str = "\
using Data = octopus::nuts::HierarchicalNormalData<double, double>;
using Launch = octopus::nuts::Launch<double, double>;
extern \"C\" __global__ void __launch_bounds__(128)
    nuts_run_x(Data data, Launch launch, octopus::Pair<float, int> pair) { run<Data>(data, launch); }
";

    fn listed(name: &str, parameters: &[&str]) -> Vec<Listed> {
        let parameters = parameters.iter().map(|kind| (*kind).to_owned()).collect();
        vec![Listed { name: name.into(), parameters, threads: 256 }]
    }

    #[test]
    fn declarations_are_read_over_several_lines() {
        let signatures = signatures(SCALE).unwrap();
        assert_eq!(signatures[0].name, "scale");
        assert_eq!(signatures[0].parameters, ["const float* x", "float a", "unsigned long long n"]);
    }

    #[test]
    fn structures_are_written_out() {
        let signatures = signatures(RUN).unwrap();
        assert_eq!(
            signatures[0].parameters,
            [
                "octopus::nuts::HierarchicalNormalData<double, double> data",
                "octopus::nuts::Launch<double, double> launch",
                "octopus::Pair<float, int> pair"
            ]
        );
        let entries = join("nuts_x", signatures, listed("nuts_run_x", &["b8[96]", "b8[232]", "b8[8]"])).unwrap();
        assert_eq!((entries[0].module.as_str(), entries[0].kinds[1].as_str()), ("nuts_x", "b8[232]"));
    }

    #[test]
    fn sources_and_ptx_must_agree() {
        let scale = || signatures(SCALE).unwrap();
        let run = || signatures(RUN).unwrap();
        assert_eq!(join("m", scale(), listed("scale", &["u64", "f32", "u64"])).unwrap()[0].name, "scale");
        let error = |result: Result<Vec<Entry>>| result.unwrap_err().to_string();
        assert!(error(join("m", scale(), listed("scale", &["u64", "f64", "u64"]))).contains("scale takes"));
        assert!(error(join("m", scale(), listed("scale", &["u64", "f32"]))).contains("scale takes"));
        assert!(error(join("m", scale(), Vec::new())).contains("scale is declared and not in the PTX of m"));
        assert!(error(join("m", Vec::new(), listed("scale", &[]))).contains("in the PTX and not in the sources"));
        // A structure that became a pointer.
        assert!(error(join("m", run(), listed("nuts_run_x", &["b8[96]", "u64", "b8[8]"]))).contains("takes"));
        let unknown = SCALE.replace("float a", "Data a");
        let error = join("m", signatures(&unknown).unwrap(), listed("scale", &["u64", "b8[4]", "u64"])).unwrap_err();
        assert!(format!("{error:#}").contains("a kernel takes no \"Data\""), "{error:#}");
    }
}
