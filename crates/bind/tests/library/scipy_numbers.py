"""Numbers for the tests of the library's functions: python3 scipy_numbers.py > numbers.rs, with NumPy and SciPy."""
import numpy as np, scipy.linalg as L, scipy.special as S
np.set_printoptions(precision=17)
A=np.array([[4.,1,.5],[1,3,.2],[.3,-.4,2]]); B=np.array([[1.,2],[3,-1],[.5,.25]]); Sm=A@A.T; v=np.array([1.,-2,.5])
X=np.array([[1.,2],[0,-1],[3,.5],[2,2]])
def f(x): return '['+', '.join(repr(float(t)) for t in np.asarray(x).reshape(-1))+']'
C=np.linalg.cholesky(Sm)
rows=[
("inverse(A)",np.linalg.inv(A)),("mdivide_left(A, B)",np.linalg.solve(A,B)),("mdivide_right(B', A)",np.linalg.solve(A.T,B).T),
("A \\\\ v",np.linalg.solve(A,v)),("v' / A",np.linalg.solve(A.T,v)),
("inverse_spd(S)",np.linalg.inv(Sm)),("mdivide_left_spd(S, v)",np.linalg.solve(Sm,v)),("mdivide_right_spd(v', S)",np.linalg.solve(Sm,v)),
("chol2inv(cholesky_decompose(S))",np.linalg.inv(Sm)),
("mdivide_left_tri_low(cholesky_decompose(S), v)",L.solve_triangular(C,v,lower=True)),
("mdivide_right_tri_low(v', cholesky_decompose(S))",L.solve_triangular(C.T,v,lower=False)),
("[log_determinant(A), log_determinant_spd(S)]",[np.linalg.slogdet(A)[1],np.linalg.slogdet(Sm)[1]]),
("[determinant(A[1:2, 1:2]), determinant(A), trace(A)]",[np.linalg.det(A[:2,:2]),np.linalg.det(A),np.trace(A)]),
("quad_form(A, B)",B.T@A@B),("quad_form_sym(S, B)",B.T@Sm@B),("[quad_form(A, v), trace_quad_form(A, B), trace_gen_quad_form(A[1:2, 1:2], A, B)]",[v@A@v,np.trace(B.T@A@B),np.trace(A[:2,:2]@B.T@A@B)]),
("symmetrize_from_lower_tri(A)",np.tril(A)+np.tril(A,-1).T),
("rows_dot_product(A, S)",(A*Sm).sum(1)),("columns_dot_product(A, S)",(A*Sm).sum(0)),("rows_dot_self(B)",(B*B).sum(1)),("columns_dot_self(B)",(B*B).sum(0)),
("matrix_power(A, 5)",np.linalg.matrix_power(A,5)),
("block(A, 2, 1, 2, 3)",A[1:3,0:3]),("cumulative_sum(v)",np.cumsum(v)),("[norm1(v), norm2(v), prod(v)]",[abs(v).sum(),np.sqrt(v@v),v.prod()]),
("reverse(v)",v[::-1]),
("gp_exp_quad_cov(p, q, 1.3, 0.7)",1.3**2*np.exp(-.5*(np.subtract.outer([.1,.5,1.2],[0.,.9])/.7)**2)),
("csr_matrix_times_vector(3, 3, [1.5, -2, 0.5]', {1, 3, 2}, {1, 3, 3, 4}, v)",np.array([[1.5,0,-2],[0,0,0],[0,.5,0]])@v),
("csr_to_dense_matrix(3, 3, [1.5, -2, 0.5]', {1, 3, 2}, {1, 3, 3, 4})",np.array([[1.5,0,-2],[0,0,0],[0,.5,0]])),
]
Q,R=np.linalg.qr(X); s=np.sign(np.diag(R)); rows+= [("qr_thin_Q(X)",Q*s),("qr_thin_R(X)",(R.T*s).T)]
x=.37; y=-1.4
rows+=[("[tan(x), asin(x), acos(x), sinh(x), cosh(x), asinh(x), acosh(1 + x), atanh(x)]",[np.tan(x),np.arcsin(x),np.arccos(x),np.sinh(x),np.cosh(x),np.arcsinh(x),np.arccosh(1+x),np.arctanh(x)]),
("[log2(x), log10(x), exp2(x), cbrt(x), erf(x), erfc(x), inv_erfc(x), inv_cloglog(x), log1m_exp(y), tgamma(x)]",[np.log2(x),np.log10(x),2**x,np.cbrt(x),S.erf(x),S.erfc(x),S.erfcinv(x),1-np.exp(-np.exp(x)),np.log1p(-np.exp(y)),S.gamma(x)]),
("[asinh(y), sinh(y), cbrt(y), std_normal_qf(x), log1m_exp(-x)]",[np.arcsinh(y),np.sinh(y),np.cbrt(y),S.ndtri(x),np.log(-np.expm1(-x))]),
("[lbeta(x, 2.5), beta(x, 2.5), lchoose(7.5, x), log_falling_factorial(7.5, x), log_rising_factorial(x, 2.5)]",[S.betaln(x,2.5),S.beta(x,2.5),S.gammaln(8.5)-S.gammaln(1+x)-S.gammaln(8.5-x),S.gammaln(8.5)-S.gammaln(8.5-x),S.gammaln(x+2.5)-S.gammaln(x)]),
("[log_diff_exp(x, y), log_inv_logit_diff(x, y), lmultiply(x, 3), fdim(x, y), fdim(y, x), hypot(x, y), atan2(y, -x), atan2(x, -y), binary_log_loss(1, x)]",
 [np.log(np.exp(x)-np.exp(y)),np.log(S.expit(x)-S.expit(y)),x*np.log(3),x-y,0,np.hypot(x,y),np.arctan2(y,-x),np.arctan2(x,-y),-np.log(x)]),
("[lmgamma(3, 2 + x), rising_factorial(x, 3), falling_factorial(x, 3)]",[S.multigammaln(2+x,3),x*(x+1)*(x+2),x*(x-1)*(x-2)]),
("[square(logit(x)), digamma(x)]",[S.logit(x)**2,S.digamma(x)]),
]
a=1.3;l=.7;d=np.abs(np.subtract.outer([.1,.5,1.2],[.1,.5,1.2]))
rows+=[("gp_exponential_cov(p, 1.3, l)",a*a*np.exp(-d/l)),("gp_matern32_cov(p, 1.3, l)",a*a*(1+3**.5*d/l)*np.exp(-3**.5*d/l)),("gp_matern52_cov(p, 1.3, l)",a*a*(1+5**.5*d/l+5*d*d/3/l/l)*np.exp(-5**.5*d/l)),
("gp_periodic_cov(p, 1.3, l, 0.9)",a*a*np.exp(-2*np.sin(np.pi*d/.9)**2/l/l)),("gp_dot_prod_cov(p, l)",l*l+np.outer([.1,.5,1.2],[.1,.5,1.2])),]
P=np.array([[.1,1],[.5,-1],[1.2,.3]]); ls=np.array([.7,1.1]); D=np.sqrt((((P[:,None]-P[None])/ls)**2).sum(-1))
rows+=[("gp_matern32_cov(P, 1.3, {l, 1.1})",a*a*(1+3**.5*D)*np.exp(-3**.5*D)),("gp_exp_quad_cov(P, 1.3, {l, 1.1})",a*a*np.exp(-.5*D*D))]
w,V=np.linalg.eigh(Sm)
rows+=[("eigenvalues_sym(S)",w),("eigenvectors_sym(S) * diag_matrix(eigenvalues_sym(S)) * eigenvectors_sym(S)'",Sm),("square(eigenvectors_sym(S))",V*V)]
data=[("singular_values(X)",np.linalg.svd(X)[1]),("matrix_exp(A)",L.expm(A)),("matrix_exp_multiply(A, B)",L.expm(A)@B),
("svd_U(X) * diag_matrix(singular_values(X)) * svd_V(X)'",X),("svd_U(X') * diag_matrix(singular_values(X')) * svd_V(X')'",X.T),
("sort_desc(v)",sorted(v)[::-1]),("sort_asc({3.0, -1, 2})",[-1,2,3]),("quantile(v, {0.0, 0.25, 0.5, 1})",np.quantile(v,[0,.25,.5,1])),
("linspaced_vector(4, 1, 2)",np.linspace(1,2,4)),("linspaced_row_vector(1, 1, 2)",[2]),("uniform_simplex(4)",[.25]*4),("one_hot_vector(3, 2)",[0,1,0]),("one_hot_row_vector(2, 1)",[1,0]),
("csr_extract_w(A - A .* identity_matrix(3))",[1,.5,1,.2,.3,-.4]),
("{fmod(7.5, 2), ldexp(3, 4), step(-1.0), floor(-1.5), trunc(-1.5)}",[1.5,48,0,-2,-1]),("[trigamma(x)]",[S.polygamma(1,x)]),("zeros_array(2)",[0,0]),("ones_array(2)",[1,1]),]
ints=[("sort_indices_asc(v)",[2,3,1]),("sort_indices_desc(v)",[1,3,2]),("{rank(v, 1), rank(v, 2)}",[2,0]),("sort_desc({3, 1, 2})",[3,2,1]),("cumulative_sum({1, 2, 3})",[1,3,6]),("{prod({2, 3, 4}), choose(7, 3), choose(60, 30) %/% 1000000000, falling_factorial(7, 3), rising_factorial(7, 3)}",[24,35,int(S.comb(60,30,exact=True))//10**9,210,504]),
("linspaced_int_array(4, 1, 10)",[1,4,7,10]),("linspaced_int_array(5, 0, 10)",[0,2,5-1+0,6,8][:0] or [0,2,4,6,8]),("one_hot_int_array(3, 3)",[0,0,1]),("zeros_int_array(2)",[0,0]),("ones_int_array(2)",[1,1]),("csr_extract_v([[0, 2], [3, 0]])",[2,1]),("csr_extract_u([[0, 2], [3, 0]])",[1,2,3]),
("{to_int(3.7), is_nan(not_a_number()), is_inf(negative_infinity()), is_inf(1.0), int_step(0.5), int_step(0), logical_and(1, 0), logical_or(1, 0), logical_lt(1, 2), modulus(7, 4), logical_negation(0)}",[3,1,1,0,1,0,0,1,1,3,1]),("reverse({1, 2, 3})",[3,2,1]),("choose({5, 6}, 2)",[10,15])]
def table(name,rows):
    print("/// An expression, and its numbers."); print(f"pub(crate) const {name}: [(&str, &[f64]); {len(rows)}] = [")
    for e,n in rows: print(f'    ("{e}", &{f(n)}),')
    print("];\n")
print("//! Numbers of NumPy and SciPy, made by `scipy_numbers.py`.\n")
table("OF_ANY",rows); table("OF_DATA",data); table("OF_INTS",ints)
