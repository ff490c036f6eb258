//! What a body gives: the log density with its slopes, or values.

use super::emitter::{Emitter, MemoryPlace, WARP};
use super::root_length;
use super::text::{number, say};
use crate::plan::{Base, PlanStep, RootPlace, View};

/// The first coordinate and the length of each parameter, with the place of its slope among the roots.
pub(crate) type Slopes<'a> = &'a [(usize, usize, Option<usize>)];

impl Emitter<'_> {
    /// Puts slopes that loops store among the outputs at once, so that they are not copied.
    pub(super) fn place_slopes(&mut self, slopes: Slopes<'_>) {
        let plan = self.plan;
        let is_vector = |root: &usize| matches!(plan.roots[*root], RootPlace::Vector(..));
        if slopes.iter().filter_map(|slope| slope.2).any(|root| is_vector(&root)) {
            self.has_seen = Some(self.text.word("mov.u32", &["0"]));
        }
        let loops =
            plan.steps.iter().filter_map(|step| if let PlanStep::Loop(rows) = step { Some(rows) } else { None });
        let stored: Vec<u32> = loops.flat_map(|rows| rows.stores.iter().copied()).collect();
        for &(offset, length, root) in slopes {
            let Some(RootPlace::Vector(View { base: Base::Slot(slot), start: 0 }, _)) =
                root.map(|root| plan.roots[root])
            else {
                continue;
            };
            if stored.contains(&slot) && plan.slots[slot as usize] == length && !self.slopes.contains(&slot) {
                self.move_slot(slot, offset);
            }
        }
    }

    /// Remembers whether a slope is not finite.
    pub(super) fn look_at(&mut self, slope: &str) {
        let is_wrong = self.is_wrong(slope);
        let is_wrong = self.text.word("selp.b32", &["1", "0", &is_wrong]);
        if let Some(seen) = &self.has_seen {
            say!(self.text, "or.b32 {seen}, {seen}, {is_wrong}");
        }
    }

    /// Writes the slopes, and the log density: a NaN where a guard fails or a number is not finite.
    pub(super) fn density(&mut self, guards: usize, slopes: Slopes<'_>) {
        let value = self.first_of(self.plan.roots[0]);
        let mut wrong = vec![self.is_wrong(&value)];
        for guard in 1..=guards {
            let violations = self.first_of(self.plan.roots[guard]);
            wrong.push(self.text.truth("setp.neu.f64", &[&violations, &number(0.0)]));
        }
        for &(offset, length, root) in slopes {
            let to = MemoryPlace::of_scratch(self.dim + offset);
            match root.map(|root| self.plan.roots[root]) {
                None => self.fill(to, length, &number(0.0)),
                Some(RootPlace::Scalar(scalar)) => {
                    let slope = self.scalar(scalar);
                    wrong.push(self.is_wrong(&slope));
                    self.fill(to, length, &slope);
                }
                Some(RootPlace::Vector(View { base: Base::Slot(slot), start: 0 }, _))
                    if self.slopes.contains(&slot) && self.slot(slot) == to => {}
                Some(RootPlace::Vector(view, _)) => {
                    self.make_ready(view);
                    let from = self.place(view);
                    let open = self.begin_elements(length);
                    let slope = self.load_element(from, &open.index);
                    self.store_element(to, &open.index, &slope);
                    self.look_at(&slope);
                    self.text.end(open);
                }
            }
        }
        match self.has_seen.clone() {
            Some(seen) => wrong.push(self.any(&seen)),
            None => self.barrier(),
        }
        let value =
            wrong.iter().fold(value, |value, wrong| self.text.real("selp.f64", &[&number(f64::NAN), &value, wrong]));
        say!(self.text, "mov.f64 ~v, {value}");
    }

    /// Writes values, one after the other.
    pub(super) fn values(&mut self, lengths: &[usize]) {
        let (mut to, mut last) = (MemoryPlace::of_scratch(self.dim), None);
        for (&root, &length) in self.plan.roots.iter().zip(lengths) {
            match root {
                RootPlace::Scalar(scalar) => {
                    let value = self.scalar(scalar);
                    self.fill(to, length, &value);
                }
                RootPlace::Vector(view, _) => {
                    self.make_ready(view);
                    let from = self.place(view);
                    self.copy(from, to, length.min(root_length(root)));
                }
            }
            to = to.after(length);
            last = (length > 0).then(|| to.after(0)).or(last);
        }
        self.barrier();
        let value = match last {
            Some(MemoryPlace { base, byte }) => self.load(MemoryPlace { base, byte: byte - super::emitter::NUMBER }),
            None => number(0.0),
        };
        say!(self.text, "mov.f64 ~v, {value}");
    }

    fn first_of(&mut self, root: RootPlace) -> String {
        match root {
            RootPlace::Scalar(scalar) => self.scalar(scalar),
            RootPlace::Vector(view, _) => {
                self.make_ready(view);
                let place = self.place(view);
                self.load(place)
            }
        }
    }

    /// Whether a number is not finite.
    fn is_wrong(&mut self, value: &str) -> String {
        let size = self.text.real("abs.f64", &[value]);
        self.text.truth("setp.geu.f64", &[&size, &number(f64::INFINITY)])
    }

    fn fill(&mut self, to: MemoryPlace, length: usize, value: &str) {
        if length == 1 {
            say!(self.text, "@{} st.global.f64 {to}, {value}", self.is_first);
        } else if length > 1 {
            let open = self.begin_elements(length);
            self.store_element(to, &open.index, value);
            self.text.end(open);
        }
    }

    /// Whether any thread has seen something, once all have come here.
    fn any(&mut self, seen: &str) -> String {
        for bit in [16, 8, 4, 2, 1] {
            let (other, is_there) = (self.text.new_word(), self.text.new_truth());
            say!(self.text, "shfl.sync.bfly.b32 {other}|{is_there}, {seen}, {bit}, 31, -1");
            say!(self.text, "or.b32 {seen}, {seen}, {other}");
        }
        if self.lanes == WARP {
            self.barrier();
            return self.text.truth("setp.ne.u32", &[seen, "0"]);
        }
        // As numbers, since the chain's memory is of these.
        let warps = (self.lanes / WARP) as usize;
        let (of_warps, warp) = (self.new_scratch(warps), self.warp.clone());
        let as_number = self.text.real("cvt.rn.f64.u32", &[seen]);
        let address = self.text.address(of_warps.base, &warp, 8);
        say!(self.text, "@{} st.global.f64 [{address}+{}], {as_number}", self.is_first_of_warp, of_warps.byte);
        self.barrier();
        let sum = self.sum_of(of_warps, warps);
        self.text.truth("setp.neu.f64", &[&sum, &number(0.0)])
    }
}
