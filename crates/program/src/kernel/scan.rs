//! Scans: all threads do all steps, with the same bits; the first one stores the outputs.

use super::KernelRefusal;
use super::emitter::{Emitter, NUMBER};
use super::text::{number, say};
use crate::plan::ScanStepPlan;

impl Emitter<'_> {
    /// Writes a scan, whose steps are the passes of a loop.
    pub(super) fn scan(&mut self, scan: &ScanStepPlan) -> Result<(), KernelRefusal> {
        for &view in &scan.vectors {
            self.make_ready(view);
        }
        let states: Vec<String> = scan
            .initial
            .iter()
            .map(|&scalar| {
                let (state, initial) = (self.text.new_real(), self.scalar(scalar));
                say!(self.text, "mov.f64 {state}, {initial}");
                state
            })
            .collect();
        let vectors: Vec<_> = scan.vectors.iter().map(|&view| self.place(view)).collect();
        let open = self.text.begin("0", &scan.steps.to_string(), 1);
        let at = if scan.reversed {
            self.text.word("sub.s32", &[&(scan.steps - 1).to_string(), &open.index])
        } else {
            open.index.clone()
        };
        let offset = self.text.wide("mul.wide.u32", &[&at, &NUMBER.to_string()]);
        let mut addresses = Vec::new();
        let mut registers = states.clone();
        for place in vectors {
            let known =
                addresses.iter().find(|(base, _)| *base == place.base).map(|(_, address): &(_, String)| address);
            let address = match known {
                Some(address) => address.clone(),
                None => {
                    let address = self.text.wide("add.s64", &[place.base, &offset]);
                    addresses.push((place.base, address.clone()));
                    address
                }
            };
            registers.push(self.text.real("ld.global.f64", &[&format!("[{address}+{}]", place.byte)]));
        }
        registers.extend(scan.scalars.iter().map(|&scalar| self.scalar(scalar)));
        registers.extend(scan.constants.iter().map(|&constant| number(constant)));
        for group in &scan.code {
            for k in 0..group.count {
                let args = scan.operands[(group.first + k) as usize];
                let read = args.map(|register| registers.get(register as usize).cloned().unwrap_or_default());
                let value = self.operate(group.op, read.each_ref().map(String::as_str))?;
                registers.push(value);
            }
        }
        if !scan.outputs.is_empty() {
            let address = self.text.wide("add.s64", &["~s", &offset]);
            for &(register, slot) in &scan.outputs {
                let (to, value) = (self.slot(slot), &registers[register as usize]);
                say!(self.text, "@{} st.global.f64 [{address}+{}], {value}", self.is_first, to.byte);
            }
        }
        let mut next: Vec<String> = scan.next.iter().map(|&register| registers[register as usize].clone()).collect();
        if scan.moves_states {
            // All are read before one is written.
            for value in next.iter_mut().filter(|value| states.contains(value)) {
                *value = self.text.real("mov.f64", &[value]);
            }
        }
        for (state, value) in states.iter().zip(&next).filter(|(state, value)| state != value) {
            say!(self.text, "mov.f64 {state}, {value}");
        }
        self.text.end(open);
        for &(_, slot) in &scan.outputs {
            self.set_written(slot);
        }
        Ok(())
    }
}
