//! The octopus command.
fn main() {}
