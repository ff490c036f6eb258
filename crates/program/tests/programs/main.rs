//! Programs against dual numbers, finite differences and densities derived by hand; bits over widths, blocks and threads.

mod eigen;
mod few;
mod hand;
mod kernel;
mod random;
mod same;
mod table;
mod threads;
