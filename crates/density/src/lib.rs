//! Log densities with gradients: the trait that models implement, coordinates for hierarchies, and sums in one order.
//!
//! This crate serves every density; the models that ship are in `octopus-models`.
//!
//! | you want | use |
//! |--|--|
//! | a model of your own | [`LogDensity`], with a [`Layout`] that names its variables |
//! | hierarchical effects that mix well whatever the data say | [`Hierarchy`] and [`Information`], returned by [`LogDensity::hierarchies`] |
//! | their value and gradient in one pass, where the chain rule costs too much | [`StandardisedScalars`], [`LogDensity::logp_grad_centered`] |
//! | sums that have the same bits on every processor | [`warp`] |
//! | to hold its gradient to finite differences | [`check_gradient`] |
//! | hidden states that a particle filter moves | [`StateSpaceModel`] |
//! | that model on a GPU | [`gpu`], [`kernel_modules!`] |
//!
//! A density is a function of unconstrained coordinates: positive parameters are walked in as logarithms, and the
//! log-Jacobian belongs to the log density. [`LogDensity::expand`] gives the variables that users read.
//!
//! ```
//! use octopus_density::{DensityError, Dim, Labels, Layout, LogDensity, Role, Transform, Variable};
//!
//! /// A normal mean and standard deviation of some observations, with flat priors on the mean and on log sigma.
//! struct MeanAndSpread {
//!     y: Vec<f64>,
//!     layout: Layout,
//! }
//!
//! impl MeanAndSpread {
//!     fn new(y: Vec<f64>) -> Self {
//!         let parameter = |name: &str, offset, transform| Variable {
//!             name: name.into(),
//!             dims: vec![],
//!             role: Role::Parameter { offset, transform },
//!         };
//!         let obs = Dim { name: "obs".into(), labels: Labels::Range(y.len()) };
//!         let residual = Variable { name: "residual".into(), dims: vec![obs], role: Role::Derived };
//!         let [mu, sigma] = [parameter("mu", 0, Transform::Identity), parameter("sigma", 1, Transform::Exp)];
//!         Self { layout: Layout { variables: vec![mu, sigma, residual] }, y }
//!     }
//! }
//!
//! impl LogDensity for MeanAndSpread {
//!     fn dim(&self) -> usize {
//!         2
//!     }
//!     fn layout(&self) -> &Layout {
//!         &self.layout
//!     }
//!     fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
//!         let (mu, sigma, n) = (x[0], x[1].exp(), self.y.len() as f64);
//!         let sum: f64 = self.y.iter().map(|y| y - mu).sum();
//!         let squares: f64 = self.y.iter().map(|y| (y - mu).powi(2)).sum();
//!         let logp = -n * x[1] - 0.5 * squares / (sigma * sigma);
//!         gradient[0] = sum / (sigma * sigma);
//!         gradient[1] = squares / (sigma * sigma) - n;
//!         // A point where the density overflows is a divergence, not the end of the run.
//!         if logp.is_finite() { Ok(logp) } else { Err(DensityError::NotFinite { value: logp }) }
//!     }
//!     fn expand(&self, x: &[f64], out: &mut [f64]) {
//!         (out[0], out[1]) = (x[0], x[1].exp());
//!         out[2..].iter_mut().zip(&self.y).for_each(|(out, y)| *out = y - x[0]);
//!     }
//!     fn name(&self) -> &str {
//!         "mean-and-spread"
//!     }
//! }
//!
//! let model = MeanAndSpread::new(vec![1.0, 2.0, 6.0]);
//! let x = [3.0, 0.5_f64.ln()];
//! // The gradient against finite differences.
//! let mut gradient = [0.0; 2];
//! model.logp_grad(&x, &mut gradient)?;
//! for k in 0..2 {
//!     let at = |h: f64| {
//!         let mut moved = x;
//!         moved[k] += h;
//!         model.logp_grad(&moved, &mut [0.0; 2])
//!     };
//!     assert!((gradient[k] - (at(1e-6)? - at(-1e-6)?) / 2e-6).abs() < 1e-5);
//! }
//! let mut variables = vec![0.0; model.layout().width()];
//! model.expand(&x, &mut variables);
//! assert_eq!(variables, [3.0, 0.5, -2.0, -1.0, 3.0]);
//! # Ok::<(), DensityError>(())
//! ```
#![forbid(unsafe_code)]

mod centering;
mod constant;
mod density;
mod effects;
mod error;
pub mod gpu;
mod gradient;
mod hierarchy;
mod state_space;
pub mod warp;

pub use centering::{
    Centering, IntegratedEffects, StandardisedScalars, gradient_to_centered, log_jacobian, logp_grad_by_chain_rule,
    to_centered, to_non_centered,
};
pub use constant::constant_between;
pub use density::{DrawAddress, LogDensity};
pub use effects::{DensityEffects, EffectBlock, EffectCoordinates};
pub use error::DensityError;
pub use gradient::{
    DIRECTIONS, GradientCheck, ValueAndGradient, WrongSlope, check_gradient, coordinate_name, probe_sign,
};
pub use hierarchy::{Hierarchy, Information, Kinds, Noise, Population};
pub use octopus_trace::{DataError, Dim, GroupedData, Labels, Layout, Role, STATISTICS, Transform, Variable};
pub use state_space::{StateNoise, StateSpaceModel};
