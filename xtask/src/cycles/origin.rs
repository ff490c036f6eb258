//! Which function of the kernels' sources each line of PTX is of.
//!
//! The committed PTX has no line numbers, since they carry paths. The same sources compiled with them give the same lines with
//! `.loc` lines between: file, line, function, and where that was inlined, which another `.loc` tells more of.

use super::mangled::short;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// Files whose functions are tools of all others: their instructions count as those of who uses them.
const TOOLS: [&str; 5] = ["lanes.cuh", "math.cuh", "portable.cuh", "warp.cuh", "workspace.cuh"];
/// What is of no function.
const NOBODY: &str = "(none)";

/// A place in the sources: number of the file, line, column.
type Place = (u32, u32, u32);

/// What a `.loc` says.
#[derive(Clone, Debug)]
struct Located {
    place: Place,
    /// The label of the function's name and where it was inlined; for the kernel's own lines there is neither.
    inlined: Option<(String, Place)>,
}

/// For each line of `committed`, from the first, the function that it is of, as `file: function`.
///
/// # Errors
/// When `located` is not the same PTX with line numbers, or a `.loc` is not understood.
pub(super) fn owners(committed: &str, located: &str) -> Result<Vec<String>> {
    let sources = Sources::read(located);
    let mut owners = Vec::new();
    let mut known = BTreeMap::<Place, Located>::new();
    let mut owner = NOBODY.to_owned();
    let mut lines = located.lines();
    for (number, expected) in committed.lines().enumerate() {
        let line = loop {
            let line = lines.next().unwrap_or_default();
            let Some(text) = line.trim_start().strip_prefix(".loc") else { break line };
            let place = parse(text).with_context(|| format!("{line:?} is not understood"))?;
            owner = sources.owner(&place, &known);
            known.insert(place.place, place);
        };
        // The tables of line numbers begin where the committed text ends, but for an empty line.
        let is_end = expected.is_empty() && line.trim_start().starts_with(".file");
        if line != expected && !is_end {
            bail!("line {} of the PTX is another without line numbers: {expected:?}, not {line:?}", number + 1);
        }
        if expected.starts_with(".visible") {
            // Of another kernel.
            owner = NOBODY.to_owned();
            known.clear();
        }
        owners.push(owner.clone());
    }
    Ok(owners)
}

/// The tables at the end of PTX with line numbers.
struct Sources {
    files: BTreeMap<u32, String>,
    functions: BTreeMap<String, String>,
}

impl Sources {
    fn read(located: &str) -> Self {
        let mut files = BTreeMap::new();
        let mut bytes = BTreeMap::<String, Vec<u8>>::new();
        let mut label = None;
        for line in located.lines() {
            let text = line.trim();
            if let Some((number, path)) = text.strip_prefix(".file").and_then(|rest| rest.trim().split_once(' ')) {
                let name = path.trim_matches('"').rsplit('/').next().unwrap_or_default();
                files.extend(number.parse().map(|number: u32| (number, name.to_owned())));
            } else if let Some(name) = text.strip_suffix(':').filter(|name| name.starts_with("$L__info_string")) {
                label = Some(name.to_owned());
            } else if let (Some(list), Some(label)) = (text.strip_prefix(".b8 "), &label) {
                let values = list.split(',').filter_map(|word| word.parse::<u8>().ok());
                bytes.entry(label.clone()).or_default().extend(values);
            }
        }
        let name = |bytes: Vec<u8>| short(String::from_utf8_lossy(&bytes).trim_end_matches('\0'));
        Self { files, functions: bytes.into_iter().map(|(label, bytes)| (label, name(bytes))).collect() }
    }

    /// The innermost function that is no tool, from a place outwards.
    fn owner(&self, located: &Located, known: &BTreeMap<Place, Located>) -> String {
        let mut at = located;
        // Each step goes one call outwards; a chain that is longer than there are places goes in a circle.
        for _ in 0..=known.len() {
            let file = self.files.get(&at.place.0).map_or("", String::as_str);
            let outer = at.inlined.as_ref().and_then(|(_, place)| known.get(place));
            match (outer, &at.inlined) {
                (Some(outer), _) if TOOLS.contains(&file) => at = outer,
                (_, Some((label, _))) => {
                    let function = self.functions.get(label).map_or(NOBODY, String::as_str);
                    return format!("{file}: {function}");
                }
                (_, None) => return format!("{file}: kernel"),
            }
        }
        NOBODY.to_owned()
    }
}

/// `11 85 3, function_name $L__info_string38, inlined_at 11 93 28`, of which the rest may be missing.
fn parse(text: &str) -> Option<Located> {
    let mut parts = text.split(',').map(str::trim);
    let place = place(parts.next()?)?;
    let function = parts.next().and_then(|part| part.strip_prefix("function_name "));
    let inlined = parts.next().and_then(|part| part.strip_prefix("inlined_at "));
    let inlined = match (function, inlined) {
        (Some(label), Some(at)) => {
            // A name may stand so far into a label's text.
            let label = label.split('+').next().unwrap_or(label).trim().to_owned();
            Some((label, self::place(at)?))
        }
        _ => None,
    };
    Some(Located { place, inlined })
}

fn place(text: &str) -> Option<Place> {
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMITTED: &str = "\
.visible .entry k()
{
\tld.param.u64 %rd1, [k];
\tmul.rn.f64 %fd2, %fd1, %fd1;
\tadd.rn.f64 %fd3, %fd2, %fd1;
\tret;
}

";
    /// exp (string 1, of math.cuh) is inlined into leapfrog (string 0, of space.cuh), and that into the kernel.
    const LOCATED: &str = "\
.visible .entry k()
{
\t.loc\t1 10 0
\tld.param.u64 %rd1, [k];
\t.loc\t2 31 3, function_name $L__info_string0, inlined_at 1 11 3
\tmul.rn.f64 %fd2, %fd1, %fd1;
\t.loc\t3 7 1, function_name $L__info_string1, inlined_at 2 31 3
\tadd.rn.f64 %fd3, %fd2, %fd1;
\t.loc\t1 12 0
\tret;
}
\t.file\t1 \"unit.cu\"
\t.file\t2 \"/a/space.cuh\"
\t.file\t3 \"octopus/math.cuh\"
\t.section\t.debug_str
{
$L__info_string0:
.b8 95,90,78,53,83,112,97,99,101,56,108,101,97,112,102
.b8 114,111,103,69,0
$L__info_string1:
.b8 95,90,51,101,120,112,0
\t}
";

    #[test]
    fn what_a_tool_does_is_of_who_uses_it() {
        let owners = owners(COMMITTED, LOCATED).unwrap();
        assert_eq!(
            owners[2..6],
            ["unit.cu: kernel", "space.cuh: Space::leapfrog", "space.cuh: Space::leapfrog", "unit.cu: kernel"]
        );
    }

    #[test]
    fn line_numbers_of_other_ptx_are_refused() {
        let other = LOCATED.replace("add.rn.f64", "sub.rn.f64");
        let error = owners(COMMITTED, &other).unwrap_err().to_string();
        assert!(error.contains("line 5 of the PTX is another"), "{error}");
    }
}
