//! A device with a context on it, and what became of it while it was checked.

use crate::{FitnessConfig, remedy};
use octopus_cuda::{Context, CudaError, Kernels, Stream};
use octopus_device::{Finding, Question};
use std::time::Duration;

/// The device that the checks run on.
pub(crate) struct Live {
    pub(crate) context: Context,
    pub(crate) stream: Stream,
    pub(crate) kernels: Option<Kernels>,
    pub(crate) config: FitnessConfig,
    /// Whether it is the software GPU of the tests: its speeds are no measurement.
    pub(crate) test_double: bool,
    /// The id of the check in which the device was lost.
    lost: Option<&'static str>,
}

impl Live {
    pub(crate) fn new(context: Context, stream: Stream, config: FitnessConfig, test_double: bool) -> Self {
        Self { context, stream, kernels: None, config, test_double, lost: None }
    }

    /// Runs one check, unless the device was lost before; an error is the check's failure.
    pub(crate) fn step(
        &mut self,
        question: Question,
        check: impl FnOnce(&mut Self) -> Result<Finding, CudaError>,
    ) -> Finding {
        if let Some(id) = self.lost {
            return question.skip(format!("the device was lost (see {id})"));
        }
        let finding = check(self).unwrap_or_else(|error| remedy::failed(question, &error));
        if self.context.healthy().is_err() {
            self.lost = Some(question.id);
        }
        finding
    }

    /// [`step`](Self::step) of a check that launches kernels.
    pub(crate) fn step_with_kernels(
        &mut self,
        question: Question,
        check: impl FnOnce(&Self, &Kernels) -> Result<Finding, CudaError>,
    ) -> Finding {
        self.step(question, |live| match &live.kernels {
            Some(kernels) => check(live, kernels),
            None => Ok(question.skip("the kernels are not loaded (see kernel-load)")),
        })
    }

    /// Returns the end of a line with speeds: a remark where they are low, and a warning that the software GPU's speeds
    /// say nothing.
    pub(crate) fn remark(&self, slow: Option<&str>) -> String {
        remark(self.test_double, slow)
    }
}

/// Returns the remark `why` of what took longer than is usual.
pub(crate) fn if_slow(took: Duration, usual: Duration, why: &'static str) -> Option<&'static str> {
    (took > usual).then_some(why)
}

/// [`Live::remark`] without the device.
pub(crate) fn remark(test_double: bool, slow: Option<&str>) -> String {
    match slow {
        _ if test_double => " (a test double: no measurement of a GPU)".to_owned(),
        Some(why) => format!(" (slow: {why})"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_remarked_on_where_it_is_slow() {
        assert_eq!(remark(false, None), "");
        assert_eq!(remark(false, Some("why")), " (slow: why)");
        assert_eq!(remark(true, Some("why")), remark(true, None));
    }

    #[test]
    fn what_takes_the_usual_time_is_not_slow() {
        let times = [2_999, 3_000, 3_001].map(Duration::from_millis);
        let slow = times.map(|took| if_slow(took, Duration::from_secs(3), "why"));
        assert_eq!(slow, [None, None, Some("why")]);
    }
}
