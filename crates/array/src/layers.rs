//! A hierarchy of layers that learn without a teacher, on arrays of any device.
//!
//! Each level has three columns, which see the same input and learn by different rules (Hebb, Oja, BCM). A level acts at
//! every r-th step only (its temporal resolution) and sees what the level below has shown last. The lowest level sees the
//! data.
//!
//! ```
//! use octopus_array::Array;
//! use octopus_array::layers::{LayerConfig, LayerHierarchy};
//!
//! // Two levels over data of three numbers a row.
//! let config = LayerConfig { units: vec![4, 8], resolutions: vec![1, 2], inputs: 3, ..LayerConfig::of_size(4) };
//! let mut layers = LayerHierarchy::new(&config)?;
//! let data = Array::from_shape((2, 3), &[0.5, -0.25, 1.0, 0.0, 0.75, -1.0])?;
//! layers.process(&data, 1000)?;
//! let shown = layers.shown().expect("there are two levels").to_host()?;
//! assert!(shown.len() == 3 * 8 && shown.iter().all(|y: &f64| y.abs() <= 1.0));
//! # Ok::<(), octopus_array::ArrayError>(())
//! ```

use crate::{Array, ArrayError, ArrayShape, Scalar};

/// How the weights of a column follow from what it sees, x, and what it shows, y = tanh(W x).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlasticityRule {
    /// Hebb, The Organization of Behavior, 1949: dW = eta y x'.
    Hebb,
    /// Oja, A simplified neuron model as a principal component analyzer, 1982: dW = eta (y x' - y^2 W).
    Oja,
    /// Bienenstock, Cooper and Munro, Theory for the development of neuron selectivity, 1982: dW = eta y (y - theta) x',
    /// with theta the running average of y^2.
    Bcm,
}

/// The rules of a level's columns.
const RULES: [PlasticityRule; 3] = [PlasticityRule::Hebb, PlasticityRule::Oja, PlasticityRule::Bcm];

/// Rows of the made-up signal.
const PERIOD: usize = 41;

/// The shape of a hierarchy, and how fast it learns.
#[derive(Clone, Debug)]
pub struct LayerConfig {
    /// Units of each column of each level, from the lowest up.
    pub units: Vec<usize>,
    /// The steps between two actions of each level.
    pub resolutions: Vec<usize>,
    /// Numbers of a row of the data.
    pub inputs: usize,
    /// The rate of learning, eta.
    pub rate: f64,
    /// The share of the newest y^2 in theta.
    pub averaging: f64,
}

impl LayerConfig {
    /// Three levels of `size`, 2 `size` and 4 `size` units a column, at resolutions 1, 2 and 4.
    #[must_use]
    pub fn of_size(size: usize) -> Self {
        Self {
            units: vec![size, 2 * size, 4 * size],
            resolutions: vec![1, 2, 4],
            inputs: size,
            rate: 0.01,
            averaging: 0.1,
        }
    }

    /// Returns made-up data, 41 rows of numbers between -1 and 1 that any program can make, on this thread's current device.
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn signal<T: Scalar>(&self) -> Result<Array<T>, ArrayError> {
        let at = |step: usize, unit: usize| ((step * (unit % PERIOD + 1) * 7) % PERIOD) as f64 / 20.5 - 1.0;
        let rows = (0..PERIOD).flat_map(|step| (0..self.inputs).map(move |unit| T::from_f64(at(step, unit))));
        Array::from_shape((PERIOD, self.inputs), &rows.collect::<Vec<_>>())
    }
}

/// Units that see the same input and learn by one rule.
struct UnitColumn<T: Scalar> {
    rule: PlasticityRule,
    /// Shape (units, inputs).
    weights: Array<T>,
    /// The running average of y^2; BCM's alone has one.
    theta: Option<Array<T>>,
}

/// The columns that act at the same time, and what they have shown last.
struct Level<T: Scalar> {
    resolution: usize,
    columns: Vec<UnitColumn<T>>,
    shown: Array<T>,
}

/// Levels over data.
pub struct LayerHierarchy<T: Scalar> {
    rate: T,
    averaging: T,
    inputs: usize,
    levels: Vec<Level<T>>,
    steps: usize,
}

impl<T: Scalar> LayerHierarchy<T> {
    /// Makes a hierarchy on this thread's current device, with small weights by whole numbers, so that any program can make
    /// the same.
    ///
    /// # Errors
    /// When the device is not there, its memory does not suffice, or it fails.
    pub fn new(config: &LayerConfig) -> Result<Self, ArrayError> {
        let mut levels = Vec::new();
        let mut inputs = config.inputs;
        for (&units, &resolution) in config.units.iter().zip(&config.resolutions) {
            let columns = RULES.iter().enumerate().map(|(index, &rule)| UnitColumn::new(index, rule, units, inputs));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            inputs = columns.len() * units;
            levels.push(Level { resolution, columns, shown: Array::zeros(inputs)? });
        }
        Ok(Self {
            rate: T::from_f64(config.rate),
            averaging: T::from_f64(config.averaging),
            inputs: config.inputs,
            levels,
            steps: 0,
        })
    }

    /// Does `steps` steps, each with the next row of `data`; after the last row the first is next. The shape of `data` is
    /// (rows, inputs).
    ///
    /// # Errors
    /// When `data` has no row or rows of another length, memory does not suffice, or the device fails.
    pub fn process(&mut self, data: &Array<T>, steps: usize) -> Result<(), ArrayError> {
        let (found, inputs) = (data.shape(), self.inputs);
        let rows = match found {
            ArrayShape::Matrix(rows, columns) if rows > 0 && columns == inputs => rows,
            _ => {
                let right = ArrayShape::Matrix(1, inputs);
                return Err(ArrayError::Broadcast { operation: "layers", left: found, right });
            }
        };
        let row = |row: usize| data.slice(row..=row, ..)?.reshape(inputs);
        let rows = (0..rows).map(row).collect::<Result<Vec<_>, _>>()?;
        (0..steps).try_for_each(|_| self.step(&rows[self.steps % rows.len()]))
    }

    /// Returns what the highest level has shown last: zeros before the first step, and `None` without levels.
    pub fn shown(&self) -> Option<&Array<T>> {
        self.levels.last().map(|level| &level.shown)
    }

    /// Does one step with `input`: each level whose turn it is acts and learns, from the lowest up.
    ///
    /// # Errors
    /// When `input` has not as many numbers as the lowest level takes, memory does not suffice, or the device fails.
    pub fn step(&mut self, input: &Array<T>) -> Result<(), ArrayError> {
        let mut below = input;
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
    pub fn synchronize(&self) -> Result<(), ArrayError> {
        self.levels.iter().try_for_each(|level| level.shown.synchronize())
    }

    /// Returns what it has learned: of each level what it has shown last, and the weights of each of its columns, and of BCM's
    /// the thresholds.
    ///
    /// # Errors
    /// When the device fails, also at a step before.
    pub fn state(&self) -> Result<Vec<Vec<T>>, ArrayError> {
        let arrays = self.levels.iter().flat_map(|level| {
            let columns = level.columns.iter().flat_map(|column| [Some(&column.weights), column.theta.as_ref()]);
            [Some(&level.shown)].into_iter().chain(columns).flatten()
        });
        arrays.map(Array::to_host).collect()
    }
}

impl<T: Scalar> UnitColumn<T> {
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
