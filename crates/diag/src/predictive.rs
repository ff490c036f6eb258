//! How well a model predicts observations (LOO, WAIC), and how models compare.

pub(crate) mod compare;
pub(crate) mod elpd;
pub(crate) mod likelihood;
pub(crate) mod loo;
pub(crate) mod loo_pit;
pub(crate) mod psis;
