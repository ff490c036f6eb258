//! `octopus submit`: its scripts and its manifest, which tasks carry out here with the variables of each scheduler. A real
//! Slurm is in `tests/slurm.rs`.

use crate::support::{Answer, answer, octopus, program, run};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const SWEEP: &str = "sweep eight-schools --seeds 20 --draws 40 --tune 40 --chains 2 -q --keep {}/kept";

/// Checks the syntax of a script with sh, and of the jobs in it with bash.
fn check_syntax(script: &str) {
    let jobs = script.split("<<'END'\n").skip(1).map(|rest| rest.split("\nEND\n").next().unwrap());
    for (shell, text) in std::iter::once(("sh", script)).chain(jobs.map(|job| ("bash", job))) {
        let mut child = Command::new(shell).arg("-n").stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{shell}: {text}");
    }
}

#[test]
fn scripts_say_what_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let said = |words: &str| run(dir.path(), &format!("submit {words} {SWEEP}")).succeeds().stdout.clone();
    let slurm = said("--slurm --parts 5 --threads 3 --memory 1500MiB --minutes 90 --gpus 2");
    check_syntax(&slurm);
    for words in [
        "--array=1-5\n",
        "--cpus-per-task=3\n",
        "--mem=1500M\n",
        "--time=90\n",
        "--gres=gpu:2\n",
        "--requeue\n",
        "--part auto --threads 3 &",
    ] {
        assert!(slurm.contains(words), "{words}: {slurm}");
    }
    let pbs = said("--pbs --parts 5 --threads 3 --memory 1500MiB --minutes 90 --gpus 2");
    check_syntax(&pbs);
    for words in ["-J 1-5\n", "select=1:ncpus=3:mem=1500mb:ngpus=2\n", "walltime=01:30:00\n", "OCTOPUS_PARTS=5\n"] {
        assert!(pbs.contains(words), "{words}: {pbs}");
    }
    // There are no more parts than pieces; memory and time are foretold.
    let few = said("--slurm --parts 30");
    assert!(
        few.contains("--array=1-20\n") && few.contains("--time=10\n") && few.contains("of 20 parts of 20 runs"),
        "{few}"
    );
    let longer = SWEEP.replace("--seeds 20 --draws 40", "--seeds 20000 --draws 40000");
    let longer = run(dir.path(), &format!("submit --slurm --parts 2 {longer}")).succeeds().stdout.clone();
    let minutes: u64 = longer.split("--time=").nth(1).unwrap().split('\n').next().unwrap().parse().unwrap();
    assert!(minutes > 10, "{longer}");
    let manifest = said("--kubernetes --parts 5 --threads 3 --memory 1500MiB --gpus 2 --image i --volume v");
    for words in
        ["\"1500Mi\"", "\"nvidia.com/gpu\": 2", "\"image\": \"i\"", "\"claimName\": \"v\"", "\"completions\": 5"]
    {
        assert!(manifest.contains(words), "{words}: {manifest}");
    }
    for (words, said) in [
        ("--slurm sweep eight-schools --seeds 2", "sweep --keep only"),
        ("--slurm diagnose x", "sweep --keep only"),
        ("--slurm calibrate eight-schools --geweke --out {}/x", "sweep --keep only"),
        ("--slurm sweep eight-schools --keep {}/x --part 1/2", "--parts N before the command"),
        ("--slurm sweep eight-schools --keep {}/x --threads 2", "--threads N before the command"),
        ("--slurm sweep eight-schools --seed", "COMMAND: error: a value is required for '--seed"),
        ("--slurm --pbs sweep eight-schools --keep {}/x", "cannot be used with"),
        ("--slurm --image i sweep eight-schools --keep {}/x", "--kubernetes"),
        ("--kubernetes sweep eight-schools --keep {}/x", "--image"),
        ("sweep eight-schools --keep {}/x", "--slurm"),
    ] {
        run(dir.path(), &format!("submit {words}")).fails(2, &[said]);
    }
}

/// A program in a folder of its own, which stands for a scheduler's.
fn stand_in(dir: &Path, name: &str, script: &str) {
    let path = dir.join("bin").join(name);
    fs::create_dir_all(dir.join("bin")).unwrap();
    fs::write(&path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Submits with these programs alone, and a shell's.
fn submitted(dir: &Path, words: &str) -> Answer {
    let words = format!("submit --run {words} {SWEEP}");
    let words = words.split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap()));
    let path = format!("{}:{}", dir.join("bin").display(), dir.join("tools").display());
    answer(octopus().args(words).env("PATH", path).current_dir(dir))
}

/// Schedulers that carry a job out at once: all tasks with their variables, one after the other.
#[test]
fn what_is_run_goes_to_the_scheduler() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &SWEEP.replace("kept", "alone"));
    let alone = fs::read(dir.path().join("alone/sweep.json")).unwrap();
    fs::create_dir(dir.path().join("tools")).unwrap();
    for tool in ["sh", "bash", "cat", "sed", "seq"] {
        let found =
            ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(tool)).into_iter().find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), dir.path().join("tools").join(tool)).unwrap();
    }
    submitted(dir.path(), "--slurm").fails(4, &["--run: there is no sbatch here"]);
    submitted(dir.path(), "--pbs").fails(4, &["--run: there is no qsub here"]);
    stand_in(dir.path(), "scontrol", "#!/bin/sh\nexit 1\n");
    for (option, program, array, index) in [
        ("--slurm", "sbatch", "s/^#SBATCH --array=1-//p", "SLURM_ARRAY_TASK_ID"),
        ("--pbs", "qsub", "s/^#PBS -J 1-//p", "PBS_ARRAY_INDEX"),
    ] {
        let script = format!(
            "#!/bin/bash\njob=$(cat)\ntasks=$(sed -n '{array}' <<< \"$job\")\nexport PBS_O_WORKDIR=.\n\
             for task in ${{tasks:+$(seq 1 $tasks)}}; do {index}=$task bash -c \"$job\" >&2 || exit 1; done\n\
             if [ -z \"$tasks\" ]; then bash -c \"$job\" > /dev/null; fi\necho \"7 $*\" >> log\necho 7\n"
        );
        stand_in(dir.path(), program, &script);
        submitted(dir.path(), &format!("{option} --parts 3")).succeeds();
        assert_eq!(fs::read(dir.path().join("kept/sweep.json")).unwrap(), alone, "{option}");
        let log = fs::read_to_string(dir.path().join("log")).unwrap();
        assert!(log.contains("afterany:7"), "{log}");
        let parts = run(dir.path(), "status {}/kept --json").json();
        assert_eq!(parts["processes"].as_array().unwrap().len(), 4, "{parts}");
        fs::remove_dir_all(dir.path().join("kept")).unwrap();
        fs::remove_file(dir.path().join("log")).unwrap();
        stand_in(dir.path(), program, "#!/bin/sh\ncat > /dev/null\necho no such queue >&2\nexit 1\n");
        submitted(dir.path(), option).fails(3, &["no such queue", "has refused it"]);
    }
}

/// Whether a value is of a schema, as far as the extract uses JSON Schema.
fn is_of(schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(one) = schema["oneOf"].as_array() {
        let fits = one.iter().filter(|schema| is_of(schema, value).is_ok()).count();
        return if fits == 1 { Ok(()) } else { Err(format!("{value} is of {fits} of several")) };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    if !kinds.iter().any(|one| one == kind || one == "number" && kind == "integer" || one.is_null()) {
        return Err(format!("{value} is no {kinds:?}"));
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        return Err(format!("{value} is none of {}", schema["enum"]));
    }
    for item in value.as_array().into_iter().flatten() {
        is_of(&schema["items"], item)?;
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten() {
        object.get(name.as_str().unwrap()).ok_or_else(|| format!("{name} is missing in {value}"))?;
    }
    for (name, value) in object {
        let own = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
        if own.is_null() || own == &Value::Bool(false) {
            return Err(format!("{name} is no field"));
        }
        is_of(own, value).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

/// The manifest is of Kubernetes' schema (an extract of the fields that are used), and its commands carry the work out.
#[test]
fn a_manifest_is_of_the_schema_and_its_parts_are_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let words = format!("submit --kubernetes --image i --volume v --gpus 1 --parts 3 {SWEEP}");
    let manifest = run(dir.path(), &words).succeeds().json();
    let schema: Value = serde_json::from_str(include_str!("kubernetes-job.json")).unwrap();
    let jobs = manifest["items"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        assert_eq!(is_of(&schema, job), Ok(()));
    }
    for (place, wrong) in [
        ("/spec/completions", "3".into()),
        ("/spec/podFailurePolicy/rules/1/onExitCodes/values", "2".into()),
        ("/spec/template/spec/containers/0", serde_json::json!({ "image": "i" })),
        ("/spec/template/spec", serde_json::json!({ "containers": [], "restart": "Never" })),
        ("/kind", "Pod".into()),
    ] {
        let mut job = jobs[0].clone();
        *job.pointer_mut(place).unwrap() = wrong;
        assert!(is_of(&schema, &job).is_err(), "{place}");
    }
    let by_hand = |container: &Value, index: Option<usize>| {
        let words = container["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let words: Vec<&str> = words.map(|word| if word == "octopus" { program() } else { word }).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdout(Stdio::null());
        for variable in container["env"].as_array().unwrap() {
            command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
        }
        index.iter().for_each(|index| _ = command.env("JOB_COMPLETION_INDEX", index.to_string()));
        command.status().unwrap().code()
    };
    let container = |job: usize, kind: &str| &jobs[job]["spec"]["template"]["spec"][kind][0];
    for index in [2, 0, 1] {
        assert_eq!(by_hand(container(0, "containers"), Some(index)), Some(0));
    }
    assert_eq!(by_hand(container(1, "initContainers"), None), Some(0));
    assert!(matches!(by_hand(container(1, "containers"), None), Some(0 | 1)));
    run(dir.path(), &SWEEP.replace("kept", "alone"));
    assert_eq!(
        fs::read(dir.path().join("kept/sweep.json")).unwrap(),
        fs::read(dir.path().join("alone/sweep.json")).unwrap()
    );
    // A bad answer is no failure of a part; a command that cannot work is.
    let shell = |command: &str| {
        let words = container(0, "containers")["command"].as_array().unwrap();
        let words: Vec<&str> =
            words.iter().take(4).map(|word| word.as_str().unwrap()).chain(["sh", "-c", command]).collect();
        Command::new(words[0]).args(&words[1..]).status().unwrap().code()
    };
    assert_eq!([0, 1, 2, 130].map(|code| shell(&format!("exit {code}"))), [0, 0, 2, 130].map(Some));
}

/// Every line of `docs/clusters.md` that a shell can run works as it is printed.
#[test]
fn the_commands_of_the_page_on_clusters_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/clusters.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() >= 9, "{lines:?}");
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("studies")).unwrap();
    ["north", "south"].iter().for_each(|name| {
        fs::copy(root.join("docs/example.csv"), dir.path().join(format!("studies/{name}.csv"))).unwrap();
    });
    fs::create_dir(dir.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(program(), dir.path().join("bin/octopus")).unwrap();
    let path = format!("{}:{}", dir.path().join("bin").display(), std::env::var("PATH").unwrap());
    for line in lines {
        let found =
            answer(assert_cmd::Command::new("sh").args(["-c", line]).env("PATH", &path).current_dir(dir.path()));
        assert_eq!(found.code, Some(0), "{line}: {found:#?}");
    }
    for name in ["sweep/sweep.json", "calibration/calibration.json"] {
        assert!(dir.path().join("runs").join(name).exists(), "{name}");
    }
}
