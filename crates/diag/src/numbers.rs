//! Arithmetic that statistics are made of: moments, orders, elementary functions over arrays, and workspaces.

pub(crate) mod columns;
pub(crate) mod exp;
pub(crate) mod fold;
pub(crate) mod lanes;
pub(crate) mod ln;
pub(crate) mod moments;
pub(crate) mod normal;
pub(crate) mod order;
pub(crate) mod pool;
pub(crate) mod prefetch;
pub(crate) mod scale;
pub(crate) mod spread;
pub(crate) mod tails;
