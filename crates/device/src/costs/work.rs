//! A piece of work, in the terms that costs are measured in.

/// A piece of work that could be done on the processor or on a device.
///
/// ```
/// use octopus_device::Work;
///
/// // The product of two 1000 x 1000 matrices in f64: both go up, the result comes back.
/// let matrix = 8 * 1000 * 1000;
/// let work = Work::new("a matrix product of 1000 x 1000")
///     .step("matmul_f64", 1, 1e9)
///     .upload(2, 2 * matrix)
///     .download(1, matrix);
/// assert_eq!(work.steps[0].units, 1e9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The name of the work in messages.
    pub name: String,
    /// The kernels that the work launches.
    pub steps: Vec<WorkStep>,
    /// Copies to the device, and their bytes in all.
    pub uploads: (u64, u64),
    /// Copies from the device, and their bytes in all.
    pub downloads: (u64, u64),
    /// Whether this process has used the device before, and so pays no start-up.
    pub device_started: bool,
}

/// Launches of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkStep {
    /// The kernel's name; see the table of the [module](crate::costs).
    pub kernel: String,
    /// The number of launches of the kernel.
    pub launches: u64,
    /// The number of the kernel's units in all launches together.
    pub units: f64,
    /// Parts of it that the processor can do at the same time, e.g. chains.
    pub cpu_parts: u32,
}

impl Work {
    /// Makes a piece of work with nothing to do yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), steps: vec![], uploads: (0, 0), downloads: (0, 0), device_started: false }
    }

    /// Adds `launches` launches of a kernel, of `units` units together.
    #[must_use]
    pub fn step(mut self, kernel: impl Into<String>, launches: u64, units: f64) -> Self {
        self.steps.push(WorkStep { kernel: kernel.into(), launches, units, cpu_parts: 1 });
        self
    }

    /// Adds `copies` copies to the device, of `bytes` bytes together.
    #[must_use]
    pub fn upload(mut self, copies: u64, bytes: u64) -> Self {
        self.uploads = (self.uploads.0.saturating_add(copies), self.uploads.1.saturating_add(bytes));
        self
    }

    /// Adds `copies` copies from the device, of `bytes` bytes together.
    #[must_use]
    pub fn download(mut self, copies: u64, bytes: u64) -> Self {
        self.downloads = (self.downloads.0.saturating_add(copies), self.downloads.1.saturating_add(bytes));
        self
    }

    /// Divides the last step into parts that the processor can do at the same time.
    #[must_use]
    pub fn in_parts(mut self, cpu_parts: u32) -> Self {
        if let Some(step) = self.steps.last_mut() {
            step.cpu_parts = cpu_parts;
        }
        self
    }

    /// Marks the work as done in a process that has used the device before.
    #[must_use]
    pub fn on_started_device(self) -> Self {
        Self { device_started: true, ..self }
    }
}
