//! Part K of N of a command's work, and how a task of an array job finds its own: one row for each scheduler.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The variable that says how many parts there are, where the scheduler does not, or where only some tasks run again.
pub(crate) const PARTS: &str = "OCTOPUS_PARTS";

/// Part K of N: every Nth piece of the work, from the Kth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WorkPart {
    parts: usize,
    /// From 1.
    part: usize,
}

/// How the tasks of an array job of a scheduler know their places.
struct Scheduler {
    name: &'static str,
    /// The variable with the task's number.
    index: &'static str,
    /// The first task's number where [`PARTS`] is given, or the scheduler does not say it.
    first: u64,
    /// The variables with the first task's number, the last one's, and the number of tasks, where there are such.
    range: Option<[&'static str; 2]>,
    count: Option<&'static str>,
}

const SCHEDULERS: [Scheduler; 4] = [
    Scheduler {
        name: "Slurm",
        index: "SLURM_ARRAY_TASK_ID",
        first: 1,
        range: Some(["SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"]),
        count: Some("SLURM_ARRAY_TASK_COUNT"),
    },
    Scheduler { name: "Kubernetes", index: "JOB_COMPLETION_INDEX", first: 0, range: None, count: None },
    Scheduler { name: "PBS", index: "PBS_ARRAY_INDEX", first: 1, range: None, count: None },
    Scheduler {
        name: "AWS Batch",
        index: "AWS_BATCH_JOB_ARRAY_INDEX",
        first: 0,
        range: None,
        count: Some("AWS_BATCH_JOB_ARRAY_SIZE"),
    },
];

impl WorkPart {
    /// Returns part `part` of `parts`, from 1; `None` where there is no such part.
    pub(crate) fn new(part: usize, parts: usize) -> Option<Self> {
        (1..=parts).contains(&part).then_some(Self { parts, part })
    }

    /// Whether the piece of this number, from 0, is in it.
    pub(crate) fn has(self, number: usize) -> bool {
        number % self.parts == self.part - 1
    }

    /// Its stretch of numbers from 0 to `all`: the stretches of all parts, one after the other, are all numbers.
    pub(crate) fn stretch(self, all: u64) -> Range<u64> {
        let until = |part: usize| (u128::from(all) * part as u128 / self.parts as u128) as u64;
        until(self.part - 1)..until(self.part)
    }

    /// Its number, from 1.
    pub(crate) fn part(self) -> usize {
        self.part
    }

    /// The number of parts.
    pub(crate) fn parts(self) -> usize {
        self.parts
    }

    /// Its name in the names of files.
    pub(crate) fn file_name(self) -> String {
        format!("{}-of-{}", self.part, self.parts)
    }

    /// The part of the task that this process is, by the variables of its environment.
    fn of_task(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let found: Vec<&Scheduler> = SCHEDULERS.iter().filter(|one| variable(one.index).is_some()).collect();
        let scheduler = match found[..] {
            [one] => one,
            [] => {
                let names = SCHEDULERS.map(|one| format!("{} ({})", one.index, one.name)).join(", ");
                return Err(format!("this is no task of an array job: none of {names} is set; give --part K/N"));
            }
            [one, other, ..] => {
                return Err(format!(
                    "{} and {} are both set, and only one can say which part this is: unset one, or give --part K/N",
                    one.index, other.index
                ));
            }
        };
        let number = |name: &str| -> Result<Option<u64>, String> {
            let Some(text) = variable(name) else { return Ok(None) };
            text.trim().parse().map(Some).map_err(|_| format!("{name}={text:?} is not a whole number: give --part K/N"))
        };
        let of_range = |name: Option<&'static str>| name.map_or(Ok(None), number);
        let index = number(scheduler.index)?.unwrap_or_default();
        let (first, parts) = match (number(PARTS)?, of_range(scheduler.count)?) {
            (Some(parts), _) => (scheduler.first, parts),
            (None, Some(count)) => {
                let [first, last] = scheduler.range.map_or([None, None], |range| range.map(Some)).map(of_range);
                let (first, last) = (first?.unwrap_or(scheduler.first), last?);
                if last.is_some_and(|last| last.checked_sub(first).and_then(|gap| gap.checked_add(1)) != Some(count)) {
                    return Err(format!(
                        "the tasks of this array are not numbered without gaps ({count} from {first} to {}): number the \
                         parts from {} on and set {PARTS} to their number, or give --part K/N",
                        last.unwrap_or_default(),
                        scheduler.first
                    ));
                }
                (first, count)
            }
            (None, None) => {
                return Err(format!(
                    "{}={index}, and {} does not say how many parts there are: set {PARTS} to their number",
                    scheduler.index, scheduler.name
                ));
            }
        };
        let part = index.checked_sub(first).and_then(|before| usize::try_from(before).ok()?.checked_add(1));
        let found = part.and_then(|part| Self::new(part, usize::try_from(parts).ok()?));
        found.ok_or_else(|| {
            format!("{}={index} is none of {parts} parts from {first} on: give --part K/N", scheduler.index)
        })
    }
}

impl FromStr for WorkPart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Self::of_task(&|name| std::env::var(name).ok());
        }
        let part = text.split_once('/').and_then(|(part, parts)| Self::new(part.parse().ok()?, parts.parse().ok()?));
        part.ok_or_else(|| "a part K/N is needed, K from 1 to N: 2/8; or auto, in a task of an array job".to_owned())
    }
}

/// As `--part` takes it.
impl fmt::Display for WorkPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_every_nth_piece() {
        let part: WorkPart = "2/3".parse().unwrap();
        assert_eq!((0..9).filter(|&number| part.has(number)).collect::<Vec<_>>(), [1, 4, 7]);
        assert_eq!(
            [3, 4, 11, 1, u64::MAX].map(|all| part.stretch(all)),
            [1..2, 1..2, 3..7, 0..0, u64::MAX / 3..u64::MAX / 3 * 2]
        );
        assert_eq!((part.file_name(), part.to_string()), ("2-of-3".to_owned(), "2/3".to_owned()));
    }

    #[test]
    fn a_part_is_one_of_those_that_there_are() {
        assert!(["1/1", "1/3", "3/3"].into_iter().all(|part| part.parse::<WorkPart>().is_ok()));
        for wrong in ["0/3", "4/3", "1/0", "1", "one/two", "-1/3", "Auto"] {
            assert!(wrong.parse::<WorkPart>().unwrap_err().contains("K/N"), "{wrong}");
        }
    }

    /// Each scheduler's variables as its manual names them, and the part that they say; or words of the error.
    #[test]
    fn a_task_finds_its_part_or_says_what_is_wrong() {
        let slurm = |id: &str, min: &str, max: &str, count: &str| {
            format!(
                "SLURM_ARRAY_TASK_ID={id} SLURM_ARRAY_TASK_MIN={min} SLURM_ARRAY_TASK_MAX={max} \
                 SLURM_ARRAY_TASK_COUNT={count}"
            )
        };
        for (variables, expected) in [
            (slurm("1", "1", "8", "8"), Ok("1/8")),
            (slurm("8", "1", "8", "8"), Ok("8/8")),
            (slurm("0", "0", "7", "8"), Ok("1/8")),
            (slurm("4", "3", "4", "2"), Ok("2/2")),
            (slurm("7", "3", "7", "2"), Err("without gaps (2 from 3 to 7)")),
            (slurm("7", "3", "7", "2") + " OCTOPUS_PARTS=8", Ok("7/8")),
            (slurm("0", "0", "7", "8") + " OCTOPUS_PARTS=8", Err("SLURM_ARRAY_TASK_ID=0 is none of 8 parts from 1")),
            (slurm("9", "1", "8", "8"), Err("SLURM_ARRAY_TASK_ID=9 is none of 8")),
            (slurm("two", "1", "8", "8"), Err("SLURM_ARRAY_TASK_ID=\"two\" is not a whole number")),
            ("JOB_COMPLETION_INDEX=0 OCTOPUS_PARTS=3".into(), Ok("1/3")),
            ("JOB_COMPLETION_INDEX=2 OCTOPUS_PARTS=3".into(), Ok("3/3")),
            ("JOB_COMPLETION_INDEX=3 OCTOPUS_PARTS=3".into(), Err("none of 3 parts from 0")),
            (
                "JOB_COMPLETION_INDEX=2".into(),
                Err("Kubernetes does not say how many parts there are: set OCTOPUS_PARTS"),
            ),
            ("PBS_ARRAY_INDEX=3 OCTOPUS_PARTS=3".into(), Ok("3/3")),
            ("AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=5".into(), Ok("1/5")),
            ("AWS_BATCH_JOB_ARRAY_INDEX=4 AWS_BATCH_JOB_ARRAY_SIZE=5".into(), Ok("5/5")),
            ("AWS_BATCH_JOB_ARRAY_INDEX=4".into(), Err("AWS Batch does not say")),
            ("PBS_ARRAY_INDEX=3 JOB_COMPLETION_INDEX=2 OCTOPUS_PARTS=3".into(), Err("are both set")),
            ("OCTOPUS_PARTS=3".into(), Err("no task of an array job: none of SLURM_ARRAY_TASK_ID (Slurm)")),
            ("PBS_ARRAY_INDEX=1 OCTOPUS_PARTS=0".into(), Err("none of 0 parts")),
        ] {
            let variable = |name: &str| {
                let given = variables.split(' ').filter_map(|one| one.split_once('='));
                given.filter(|(of, _)| *of == name).map(|(_, value)| value.to_owned()).next()
            };
            match (WorkPart::of_task(&variable), expected) {
                (Ok(part), Ok(expected)) => assert_eq!(part.to_string(), expected, "{variables}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{variables}: {why}"),
                (found, expected) => panic!("{variables}: {found:?}, {expected:?}"),
            }
        }
    }
}
