"""The worst programs: ones that would run for ever, take all of the memory, nest too deeply, or are no programs.

    python3 programs.py OCTOPUS [NAME...] [--commands check,show,sample] [--seconds 20] [--megabytes 2048]

runs each of them with each command, and prints how it ended, the seconds of CPU, the memory and the first error. It ends
with 1 where one was killed, panicked, or took more seconds or more memory. `sample` makes 20 short draws of 2 chains.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading

from pathlib import Path

PROGRAMS = {}


def program(name, text, data="{}"):
    """Keeps a program with its data, which are JSON: bytes, a text, or what is written as such."""
    as_bytes = lambda x: x if isinstance(x, bytes) else x.encode()
    if not isinstance(data, (bytes, str)):
        data = json.dumps(data)
    PROGRAMS[name] = (as_bytes(text), as_bytes(data))


NORMAL = "parameters { real a; } model { a ~ normal(0,1); }\n"
# loops
program("loop_nested", "parameters { real a; } model { for (i in 1:10000) for (j in 1:10000) target += a*i*j; }")
program(
    "loop_nested_data",
    "transformed data { real s=0; for (i in 1:100000) for (j in 1:100000) s += i*j; }\n" + NORMAL,
)
program(
    "loop_nested_scan",
    "parameters { real a; } model { real b=a; for (i in 1:10000) for (j in 1:10000) b = sin(b)+j; target += b; }",
)
program(
    "loop_nested_branch",
    "parameters { vector[10] a; } model { real b=a[1]; for (i in 1:3000000) { if (i % 3 == 0) b += a[i%10+1]; else b *= 0.5; } target += b; }",
)
program(
    "loop_triangle",
    "parameters { vector[3000] a; } model { for (i in 1:3000) for (j in i:3000) target += -square(a[i]-a[j]); }",
)
program("loop_max", "parameters { real a; } model { a~normal(0,1); for (i in 1:2147483647) { } }")
program(
    "loop_max2",
    "parameters { real a; } model { a~normal(0,1); for (i in -2147483647:2147483647) { target += 0; } }",
)
program("while_data", "transformed data { while (1) { } }\n" + NORMAL)
program("while_param", "parameters { real a; } model { real b=a; while (b<10) b+=1; target += b; }")
program(
    "while_gq",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { real t=0; while (t<100) t = normal_rng(0,1); }",
)
program(
    "while_gq_param",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { real t=a; while (t<1e300) t += 1; }",
)
program("while_gq_param1", "parameters { real a; } model { a~normal(0,1); } generated quantities { while (1) { } }")
program(
    "while_gq_some",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { real t=0; while (a>1 && t<1) { t=uniform_rng(0,0.5);} }",
)
program(
    "gq_loop_param",
    "parameters { real<lower=0> a; } model { a~normal(0,1e9); } generated quantities { int n=0; for (i in 1:to_int(floor(a*1e9+1))) n+=1; }",
)
program(
    "gq_loop_heavy",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { vector[1000] y; for (k in 1:1000) for (i in 1:1000) y[k]=normal_rng(a,1); }",
)
# recursion
program(
    "rec_self", "functions { real f(real x) { return f(x); } } parameters { real a; } model { target += f(a); }"
)
program(
    "rec_mutual",
    "functions { real g(real x); real f(real x) { return g(x); } real g(real x) { return f(x); } } parameters { real a; } model { target += f(a); }",
)
program(
    "rec_exp",
    "functions { real f(real x, int n); real f(real x, int n) { return n==0 ? x : f(x,n-1)*f(x,n-1); } } parameters { real a; } model { target += f(a,60); }",
)
program(
    "rec_exp_gq",
    "functions { real f(real x, int n); real f(real x, int n) { return n==0 ? x : f(x,n-1)*f(x,n-1); } } parameters { real a; } model { a~normal(0,1); } generated quantities { real b=f(a,60); }",
)
program(
    "rec_gq",
    "functions { real f(real x) { return x > 0 ? f(x+1) : x; } } parameters { real a; } model { a~normal(0,1); } generated quantities { real b=f(a); }",
)
program(
    "rec_lpdf",
    "functions { real f_lpdf(real x, real y) { return f_lpdf(x | y+1); } } parameters { real a; } model { a ~ f(1); }",
)
program(
    "grow_array",
    "functions { array[] real f(array[] real x, int n); array[] real f(array[] real x, int n) { return n==0 ? x : f(append_array(x,x), n-1); } } transformed data { array[2] real z = {1,2}; real s = sum(f(z, 60)); }\n"
    + NORMAL,
)
program(
    "grow_array_param",
    "functions { array[] real f(array[] real x, int n); array[] real f(array[] real x, int n) { return n==0 ? x : f(append_array(x,x), n-1); } } parameters { real a; } model { array[2] real z = {a,2}; target += sum(f(z, 60)); }",
)
program("grow_scalar", "parameters { real a; } model { real b=a; for (i in 1:100) b = b*b+b; target += -b; }")
program(
    "grow_kron",
    "parameters { vector[2] a; } model { vector[2] b=a; for (i in 1:40) { b = to_vector(b*b')[1:2]; } target += -sum(b); }",
)
program(
    "grow_vec",
    "transformed data { vector[1] v=[1]'; real s=0; for (i in 1:100) { int n = 1; for (j in 1:i) n *= 2; s+= sum(rep_vector(1,n)); } }\n"
    + NORMAL,
)
program("string_print", 'transformed data { for (i in 1:1000000) print("hello ", i); }\n' + NORMAL)
program(
    "string_print_param", 'parameters { real a; } model { a~normal(0,1); for (i in 1:1000) print("hello ", a); }'
)
program("reject_long", 'parameters { real a; } model { reject("' + "x" * 100000 + '", a); }')
# giant sizes
program("big_param", "parameters { vector[100000000] a; } model { a~normal(0,1); }")
program("big_param_1e7", "parameters { vector[10000000] a; } model { a~normal(0,1); }")
program("big_param_1e6", "parameters { vector[1000000] a; } model { a~normal(0,1); }")
program("big_simplex", "parameters { simplex[100000] a; } model { }")
program("big_simplex_5k", "parameters { simplex[5000] a; } model { }")
program("big_chol", "parameters { cholesky_factor_corr[2000] a; } model { a~lkj_corr_cholesky(2); }")
program("big_chol300", "parameters { cholesky_factor_corr[300] a; } model { a~lkj_corr_cholesky(2); }")
program("big_cov", "parameters { cov_matrix[500] a; } model { a~wishart(501, identity_matrix(500)); }")
program("big_cov100", "parameters { cov_matrix[100] a; } model { a~wishart(101, identity_matrix(100)); }")
program("big_corr", "parameters { corr_matrix[150] a; } model { a~lkj_corr(2); }")
program("big_ordered", "parameters { ordered[1000000] a; } model { a~normal(0,1); }")
program("big_stz", "parameters { sum_to_zero_vector[3000] a; } model { a~normal(0,1); }")
program("big_unit", "parameters { unit_vector[100000] a; } model { }")
program("big_tdata", "transformed data { matrix[10000,10000] m = rep_matrix(1,10000,10000); }\n" + NORMAL)
program("big_tdata2", "transformed data { array[100,100,100,100] real m; }\n" + NORMAL)
program(
    "big_local", "parameters { real a; } model { matrix[5000,5000] m = rep_matrix(a,5000,5000); target += sum(m); }"
)
program(
    "big_prod",
    "parameters { matrix[300,300] a; } model { matrix[300,300] b=a; to_vector(a)~normal(0,1); for (i in 1:10) b = b*a; target += -1e-9*sum(b); }",
)
program(
    "big_prod1000",
    "parameters { matrix[1000,1000] a; } model { to_vector(a)~normal(0,1); target += 1e-9*sum(a*a); }",
)
program(
    "big_inv",
    "parameters { matrix[400,400] a; } model { to_vector(a)~normal(0,1); target += 1e-9*sum(inverse(a)); }",
)
program(
    "big_eig",
    "parameters { matrix[200,200] a; } model { to_vector(a)~normal(0,1); target += 1e-9*sum(eigenvalues_sym(a*a')); }",
)
program(
    "big_chold",
    "data { int N; } parameters { real<lower=0> r; } model { matrix[N,N] K; for (i in 1:N) for (j in 1:N) K[i,j]=exp(-square((i-j)/r))+(i==j ? 1 : 0); target += multi_normal_lpdf(rep_vector(0,N) | rep_vector(0,N), K); r~normal(0,1); }",
    {"N": 1000},
)
program(
    "big_gp",
    "data { int N; } transformed data { array[N] real x; for (i in 1:N) x[i]=i; } parameters { real<lower=0> r; } model { matrix[N,N] K = add_diag(gp_exp_quad_cov(x,1.0,r),0.1); rep_vector(0,N) ~ multi_normal_cholesky(rep_vector(0,N), cholesky_decompose(K)); r~normal(0,1); }",
    {"N": 2000},
)
program(
    "big_yrep",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { vector[10000000] y; for (i in 1:10000000) y[i]=normal_rng(a,1); }",
)
program(
    "big_yrep100m",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { vector[60000000] y = rep_vector(a, 60000000); }",
)
program(
    "big_yrep1m",
    "data { int N; } parameters { real a; } model { a~normal(0,1); } generated quantities { array[N] real y = normal_rng(rep_vector(a,N),1); }",
    {"N": 1000000},
)
program(
    "many_gq",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { "
    + " ".join(f"real g{i} = normal_rng(a,1);" for i in range(20000))
    + " }",
)
program(
    "scalars_1e5",
    "parameters { "
    + " ".join(f"real a{i};" for i in range(100000))
    + " } model { "
    + " ".join(f"a{i} ~ normal(0,1);" for i in range(100000))
    + " }",
)
program(
    "scalars_1e4",
    "parameters { "
    + " ".join(f"real a{i};" for i in range(10000))
    + " } model { "
    + " ".join(f"a{i} ~ normal(0,1);" for i in range(10000))
    + " }",
)
program("array_scalars", "parameters { array[100000] real a; } model { for (i in 1:100000) a[i] ~ normal(0,1); }")
program("statements_1e5", "parameters { real a; } model { " + "target += -square(a)*1e-5;\n" * 100000 + " }")
program("statements_1e6", "parameters { real a; } model { " + "target += -a;\n" * 1000000 + " }")
program(
    "functions_1e4",
    "functions { "
    + " ".join(f"real f{i}(real x) {{ return x; }}" for i in range(10000))
    + " } parameters { real a; } model { "
    + " ".join(f"target += -f{i}(a)*f{i}(a)*1e-4;" for i in range(10000))
    + " }",
)
program(
    "functions_chain",
    "functions { real f0(real x) { return x; } "
    + " ".join(f"real f{i}(real x) {{ return f{i-1}(x)+f{i-1}(x); }}" for i in range(1, 60))
    + " } parameters { real a; } model { target += -f59(a); }",
)
program(
    "overloads",
    "functions { "
    + " ".join(f'real f({", ".join(["real x%d"%k for k in range(i+1)])}) {{ return x0; }}' for i in range(300))
    + " } parameters { real a; } model { target += -f(a); }",
)
# literals
program("lit_int", "parameters { real a; } model { target += -a*99999999999; }")
program("lit_int_1e6", "parameters { real a; } model { target += -a*" + "9" * 1000000 + "; }")
program("lit_real_1e6", "parameters { real a; } model { target += -a*a*0." + "9" * 1000000 + "; }")
program("lit_exp", "parameters { real a; } model { target += -a*1e99999; }")
program("lit_exp0", "parameters { real a; } model { target += -a*a*(1+1e-99999); }")
program("name_1e6", "parameters { real " + "a" * 1000000 + "; } model { " + "a" * 1000000 + " ~ normal(0,1); }")
program("line_1e6", "parameters { real a; } model { a ~ normal(0,1);" + " " * 1000000 + " a ~ nromal(0,1); }")
program("comment_1e7", "/*" + "*" * 10000000 + "*/" + NORMAL)
program("comment_open", "/* " + NORMAL)
program("string_open", NORMAL.replace("}\n", 'print("abc); }'))
program("deep_paren", "parameters { real a; } model { target += " + "(" * 100000 + "a" + ")" * 100000 + "; }")
program("deep_200", "parameters { real a; } model { target += -square(" + "(" * 150 + "a" + ")" * 150 + "); }")
program("deep_block", "parameters { real a; } model { " + "{" * 100000 + "}" * 100000 + " }")
program(
    "deep_calls",
    "parameters { real a; } model { target += -" + "sin(" * 150 + "a" + ")" * 150 + "; a~normal(0,1); }",
)
program("long_sum", "parameters { real a; } model { target += -(a" + "+a*1e-5" * 100000 + "); }")
program("long_array", "transformed data { array[200000] int x = {" + ",".join(["1"] * 200000) + "}; }\n" + NORMAL)
program(
    "long_vec",
    "parameters { real a; } model { vector[20000] x = ["
    + ",".join(["a"] * 20000)
    + "]'; target += -dot_self(x); }",
)
program(
    "deep_array",
    "transformed data { array[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] int x; x[1] = x[1]; }\n" + NORMAL,
)
program("inc_self", "#include inc_self.stan\n" + NORMAL)
program("inc_a", "#include inc_b.stan\n" + NORMAL)
program("inc_b", "#include inc_a.stan\n")
program("inc_missing", "#include nothere.stan\n" + NORMAL)
program("inc_dir", "#include /etc\n" + NORMAL)
program("inc_dev", "#include /dev/zero\n" + NORMAL)
program("inc_up", "#include ../../../../etc/passwd\n" + NORMAL)
n = 30
for i in range(n):
    program(f"incx_{i}", (f"#include incx_{i+1}.stan\n" * 2))
program(f"incx_{n}", "//\n")
program("inc_exp", "#include incx_0.stan\n" + NORMAL)
# data
DATA = "data { int N; vector[N] y; } parameters { real a; } model { y ~ normal(a,1); }"
program("data_nan", DATA, '{"N":2,"y":["NaN",1]}')
program("data_inf", DATA, '{"N":2,"y":["Infinity",1]}')
program("data_neg", DATA, '{"N":-1,"y":[]}')
program("data_ragged", DATA, '{"N":2,"y":[[1],[1,2]]}')
program("data_dup", DATA, '{"N":2,"y":[1,2],"y":[3,4],"N":2}')
program("data_bignum", DATA, '{"N":1,"y":[' + "9" * 1000000 + "]}")
program("data_bigint", DATA, '{"N":' + "9" * 30 + ',"y":[1]}')
program("data_null", DATA, '{"N":1,"y":[null]}')
program("data_obj", DATA, '{"N":1,"y":{"a":1}}')
program("data_arr", DATA, "[1,2]")
program("data_empty", DATA, "")
program("data_trunc", DATA, '{"N":1,"y":[1,')
program("data_bom", DATA, b'\xef\xbb\xbf{"N":2,"y":[1,2]}')
program("data_utf16", DATA, '{"N":2,"y":[1,2]}'.encode("utf-16"))
program("data_nul", DATA, b'{"N":2,"y":[1,2]}\x00')
program("data_deep", DATA, '{"N":1,"y":' + "[" * 100000 + "]" * 100000 + "}")
program("data_float_int", DATA, '{"N":2.5,"y":[1,2]}')
program("data_int_asreal", DATA, '{"N":2.0,"y":[1,2]}')
program("data_1e400", DATA, '{"N":1,"y":[1e400]}')
program("data_scalar", DATA, '{"N":1,"y":1}')
program("data_missing", DATA, '{"N":1}')
program("data_crlf", DATA.replace(" ", "\r\n"), '{"N":2,\r\n"y":[1,2]}\r\n')
program("data_single", "{'N':1}", "{}")
program("data_nonan_raw", DATA, '{"N":2,"y":[NaN,1]}')
program(
    "data_bounds",
    "data { int<lower=1,upper=3> K; array[K] int<lower=0,upper=1> z; simplex[K] p; cov_matrix[K] S; ordered[K] o; } "
    + NORMAL,
    '{"K":2,"z":[0,5],"p":[0.5,0.6],"S":[[1,2],[3,4]],"o":[2,1]}',
)
program("data_hugeN", "data { int N; } parameters { vector[N] a; } model { a~normal(0,1); }", '{"N":2147483647}')
program(
    "data_intmin",
    "data { int N; } transformed data { int k = N %/% -1; int j = -N; int l = N - 1; int m = N*N; }\n" + NORMAL,
    '{"N":-2147483648}',
)
program("div0", "transformed data { int k = 1 %/% 0; }\n" + NORMAL)
program("mod0", "transformed data { int z=0; int k = 5 % z; }\n" + NORMAL)
program("intover", "transformed data { int k = 2147483647; k += 1; array[3] int x; x[k] = 1; }\n" + NORMAL)
program("div0_slash", "transformed data { int z=0; int k = 5 / z; }\n" + NORMAL)
program("div0_param", "parameters { real a; } model { target += -square(a/0); }")
program("neg_size", "transformed data { int n=-1; vector[n] v; }\n" + NORMAL)
program("neg_size_rep", "transformed data { int n=-1; vector[2] v = rep_vector(1,n); }\n" + NORMAL)
program("neg_size_param", "parameters { real a; vector[-1] b; } model { a~normal(0,1); }")
program(
    "zero_all",
    "data { int N; } transformed data { matrix[N,N] m; array[N] vector[N] v; array[N,0,N] int k; } parameters { vector[N] a; matrix[N,N] b; array[N] simplex[3] s; cholesky_factor_corr[N] L; corr_matrix[N] C; cov_matrix[N] V; ordered[N] o; positive_ordered[N] po; } model { a~normal(0,1); to_vector(b)~normal(0,1); target += sum(m*b) + log_sum_exp(a) + mean(append_row(a,1.0)) ; }",
    '{"N":0}',
)
for nm, decl in [
    ("simplex0", "simplex[0] p"),
    ("unit0", "unit_vector[0] p"),
    ("stz0", "sum_to_zero_vector[0] p"),
    ("stz1", "sum_to_zero_vector[1] p"),
    ("stzm1", "sum_to_zero_matrix[1,5] p"),
    ("stoch0", "column_stochastic_matrix[0,3] p"),
    ("cfc0", "cholesky_factor_cov[2,5] p"),
    ("simplex1", "simplex[1] p"),
    ("unit1", "unit_vector[1] p"),
    ("corr1", "corr_matrix[1] p"),
    ("lowhigh", "real<lower=1,upper=0> p"),
    ("lowlow", "real<lower=1,upper=1> p"),
    ("lownan", "real<lower=not_a_number()> p"),
    ("lowinf", "real<lower=positive_infinity()> p"),
    ("mult0", "real<multiplier=0> p"),
    ("multneg", "real<multiplier=-1> p"),
    ("lowinfhigh", "real<lower=negative_infinity(),upper=positive_infinity()> p"),
]:
    program("decl_" + nm, "parameters { real a; " + decl + "; } model { a~normal(0,1); }")
program("noparams", "model { }")
program("empty", "")
program("blank", "\n\n")
program("onlycomment", "// x")
program("noparams_gq", "generated quantities { real x = normal_rng(0,1); }")
program("flat", "parameters { real a; } model { }")
program("improper", "parameters { real<lower=0> a; } model { target += a; }")
program("mean_empty", "transformed data { vector[0] v; real x=mean(v); real y=max(v); }\n" + NORMAL)
program("lse_empty", "transformed data { vector[0] v; real y=log_sum_exp(v); }\n" + NORMAL)
program("always_nan", "parameters { real a; } model { target += not_a_number()*a; }")
program("always_inf", "parameters { real a; } model { target += negative_infinity(); }")
program("plus_inf", "parameters { real a; } model { target += positive_infinity(); }")
program("always_reject", 'parameters { real a; } model { reject("never", a); }')
program("reject_tdata", 'transformed data { reject("no"); }\n' + NORMAL)
program("reject_gq", 'parameters { real a; } model { a~normal(0,1); } generated quantities { reject("no ", a); }')
program("fatal", 'parameters { real a; } model { fatal_error("x"); }')
program("sd_neg", "parameters { real a; } model { a~normal(0,-1); }")
program("sd_param_neg", "parameters { real a; real s; } model { a~normal(0,s); s~normal(0,1); }")
program(
    "rng_bad",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { real x = normal_rng(0,-1); int y = poisson_rng(-a*a); int z = categorical_rng([0.5,0.6]'); }",
)
program(
    "rng_bad2",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { int y = binomial_rng(-3,0.5); }",
)
program(
    "rng_bad_int",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { int y = poisson_rng(exp(a*100)); }",
)
program("rng_bad_tdata", "transformed data { real x = normal_rng(0,-1); }\n" + NORMAL)
program(
    "idx_gq",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { vector[3] v = [1,2,3]'; real x = v[to_int(round(a*10))]; }",
)
program("idx_neg", "parameters { vector[3] a; } model { target += -square(a[-1]); }")
program("idx_big", "parameters { vector[3] a; } model { target += -square(a[4]); }")
program("idx_rev", "parameters { vector[3] a; } model { a~normal(0,1); target += sum(a[3:1]); }")
program("uni_ident", "parameters { real α; } model { α ~ normal(0,1); }")
program("uni_comment", "// ünïcödé 🦑\n" + NORMAL)
program("uni_quote", "parameters { real a; } model { print(“a”); }")
program("bom", b"\xef\xbb\xbf" + NORMAL.encode())
program("crlf", NORMAL.replace(" ", "\r\n"))
program("cr", NORMAL.replace(" ", "\r"))
program("nul", b"parameters { real a; }\x00 model { }")
program("latin1", "// é\n".encode("latin-1") + NORMAL.encode())
program("utf16", NORMAL.encode("utf-16"))
program("rtl", "parameters { real a‮b; } model { }")
program("nbsp", "parameters {\u00a0real a; } model { a ~ normal(0, 1);\u00a0}")
program("binary", bytes(range(256)) * 100)
program("esc", "parameters { real a; } model { a ~ \x1b[31mnormal(0,1); }")
program("dash", "parameters { real a; } model { target += –a; }")
program("self_def", "transformed data { real x = x; }\n" + NORMAL)
program("self_size", "transformed data { vector[n] v; int n = 3; }\n" + NORMAL)
program("shadow", "parameters { real normal; } model { normal ~ normal(0,1); }")
program("redecl", "parameters { real a; real a; } model { }")
program("lhs_data", "data { int N; } parameters { real a; } model { N = 3; }", '{"N":1}')
program("loopvar", "parameters { real a; } model { for (i in 1:3) i = 4; }")
program(
    "old_syntax", "data { int N; real y[N]; } parameters { real a; } model { y ~ normal(a,1); }", '{"N":1,"y":[1]}'
)
program("old_arrow", "parameters { real a; } model { real b; b <- a; }")
program("old_inc", "parameters { real a; } model { increment_log_prob(-a*a); }")
program(
    "ode",
    "functions { vector f(real t, vector y) { return -y; } } parameters { real a; } model { array[1] vector[1] y = ode_rk45(f, [a]', 0.0, {1.0}); }",
)
program("huge_binom", "parameters { real<lower=0,upper=1> p; } model { 1000000000 ~ binomial(2147483647, p); }")
program("huge_lchoose", "parameters { real a; } model { a~normal(lchoose(2147483647,1000000000)*1e-9,1); }")
program("uninit", "parameters { real a; } model { real b; target += -b*b; }")
program("uninit_tp", "parameters { real a; } transformed parameters { vector[3] b; } model { a~normal(0,1); }")
program(
    "tp_bounds",
    "parameters { real a; } transformed parameters { real<lower=0> b = a - 1e9; } model { a~normal(0,1); }",
)
program("trunc_empty", "parameters { real a; } model { a ~ normal(0,1) T[5,3]; }")
program("trunc_far", "parameters { real<lower=1e10> a; } model { a ~ normal(0,1) T[1e10,]; }")
program(
    "gq_bounds", "parameters { real a; } model { a~normal(0,1); } generated quantities { real<lower=1e9> b=a; }"
)
program(
    "logdet_sing",
    "transformed data { real x = log_determinant(rep_matrix(1,3,3)); matrix[3,3] i = inverse(rep_matrix(1,3,3)); }\n"
    + NORMAL,
)
program("chol_data", "transformed data { matrix[2,2] L = cholesky_decompose([[1,2],[2,1]]); }\n" + NORMAL)
program(
    "sort_param",
    "parameters { vector[1000] a; } model { a~normal(0,1); target += -1e-9*dot_product(sort_asc(a), linspaced_vector(1000,0,1)); }",
)
program(
    "mixture_big",
    "data { int N; vector[N] y; } parameters { simplex[20] p; ordered[20] m; } model { m ~ normal(0,5); for (n in 1:N) { vector[20] lp = log(p); for (k in 1:20) lp[k] += normal_lpdf(y[n] | m[k], 1); target += log_sum_exp(lp); } }",
    {"N": 20000, "y": [(i * 37 % 101) / 20 for i in range(20000)]},
)
program(
    "hmm_big",
    "data { int N; vector[N] y; } parameters { array[5] simplex[5] T; ordered[5] m; } model { array[N] vector[5] g; for (k in 1:5) g[1,k]=normal_lpdf(y[1]|m[k],1); for (n in 2:N) for (k in 1:5) { vector[5] acc; for (j in 1:5) acc[j] = g[n-1,j]+log(T[j,k])+normal_lpdf(y[n]|m[k],1); g[n,k]=log_sum_exp(acc); } target += log_sum_exp(g[N]); m~normal(0,2); }",
    {"N": 2000, "y": [(i * 37 % 101) / 20 for i in range(2000)]},
)
program(
    "gq_matrix_huge",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { matrix[2000,2000] m = rep_matrix(a,2000,2000); }",
)
program(
    "gq_wishart",
    "parameters { real a; } model { a~normal(0,1); } generated quantities { matrix[300,300] m = wishart_rng(301, identity_matrix(300)); }",
)


# What is included by another one is no program of its own.
INCLUDED = re.compile(r"incx_\d+|inc_b")
# A run of `sample`: it stops after the draw at which ten seconds are over.
SHORT = ["--draws=20", "--tune=20", "--chains=2", "--max-depth=3", "--max-seconds=10"]
# Address space: a program that asks for more is killed.
MOST_ADDRESSES = 12 << 30


def run(command, folder, seconds):
    """Runs a command: its exit code, seconds of CPU, megabytes and output."""

    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CPU, (2 * seconds, 2 * seconds))

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=folder, preexec_fn=limits, **pipes)
    # What waits takes no CPU.
    timer = threading.Timer(20 * seconds, process.kill)
    timer.start()
    output = process.stdout.read().decode("utf8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def judged(code, spent, megabytes, output, args):
    """What is wrong with how a command ended."""
    faults = []
    if code < 0:
        faults.append("KILLED")
    if "panicked" in output:
        faults.append("PANIC")
    if spent > args.seconds:
        faults.append("SLOW")
    if megabytes > args.megabytes:
        faults.append("MEMORY")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("octopus", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--commands", default="check,show,sample")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--megabytes", type=int, default=2048)
    args = parser.parse_args()
    octopus = args.octopus.resolve()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, data) in PROGRAMS.items():
            Path(folder, f"{name}.stan").write_bytes(text)
            Path(folder, f"{name}.json").write_bytes(data)
        names = args.names or [name for name in PROGRAMS if not INCLUDED.fullmatch(name)]
        for name in names:
            given = ["--data", f"{name}.json"] if PROGRAMS[name][1] != b"{}" else []
            for command in args.commands.split(","):
                words = ["model", command, f"{name}.stan", *given]
                if command == "sample":
                    words = ["sample", f"{name}.stan", *given, "--out=run", *SHORT]
                code, spent, megabytes, output = run([octopus, *words], folder, args.seconds)
                shutil.rmtree(Path(folder, "run"), ignore_errors=True)
                faults = judged(code, spent, megabytes, output, args)
                bad += bool(faults)
                lines = output.splitlines() or [""]
                said = next((line for line in lines if "rror" in line[:12]), lines[-1])
                row = f"{name:20} {command:6} {code:4} {spent:6.1f} s {megabytes:6.0f} MB {' '.join(faults)}"
                print(f"{row} | {said[:200]}", flush=True)
    print(f"{len(names)} programs, {len(names) * len(args.commands.split(','))} runs, {bad} of them at fault")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
