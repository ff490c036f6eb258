//! What accelerators this machine has, and what is wrong with them.
