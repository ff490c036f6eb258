//! Waiting for the device: as the driver waits, or, where a kernel may never end, by asking until its time is over.

use super::event;
use super::status::{Operation, check};
use crate::patience::Expected;
use crate::session::DeviceSession;
use crate::{CudaError, DriverCode};
use core::ptr;
use cust::context::CurrentContext;
use cust::sys::{self, CUresult};
use std::time::{Duration, Instant};

/// So long a wait asks without a pause: most waits are shorter, and a pause is not.
const WITHOUT_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

impl DeviceSession {
    /// Waits by `wait`, or by `ask` where a kernel may never end.
    ///
    /// # Errors
    /// [`CudaError::Overdue`]; and when the work that is waited for has failed.
    pub(super) fn wait(
        &self,
        wait: (Operation<'_>, impl FnOnce() -> CUresult),
        ask: (Operation<'_>, impl FnMut() -> CUresult),
    ) -> Result<(), CudaError> {
        match self.patience.now() {
            (None, _) => self.call(wait.0, wait.1),
            (Some(expected), _) => self.ask_until_done(expected, ask),
        }
    }

    /// Waits until the device has done all that this process asked of it.
    pub(crate) fn wait_for_all(&self) -> Result<(), CudaError> {
        let (expected, launches) = self.patience.now();
        if let Some(expected) = expected {
            self.await_all_streams(expected)?;
        }
        self.call_cust(Operation::Call("waiting for the device (cuCtxSynchronize)"), CurrentContext::synchronize)?;
        self.patience.all_done(launches);
        Ok(())
    }

    /// There is no question about the whole device. But an event in the default stream comes behind the work that all
    /// other streams have now: none of them is made to be independent of it (`RawStream::new`).
    fn await_all_streams(&self, expected: Expected) -> Result<(), CudaError> {
        let mark = self.events.take(self)?;
        let recorded = event::record(self, mark, ptr::null_mut());
        // SAFETY: the event is alive and of this context, which is current.
        let ask = || unsafe { sys::cuEventQuery(mark) };
        let waited = recorded.and_then(|()| self.ask_until_done(expected, (event::ASK, ask)));
        self.events.give_back(mark);
        waited
    }

    fn ask_until_done(
        &self,
        Expected { kernel, within }: Expected,
        (operation, mut ask): (Operation<'_>, impl FnMut() -> CUresult),
    ) -> Result<(), CudaError> {
        self.enter()?;
        let clock = Instant::now();
        while !self.judge(done(check(operation, ask())))? {
            let waited = clock.elapsed();
            if waited > within {
                return self.judge(Err(CudaError::Overdue { kernel, waited }));
            }
            if waited > WITHOUT_PAUSE {
                std::thread::sleep((waited / 8).min(LONGEST_PAUSE));
            }
        }
        Ok(())
    }
}

/// "Not ready" is an answer, not a failure.
pub(super) fn done(result: Result<(), CudaError>) -> Result<bool, CudaError> {
    match result {
        Ok(()) => Ok(true),
        Err(CudaError::Driver { code: DriverCode::NOT_READY, .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
