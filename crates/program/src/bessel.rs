//! The modified Bessel functions I0 and I1, scaled by e^-x, as Chebyshev series: straight lines of exact arithmetic.
//!
//! `tests/data/make_bessel.py` makes the coefficients.

use crate::operation::{Algebra, Op};

const NEAR_0: [f64; 29] = [
    0.338397637204738,
    -0.3046826723431983,
    0.17162090152220866,
    -0.0949010970480475,
    0.04930528423967054,
    -0.023737414805899307,
    0.010546460394594843,
    -0.004324309995050526,
    0.0016394756169413186,
    -0.000576375574538563,
    0.00018850288509584978,
    -5.754195010069828e-05,
    1.644844807057488e-05,
    -4.416738358386241e-06,
    1.1173875389858468e-06,
    -2.670793852205489e-07,
    6.046995004332619e-08,
    -1.300024994611501e-08,
    2.6598235734997784e-09,
    -5.189795165741039e-10,
    9.675817181059154e-11,
    -1.7268273532698415e-11,
    2.9550622392864393e-12,
    -4.854711928682989e-13,
    7.664448286107128e-14,
    -1.1641671784565211e-14,
    1.5803111315208785e-15,
    -2.144440766453648e-16,
    3.854094777697159e-17,
];
const NEAR_1: [f64; 27] = [
    0.1262935932218168,
    -0.17641651835783403,
    0.10264365868984705,
    -0.05294598120809492,
    0.024726449030626436,
    -0.010564084894626123,
    0.0041564229443128145,
    -0.0015135724506312243,
    0.0005122859561685581,
    -0.00016176081582587907,
    4.781565107549607e-05,
    -1.327316365598196e-05,
    3.470251308063367e-06,
    -8.56872026418988e-07,
    2.0032947528469317e-07,
    -4.4450591196375395e-08,
    9.381537295995494e-09,
    -1.887249678382086e-09,
    3.6255896003278097e-10,
    -6.663487089013505e-11,
    1.1736214283056073e-11,
    -1.984001968145983e-12,
    3.223934715110982e-13,
    -5.0338375672941574e-14,
    7.548968096677059e-15,
    -1.0952768572203112e-15,
    9.659895767403365e-17,
];
const FAR_0: [f64; 22] = [
    0.4022452055070544,
    0.00336911647825572,
    6.889758346914671e-05,
    2.8913705208701275e-06,
    2.0489185885515694e-07,
    2.2666690012544678e-08,
    3.3962319508909142e-09,
    4.940602419626488e-10,
    1.1889156635103496e-11,
    -3.149917316780729e-11,
    -1.3215784897642122e-11,
    -1.7940910671150613e-12,
    7.179319367733167e-13,
    3.8524007551707374e-13,
    1.5353762098518907e-14,
    -4.141833577497867e-14,
    -9.660054874072177e-15,
    3.9200196907951404e-15,
    1.6466439756862573e-15,
    -3.5730343380183105e-16,
    -1.5006008588502872e-16,
    9.10480458388152e-17,
];
const FAR_1: [f64; 22] = [
    0.38928811750914005,
    -0.009761097491361437,
    -0.00011058893876264728,
    -3.882564808835647e-06,
    -2.5122362388295515e-07,
    -2.6314688364396238e-08,
    -3.8353804620347e-09,
    -5.589743436607703e-10,
    -1.897494348928816e-11,
    3.2526025878741594e-11,
    1.412583329712773e-11,
    2.0357138717785886e-12,
    -7.199414014166101e-13,
    -4.083968135459165e-13,
    -2.1068933273374337e-14,
    4.2809852342749755e-14,
    1.0310662913737279e-14,
    -3.697169523655952e-15,
    -2.000418060366105e-15,
    3.177346623653432e-16,
    4.29250818917426e-16,
    2.0038766652963338e-17,
];

/// The sum of c_k T_k(t), by Clenshaw's recurrence.
fn series<A: Algebra>(m: &mut A, coefficients: &[f64], t: A::Value) -> A::Value {
    let two = m.number(2.0);
    let twice = m.operate(Op::Mul, &[two, t]);
    let zero = m.number(0.0);
    let (mut last, mut before) = (zero, zero);
    for &c in coefficients[1..].iter().rev() {
        let product = m.operate(Op::Mul, &[twice, last]);
        let rest = m.operate(Op::Sub, &[product, before]);
        let c = m.number(c);
        before = last;
        last = m.operate(Op::Add, &[rest, c]);
    }
    let product = m.operate(Op::Mul, &[t, last]);
    let rest = m.operate(Op::Sub, &[product, before]);
    let c = m.number(coefficients[0]);
    m.operate(Op::Add, &[rest, c])
}

/// e^-x I0(x) and e^-x I1(x), both times sqrt(x) where x is above 8; x is at least 0.
fn scaled<A: Algebra>(m: &mut A, x: A::Value) -> [A::Value; 2] {
    let (eight, one) = (m.number(8.0), m.number(1.0));
    let is_near = m.operate(Op::Less, &[x, eight]);
    let (small, large) = (m.operate(Op::Min, &[x, eight]), m.operate(Op::Max, &[x, eight]));
    let quarter = m.number(0.25);
    let sixteen = m.number(16.0);
    let (near, far) = (m.operate(Op::Mul, &[quarter, small]), m.operate(Op::Div, &[sixteen, large]));
    let (near, far) = (m.operate(Op::Sub, &[near, one]), m.operate(Op::Sub, &[far, one]));
    let near_one = series(m, &NEAR_1, near);
    let (near_zero, near_one) = (series(m, &NEAR_0, near), m.operate(Op::Mul, &[small, near_one]));
    let (far_zero, far_one) = (series(m, &FAR_0, far), series(m, &FAR_1, far));
    [m.operate(Op::Select, &[is_near, near_zero, far_zero]), m.operate(Op::Select, &[is_near, near_one, far_one])]
}

/// ln(e^-x I0(x))
pub(crate) fn ln_scaled<A: Algebra>(m: &mut A, x: A::Value) -> A::Value {
    let [zero, _] = scaled(m, x);
    let log = m.operate(Op::Ln, &[zero]);
    let eight = m.number(8.0);
    let large = m.operate(Op::Max, &[x, eight]);
    let root = m.operate(Op::Ln, &[large]);
    let half = m.number(0.5);
    let root = m.operate(Op::Mul, &[half, root]);
    let far = m.operate(Op::Sub, &[log, root]);
    let is_near = m.operate(Op::Less, &[x, eight]);
    m.operate(Op::Select, &[is_near, log, far])
}

/// I1(x) / I0(x), between 0 and 1.
pub(crate) fn ratio<A: Algebra>(m: &mut A, x: A::Value) -> A::Value {
    let [zero, one] = scaled(m, x);
    m.operate(Op::Div, &[one, zero])
}
