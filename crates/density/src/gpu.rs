//! The GPU's side of a density: which compiled kernels there are, and what they read.
//!
//! The sampler's kernels are templates over the density, so a density of one's own comes to a GPU in four steps:
//!
//! 1. Write the density once more as one struct in one `.cuh` file, beside `kernels/nuts/hierarchical_normal.cuh`, which
//!    shows what it must have: a struct `Data` of plain numbers and pointers, and the functions `dim`, `evaluate` and
//!    `make_natural`. Sums over coordinates go through the lane policy (`lanes.cuh`), `exp` and `ln` are Octopus's own:
//!    then the GPU has the bits of the [`LogDensity`] in Rust in f64, and tests can say so.
//! 2. Name a unit for each precision and number of coordinates that you want in `kernels/nuts/units.toml`; outside of
//!    this repository write it as the template `kernels/nuts/units/chains.cu.in` has it: the two entries
//!    `nuts_run_<density>_<precision>_<lanes>x<rows>` and `nuts_restart_...`, of a few lines each.
//! 3. Compile the units to PTX: `cargo xtask ptx` for units of this repository, NVRTC or nvcc for others.
//! 4. Implement [`GpuDensity`]: the name, the PTX as [`KernelModule`]s, and the fields of `Data` as [`KernelField`]s.
//!    [`kernel_modules!`](crate::kernel_modules) lists packed files; `density/gpu.rs` of a model in `crates/models`
//!    shows it at work.
//!
//! ```
//! use octopus_density::gpu::{KernelModule, KernelText, Precision};
//!
//! // In a program this is `include_str!("nuts_my_model_f64_32x1.ptx")`.
//! const PTX: &str = ".version 8.4\n.target sm_80\n.address_size 64\n";
//! static MODULES: [KernelModule; 1] =
//!     [KernelModule { precision: Precision::F64, lanes: 32, rows: 1, team: false, ptx: KernelText::Plain(PTX) }];
//!
//! assert_eq!(MODULES[0].entry("run", "my_model"), "nuts_run_my_model_f64_32x1");
//! assert_eq!(MODULES[0].ptx.text()?, PTX);
//! # Ok::<(), octopus_density::gpu::KernelTextError>(())
//! ```

mod module;
mod modules;
mod precision;
mod text;

pub use module::{KernelModule, TeamWork};
pub use precision::{ParsePrecisionError, Precision};
pub use text::{KernelText, KernelTextError};

use crate::{LogDensity, Population};
use std::borrow::Cow;

/// One field of a density's `Data` struct in CUDA C++. There `R` is the type of vectors' elements, and `T` the type of
/// numbers that a chain has only one of ([`Precision`] says which types they are).
///
/// Numbers are given in f64 and rounded to the field's type by the engine; arrays are copied to the device, and the
/// struct gets the address.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelField<'a> {
    /// A `u32`.
    Word(u32),
    /// A `T`.
    Scalar(f64),
    /// A `const R*` with one element for each coordinate; the engine pads it with zeros to `lanes * rows` elements.
    PerCoordinate(Cow<'a, [f64]>),
    /// A `const R*` of any length.
    Reals(Cow<'a, [f64]>),
    /// A `const u32*` of any length.
    Words(Cow<'a, [u32]>),
}

impl Population {
    /// Returns the fields of `Population` in `kernels/nuts/centering.cuh`, in its order: a density whose `Data` has a
    /// `Population` gives them in its place.
    pub fn kernel_fields(self) -> [KernelField<'static>; 4] {
        [self.typical, self.total, self.center, self.prior].map(KernelField::Scalar)
    }
}

/// Memory of evaluations, in elements of vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelRoom {
    /// Numbers of each chain.
    pub numbers: usize,
    /// Numbers that all chains read: the coordinates of effects ([`EffectCoordinates::inputs`]).
    ///
    /// [`EffectCoordinates::inputs`]: crate::EffectCoordinates::inputs
    pub inputs: usize,
}

/// A density whose kernels are compiled: it can run on a GPU.
///
/// The kernels must compute the same density as the [`LogDensity`], in the same coordinates. At most one hierarchical
/// block ([`LogDensity::hierarchies`]) is supported on a GPU; without one the coordinates are the density's own.
pub trait GpuDensity: LogDensity {
    /// Returns the part of the entries' names that stands for the density, e.g. `hierarchical_normal`.
    fn kernel_name(&self) -> &str;

    /// The form of the density where forms differ in what a gradient costs, e.g. `pointwise`; empty for the usual one. It is
    /// part of the name under which a machine's measured costs are kept.
    fn form(&self) -> &str {
        ""
    }

    /// All kernels that are compiled, in any order. The engine takes the smallest that holds the coordinates in the
    /// precision that was asked for.
    fn kernel_modules(&self) -> &[KernelModule];

    /// The fields of the density's `Data` struct, in the order of its declaration.
    fn kernel_data(&self) -> Vec<KernelField<'_>>;

    /// Returns the kernels for many data sets in one launch (`kernels/nuts/batch.cuh`), in any order. They do what
    /// [`kernel_modules`](Self::kernel_modules) do, for a table of data sets, and read
    /// [`kernel_data`](Self::kernel_data) of each data set. There are none for teams: a density with
    /// [`team_work`](Self::team_work) is sampled by itself.
    fn batch_modules(&self) -> &[KernelModule] {
        &[]
    }

    /// Returns the kernels that move chains by trajectories of a given length (`kernels/nuts/hmc.cuh`), in any order: for the
    /// samplers `hmc` and `chees`. There are none for teams and for batches.
    fn trajectory_modules(&self) -> &[KernelModule] {
        &[]
    }

    /// Returns the work of one evaluation that blocks of threads share, where an evaluation reads so much that several
    /// blocks do it together. Then the engine takes a [module for teams](KernelModule::team), and otherwise another
    /// one.
    fn team_work(&self) -> Option<TeamWork> {
        None
    }

    /// Returns the additional fields that a team's `Data` has after the others.
    fn team_data(&self) -> Vec<KernelField<'_>> {
        Vec::new()
    }

    /// Returns the text of one of the modules as a driver gets it: what was compiled, or more where the density's own
    /// instructions are put into it.
    ///
    /// # Errors
    /// When the compressed text is damaged.
    fn kernel_text(&self, module: &KernelModule) -> Result<Cow<'static, str>, KernelTextError> {
        module.ptx.text()
    }

    /// Returns why there are no kernels for this density, where it is known more closely than by the list of modules.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Returns the memory that evaluations need: kernels that have any take it after the launch (`ProgramRoom` in
    /// `kernels/nuts/program.cuh`).
    fn room(&self) -> Option<KernelRoom> {
        None
    }
}
