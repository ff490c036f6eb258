//! A hierarchy of layers that learn without a teacher, on arrays of any device.
//!
//! Each level has three reactive columns, which see the same input and learn by different rules (Hebb, Oja, BCM). A level
//! acts at every r-th step only (its temporal resolution) and sees what the level below has shown last. The lowest level
//! sees a signal.

use octopus_device::{Array, ArrayError, Scalar};

/// How the weights of a column follow from what it sees, x, and what it shows, y = tanh(W x).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlasticityRule {
    /// Hebb, The Organization of Behavior, 1949: dW = eta y x'.
    Hebb,
    /// Oja, A simplified neuron model as a principal component analyzer, 1982: dW = eta (y x' - y^2 W).
    Oja,
    /// Bienenstock, Cooper and Munro, Theory for the development of neuron selectivity, 1982: dW = eta y (y - theta) x',
    /// with theta the running average of y^2.
    Bcm,
}

/// The rules of a level's columns.
pub(crate) const RULES: [PlasticityRule; 3] = [PlasticityRule::Hebb, PlasticityRule::Oja, PlasticityRule::Bcm];

/// Steps after which the signal begins anew.
const PERIOD: usize = 41;

/// The shape of a hierarchy, and how fast it learns.
#[derive(Clone, Debug)]
pub(crate) struct HierarchyConfig {
    /// Units of each column of each level, from the lowest up.
    pub(crate) units: Vec<usize>,
    /// The steps between two actions of each level.
    pub(crate) resolutions: Vec<usize>,
    /// Numbers of the signal.
    pub(crate) inputs: usize,
    /// The rate of learning, eta.
    pub(crate) rate: f64,
    /// The share of the newest y^2 in theta.
    pub(crate) averaging: f64,
}

impl HierarchyConfig {
    /// Three levels of `size`, 2 `size` and 4 `size` units a column, at resolutions 1, 2 and 4.
    #[must_use]
    pub(crate) fn of_size(size: usize) -> Self {
        Self {
            units: vec![size, 2 * size, 4 * size],
            resolutions: vec![1, 2, 4],
            inputs: size,
            rate: 0.01,
            averaging: 0.1,
        }
    }
}

/// Units that see the same input and learn by one rule.
pub(crate) struct ReactiveColumn<T: Scalar> {
    rule: PlasticityRule,
    /// Shape (units, inputs).
    weights: Array<T>,
    /// The running average of y^2; BCM's alone has one.
    theta: Option<Array<T>>,
}

/// The columns that act at the same time, and what they have shown last.
pub(crate) struct HierarchyLevel<T: Scalar> {
    resolution: usize,
    columns: Vec<ReactiveColumn<T>>,
    shown: Array<T>,
}

/// Levels over a signal.
pub(crate) struct Hierarchy<T: Scalar> {
    rate: T,
    averaging: T,
    signal: Vec<Array<T>>,
    levels: Vec<HierarchyLevel<T>>,
    steps: usize,
}

impl<T: Scalar> Hierarchy<T> {
    /// Makes a hierarchy on this thread's current device: small weights and a signal, both by whole numbers, so that any
    /// program can make the same.
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub(crate) fn new(config: &HierarchyConfig) -> Result<Self, ArrayError> {
        let signal = (0..PERIOD).map(|step| {
            let at = |unit: usize| ((step * (unit % PERIOD + 1) * 7) % PERIOD) as f64 / 20.5 - 1.0;
            Array::from_slice(&(0..config.inputs).map(|unit| T::from_f64(at(unit))).collect::<Vec<_>>())
        });
        let mut levels = Vec::new();
        let mut inputs = config.inputs;
        for (&units, &resolution) in config.units.iter().zip(&config.resolutions) {
            let columns =
                RULES.iter().enumerate().map(|(index, &rule)| ReactiveColumn::new(index, rule, units, inputs));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            inputs = columns.len() * units;
            levels.push(HierarchyLevel { resolution, columns, shown: Array::zeros(inputs)? });
        }
        Ok(Self {
            rate: T::from_f64(config.rate),
            averaging: T::from_f64(config.averaging),
            signal: signal.collect::<Result<_, _>>()?,
            levels,
            steps: 0,
        })
    }

    /// Does one step: each level whose turn it is acts and learns, from the lowest up.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub(crate) fn step(&mut self) -> Result<(), ArrayError> {
        let mut below: &Array<T> = &self.signal[self.steps % PERIOD];
        for level in &mut self.levels {
            if self.steps.is_multiple_of(level.resolution) {
                let mut shown = Vec::with_capacity(level.columns.len());
                for column in &mut level.columns {
                    shown.push(column.act(below, self.rate, self.averaging)?);
                }
                level.shown = Array::concatenate(&shown.iter().collect::<Vec<_>>(), 0)?;
            }
            below = &level.shown;
        }
        self.steps += 1;
        Ok(())
    }

    /// Waits until all steps are done.
    ///
    /// # Errors
    /// When a step has failed on the device.
    pub(crate) fn synchronize(&self) -> Result<(), ArrayError> {
        self.levels.iter().try_for_each(|level| level.shown.synchronize())
    }

    /// Returns what it has learned: of each level what it has shown last, and the weights of each of its columns, and of BCM's
    /// the thresholds.
    ///
    /// # Errors
    /// When the device fails, also at a step before.
    #[allow(dead_code, reason = "the tests that have this module ask for it")]
    pub(crate) fn state(&self) -> Result<Vec<Vec<T>>, ArrayError> {
        let arrays = self.levels.iter().flat_map(|level| {
            let columns = level.columns.iter().flat_map(|column| [Some(&column.weights), column.theta.as_ref()]);
            [Some(&level.shown)].into_iter().chain(columns).flatten()
        });
        arrays.map(Array::to_host).collect()
    }
}

impl<T: Scalar> ReactiveColumn<T> {
    fn new(index: usize, rule: PlasticityRule, units: usize, inputs: usize) -> Result<Self, ArrayError> {
        let weight = |place: usize| {
            let (unit, input) = (place / inputs, place % inputs);
            (((31 * unit + 17 * input + 7 * index) % 23) as f64 / 23.0 - 0.5) * (4.0 / inputs as f64)
        };
        let weights: Vec<T> = (0..units * inputs).map(|place| T::from_f64(weight(place))).collect();
        Ok(Self {
            rule,
            weights: Array::from_shape((units, inputs), &weights)?,
            theta: if rule == PlasticityRule::Bcm { Some(Array::zeros(units)?) } else { None },
        })
    }

    /// Shows y = tanh(W x) and learns by it.
    fn act(&mut self, x: &Array<T>, rate: T, averaging: T) -> Result<Array<T>, ArrayError> {
        let y = self.weights.matmul(x)?.tanh()?;
        let change = match (self.rule, &mut self.theta) {
            (PlasticityRule::Oja, _) => {
                let squares = y.mul(&y)?.reshape((y.len(), 1))?;
                y.outer(x)?.sub(&squares.mul(&self.weights)?)?
            }
            (PlasticityRule::Bcm, Some(theta)) => {
                // theta + averaging (y^2 - theta), by what was before this step's change of weights.
                let active = y.mul(&y.sub(theta)?)?;
                *theta = y.mul(&y)?.sub(theta)?.axpy(averaging, theta)?;
                active.outer(x)?
            }
            _ => y.outer(x)?,
        };
        self.weights = change.axpy(rate, &self.weights)?;
        Ok(y)
    }
}
