//! An array job as two Jobs of Kubernetes (`batch/v1`), in JSON, which is YAML.
//!
//! The parts are an indexed Job, whose pods have `JOB_COMPLETION_INDEX`. A pod that is evicted or preempted does not count
//! as a failure; a command that cannot work (exit codes 2 and 4) is not tried again. The whole waits for the parts in
//! another Job.

use super::ArrayJob;
use crate::share::PARTS;
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Where the volume is in the containers: the folder that relative paths begin in.
const WORK: &str = "/work";
/// How often a part is tried again after a failure.
const TRIES: u32 = 6;
/// The seconds in which a part that is asked to end writes its checkpoint.
const NOTICE: u32 = 60;
/// Passes exit codes on but for 1: the draws should not be used, which the whole tells.
const PASS_ON: &str = r#""$@" || { code=$?; [ "$code" = 1 ] || exit "$code"; }"#;

/// Returns the manifest.
///
/// # Errors
/// When the command cannot be written as JSON.
pub(super) fn manifest(job: &ArrayJob, image: &str, volume: &str) -> Result<String> {
    let ArrayJob { name, parts, foretold, .. } = job;
    let passed_on = ["sh", "-c", PASS_ON, "sh"].map(str::to_owned).into_iter().chain(job.command("octopus", true));
    let part = container(job, image, "octopus", &passed_on.collect::<Vec<_>>());
    let whole = container(job, image, "octopus", &job.command("octopus", false));
    let folder = job.folder.to_string_lossy().into_owned();
    let wait = container(job, image, "wait", &["octopus", "status", "--wait", &folder].map(str::to_owned));
    let parts_job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name, "annotations": { "octopus/foretold": foretold } },
        "spec": {
            "completionMode": "Indexed",
            "completions": parts,
            "parallelism": parts,
            "backoffLimitPerIndex": TRIES,
            "podFailurePolicy": { "rules": [
                { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
                { "action": "FailIndex", "onExitCodes": { "containerName": "octopus", "operator": "In", "values": [2, 4] } },
            ] },
            "template": template(&[part], &[], volume),
        },
    });
    let whole_job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": format!("{name}-whole") },
        "spec": { "backoffLimit": TRIES, "template": template(&[whole], &[wait], volume) },
    });
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [parts_job, whole_job] });
    serde_json::to_string_pretty(&list).context("cannot write the manifest")
}

fn container(job: &ArrayJob, image: &str, name: &str, command: &[String]) -> Value {
    let mut most = json!({ "memory": format!("{}Mi", job.mebibytes) });
    if job.gpus > 0 {
        most["nvidia.com/gpu"] = job.gpus.into();
    }
    json!({
        "name": name,
        "image": image,
        "command": command,
        "workingDir": WORK,
        "env": [{ "name": PARTS, "value": job.parts.to_string() }],
        "resources": { "requests": { "cpu": job.threads.to_string(), "memory": format!("{}Mi", job.mebibytes) }, "limits": most },
        "volumeMounts": [{ "name": "work", "mountPath": WORK }],
    })
}

fn template(containers: &[Value], before: &[Value], volume: &str) -> Value {
    json!({ "spec": {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": NOTICE,
        "initContainers": before,
        "containers": containers,
        "volumes": [{ "name": "work", "persistentVolumeClaim": { "claimName": volume } }],
    } })
}
