//! How often a warp has executed each line of a kernel's PTX: what the interpreter of PTX has written.
//!
//! A file `<entry>.counts` has a line for each instruction: its line in the module's PTX, counted from 1, its opcode, how
//! often a warp executed it, and for how many lanes in all. A first line `# <entry> leapfrogs <N>` tells the leapfrog steps
//! of all chains; without it they are found as the number of executions that the most instructions share.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The ending of the files.
const ENDING: &str = ".counts";
/// How the kernels are called that make leapfrog steps: others are counted too, and there is no step to relate them to.
const RUNS: &str = "nuts_run_";

/// One instruction of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Executed {
    /// In the module's text, counted from 1.
    pub(super) line: u32,
    /// Such as `add.rn.f64`.
    pub(super) opcode: String,
    /// Executions by a warp, over all warps.
    pub(super) times: u64,
}

/// What a run has executed of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) entry: String,
    instructions: Vec<Executed>,
    /// Leapfrog steps that a warp has made, over all warps.
    steps: u64,
}

impl Counts {
    /// Reads the counts in `folder` of every kernel that makes leapfrog steps, by the names of the entries.
    ///
    /// # Errors
    /// When the folder has none, or one is not understood.
    pub(super) fn read(folder: &Path) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for file in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = file?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if let Some(entry) = name.strip_suffix(ENDING).filter(|entry| entry.starts_with(RUNS)) {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                all.push(Self::parse(entry, &text).with_context(|| path.display().to_string())?);
            }
        }
        if all.is_empty() {
            bail!("{} has no file {RUNS}...{ENDING}", folder.display());
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
        let warps = warps_of_a_chain(entry);
        let steps = told.map_or_else(|| most_common(&instructions), |leapfrogs| leapfrogs * warps);
        if steps == 0 {
            bail!("no leapfrog step was executed");
        }
        Ok(Self { entry: entry.to_owned(), instructions, steps })
    }

    /// How often a warp executes each instruction in a leapfrog step of its chain.
    pub(super) fn of_a_step(&self) -> impl Iterator<Item = (&Executed, f64)> {
        self.instructions.iter().map(|executed| (executed, executed.times as f64 / self.steps as f64))
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
    // That of the lanes is for other readers.
    words.next()?.parse::<u64>().ok()?;
    Some(Executed { line: number, opcode, times })
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
        assert_eq!(counts.steps, 900);
        let lines = counts.by_line();
        assert_eq!((lines[&52], lines[&53], lines[&60]), (1.0, 1.0, 1200.0 / 900.0));
    }

    #[test]
    fn a_heading_tells_the_leapfrog_steps_of_chains() {
        let parse = |entry, heading| Counts::parse(entry, &format!("{heading}\n{TEXT}"));
        assert_eq!(parse("run_32x4", "# run_32x4 leapfrogs 450").unwrap().steps, 450);
        // Four warps make each step of such a chain.
        assert_eq!(parse("run_128x8_team", "# run_128x8_team leapfrogs 450").unwrap().steps, 1800);
        for heading in ["# other leapfrogs 450", "# run leapfrogs x", "# run"] {
            assert!(parse("run", heading).is_err(), "{heading}");
        }
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
        for text in ["", "1 add 5", "x add 5 160", "1 add five 160", "1 add 0 0"] {
            assert!(Counts::parse("run", text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_folder_gives_its_entries_in_the_order_of_their_names() {
        let folder = std::env::temp_dir().join(format!("octopus-counts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["nuts_run_b.counts", "nuts_run_a.counts", "nuts_restart_a.counts", "notes.txt"] {
            fs::write(folder.join(name), TEXT).unwrap();
        }
        let names: Vec<String> = Counts::read(&folder).unwrap().into_iter().map(|counts| counts.entry).collect();
        assert_eq!(names, ["nuts_run_a", "nuts_run_b"]);
        for name in ["nuts_run_a.counts", "nuts_run_b.counts"] {
            fs::remove_file(folder.join(name)).unwrap();
        }
        assert!(Counts::read(&folder).unwrap_err().to_string().contains("has no file nuts_run_....counts"));
        fs::remove_dir_all(folder).unwrap();
    }
}
