//! A browser without a window, if there is one, and what it says about a page.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The variable in which a browser can be named.
const VARIABLE: &str = "OCTOPUS_CHROMIUM";
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// A page takes a second; a machine that does other things, more.
const PATIENCE: Duration = Duration::from_secs(90);

/// The browser, or why there is none.
pub(crate) fn find() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    let found =
        NAMES.iter().flat_map(|name| places.iter().map(move |place| place.join(name))).find(|file| file.is_file());
    found.ok_or_else(|| format!("no browser: none of {} is on PATH, and {VARIABLE} names none", NAMES.join(", ")))
}

/// What a browser did with a page.
pub(crate) struct Visit {
    /// The document when all scripts had run.
    pub(crate) document: String,
    /// What the page wrote to the console, errors of scripts and of the page's policy among it.
    pub(crate) console: Vec<String>,
    /// Addresses that the page asked for, but for its own file.
    pub(crate) requests: Vec<String>,
    /// A picture of its beginning, PNG.
    pub(crate) picture: Vec<u8>,
}

/// Opens the page `file` in a window of `width` by `height` pixels, with files of its own in `folder`.
pub(crate) fn visit(browser: &Path, file: &Path, (width, height): (u32, u32), folder: &Path) -> Visit {
    std::fs::create_dir_all(folder).expect("a scratch folder");
    let (net, picture) = (folder.join("net.json"), folder.join("picture.png"));
    let (document, messages) = (folder.join("document.html"), folder.join("messages.txt"));
    let create = |path: &Path| std::fs::File::create(path).expect("a scratch file");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-default-apps", "--disable-extensions", "--force-device-scale-factor=1"])
        .args(["--virtual-time-budget=4000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--log-net-log={}", net.display()))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        // Files, not pipes: nobody reads while the browser works.
        .stdout(create(&document))
        .stderr(create(&messages))
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", browser.display()));
    finish(&mut child, &messages);
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let messages = text(&messages);
    Visit {
        document: text(&document),
        console: messages.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect(),
        requests: requests(&text(&net)),
        picture: std::fs::read(&picture).unwrap_or_default(),
    }
}

fn finish(child: &mut Child, messages: &Path) {
    let begin = Instant::now();
    while child.try_wait().expect("a child to wait for").is_none() {
        if begin.elapsed() > PATIENCE {
            // It is ours: nobody else waits for it.
            let _ = child.kill();
            let mut said = String::new();
            let _ = std::fs::File::open(messages).and_then(|mut file| file.read_to_string(&mut said));
            panic!("the browser did not finish within {PATIENCE:?}: {said}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Addresses in the browser's record of its network that began with the page. The browser's own requests have no initiator.
fn requests(net: &str) -> Vec<String> {
    // A browser that is ended abruptly leaves the list open.
    let closed = format!("{}]}}", net.trim_end().trim_end_matches(','));
    let log: serde_json::Value =
        serde_json::from_str(net).or_else(|_| serde_json::from_str(&closed)).expect("the browser's record is JSON");
    let events = log["events"].as_array().expect("the record holds events");
    assert!(!events.is_empty(), "the browser recorded nothing");
    let mut found: Vec<String> = events
        .iter()
        .filter(|event| event["params"]["initiator"].as_str().is_some_and(|initiator| initiator != "not an origin"))
        .filter_map(|event| event["params"]["url"].as_str())
        .filter(|url| !["file:", "data:"].iter().any(|local| url.starts_with(local)))
        .map(str::to_owned)
        .collect();
    found.dedup();
    found
}
