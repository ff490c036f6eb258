//! Array jobs as shell scripts, for Slurm and PBS.
//!
//! A part ends with exit code 1 when its draws should not be used: it has worked, and the whole tells. A part that is
//! asked to end keeps its checkpoint, and its next turn goes on.

use super::ArrayJob;
use crate::share::PARTS;

/// The seconds before the end of its time in which a part of Slurm writes its checkpoint.
const NOTICE: u32 = 60;

/// A word for the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the script for Slurm. Before a part's time is over it is asked to end (USR1), and puts itself into the queue
/// again; where Slurm preempts it (TERM), or its node is lost, Slurm does.
pub(super) fn slurm(job: &ArrayJob, program: &str) -> String {
    let ArrayJob { name, parts, threads, gpus, mebibytes, minutes, foretold, .. } = job;
    let asked = format!(
        "#SBATCH --cpus-per-task={threads}\n#SBATCH --mem={mebibytes}M\n#SBATCH --time={minutes}\n#SBATCH --requeue\n\
         #SBATCH --open-mode=append\n{}",
        if *gpus > 0 { format!("#SBATCH --gres=gpu:{gpus}\n") } else { String::new() }
    );
    let (part, whole) = (line(&job.command(program, true)), line(&job.command(program, false)));
    format!(
        r#"#!/bin/sh
# {foretold}
set -eu
parts=$(sbatch --parsable <<'END'
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=1-{parts}
#SBATCH --output={name}-%a.log
#SBATCH --signal=B:USR1@{NOTICE}
{asked}export {PARTS}={parts}
again= asked=
trap 'again=1 asked=1; kill -TERM "$part"' USR1
trap 'asked=1; kill -TERM "$part"' TERM
{part} &
part=$!
wait "$part"
code=$?
if [ "$asked" ]; then wait "$part"; code=$?; fi
if [ "$again" ] && [ "$code" = 130 ]; then
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"
fi
if [ "$code" = 1 ]; then code=0; fi
exit "$code"
END
)
parts=${{parts%%;*}}
echo "parts: job $parts"
whole=$(sbatch --parsable --dependency="afterany:$parts" <<'END'
#!/bin/bash
#SBATCH --job-name={name}-whole
#SBATCH --output={name}-whole.log
{asked}{whole}
END
)
echo "whole: job ${{whole%%;*}}"
"#
    )
}

/// Returns the script for PBS (OpenPBS, PBS Professional), which may take names of 15 letters at most.
pub(super) fn pbs(job: &ArrayJob, program: &str) -> String {
    let ArrayJob { parts, threads, gpus, mebibytes, minutes, foretold, .. } = job;
    let gpus = if *gpus > 0 { format!(":ngpus={gpus}") } else { String::new() };
    let asked = format!(
        "#PBS -l select=1:ncpus={threads}:mem={mebibytes}mb{gpus}\n#PBS -l walltime={:02}:{:02}:00\n#PBS -r y\n#PBS -j oe\n",
        minutes / 60,
        minutes % 60
    );
    let (part, whole) = (line(&job.command(program, true)), line(&job.command(program, false)));
    // PBS refuses an array of one job: a step of 2 leaves the first alone.
    let array = if *parts == 1 { "1-2:2".to_owned() } else { format!("1-{parts}") };
    format!(
        r#"#!/bin/sh
# {foretold}
set -eu
parts=$(qsub <<'END'
#!/bin/bash
#PBS -N octopus
#PBS -J {array}
{asked}cd "$PBS_O_WORKDIR" || exit 3
export {PARTS}={parts}
{part}
code=$?
if [ "$code" = 1 ]; then code=0; fi
exit "$code"
END
)
echo "parts: job $parts"
whole=$(qsub -W depend="afterany:$parts" <<'END'
#!/bin/bash
#PBS -N octopus-whole
{asked}cd "$PBS_O_WORKDIR" || exit 3
{whole}
END
)
echo "whole: job $whole"
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_as_they_are() {
        for (word, expected) in [
            ("a-1_b./=,:+@%", "a-1_b./=,:+@%"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("*", "'*'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
