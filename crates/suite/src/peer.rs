//! A framework as the runner has it: a folder that says how it is set up and started, and a process that answers.

use crate::SuiteError;
use crate::message::{Answer, Request};
use serde::Deserialize;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The name of Octopus among the frameworks.
pub(crate) const OCTOPUS: &str = "octopus";
/// The file that describes a framework, in its folder.
const DESCRIPTION: &str = "peer.toml";

/// The frameworks that there are.
#[derive(Clone, Debug)]
pub struct Peers {
    /// The folder with a folder for each.
    pub folder: PathBuf,
    /// The command that answers for Octopus.
    pub octopus: Vec<OsString>,
}

/// What `peer.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    about: String,
    #[serde(default)]
    setup: Vec<Vec<String>>,
    run: Vec<String>,
}

/// A framework beside Octopus.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name: that of its folder.
    pub name: String,
    /// What it is, in one line.
    pub about: String,
    folder: PathBuf,
    setup: Vec<Vec<String>>,
    run: Vec<String>,
}

impl Peers {
    /// Returns the frameworks beside Octopus, by name.
    ///
    /// # Errors
    /// When a folder cannot be read, or a description says what it must not.
    pub fn all(&self) -> Result<Vec<Peer>, SuiteError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(SuiteError::io("read", &self.folder)(error)),
        };
        let mut peers = Vec::new();
        for entry in entries {
            let folder = entry.map_err(SuiteError::io("read", &self.folder))?.path();
            if folder.join(DESCRIPTION).is_file() {
                peers.push(Peer::read(&folder)?);
            }
        }
        peers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(peers)
    }

    /// Returns the framework of this name.
    ///
    /// # Errors
    /// When there is none, or its description says what it must not.
    pub fn find(&self, name: &str) -> Result<Peer, SuiteError> {
        let folder = self.folder.join(name);
        // A name is that of a folder, and no path.
        if name.contains('/') || !folder.join(DESCRIPTION).is_file() {
            let known = self.all()?.iter().map(|peer| peer.name.as_str()).collect::<Vec<_>>().join(", ");
            if known.is_empty() {
                let what = format!("no framework is here, and so no {name}: name their folder with --peers");
                return Err(SuiteError::file(&self.folder, what));
            }
            return Err(SuiteError::Unknown { kind: "framework", name: name.to_owned(), known });
        }
        Peer::read(&folder)
    }

    /// Starts a framework, Octopus or another one; `Ok(Err(why))` where it is absent.
    pub(crate) fn start(&self, name: &str) -> Result<Result<PeerProcess, String>, SuiteError> {
        let mut command = if name == OCTOPUS {
            let Some((program, arguments)) = self.octopus.split_first() else {
                return Ok(Err("no command answers for it".to_owned()));
            };
            let mut command = Command::new(program);
            command.args(arguments);
            command
        } else {
            let peer = self.find(name)?;
            if let Some(why) = peer.absence() {
                return Ok(Err(why));
            }
            peer.command()
        };
        // Ctrl-C is for this process: a framework that is asked something answers first.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Ok(spawned.map_err(|error| format!("it cannot be started: {error}")).map(|child| PeerProcess::of(name, child)))
    }
}

impl Peer {
    fn read(folder: &Path) -> Result<Self, SuiteError> {
        let path = folder.join(DESCRIPTION);
        let text = std::fs::read_to_string(&path).map_err(SuiteError::io("read", &path))?;
        let Description { about, setup, run } =
            toml::from_str(&text).map_err(|error| SuiteError::file(&path, error.to_string()))?;
        if run.is_empty() || setup.iter().any(Vec::is_empty) {
            return Err(SuiteError::file(&path, "a command is empty: write program and arguments, [\"python3\", ...]"));
        }
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = folder.canonicalize().map_err(SuiteError::io("find", folder))?;
        Ok(Self { name, about, folder, setup, run })
    }

    /// Returns why it cannot be run here; `None` where it can.
    pub fn absence(&self) -> Option<String> {
        let program = self.run.first()?;
        let found = if program.contains('/') {
            self.folder.join(program).exists()
        } else {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
        };
        (!found).then(|| format!("{program} is not there: octopus bench setup {}", self.name))
    }

    /// Makes its environment by its own commands, one after the other. What they print goes to standard error.
    ///
    /// # Errors
    /// When one of them cannot be started, or ends with an error.
    pub fn set_up(&self) -> Result<(), SuiteError> {
        for words in &self.setup {
            let mut command = self.at_home(words);
            let status = command.stdin(Stdio::null()).stdout(std::io::stderr()).status();
            match status {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    return Err(SuiteError::peer(&self.name, format!("`{}` ended with {status}", words.join(" "))));
                }
                Err(error) => return Err(SuiteError::peer(&self.name, format!("`{}`: {error}", words.join(" ")))),
            }
        }
        Ok(())
    }

    fn command(&self) -> Command {
        self.at_home(&self.run)
    }

    /// Returns a command in the framework's folder; a program with a slash is one of the folder.
    fn at_home(&self, words: &[String]) -> Command {
        let (program, arguments) = words.split_first().map_or(("", &[][..]), |(program, rest)| (program, rest));
        let program = if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        command
    }
}

/// A framework that runs.
pub(crate) struct PeerProcess {
    name: String,
    child: Child,
    requests: ChildStdin,
    answers: Receiver<std::io::Result<String>>,
    complaints: Receiver<String>,
}

impl PeerProcess {
    fn of(name: &str, mut child: Child) -> Self {
        let (requests, answers, complaints) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(requests), Some(out), Some(err)) = (requests, answers, complaints) else {
            unreachable!("the three were asked for");
        };
        let (said, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        let (complained, complaints) = channel();
        // What is printed to stderr must be read, or the process stands still; the last lines tell why it ended.
        std::thread::spawn(move || {
            for line in BufReader::new(err).lines().map_while(Result::ok) {
                if complained.send(line).is_err() {
                    return;
                }
            }
        });
        Self { name: name.to_owned(), child, requests, answers, complaints }
    }

    /// Asks, and waits for the answer. An answer that is an error is one here, too.
    pub(crate) fn ask(&mut self, request: &Request, patience: Duration) -> Result<Answer, SuiteError> {
        let mut line =
            serde_json::to_string(request).map_err(|error| SuiteError::peer(&self.name, error.to_string()))?;
        line.push('\n');
        if self.requests.write_all(line.as_bytes()).and_then(|()| self.requests.flush()).is_err() {
            return Err(self.ended());
        }
        let text = match self.answers.recv_timeout(patience) {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => return Err(SuiteError::peer(&self.name, format!("its answer is no text: {error}"))),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                return Err(SuiteError::peer(&self.name, format!("no answer within {} s", patience.as_secs_f64())));
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Err(self.ended()),
        };
        let answer: Answer = serde_json::from_str(&text).map_err(|error| {
            let head: String = text.chars().take(200).collect();
            SuiteError::peer(&self.name, format!("its answer is not one ({error}): {head}"))
        })?;
        match answer.error {
            Some(error) => Err(SuiteError::peer(&self.name, error)),
            None => Ok(answer),
        }
    }

    /// Says that the process has ended, with the last lines that it printed.
    fn ended(&mut self) -> SuiteError {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let lines: Vec<String> = self.complaints.iter().collect();
        let last = lines[lines.len().saturating_sub(3)..].join(" | ");
        SuiteError::peer(&self.name, format!("it ended with {status}: {last}"))
    }

    /// Begins to measure the peak of the process's memory anew, where the system can.
    pub(crate) fn forget_peak(&self) {
        // Without the file the peak is that of the whole process so far.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    /// Returns the peak of the process's memory in bytes, where the system tells it.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        octopus_device::HostInfo::peak_memory_of(self.child.id())
    }
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
