//! The macro that lists the compiled kernels of a density.

/// Lists the [`KernelModule`](crate::gpu::KernelModule)s of one density, by precision and shape; those for teams stand
/// after `;`. The files are beside each other: `<beginning>_<precision>_<lanes>x<rows>.ptx.gz`, with `_team` after the
/// rows of those for teams. Like any path of `include_bytes!`, the beginning is relative to the file that has the list.
///
/// ```text
/// static MODULES: &[KernelModule] = kernel_modules!("../../ptx/nuts_my_model":
///     F64 "f64" { 32 x 1 32 x 4; 32 x 4 }
///     F32 "f32" { 32 x 1 32 x 4 }
/// );
/// ```
#[macro_export]
macro_rules! kernel_modules {
    ($beginning:literal: $($precision:ident $name:literal { $($lanes:literal x $rows:literal)* $(; $wide:literal x $long:literal)* })*) => {
        &[$(
            $($crate::kernel_modules!(@ $beginning, $precision, $name, $lanes, $rows, false, ""),)*
            $($crate::kernel_modules!(@ $beginning, $precision, $name, $wide, $long, true, "_team"),)*
        )*]
    };
    (@ $beginning:literal, $precision:ident, $name:literal, $lanes:literal, $rows:literal, $team:literal, $ending:literal) => {
        $crate::gpu::KernelModule {
            precision: $crate::gpu::Precision::$precision,
            lanes: $lanes,
            rows: $rows,
            team: $team,
            ptx: $crate::gpu::KernelText::Gzip(include_bytes!(concat!(
                $beginning, "_", $name, "_", $lanes, "x", $rows, $ending, ".ptx.gz"
            ))),
        }
    };
}
