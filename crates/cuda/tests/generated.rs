//! The list of the driver's functions is what its generator makes.

use std::io::ErrorKind;
use std::process::Command;

#[test]
fn the_list_of_functions_is_up_to_date() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tools/generate_shim.py");
    match Command::new("python3").args([script, "--check"]).env("CARGO", env!("CARGO")).output() {
        Ok(output) => {
            let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{stdout}{stderr}");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => eprintln!("SKIPPED: python3 is not installed"),
        Err(error) => panic!("python3: {error}"),
    }
}
