//! The coordinates that a chain walks in: with lambda 0 or 1 for all effects x_j = s^lambda z_j + lambda m, z_j being
//! the density's own, or standardised ones.

use super::real::{Real, to};
use super::standardised::{Frame, Measured, Precisions};
use octopus_density::{Centering, Hierarchy, Information};

/// The coordinates of the one hierarchical block that a kernel knows.
#[derive(Clone, Debug)]
pub(super) struct Coordinates<R, T> {
    block: Hierarchy,
    pub(super) kind: Kind<R, T>,
}

/// What the coordinates are.
#[derive(Clone, Debug)]
pub(super) enum Kind<R, T> {
    /// One lambda for all effects, 0 or 1, and the sum of all of them.
    Uniform {
        lambda: T,
        total: T,
    },
    Standardised(Known<R, T>),
}

/// What the data say of the block's effects.
#[derive(Clone, Debug)]
pub(super) struct Known<R, T> {
    effects: Vec<Measured<R>>,
    precisions: Precisions<R>,
    origin: T,
    log_noise: Option<usize>,
}

impl<R: Real, T: Real> Known<R, T> {
    fn new(information: &Information) -> Self {
        let effects = information.mean().iter().zip(information.precision());
        Self {
            effects: effects.map(|(&mean, &precision)| Measured::of(mean, precision)).collect(),
            precisions: Precisions::of(information.precision()),
            origin: T::of(information.origin()),
            log_noise: information.log_noise(),
        }
    }

    fn frame(&self, block: &Hierarchy, x: &[R]) -> Frame<R> {
        let at = |i: usize| to::<R, T>(x[i]);
        let weight = self.log_noise.map_or(T::ONE, |i| {
            let noise = at(i).exp();
            T::ONE / (noise * noise)
        });
        Frame::new(at(block.log_scale).exp(), weight, at(block.location) - self.origin)
    }
}

impl<R: Real, T: Real> Coordinates<R, T> {
    /// # Panics
    /// When coordinates are to be standardised and the data say nothing of the effects.
    pub(super) fn new(block: &Hierarchy, centering: Centering) -> Self {
        let kind = match centering.lambda() {
            Some(lambda) => Kind::Uniform { lambda: T::of(lambda), total: T::of(lambda * block.z.len() as f64) },
            None => Kind::Standardised(Known::new(block.information.as_ref().expect("data that say something"))),
        };
        Self { block: block.clone(), kind }
    }

    /// The density's own.
    pub(super) fn natural(block: &Hierarchy) -> Self {
        Self::new(block, Centering::NonCentered)
    }

    /// `x` in the density's own coordinates: z_j = s^-lambda (x_j - lambda m), or what standardised ones stand for.
    pub(super) fn make_natural(&self, x: &[R]) -> Vec<R> {
        let mut natural = x.to_vec();
        let effects = &mut natural[self.block.z.clone()];
        match &self.kind {
            Kind::Uniform { lambda, .. } if *lambda == T::ZERO => {}
            Kind::Uniform { lambda, .. } => {
                // The power is a number of the chain, and rounded where it meets the effects.
                let power: R = to((-*lambda * to::<R, T>(x[self.block.log_scale])).exp());
                let origin = to::<T, R>(*lambda) * x[self.block.location];
                effects.iter_mut().for_each(|x| *x = power * (*x - origin));
            }
            Kind::Standardised(known) => {
                let frame = known.frame(&self.block, x);
                let measured = effects.iter_mut().zip(&known.effects);
                measured.for_each(|(x, &measured)| *x = frame.effect(measured, *x).z);
            }
        }
        natural
    }

    /// The log-Jacobian, which is in the log density at `x` and not in that of the density's own coordinates.
    pub(super) fn log_jacobian(&self, x: &[R]) -> T {
        match &self.kind {
            Kind::Uniform { lambda, .. } if *lambda == T::ZERO => T::ZERO,
            Kind::Uniform { total, .. } => -*total * to(x[self.block.log_scale]),
            Kind::Standardised(known) => {
                let [_, logs]: [T; 2] = known.frame(&self.block, x).shares_and_logs(x.len(), &known.precisions);
                T::of(-0.5) * logs
            }
        }
    }
}
