//! What a PTX file says of itself: the compiler that wrote it, and its kernels.

use anyhow::{Context, Result, bail};

/// A kernel as PTX declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    /// The kind of each parameter: `u64`, `f32`, ... or `b8[16]` for a structure of 16 bytes.
    pub(super) parameters: Vec<String>,
    /// The most threads of a block, from `__launch_bounds__`.
    pub(super) threads: u32,
}

/// The compiler's version, such as 12.4.127.
///
/// # Errors
/// When the heading does not tell.
pub(super) fn compiler(ptx: &str) -> Result<String> {
    let line = ptx.lines().find(|line| line.contains("Cuda compilation tools")).context("PTX without a heading")?;
    let (_, version) = line.rsplit_once(", V").with_context(|| format!("no version in {line:?}"))?;
    Ok(version.trim().to_owned())
}

/// All kernels, in the file's order.
///
/// # Errors
/// When a declaration cannot be understood or a kernel has no launch bounds.
pub(super) fn entries(ptx: &str) -> Result<Vec<Listed>> {
    ptx.split(".visible .entry ").skip(1).map(entry).collect()
}

fn entry(text: &str) -> Result<Listed> {
    let (name, rest) = text.split_once('(').context("an entry without parameters")?;
    let (parameters, rest) = rest.split_once(')').with_context(|| format!("{name}: the parameters do not end"))?;
    let (bounds, _) = rest.split_once('{').with_context(|| format!("{name} has no body"))?;
    let parameters = parameters.split(',').map(str::trim).filter(|text| !text.is_empty()).map(kind);
    let parameters = parameters.collect::<Result<_>>().with_context(|| format!("the parameters of {name}"))?;
    let Some((_, threads)) = bounds.split_once(".maxntid ") else { bail!("{name} lacks __launch_bounds__") };
    let threads = threads.split([',', '\n']).next().unwrap_or_default().trim();
    let threads = threads.parse().with_context(|| format!("{name}: {threads:?} threads"))?;
    Ok(Listed { name: name.trim().to_owned(), parameters, threads })
}

/// `u64` of `.param .u64 name`, `b8[16]` of `.param .align 8 .b8 name[16]`.
fn kind(declaration: &str) -> Result<String> {
    let words: Vec<&str> = declaration.split_whitespace().collect();
    match words.as_slice() {
        [".param", kind, _] if kind.starts_with('.') => Ok(kind[1..].to_owned()),
        [".param", ".align", _, ".b8", name] => {
            let size = name.find('[').map_or("", |at| &name[at..]);
            Ok(format!("b8{size}"))
        }
        _ => bail!("{declaration:?} is not understood"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
// Cuda compilation tools, release 12.4, V12.4.127
.version 8.4
.visible .entry scale(
\t.param .u64 scale_param_0,
\t.param .f32 scale_param_1,
\t.param .align 8 .b8 scale_param_2[24]
)
.maxntid 256, 1, 1
{
\tret;
}
.visible .entry nothing()
.maxntid 32
{
\tret;
}
";

    #[test]
    fn entries_have_kinds_of_parameters_and_threads() {
        let listed = |name: &str, parameters: &[&str], threads| Listed {
            name: name.into(),
            parameters: parameters.iter().map(|kind| (*kind).to_owned()).collect(),
            threads,
        };
        assert_eq!(
            entries(PTX).unwrap(),
            [listed("scale", &["u64", "f32", "b8[24]"], 256), listed("nothing", &[], 32)]
        );
        assert_eq!(compiler(PTX).unwrap(), "12.4.127");
    }

    #[test]
    fn a_kernel_without_launch_bounds_is_refused() {
        let error = entries(".visible .entry free()\n{\n\tret;\n}\n").unwrap_err();
        assert!(error.to_string().contains("free lacks __launch_bounds__"), "{error}");
    }
}
