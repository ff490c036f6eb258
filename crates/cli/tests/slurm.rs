//! Array jobs in a real Slurm on this machine: one controller and two nodes on loopback, of which nodes are killed and
//! drained in the middle of the work. The whole is bit for bit what one process finds.
//!
//! It needs slurmctld, slurmd and munged (Debian: `apt-get install slurm-wlm munge`), and root; without them it is SKIPPED.
#![cfg(target_os = "linux")]

use std::fmt::Write;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NODES: [&str; 2] = ["n1", "n2"];
/// The longest time for all jobs; alone on two cores they take less than a minute.
const LONGEST: Duration = Duration::from_secs(420);
const COMMANDS: [(&str, &str, &[&str]); 3] = [
    (
        "batch",
        "sample hierarchical-normal --batch in --group city --value y --draws 4000 --tune 500 --device cpu -q --out",
        &["summary.csv"],
    ),
    ("sweep", "sweep eight-schools --seeds 400 --draws 500 --tune 500 -q --keep", &["sweep.json", "runs.csv"]),
    (
        "calibration",
        "calibrate eight-schools --datasets 400 --draws 300 --tune 300 --chains 4 --device cpu -q --format svg --out",
        &["ranks.csv", "calibration.json"],
    ),
];

/// The daemons of a cluster, and its folder.
struct Cluster {
    dir: PathBuf,
    /// The authentication and the controller.
    others: Vec<Child>,
    nodes: Vec<Child>,
}

/// Where a daemon is, if it is on this machine.
fn daemon(name: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/sbin", "/usr/bin"].iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

impl Cluster {
    fn start(dir: &Path) -> Option<Self> {
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let (Some(munged), Some(controller), true) = (daemon("munged"), daemon("slurmctld"), is_root) else {
            eprintln!(
                "SKIPPED: array jobs in Slurm: this needs slurmctld, slurmd and munged (slurm-wlm, munge), and root"
            );
            return None;
        };
        let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
        ["state", "spool", "log"].iter().for_each(|name| fs::create_dir(dir.join(name)).unwrap());
        fs::write(dir.join("key"), [7; 128]).unwrap();
        fs::set_permissions(dir.join("key"), fs::Permissions::from_mode(0o600)).unwrap();
        let free: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = free.iter().map(|port| port.local_addr().unwrap().port()).collect();
        drop(free);
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim();
        let mut text = format!(
            "ClusterName=octopus\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nAuthType=auth/munge\n\
             AuthInfo=socket={},cred_expire=5\nSlurmUser=root\nSlurmdUser=root\nStateSaveLocation={}\n\
             SlurmdSpoolDir={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\nSlurmctldLogFile={}\nSlurmdLogFile={}\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\nSlurmdParameters=config_overrides\nReturnToService=2\nSlurmdTimeout=6\n\
             KillWait=3\nJobRequeue=1\nMinJobAge=900\n\
             SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=1,sched_min_interval=0\n",
            ports[0],
            at("munge.socket"),
            at("state"),
            at("spool/%n"),
            at("slurmctld.pid"),
            at("slurmd-%n.pid"),
            at("log/slurmctld"),
            at("log/slurmd-%n"),
        );
        for (node, port) in NODES.iter().zip(&ports[1..]) {
            writeln!(text, "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=8000")
                .unwrap();
        }
        writeln!(text, "PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP").unwrap();
        fs::write(dir.join("slurm.conf"), text).unwrap();
        let mut munge = Command::new(munged);
        munge.args(["--force", "--foreground"]);
        for (option, name) in [
            ("--key-file", "key"),
            ("--socket", "munge.socket"),
            ("--pid-file", "munge.pid"),
            ("--log-file", "log/munge"),
            ("--seed-file", "munge.seed"),
        ] {
            munge.arg(format!("{option}={}", at(name)));
        }
        let mut cluster = Self { dir: dir.to_owned(), others: Vec::new(), nodes: Vec::new() };
        cluster.others.push(cluster.begin(munge));
        wait_for("munge", || dir.join("munge.socket").exists());
        let mut control = Command::new(controller);
        control.args(["-D", "-c"]);
        cluster.others.push(cluster.begin(control));
        for node in NODES {
            let begun = cluster.begin_node(node);
            cluster.nodes.push(begun);
        }
        wait_for("two nodes", || cluster.told("sinfo", &["-h", "-N", "-o", "%T"]).matches("idle").count() == 2);
        Some(cluster)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.dir.join("slurm.conf")).current_dir(&self.dir);
        command
    }

    fn begin(&self, mut command: Command) -> Child {
        command.env("SLURM_CONF", self.dir.join("slurm.conf")).current_dir(&self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn begin_node(&self, node: &str) -> Child {
        let mut command = Command::new(daemon("slurmd").unwrap());
        command.args(["-D", "-N", node]);
        self.begin(command)
    }

    /// What one of Slurm's commands says.
    fn told(&self, program: &str, words: &[&str]) -> String {
        let output = self.command(program).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Kills a node as a power cut would: its daemon, and all processes of its jobs. Returns how many of these there were.
    fn kill(&mut self, number: usize) -> usize {
        self.nodes[number].kill().unwrap();
        self.nodes[number].wait().unwrap();
        let conf = format!("SLURM_CONF={}", self.dir.join("slurm.conf").display());
        let node = format!("SLURMD_NODENAME={}", NODES[number]);
        let of_job = |process: &u32| {
            let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            [&conf, &node].iter().all(|own| variables.split(|&byte| byte == 0).any(|one| one == own.as_bytes()))
        };
        let jobs: Vec<u32> = processes().into_iter().filter(of_job).collect();
        // A job's process tells its parent, slurmstepd, that it has ended: that one first.
        let steps = jobs.iter().filter_map(|&process| parent(process));
        let steps: Vec<u32> = steps.filter(|&process| name(process).starts_with("slurmstepd")).collect();
        for process in steps.iter().chain(&jobs) {
            let _ = Command::new("kill").args(["-KILL", &process.to_string()]).stderr(Stdio::null()).status();
        }
        jobs.len()
    }

    fn restart(&mut self, number: usize) {
        self.nodes[number] = self.begin_node(NODES[number]);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Jobs that are left would keep the folder.
        let _ = self.command("scancel").args(["--partition=main"]).status();
        (0..self.nodes.len()).for_each(|number| _ = self.kill(number));
        for child in &mut self.others {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn name(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default()
}

#[track_caller]
fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_there() {
        assert!(begin.elapsed() < LONGEST, "waited in vain for {what}");
        sleep(Duration::from_millis(100));
    }
}

fn octopus(dir: &Path, words: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_octopus"));
    let output = command.args(words.split_whitespace()).current_dir(dir).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// 200 data sets, from numbers that need no generator.
fn tables(dir: &Path) {
    fs::create_dir(dir.join("in")).unwrap();
    for set in 0..200 {
        let mut text = "city,y\n".to_owned();
        for j in 0..6 {
            for i in 0..5 {
                let y = 50.0 + f64::from((j * 37 + set * 7) % 11) * 2.5 + f64::from((i * 29 + j * 13 + set) % 17) * 0.7;
                writeln!(text, "c{j},{y}").unwrap();
            }
        }
        fs::write(dir.join(format!("in/{set}.csv")), text).unwrap();
    }
}

#[test]
fn what_slurm_carries_out_is_bit_for_bit_what_one_process_finds() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut cluster) = Cluster::start(dir.path()) else { return };
    tables(dir.path());
    for (name, words, _) in COMMANDS {
        let submit = format!("submit --slurm --run --parts 8 --memory 200MiB {words} {name}");
        let mut command = cluster.command(env!("CARGO_BIN_EXE_octopus"));
        let output = command.args(submit.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let queue = |cluster: &Cluster, state: &str| cluster.told("squeue", &["-h", "-r", "-t", state, "-o", "%i %N"]);
    let runs_on = |cluster: &Cluster, node: &str| queue(cluster, "R").lines().any(|line| line.ends_with(node));
    let state = |cluster: &Cluster, node: &str| cluster.told("sinfo", &["-h", "-n", node, "-o", "%T"]);
    let mut killed = 0;
    for (number, node) in NODES.iter().enumerate() {
        wait_for("a job on the node", || runs_on(&cluster, node));
        sleep(Duration::from_millis(700));
        killed += cluster.kill(number);
    }
    assert!(killed > 0, "no job was killed");
    for (number, node) in NODES.iter().enumerate() {
        wait_for("a node that is down", || state(&cluster, node).contains("down"));
        cluster.restart(number);
    }
    wait_for("a job on the first node", || runs_on(&cluster, "n1"));
    cluster.told("scontrol", &["update", "nodename=n1", "state=drain", "reason=test"]);
    wait_for("no job on the drained node", || !runs_on(&cluster, "n1"));
    cluster.told("scontrol", &["update", "nodename=n1", "state=resume"]);
    wait_for("the end of all jobs", || is_over(&cluster));
    let jobs = cluster.told("scontrol", &["-o", "show", "jobs"]);
    let restarts =
        jobs.split_whitespace().filter(|word| word.starts_with("Restarts=") && *word != "Restarts=0").count();
    assert!(restarts > 0, "no job was put into the queue again: {jobs}");
    for (name, words, files) in COMMANDS {
        let (code, said) = octopus(dir.path(), &format!("status {name}"));
        assert_eq!(code, Some(0), "{name}: {said}");
        let (code, said) = octopus(dir.path(), &format!("{words} {name}-alone"));
        assert!(matches!(code, Some(0 | 1)), "{name}: {said}");
        for file in files {
            let read = |folder: &str| {
                fs::read(dir.path().join(folder).join(file)).unwrap_or_else(|error| {
                    let log = fs::read_dir(dir.path())
                        .unwrap()
                        .flatten()
                        .filter(|entry| entry.path().extension().is_some_and(|end| end == "log"));
                    let logs: Vec<_> = log.map(|entry| fs::read_to_string(entry.path()).unwrap_or_default()).collect();
                    panic!("{folder}/{file}: {error}\n{}", logs.join("\n"))
                })
            };
            assert!(read(name) == read(&format!("{name}-alone")), "{name}: {file} differs");
        }
    }
    assert_eq!(fs::read_to_string(dir.path().join("batch/summary.csv")).unwrap().lines().count(), 201);
}

/// Whether no job is waiting or at work.
fn is_over(cluster: &Cluster) -> bool {
    let states = cluster.told("squeue", &["-h", "-r", "-t", "all", "-o", "%T"]);
    !states.is_empty()
        && !states
            .lines()
            .any(|state| ["PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED", "SUSPENDED"].contains(&state))
}
