//! The browser of the test that opens the report's page: installed where that takes no question.

use crate::run::{self, is_root, on_path};
use std::env;
use std::process::{Command, Stdio};

/// The variable in which a browser can be named.
const VARIABLE: &str = "OCTOPUS_CHROMIUM";
/// As `crates/report/tests/browser/chromium.rs` looks for them.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// On Debian and Ubuntu, with a font: a browser without one shows boxes. A mirror that does not answer must not hold up the tests.
const INSTALL: &str = "apt-get update -qq && \
    timeout 300 apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core";

/// Installs a browser where there is none, if this user may; what stands in the way is said, and no failure.
pub(crate) fn ensure() {
    if env::var_os(VARIABLE).is_some_and(|named| !named.is_empty()) || NAMES.iter().any(|name| on_path(name)) {
        return;
    }
    if !(is_root() && on_path("apt-get")) {
        eprintln!("xtask: no browser ({VARIABLE}, chromium): the test of the report's page will be SKIPPED");
        return;
    }
    let mut install = Command::new("sh");
    install.args(["-c", INSTALL]).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
    let installed = run::status(&mut install).is_ok_and(|status| status.success());
    if !(installed && on_path("chromium")) {
        eprintln!("xtask: chromium was not installed: the test of the report's page will be SKIPPED");
    }
}
