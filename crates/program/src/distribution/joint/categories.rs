//! Categories, counted from 1, with a probability each or with cutpoints.

use super::{Block, Extent, JointDistribution, Symbol, joint};

/// ln of the sum of e^x over each row.
pub(super) fn log_sum_exp(x: Block<'_>) -> Symbol<'_> {
    let columns = x.each_column();
    match columns[..] {
        [] => x.x.number(f64::NEG_INFINITY),
        [only] => only,
        [a, b] => a.log_sum_exp(b),
        [first, ref rest @ ..] => {
            let most = rest.iter().fold(first, |most, &column| most.max(column));
            let sum = if x.rows == 1 {
                (x.x - most).exp().sum()
            } else {
                rest.iter().fold((first - most).exp(), |sum, &column| sum + (column - most).exp())
            };
            most + sum.ln()
        }
    }
}

/// Known categories, counted from 0.
fn categories(y: Symbol<'_>, count: usize) -> Result<Vec<usize>, String> {
    let Some(values) = y.known() else { return Err("the categories must be data".into()) };
    match values.iter().find(|&&y| y < 1.0 || y > count as f64) {
        Some(y) => Err(format!("the category {y} is outside: there are {count}")),
        None => Ok(values.into_iter().map(|y| y as usize - 1).collect()),
    }
}

/// The place of each variate's element in `table`, whose rows belong to variates or serve all.
fn places(table: Block<'_>, elements: &[usize]) -> impl Iterator<Item = usize> {
    elements.iter().enumerate().map(move |(row, &k)| if table.rows == 1 { k } else { row * table.columns + k })
}

/// The categories of all variates: one category serves all.
fn spread(y: Vec<usize>, extent: Extent) -> Vec<usize> {
    if y.len() == 1 { vec![y[0]; extent.rows] } else { y }
}

/// Terms by category: of the first one, of the last one, and of one between two cutpoints.
struct Link {
    first: for<'a> fn(eta: Symbol<'a>, above: Symbol<'a>) -> Symbol<'a>,
    last: for<'a> fn(eta: Symbol<'a>, below: Symbol<'a>) -> Symbol<'a>,
    between: for<'a> fn(eta: Symbol<'a>, below: Symbol<'a>, above: Symbol<'a>) -> Symbol<'a>,
}

const LOGISTIC: Link = Link {
    first: |eta, above| -(eta - above).softplus(),
    last: |eta, below| -(below - eta).softplus(),
    // ln sigmoid(eta - below) + ln sigmoid(above - eta) + ln(1 - e^(below - above))
    between: |eta, below, above| (below - above).ln_1m_exp() - (below - eta).softplus() - (eta - above).softplus(),
};

const PROBIT: Link = Link {
    first: |eta, above| (above - eta).ln_phi(),
    last: |eta, below| (eta - below).ln_phi(),
    // Both are taken in the lower tail, where differences keep their digits.
    between: |eta, below, above| {
        let (low, high) = (below - eta, above - eta);
        let turned = eta.number(0.0).below(low + high);
        let (low, high) = (turned.select(-high, low), turned.select(-low, high));
        high.ln_phi().log_diff_exp(low.ln_phi())
    },
};

fn ordered<'a>(args: [Block<'a>; 3], extent: Extent, link: &Link) -> Result<Vec<Symbol<'a>>, String> {
    let [y, eta, cuts] = args;
    let last = cuts.columns;
    let y = spread(categories(y.x, last + 1)?, extent);
    let group = |keep: &dyn Fn(usize) -> bool| -> Vec<usize> { (0..y.len()).filter(|&row| keep(y[row])).collect() };
    if last == 0 {
        return Ok(vec![eta.x.number(0.0)]);
    }
    let cut = |rows: &[usize], below: usize| {
        cuts.pick(rows.iter().map(|&row| (if cuts.rows == 1 { 0 } else { row * last }) + y[row] - below))
    };
    let eta_of = |rows: &[usize]| if eta.x.len() == 1 { eta.x } else { eta.pick(rows.iter().copied()) };
    let mut groups = Vec::new();
    let (lowest, highest) = (group(&|k| k == 0), group(&|k| k == last));
    let middle = group(&|k| k > 0 && k < last);
    if !lowest.is_empty() {
        let term = (link.first)(eta_of(&lowest), cut(&lowest, 0));
        groups.push((lowest, term));
    }
    if !middle.is_empty() {
        let term = (link.between)(eta_of(&middle), cut(&middle, 1), cut(&middle, 0));
        groups.push((middle, term));
    }
    if !highest.is_empty() {
        let term = (link.last)(eta_of(&highest), cut(&highest, 1));
        groups.push((highest, term));
    }
    Ok(extent.grouped(groups).into_iter().collect())
}

pub(super) const ROWS: &[JointDistribution] = &[
    joint!(categorical (y: Numbers Whole, theta: Vectors NotNegative), extent => {
        super::simplexes::demand_simplexes(theta);
        let y = spread(categories(y.x, theta.columns)?, extent);
        // As few logarithms as there can be.
        if theta.rows == 1 && theta.columns < y.len() {
            let logs = Block { x: theta.x.ln(), ..theta };
            return Ok(vec![extent.each(logs.pick(places(theta, &y)))]);
        }
        Ok(vec![extent.each(theta.pick(places(theta, &y)).ln())])
    }),
    joint!(categorical_logit (y: Numbers Whole, beta: Vectors Real), extent => {
        let y = spread(categories(y.x, beta.columns)?, extent);
        let chosen = beta.pick(places(beta, &y));
        Ok(vec![extent.each(chosen - log_sum_exp(beta))])
    }),
    joint!(ordered_logistic (y: Numbers Whole, eta: Numbers Real, c: Vectors Real), extent =>
        ordered([y, eta, c], extent, &LOGISTIC)),
    joint!(ordered_probit (y: Numbers Whole, eta: Numbers Real, c: Vectors Real), extent =>
        ordered([y, eta, c], extent, &PROBIT)),
];
