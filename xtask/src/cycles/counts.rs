//! How often a warp has executed each line of a kernel's PTX: what the interpreter of PTX has written.
//!
//! A file `<entry>.counts` has a line for each instruction: its line in the module's PTX, counted from 1, its opcode, how
//! often a warp executed it, and for how many lanes in all. A first line `# <entry> leapfrogs <N>` tells the leapfrog steps
//! of all chains; without it they are found as the number of executions that the most instructions share.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The ending of the files.
const ENDING: &str = ".counts";
/// How the kernels are called that make leapfrog steps; the sampler's others have no step to relate counts to.
const RUNS: &str = "nuts_run_";
const OF_SAMPLER: &str = "nuts_";
/// What moves elements of arrays; flags are stored by `st.volatile`.
const STORE: &str = "st.global";
const LOAD: &str = "ld.global";
/// Elements that a warp makes in a step: one a lane.
pub(super) const LANES: f64 = 32.0;

/// What a kernel does in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Work {
    /// A leapfrog step of a chain.
    Leapfrog,
    /// 32 elements of the array that it makes.
    Elements,
}

/// One instruction of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Executed {
    /// In the module's text, counted from 1.
    pub(super) line: u32,
    /// Such as `add.rn.f64`.
    pub(super) opcode: String,
    /// Executions by a warp, over all warps.
    pub(super) times: u64,
    /// The same by lanes.
    lanes: u64,
}

impl Executed {
    /// The numbers that its lanes have moved, each of one or several.
    fn numbers(&self) -> u64 {
        self.lanes * if self.opcode.contains(".v4.") { 4 } else { 1 + u64::from(self.opcode.contains(".v2.")) }
    }
}

/// What a run has executed of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts {
    pub(super) entry: String,
    pub(super) work: Work,
    instructions: Vec<Executed>,
    /// Steps that a warp has made, over all warps.
    steps: f64,
}

impl Counts {
    /// Reads the counts in `folder` of every kernel that makes leapfrog steps or an array, by the names of the entries, which
    /// begin with one of `beginnings`.
    ///
    /// # Errors
    /// When the folder has none, or one is not understood.
    pub(super) fn read(folder: &Path, beginnings: &[String]) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        let is_wanted = |entry: &str| {
            (entry.starts_with(RUNS) || !entry.starts_with(OF_SAMPLER))
                && (beginnings.is_empty() || beginnings.iter().any(|beginning| entry.starts_with(beginning.as_str())))
        };
        for file in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = file?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if let Some(entry) = name.strip_suffix(ENDING).filter(|entry| is_wanted(entry)) {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                all.push(Self::parse(entry, &text).with_context(|| path.display().to_string())?);
            }
        }
        if all.is_empty() {
            bail!("{} has no counts of such kernels: no file NAME{ENDING}", folder.display());
        }
        all.sort_by(|a, b| a.entry.cmp(&b.entry));
        Ok(all)
    }

    /// Reads the text of one file.
    ///
    /// # Errors
    /// When a line is not understood, the heading is of another entry, or nothing was executed.
    pub(super) fn parse(entry: &str, text: &str) -> Result<Self> {
        let mut lines = text.lines().peekable();
        let told = match lines.next_if(|line| line.starts_with('#')) {
            Some(heading) => Some(leapfrogs(entry, heading)?),
            None => None,
        };
        let instructions = lines
            .filter(|line| !line.trim().is_empty())
            .map(|line| executed(line).with_context(|| format!("{line:?} is not: line opcode times lanes")))
            .collect::<Result<Vec<_>>>()?;
        let work = if told.is_some() || entry.starts_with(RUNS) { Work::Leapfrog } else { Work::Elements };
        let steps = match work {
            Work::Leapfrog => {
                let warps = warps_of_a_chain(entry);
                told.map_or_else(|| most_common(&instructions), |leapfrogs| leapfrogs * warps) as f64
            }
            Work::Elements => stored(&instructions) as f64 / LANES,
        };
        if steps == 0.0 {
            bail!("{}", if work == Work::Leapfrog { "no leapfrog step was executed" } else { "no element was stored" });
        }
        Ok(Self { entry: entry.to_owned(), work, instructions, steps })
    }

    /// How often a warp executes each instruction in a step.
    pub(super) fn of_a_step(&self) -> impl Iterator<Item = (&Executed, f64)> {
        self.instructions.iter().map(|executed| (executed, executed.times as f64 / self.steps))
    }

    /// The same by line; the instruction that is executed most often counts where a line has several.
    pub(super) fn by_line(&self) -> BTreeMap<u32, f64> {
        let mut lines = BTreeMap::new();
        for (executed, rate) in self.of_a_step() {
            let most = lines.entry(executed.line).or_insert(rate);
            *most = rate.max(*most);
        }
        lines
    }

    /// Bytes that lanes store to arrays in a step, and those that they load from them.
    pub(super) fn bytes(&self) -> [f64; 2] {
        [STORE, LOAD].map(|opcode| {
            let moved = self.instructions.iter().filter(|executed| executed.opcode.starts_with(opcode));
            let bytes = moved.map(|executed| executed.numbers() * if executed.opcode.ends_with("64") { 8 } else { 4 });
            bytes.sum::<u64>() as f64 / self.steps
        })
    }
}

/// How many warps carry a chain: each executes all of its leapfrog steps. The name ends in lanes and rows, `128x8`, and of a
/// team in `_team` too.
pub(super) fn warps_of_a_chain(entry: &str) -> u64 {
    let shape = entry.trim_end_matches("_team").rsplit('_').next().unwrap_or_default();
    let lanes = shape.split_once('x').and_then(|(lanes, _)| lanes.parse::<u64>().ok());
    lanes.map_or(1, |lanes| (lanes / 32).max(1))
}

fn leapfrogs(entry: &str, heading: &str) -> Result<u64> {
    match heading.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["#", name, "leapfrogs", number] if *name == entry => {
            number.parse().with_context(|| format!("{number:?} leapfrogs"))
        }
        _ => bail!("{heading:?} is not: # {entry} leapfrogs N"),
    }
}

fn executed(line: &str) -> Option<Executed> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let opcode = words.next()?.to_owned();
    let times = words.next()?.parse().ok()?;
    let lanes = words.next()?.parse().ok()?;
    Some(Executed { line: number, opcode, times, lanes })
}

/// The elements that lanes have stored to arrays: who makes an array stores each of its elements once.
fn stored(instructions: &[Executed]) -> u64 {
    instructions.iter().filter(|executed| executed.opcode.starts_with(STORE)).map(Executed::numbers).sum()
}

/// The number of executions for which itself times how many instructions share it is the largest: most of the work is
/// what each leapfrog step does once.
fn most_common(instructions: &[Executed]) -> u64 {
    let mut shares = BTreeMap::<u64, u64>::new();
    for executed in instructions {
        *shares.entry(executed.times).or_default() += 1;
    }
    shares.into_iter().max_by_key(|(times, share)| times * share).map_or(0, |(times, _)| times)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
40 ld.param.u64 4 128
52 add.rn.f64 900 28800
53 mul.rn.f64 900 28800
53 bra 450 14400
54 sub.rn.f64 900 28800
60 div.rn.f64 1200 38400
";

    #[test]
    fn steps_are_the_number_of_executions_that_most_instructions_share() {
        // 900 is shared by three, 1200 is larger and of one alone.
        let counts = Counts::parse("nuts_run_x_f64_32x4", TEXT).unwrap();
        assert_eq!((counts.work, counts.steps), (Work::Leapfrog, 900.0));
        let lines = counts.by_line();
        assert_eq!((lines[&52], lines[&53], lines[&60]), (1.0, 1.0, 1200.0 / 900.0));
    }

    #[test]
    fn a_heading_tells_the_leapfrog_steps_of_chains() {
        let parse = |entry, heading| Counts::parse(entry, &format!("{heading}\n{TEXT}"));
        assert_eq!(parse("run_32x4", "# run_32x4 leapfrogs 450").unwrap().steps, 450.0);
        // Four warps make each step of such a chain.
        assert_eq!(parse("run_128x8_team", "# run_128x8_team leapfrogs 450").unwrap().steps, 1800.0);
        for heading in ["# other leapfrogs 450", "# run leapfrogs x", "# run"] {
            assert!(parse("run", heading).is_err(), "{heading}");
        }
    }

    #[test]
    fn who_makes_an_array_stores_each_element_once() {
        let text =
            "5 ld.global.f64 30 900\n6 add.rn.f64 60 1800\n7 st.volatile.global.u32 1 3\n8 st.global.f64 45 1280\n";
        let counts = Counts::parse("array_exp_f64", text).unwrap();
        // 1280 elements are 40 times 32.
        assert_eq!((counts.work, counts.steps), (Work::Elements, 40.0));
        assert_eq!((counts.by_line()[&6], counts.bytes()), (1.5, [8.0 * 32.0, 8.0 * 900.0 / 40.0]));
        let pairs = Counts::parse("array_exp_f32", "8 st.global.v2.f32 45 1280").unwrap();
        assert_eq!((pairs.steps, pairs.bytes()), (80.0, [4.0 * 32.0, 0.0]));
        let none = Counts::parse("array_exp_f32", "6 add.rn.f64 60 1800").unwrap_err();
        assert_eq!(none.to_string(), "no element was stored");
    }

    #[test]
    fn lanes_in_a_name_tell_the_warps_of_a_chain() {
        for (entry, warps) in
            [("nuts_run_a_f64_32x4", 1), ("nuts_run_a_f64_128x8", 4), ("nuts_run_a_f64_128x8_team", 4), ("sum_f64", 1)]
        {
            assert_eq!(warps_of_a_chain(entry), warps, "{entry}");
        }
    }

    #[test]
    fn what_is_no_count_is_refused() {
        for text in ["", "1 add 5", "x add 5 160", "1 add five 160", "1 add 5 all", "1 add 0 0"] {
            assert!(Counts::parse("nuts_run_x", text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_folder_gives_its_entries_in_the_order_of_their_names() {
        let folder = std::env::temp_dir().join(format!("octopus-counts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["nuts_run_b.counts", "nuts_run_a.counts", "nuts_restart_a.counts", "notes.txt"] {
            fs::write(folder.join(name), TEXT).unwrap();
        }
        fs::write(folder.join("draw_a.counts"), "8 st.global.f32 45 1280\n").unwrap();
        let names = |beginnings: &[&str]| {
            let beginnings: Vec<String> = beginnings.iter().map(|beginning| (*beginning).to_owned()).collect();
            let all = Counts::read(&folder, &beginnings)?;
            Ok::<_, anyhow::Error>(all.into_iter().map(|counts| counts.entry).collect::<Vec<String>>())
        };
        assert_eq!(names(&[]).unwrap(), ["draw_a", "nuts_run_a", "nuts_run_b"]);
        assert_eq!(names(&["draw_", "nuts_run_b"]).unwrap(), ["draw_a", "nuts_run_b"]);
        assert!(names(&["nuts_restart"]).unwrap_err().to_string().contains("has no counts of such kernels"));
        fs::remove_dir_all(folder).unwrap();
    }
}
