//! What Nsight Compute has measured of a launch, from its CSV.

use std::collections::BTreeMap;

/// One launch: each metric's name with unit and value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Launch {
    metrics: BTreeMap<String, (String, f64)>,
}

impl Launch {
    pub(super) fn get(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).map(|(_, value)| *value)
    }

    /// Additions and multiplications, a fused one being two, of both precisions.
    pub(super) fn flops(&self) -> Option<f64> {
        let count = |operation: &str| self.get(&format!("smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum"));
        let of = |kind: char| {
            let [add, mul, fma] = ["add", "mul", "fma"].map(|word| count(&format!("{kind}{word}")));
            Some(add? + mul? + 2.0 * fma?)
        };
        Some(of('d')? + of('f')?)
    }

    pub(super) fn bytes(&self) -> Option<f64> {
        self.get("dram__bytes.sum")
    }

    /// From nanoseconds, as `--print-units base` gives it.
    pub(super) fn seconds(&self) -> Option<f64> {
        let (unit, value) = self.metrics.get("gpu__time_duration.sum")?;
        let scale = match unit.as_str() {
            "ns" | "nsecond" => 1e-9,
            "us" | "usecond" => 1e-6,
            "ms" | "msecond" => 1e-3,
            "s" | "second" => 1.0,
            _ => return None,
        };
        Some(value * scale)
    }
}

/// The launches of a CSV, around which there may be other lines.
pub(super) fn launches(text: &str) -> Vec<Launch> {
    let mut lines = text.lines().map(fields).skip_while(|fields| !fields.iter().any(|field| field == "Metric Name"));
    let Some(head) = lines.next() else { return Vec::new() };
    let column = |name: &str| head.iter().position(|field| field == name);
    let (Some(id), Some(name), Some(unit), Some(value)) =
        (column("ID"), column("Metric Name"), column("Metric Unit"), column("Metric Value"))
    else {
        return Vec::new();
    };
    let mut launches: BTreeMap<u64, Launch> = BTreeMap::new();
    let most = id.max(name).max(unit).max(value);
    // The columns of advice, which come last, are left out of the lines that have none.
    for fields in lines.filter(|fields| fields.len() > most) {
        // What is no number (`Cache configuration`) is left out; thousands are separated.
        if let (Ok(id), Ok(value)) = (fields[id].parse(), fields[value].replace(',', "").parse()) {
            let metrics = &mut launches.entry(id).or_default().metrics;
            metrics.insert(fields[name].clone(), (fields[unit].clone(), value));
        }
    }
    launches.into_values().collect()
}

/// The fields of a line; quotation marks keep commas together.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("never empty").push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = r#"==PROF== Connected to process 7
"ID","Host Name","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","gpu__time_duration.sum","ns","2,000"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","dram__bytes.sum","byte","1,024"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","smsp__sass_thread_inst_executed_op_dadd_pred_on.sum","inst","10"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","smsp__sass_thread_inst_executed_op_dmul_pred_on.sum","inst","20"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","smsp__sass_thread_inst_executed_op_dfma_pred_on.sum","inst","5"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","smsp__sass_thread_inst_executed_op_fadd_pred_on.sum","inst","1"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","smsp__sass_thread_inst_executed_op_fmul_pred_on.sum","inst","0"
"0","box","nuts_run_x(Data, Launch)","Command line profiler metrics","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum","inst","0"
"0","box","nuts_run_x(Data, Launch)","Launch Statistics","Function Cache Configuration","","CachePreferNone"
"1","box","nuts_run_x(Data, Launch)","Occupancy","Achieved Occupancy","%","24.6"
"#;
    /// As Nsight Compute 2025.3 writes it: with columns of advice, which only lines of advice have.
    const WITH_ADVICE: &str = r#""ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type"
"","","","","","","",""
"0","nuts_run_x","Command line profiler metrics","gpu__time_duration.sum","ns","491,904",
"0","nuts_run_x","SchedulerStats","","","","IssueSlotUtilization","OPT"
"0","nuts_run_x","Launch Statistics","Registers Per Thread","register/thread","122",
"#;

    #[test]
    fn launches_are_read_with_their_units() {
        let launches = launches(CSV);
        assert_eq!(launches.len(), 2);
        assert_eq!(launches[0].flops(), Some(41.0));
        assert_eq!(launches[0].bytes(), Some(1024.0));
        assert!((launches[0].seconds().unwrap() - 2e-6).abs() < 1e-18);
        assert_eq!((launches[1].get("Achieved Occupancy"), launches[1].flops()), (Some(24.6), None));
        assert_eq!(super::launches("no table"), []);
        let [launch] = &super::launches(WITH_ADVICE)[..] else { panic!("one launch") };
        assert_eq!((launch.seconds(), launch.get("Registers Per Thread")), (Some(491_904.0 * 1e-9), Some(122.0)));
    }
}
