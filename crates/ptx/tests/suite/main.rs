//! The interpreter on small kernels: what instructions give, how lanes meet, and what the checks find.

mod committed;
mod faults;
mod forms;
mod kernel;
mod meetings;
mod orders;
mod races;
mod recordings;
mod unread;
