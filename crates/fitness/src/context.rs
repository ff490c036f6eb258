//! Does the device take this process, and how long does that take?

use crate::live::{Live, if_slow};
use crate::{FitnessConfig, remedy};
use octopus_cuda::{Context, CudaError, Device, Stream};
use octopus_device::{Finding, Question, TEST_DOUBLE};
use std::time::{Duration, Instant};

pub(crate) const QUESTION: Question =
    Question { id: "context", title: "CUDA context", expected: "the device takes this process" };

/// A longer time is worth a remark: without persistence the driver starts the device anew for each process.
const USUAL: Duration = Duration::from_secs(3);

pub(crate) fn check(config: FitnessConfig) -> (Finding, Option<Live>) {
    match open(config) {
        Ok((live, took)) => {
            let slow = if_slow(took, USUAL, "is persistence on? `sudo nvidia-smi -pm 1`");
            let seconds = took.as_secs_f64();
            (QUESTION.pass(format!("made in {seconds:.3} s{}", live.remark(slow))), Some(live))
        }
        Err(error) => (remedy::failed(QUESTION, &error), None),
    }
}

fn open(config: FitnessConfig) -> Result<(Live, Duration), CudaError> {
    let device = Device::get(config.device)?;
    let test_double = device.name()?.contains(TEST_DOUBLE);
    let clock = Instant::now();
    let context = Context::primary(&device)?;
    let took = clock.elapsed();
    let stream = Stream::new(&context)?;
    Ok((Live::new(context, stream, config, test_double), took))
}
