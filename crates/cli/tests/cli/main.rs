//! The command as its users meet it: every test starts the program.

mod bad_input;
mod commands;
mod folders;
mod kill;
mod support;
mod validate;
