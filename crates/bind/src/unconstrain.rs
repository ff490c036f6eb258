//! From a parameter's value to its unconstrained coordinates: the inverses of `transform.rs`. A value outside of its
//! support has coordinates that are not finite.

use crate::interpreter::{Interpreter, Run, wrong};
use crate::value::Tensor;
use octopus_random::Stream;
use octopus_random::exact::{atanh, ln};
use octopus_stan::{BaseType, Constraint, Declaration, Expression, StanType};

/// The coordinates of a parameter that has its value in a run on draws, for each draw. The length of a unit vector's
/// coordinates, which its value does not tell, is drawn.
pub(crate) fn unconstrained(
    me: &mut Interpreter<'_>,
    declaration: &Declaration,
    randoms: &mut [Stream],
) -> Run<Vec<Vec<f64>>> {
    let variable = &me.program.variables[declaration.variable.0];
    let (ty, span) = (variable.ty, variable.span);
    let value = me.values[declaration.variable.0].clone().map(|value| me.tensor(&value));
    let Some(value) = value.as_ref().and_then(LanedNumbers::of) else {
        return wrong(span, format!("`{}` has no value", variable.name));
    };
    let limits = Limits::of(me, &declaration.constraint)?;
    let lanes = randoms.iter_mut().enumerate();
    Ok(lanes.map(|(lane, random)| coordinates(ty, &declaration.constraint, &value, &limits, lane, random)).collect())
}

/// The coordinates of one draw.
fn coordinates(
    ty: StanType,
    constraint: &Constraint,
    value: &LanedNumbers<'_>,
    limits: &Limits,
    lane: usize,
    random: &mut Stream,
) -> Vec<f64> {
    let x = value.of_lane(lane);
    let (_, inner) = value.dims.split_at(usize::from(ty.arrays).min(value.dims.len()));
    let length: usize = inner.iter().product();
    let copies = || x.chunks(length.max(1));
    let square = |x: &[f64]| -> Vec<Vec<f64>> { x.chunks(inner[1].max(1)).map(<[f64]>::to_vec).collect() };
    match constraint {
        Constraint::None
        | Constraint::Lower(_)
        | Constraint::Upper(_)
        | Constraint::LowerUpper(..)
        | Constraint::Affine { .. } => {
            let free = limits.free(constraint, x, lane);
            if ty.base != BaseType::Matrix {
                return free;
            }
            let places = crate::shape::rows_to_columns(inner);
            free.chunks(length.max(1)).flat_map(|copy| places.iter().map(|&place| copy[place])).collect()
        }
        Constraint::Ordered => copies().flat_map(|x| ordered(x, false)).collect(),
        Constraint::PositiveOrdered => copies().flat_map(|x| ordered(x, true)).collect(),
        Constraint::Simplex => copies().flat_map(simplex).collect(),
        Constraint::RowStochastic => x
            .chunks(inner[1].max(1))
            .fold(Vec::new(), |mut rows, row| {
                rows.push(simplex(row));
                rows
            })
            .chunks(inner[0].max(1))
            .flat_map(columns_of)
            .collect(),
        Constraint::ColumnStochastic => {
            // The coordinates of all columns stand side by side, as the simplexes of an array do.
            let column =
                |x: &[f64], j: usize| -> Vec<f64> { x.iter().skip(j).step_by(inner[1].max(1)).copied().collect() };
            copies().flat_map(|x| (0..inner[1]).flat_map(|j| simplex(&column(x, j))).collect::<Vec<_>>()).collect()
        }
        Constraint::SumToZero if ty.base == BaseType::Matrix => {
            copies().flat_map(|x| sum_to_zero_matrix(&square(x), inner[0], inner[1])).collect()
        }
        Constraint::SumToZero => copies().flat_map(sum_to_zero).collect(),
        Constraint::UnitVector => copies()
            .flat_map(|x| {
                let length = (0..x.len()).map(|_| random.normal().powi(2)).sum::<f64>().sqrt();
                x.iter().map(move |x| x * length).collect::<Vec<_>>()
            })
            .collect(),
        Constraint::CholeskyCorr => copies().flat_map(|x| correlations(&square(x))).collect(),
        Constraint::Corr => copies()
            .flat_map(|x| {
                let n = inner[0];
                let rows = correlations(&cholesky(&square(x)));
                // By columns, and the partial correlations stand by rows.
                let at = |i: usize, j: usize| rows[i * (i - 1) / 2 + j];
                (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j))).map(|(i, j)| at(i, j)).collect::<Vec<_>>()
            })
            .collect(),
        Constraint::CholeskyCov => copies().flat_map(|x| triangle(&square(x))).collect(),
        Constraint::Cov => copies().flat_map(|x| triangle(&cholesky(&square(x)))).collect(),
    }
}

/// Numbers of each draw, or the same ones for all.
struct LanedNumbers<'a> {
    dims: &'a [usize],
    laned: bool,
    numbers: &'a [f64],
}

impl<'a> LanedNumbers<'a> {
    fn of(tensor: &'a Tensor) -> Option<Self> {
        Some(Self { dims: &tensor.dims, laned: tensor.laned, numbers: tensor.known()? })
    }

    fn of_lane(&self, lane: usize) -> &'a [f64] {
        let count: usize = self.dims.iter().product();
        let from = if self.laned { lane * count } else { 0 };
        &self.numbers[from..from + count]
    }
}

/// Bounds, or an offset and a multiplier.
struct Limits([Option<Tensor>; 2]);

impl Limits {
    fn of(me: &mut Interpreter<'_>, constraint: &Constraint) -> Run<Self> {
        let [first, second] = match constraint {
            Constraint::Lower(lower) => [Some(lower), None],
            Constraint::Upper(upper) => [None, Some(upper)],
            Constraint::LowerUpper(lower, upper) => [Some(lower), Some(upper)],
            Constraint::Affine { offset, multiplier } => [offset.as_ref(), multiplier.as_ref()],
            _ => [None, None],
        };
        let mut value = |expression: Option<&Expression>| -> Run<Option<Tensor>> {
            let Some(expression) = expression else { return Ok(None) };
            let value = me.expression(expression)?;
            Ok(Some(me.tensor(&value)))
        };
        Ok(Self([value(first)?, value(second)?]))
    }

    /// The unbounded coordinates of a draw's numbers.
    fn free(&self, constraint: &Constraint, x: &[f64], lane: usize) -> Vec<f64> {
        let numbers = |limit: &Option<Tensor>, other: f64| match limit {
            None => vec![other],
            Some(tensor) => LanedNumbers::of(tensor).map_or_else(|| vec![f64::NAN], |own| own.of_lane(lane).to_vec()),
        };
        let Self([first, second]) = self;
        let at =
            |values: &[f64], k: usize| values.get(if values.len() == 1 { 0 } else { k }).copied().unwrap_or(f64::NAN);
        if matches!(constraint, Constraint::Affine { .. }) {
            let (offset, by) = (numbers(first, 0.0), numbers(second, 1.0));
            return x.iter().enumerate().map(|(k, x)| (x - at(&offset, k)) / at(&by, k)).collect();
        }
        let (lower, upper) = (numbers(first, f64::NEG_INFINITY), numbers(second, f64::INFINITY));
        // As in the transform, bounds that are infinite everywhere are none.
        let is_none = |values: &[f64]| values.iter().all(|x| x.is_infinite());
        let free = |(k, &x): (usize, &f64)| match (is_none(&lower), is_none(&upper)) {
            (true, true) => x,
            (false, true) => ln(x - at(&lower, k)),
            (true, false) => ln(at(&upper, k) - x),
            (false, false) => ln(x - at(&lower, k)) - ln(at(&upper, k) - x),
        };
        x.iter().enumerate().map(free).collect()
    }
}

fn ordered(x: &[f64], is_positive: bool) -> Vec<f64> {
    let first = x.first().map(|&x| if is_positive { ln(x) } else { x });
    first.into_iter().chain(x.windows(2).map(|pair| ln(pair[1] - pair[0]))).collect()
}

/// The coordinates of a vector whose sum is 0: products with the rows of the orthonormal map.
fn sum_to_zero(x: &[f64]) -> Vec<f64> {
    let row = |j: usize| {
        let j1 = (j + 1) as f64;
        let before: f64 = x[..=j].iter().sum();
        (before - j1 * x[j + 1]) / (j1 * (j1 + 1.0)).sqrt()
    };
    (0..x.len().saturating_sub(1)).map(row).collect()
}

/// The coordinates of a matrix whose rows and columns sum to 0, column by column.
fn sum_to_zero_matrix(x: &[Vec<f64>], rows: usize, columns: usize) -> Vec<f64> {
    if rows <= 1 || columns <= 1 {
        return Vec::new();
    }
    // Column k of the map: k1 w at its own place, -w before it and at the last one.
    let weighted = |k: usize, n: usize, at: &dyn Fn(usize) -> f64| {
        let k1 = (k + 1) as f64;
        let others: f64 = (0..k).chain([n - 1]).map(at).sum();
        (k1 * at(k) - others) / (k1 * (k1 + 1.0)).sqrt()
    };
    let element = |i: usize, j: usize| weighted(i, rows, &|row| weighted(j, columns, &|column| x[row][column]));
    (0..columns - 1).flat_map(|j| (0..rows - 1).map(move |i| (i, j))).map(|(i, j)| element(i, j)).collect()
}

fn simplex(x: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = x.iter().map(|&x| ln(x)).collect();
    // Any constant beside the logarithms is lost.
    sum_to_zero(&logs)
}

/// The coordinates of rows, column by column.
fn columns_of(rows: &[Vec<f64>]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).flat_map(|j| rows.iter().map(move |row| row[j])).collect()
}

/// The unbounded partial correlations of a factor of a correlation matrix, row by row.
fn correlations(l: &[Vec<f64>]) -> Vec<f64> {
    let mut free = Vec::new();
    for (i, row) in l.iter().enumerate().skip(1) {
        let mut rest = 1.0;
        for value in &row[..i] {
            free.push(atanh(value / f64::sqrt(rest)));
            rest -= value * value;
        }
    }
    free
}

/// The elements of a lower triangle row by row, the diagonal's by their logarithms.
fn triangle(l: &[Vec<f64>]) -> Vec<f64> {
    let element = |(i, row): (usize, &Vec<f64>)| -> Vec<f64> {
        row.iter().enumerate().take(i + 1).map(|(j, &x)| if i == j { ln(x) } else { x }).collect()
    };
    l.iter().enumerate().flat_map(element).collect()
}

/// The factor of a matrix; with NaN where it is not positive definite.
fn cholesky(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut l: Vec<Vec<f64>> = vec![vec![0.0; a.len()]; a.len()];
    for i in 0..a.len() {
        for j in 0..=i {
            let rest = (0..j).fold(a[i][j], |rest, k| rest - l[i][k] * l[j][k]);
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
    }
    l
}

#[cfg(test)]
mod tests {
    use crate::bind::BoundModel;
    use crate::data::Data;
    use crate::interpreter::Interpreter;
    use crate::value::{Elements, Tensor};
    use octopus_random::{Purpose, Stream};
    use octopus_stan::{StanProgram, StatementKind};

    /// Every constraint: coordinates, to the value, and back.
    #[test]
    fn coordinates_of_values_are_the_coordinates_they_were_made_of() {
        let text = "parameters { real a; array[2] real<lower=1> b; vector<upper=a>[2] c; matrix<lower=-1, upper=2>[2, 3] d;
            vector<offset=1, multiplier=3>[2] e; array[2] ordered[3] f; positive_ordered[3] g; array[2] simplex[3] h;
            simplex[40] i; sum_to_zero_vector[4] j; sum_to_zero_matrix[3, 4] k; cholesky_factor_corr[4] l; corr_matrix[4] m;
            array[2] cov_matrix[3] n; cholesky_factor_cov[4, 3] o; row_stochastic_matrix[2, 3] p;
            column_stochastic_matrix[3, 2] q; array[2] matrix[2, 2] r; array[3] sum_to_zero_vector[40] s;
            unit_vector[3] t; } model { }";
        let program = StanProgram::parse("m.stan", text).unwrap();
        let bound = BoundModel::new(&program, &Data::new("none")).unwrap();
        let density = bound.density("m").unwrap();
        let x: Vec<f64> = (0..bound.dim()).map(|k| (1.3 * k as f64 + 0.2).sin()).collect();
        let known = density.known(&x);
        let mut random = Stream::new(1, 0, 0, Purpose::User);
        let mut me = Interpreter::on_draw(&program, vec![None; program.variables.len()], random.clone());
        let mut found = Vec::new();
        for (statement, quantity) in program.parameters.iter().zip(bound.quantities()) {
            let StatementKind::Declare(declaration) = &statement.kind else { continue };
            let ty = program.variables[declaration.variable.0].ty;
            let numbers = known[quantity.offset..quantity.offset + quantity.len()].to_vec();
            let tensor = Tensor::new(ty, quantity.shape.clone(), false, Elements::Data(numbers.into()));
            me.values[declaration.variable.0] = Some(tensor.into());
            let own = super::unconstrained(&mut me, declaration, std::slice::from_mut(&mut random)).unwrap();
            found.extend(own.concat());
        }
        assert_eq!(found.len(), x.len());
        // A unit vector tells the direction of its coordinates alone.
        let (rest, direction) = x.split_at(x.len() - 3);
        for (k, (found, x)) in found.iter().zip(rest).enumerate() {
            assert!((found - x).abs() < 1e-11, "{k}: {found} {x}");
        }
        let unit = &found[rest.len()..];
        let dot: f64 = unit.iter().zip(direction).map(|(a, b)| a * b).sum();
        let lengths = [unit, direction].map(|x| x.iter().map(|x| x * x).sum::<f64>().sqrt());
        assert!((dot / (lengths[0] * lengths[1]) - 1.0).abs() < 1e-12);
    }
}
