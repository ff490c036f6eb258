//! In every precision a run on the GPU engine has the bits of the twin, and in f64 the CPU engine has them too.

mod moving;
mod reach;
mod runs;
mod table;
