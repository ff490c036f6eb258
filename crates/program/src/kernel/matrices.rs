//! Operations on matrices. Each element takes its products in the CPU's order; barriers are between the columns of a factor.

use super::KernelRefusal;
use super::emitter::{Emitter, MemoryPlace, NUMBER, WARP};
use super::text::{OpenLoop, number, say};
use crate::evaluate::ProductShape;
use crate::matrix::MatrixOp;
use crate::order::{FEW, TILE};
use crate::plan::View;

/// A factor of a product for one result: its first element, and elements from one product to the next.
struct StridedFactor {
    place: MemoryPlace,
    /// The register of the first element's number.
    first: String,
    step: usize,
}

/// A triangular system.
struct System {
    l: MemoryPlace,
    b: MemoryPlace,
    x: MemoryPlace,
    n: usize,
    transposed: bool,
}

impl Emitter<'_> {
    /// Writes an operation on matrices.
    pub(super) fn matrix(&mut self, op: MatrixOp, args: [View; 2], out: u32) -> Result<(), KernelRefusal> {
        args.iter().for_each(|&view| self.make_ready(view));
        let ([a, b], to) = (args.map(|view| self.place(view)), self.slot(out));
        match op {
            MatrixOp::Product { .. } => {
                if let Some(shape) = op.product_shape() {
                    self.product(shape, [a, b], to)?;
                }
            }
            MatrixOp::Cholesky { rows } => self.cholesky(a, to, rows as usize),
            MatrixOp::Solve { rows, columns, transposed } => {
                let system = System { l: a, b, x: to, n: rows as usize, transposed };
                if columns == 1 { self.solve_one(&system) } else { self.solve(&system, columns as usize) }
            }
            MatrixOp::EigendecomposeSym { .. } => {
                return Err(KernelRefusal::Operation("eigenvectors of symmetric matrices".into()));
            }
        }
        self.set_written(out);
        Ok(())
    }

    /// Short sums are a thread's, long ones a warp's.
    fn product(&mut self, shape: ProductShape, [a, b]: [MemoryPlace; 2], to: MemoryPlace) -> Result<(), KernelRefusal> {
        let ProductShape { rows, inner, columns, left_transposed, right_transposed } = shape;
        if inner > TILE * TILE {
            return Err(KernelRefusal::Operation(format!("products with sums of {inner} numbers")));
        }
        let is_short = inner <= FEW;
        let (warp, count) = (self.warp.clone(), rows * columns);
        let open = if is_short {
            self.begin_elements(count)
        } else {
            self.text.begin(&warp, &count.to_string(), self.lanes / WARP)
        };
        let (i, j) = self.divided(&open.index, columns);
        let left = if left_transposed {
            StridedFactor { place: a, first: i, step: rows }
        } else {
            StridedFactor { place: a, first: self.times(&i, inner), step: 1 }
        };
        let right = if right_transposed {
            StridedFactor { place: b, first: self.times(&j, inner), step: 1 }
        } else {
            StridedFactor { place: b, first: j, step: columns }
        };
        if is_short {
            let sum = self.short_dot(&left, &right, inner);
            self.store_element(to, &open.index, &sum);
        } else {
            let sum = self.dot(&left, &right, inner);
            let address = self.text.address(to.base, &open.index, NUMBER as u32);
            say!(self.text, "@{} st.global.f64 [{address}+{}], {sum}", self.is_first_of_warp, to.byte);
        }
        self.text.end(open);
        Ok(())
    }

    /// The row and the column of an element of a matrix.
    fn divided(&mut self, element: &str, columns: usize) -> (String, String) {
        if columns == 1 {
            return (element.to_owned(), "0".to_owned());
        }
        let row = self.text.word("div.u32", &[element, &columns.to_string()]);
        let before = self.text.word("mul.lo.s32", &[&row, &columns.to_string()]);
        let column = self.text.word("sub.s32", &[element, &before]);
        (row, column)
    }

    fn times(&mut self, index: &str, count: usize) -> String {
        self.text.word("mul.lo.s32", &[index, &count.to_string()])
    }

    fn short_dot(&mut self, left: &StridedFactor, right: &StridedFactor, inner: usize) -> String {
        let addresses = [left, right].map(|factor| self.text.address(factor.place.base, &factor.first, NUMBER as u32));
        let mut sum = number(0.0);
        for k in 0..inner {
            let [x, y] = [(left, &addresses[0]), (right, &addresses[1])].map(|(factor, address)| {
                let byte = factor.place.after(k * factor.step).byte;
                self.text.real("ld.global.f64", &[&format!("[{address}+{byte}]")])
            });
            let product = self.text.real("mul.rn.f64", &[&x, &y]);
            sum = self.text.real("add.rn.f64", &[&sum, &product]);
        }
        sum
    }

    /// The sum of products by the lanes of a warp, tile by tile.
    fn dot(&mut self, left: &StridedFactor, right: &StridedFactor, inner: usize) -> String {
        let (tiles, warp_lane) = (inner.div_ceil(TILE), self.warp_lane.clone());
        let sum = self.text.new_real();
        if tiles == 1 {
            say!(self.text, "mov.f64 {sum}, {}", number(0.0));
            let of_lane = self.text.begin_lanes(&warp_lane, inner, WARP);
            self.add_product(left, right, &of_lane, &sum);
            self.text.end(of_lane);
            self.text.join_lanes(&sum);
            return sum;
        }
        let total = self.text.new_real();
        say!(self.text, "mov.f64 {total}, {}", number(0.0));
        let open = self.text.begin("0", &tiles.to_string(), 1);
        say!(self.text, "mov.f64 {sum}, {}", number(0.0));
        let first = self.text.word("shl.b32", &[&open.index, &TILE.ilog2().to_string()]);
        let end = self.text.word("add.s32", &[&first, &TILE.to_string()]);
        let end = self.text.word("min.u32", &[&end, &inner.to_string()]);
        let first = self.text.word("add.s32", &[&first, &warp_lane]);
        let of_lane = self.text.begin(&first, &end, WARP);
        self.add_product(left, right, &of_lane, &sum);
        self.text.end(of_lane);
        self.text.join_lanes(&sum);
        if tiles <= FEW {
            say!(self.text, "add.rn.f64 {total}, {total}, {sum}");
        } else {
            // Tiles have lanes, too.
            let lane_of_tile = self.text.word("and.b32", &[&open.index, "31"]);
            let is_own = self.text.truth("setp.eq.u32", &[&lane_of_tile, &warp_lane]);
            let more = self.text.real("add.rn.f64", &[&total, &sum]);
            say!(self.text, "selp.f64 {total}, {more}, {total}, {is_own}");
        }
        self.text.end(open);
        if tiles > FEW {
            self.text.join_lanes(&total);
        }
        total
    }

    fn add_product(&mut self, left: &StridedFactor, right: &StridedFactor, open: &OpenLoop, sum: &str) {
        let [x, y] = [left, right].map(|factor| {
            let element = self.text.word("mad.lo.s32", &[&open.index, &factor.step.to_string(), &factor.first]);
            self.load_element(factor.place, &element)
        });
        let product = self.text.real("mul.rn.f64", &[&x, &y]);
        say!(self.text, "add.rn.f64 {sum}, {sum}, {product}");
    }

    /// Takes from `rest` the product of two numbers.
    fn take_away(&mut self, rest: &str, x: &str, y: &str) {
        let product = self.text.real("mul.rn.f64", &[x, y]);
        say!(self.text, "sub.rn.f64 {rest}, {rest}, {product}");
    }

    /// Column by column, a row by each thread; all compute the column's element of the diagonal.
    fn cholesky(&mut self, a: MemoryPlace, l: MemoryPlace, n: usize) {
        let columns = self.text.begin("0", &n.to_string(), 1);
        self.barrier();
        let j = columns.index.clone();
        let row_of_j = self.times(&j, n);
        let rows = self.begin_elements(n);
        let i = rows.index.clone();
        let row_of_i = self.times(&i, n);
        let element = self.text.word("add.s32", &[&row_of_i, &j]);
        let is_above = self.text.truth("setp.lt.u32", &[&i, &j]);
        let to = self.text.address(l.base, &element, NUMBER as u32);
        say!(self.text, "@{is_above} st.global.f64 [{to}+{}], {}", l.byte, number(0.0));
        let is_below = self.text.truth("setp.ge.u32", &[&i, &j]);
        let below = self.text.only_if(&is_below);
        let on_diagonal = self.text.word("add.s32", &[&row_of_j, &j]);
        let (own, pivot) = (self.load_element(a, &element), self.load_element(a, &on_diagonal));
        let before = self.text.begin("0", &j, 1);
        let [of_i, of_j] = [&row_of_i, &row_of_j].map(|row| {
            let element = self.text.word("add.s32", &[row, &before.index]);
            self.load_element(l, &element)
        });
        self.take_away(&own, &of_i, &of_j);
        self.take_away(&pivot, &of_j, &of_j);
        self.text.end(before);
        let root = self.text.real("sqrt.rn.f64", &[&pivot]);
        let share = self.text.real("div.rn.f64", &[&own, &root]);
        let is_own = self.text.truth("setp.eq.u32", &[&i, &j]);
        let value = self.text.real("selp.f64", &[&root, &share, &is_own]);
        say!(self.text, "st.global.f64 [{to}+{}], {value}", l.byte);
        self.text.end(below);
        self.text.end(rows);
        self.text.end(columns);
    }

    /// The row that is done when `step` are done before it.
    fn row_of_step(&mut self, system: &System, step: &str) -> String {
        if system.transposed {
            self.text.word("sub.s32", &[&(system.n - 1).to_string(), step])
        } else {
            step.to_owned()
        }
    }

    /// What row `i` takes of row `k`.
    fn factor(&mut self, system: &System, i: &str, k: &str) -> String {
        let (row, column) = if system.transposed { (k, i) } else { (i, k) };
        let element = self.text.word("mad.lo.s32", &[row, &system.n.to_string(), column]);
        self.load_element(system.l, &element)
    }

    /// A column by each thread.
    fn solve(&mut self, system: &System, columns: usize) {
        let open = self.begin_elements(columns);
        let column = open.index.clone();
        let steps = self.text.begin("0", &system.n.to_string(), 1);
        let i = self.row_of_step(system, &steps.index);
        let element = self.text.word("mad.lo.s32", &[&i, &columns.to_string(), &column]);
        let rest = self.load_element(system.b, &element);
        let before = self.text.begin("0", &steps.index, 1);
        let k = self.row_of_step(system, &before.index);
        let factor = self.factor(system, &i, &k);
        let known = self.text.word("mad.lo.s32", &[&k, &columns.to_string(), &column]);
        let known = self.load_element(system.x, &known);
        self.take_away(&rest, &factor, &known);
        self.text.end(before);
        let diagonal = self.factor(system, &i, &i);
        let value = self.text.real("div.rn.f64", &[&rest, &diagonal]);
        self.store_element(system.x, &element, &value);
        self.text.end(steps);
        self.text.end(open);
    }

    /// One column: a row that is known is taken from all later ones at once.
    fn solve_one(&mut self, system: &System) {
        let rest = self.new_scratch(system.n);
        self.copy(system.b, rest, system.n);
        let steps = self.text.begin("0", &system.n.to_string(), 1);
        self.barrier();
        let i = self.row_of_step(system, &steps.index);
        let (own, diagonal) = (self.load_element(rest, &i), self.factor(system, &i, &i));
        let known = self.text.real("div.rn.f64", &[&own, &diagonal]);
        let to = self.text.address(system.x.base, &i, NUMBER as u32);
        say!(self.text, "@{} st.global.f64 [{to}+{}], {known}", self.is_first, system.x.byte);
        let next = self.text.word("add.s32", &[&steps.index, "1"]);
        let next = self.text.word("add.s32", &[&next, "~l"]);
        let later = self.text.begin(&next, &system.n.to_string(), self.lanes);
        let row = self.row_of_step(system, &later.index);
        let factor = self.factor(system, &row, &i);
        let before = self.load_element(rest, &row);
        self.take_away(&before, &factor, &known);
        self.store_element(rest, &row, &before);
        self.text.end(later);
        self.text.end(steps);
    }
}
