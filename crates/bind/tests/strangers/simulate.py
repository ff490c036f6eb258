"""Simulates the data of the programs in this folder: python3 simulate.py, with no packages."""
import json
import math
import random

r = random.Random(20)
g, u = (lambda m=0, s=1, d=3: round(r.gauss(m, s), d)), r.random


def bern(p):
    return int(u() < p)


def poisson(rate):
    limit, k, p = math.exp(-rate), 0, u()
    while p > limit:
        k, p = k + 1, p * u()
    return k


def logistic(x):
    return 1 / (1 + math.exp(-x))


def save(name, **data):
    with open(name + ".json", "w") as file:
        json.dump(data, file, separators=(",", ":"))
        file.write("\n")


N, G = 30, 5
x = [g() for _ in range(N)]
J = [r.randrange(G) + 1 for _ in range(N)]
r0, r1 = [g(0, 0.7) for _ in range(G)], [g(0, 0.4) for _ in range(G)]
y = [round(1 + 0.5 * x[n] + r0[J[n] - 1] + r1[J[n] - 1] * x[n] + g(0, 0.5), 3) for n in range(N)]
save("varying_slopes", N=N, Y=y, K=2, X=[[1, v] for v in x], Kc=1, N_1=G, M_1=2, J_1=J, Z_1_1=[1] * N, Z_1_2=x, NC_1=1,
     prior_only=0)

N = 25
x = [g() for _ in range(N)]
Y = [0 if bern(0.4) else poisson(math.exp(0.8 + 0.5 * v)) for v in x]
save("zero_inflated", N=N, Y=Y, K=2, X=[[1, v] for v in x], K_zi=1, X_zi=[[1]] * N, offsets=[0.1] * N)

N = 25
x = [g() for _ in range(N)]
mo = [r.randrange(4) for _ in range(N)]
Y = [1 + sum(v + 0.3 * m + math.log(u() / (1 - u()) + 1e-3) > c for c in (-1, 0, 1.5)) for v, m in zip(x, mo)]
save("ordinal", N=N, Y=Y, nthres=3, x=x, Jmo=3, Xmo=mo, con_simo=[1, 1, 1])

N = 9
points = [[round(k / N, 3), round((k * 7 % N) / N, 3)] for k in range(N)]
save("gaussian_process", N=N, Y=[round(math.sin(5 * a) + b + g(0, 0.2), 3) for a, b in points], D=2, Xgp=points)

N = 20
x = [g() for _ in range(N)]
Y = [round(r.weibullvariate(math.exp(0.5 + 0.3 * v), 1.5) + 0.01, 3) for v in x]
cens = [r.choice([0, 0, 0, 1, -1, 2]) for _ in range(N)]
save("censored_survival", N=N, Y=Y, cens=cens, rcens=[v + 1 for v in Y], K=2, X=[[1, v] for v in x])

T = 30
t = [round(k / (T - 1), 4) for k in range(T)]
X = [[round(math.sin(2 * math.pi * 4 * s), 4), round(math.cos(2 * math.pi * 4 * s), 4)] for s in t]
Y = [round(0.2 + 0.6 * s + 0.1 * a[0] + g(0, 0.05), 3) for s, a in zip(t, X)]
save("trend_and_season", T=T, K=2, t=t, cap=[1.5] * T, y=Y, S=4, t_change=[0.2, 0.4, 0.6, 0.8], X=X, sigmas=[10, 10],
     tau=0.05, trend_indicator=1, s_a=[1, 0], s_m=[0, 1])

T = 20
save("renewal", T=T, seeded=4, cases=[poisson(20 * 1.05**k) for k in range(T)], G=8, generation=[4, 2],
     reporting=[3, 1.5])

J = 10
x = [2 + 2 * j for j in range(J)]
n = [200 - 10 * j for j in range(J)]
p = [2 * (0.5 * (1 + math.erf(math.asin((2.125 - 0.84) / 12 / v) / 0.026 / math.sqrt(2)))) - 1 for v in x]
save("putting", J=J, n=n, x=x, y=[sum(bern(q * 0.95) for _ in range(m)) for q, m in zip(p, n)], r=0.07, R=0.177,
     overshot=1, distance_tolerance=3)

I, J = 4, 10
W = [[1, bern(0.5), g()] for _ in range(J)]
pairs = [(i + 1, j + 1) for j in range(J) for i in range(I)]
save("item_response", I=I, J=J, N=len(pairs), ii=[i for i, _ in pairs], jj=[j for _, j in pairs],
     y=[bern(logistic(g() - 0.3 * i)) for i, _ in pairs], K=3, W=W)

n, d = 20, 6
X = [[g() for _ in range(d)] for _ in range(n)]
save("horseshoe", n=n, d=d, y=[bern(logistic(2 * row[0])) for row in X], x=X, scale_icept=5, scale_global=0.1,
     nu_global=1, nu_local=1, slab_scale=2, slab_df=4)

T, state, Y = 25, 0, []
for _ in range(T):
    state = state if bern(0.8) else r.randrange(3)
    Y.append(g(2 * state - 2, 0.5))
save("hidden_states", K=3, T=T, y=Y, alpha=[2, 2, 2])

seen = []
for i in range(8):
    row, alive = [0] * 5, True
    row[i % 4] = 1
    for k in range(i % 4 + 1, 5):
        alive = alive and bern(0.8)
        row[k] = int(alive and bern(0.6))
    seen.append(row)
save("capture_recapture", nind=8, n_occasions=5, y=seen)

save("change_point", r_e=0.3, r_l=0.3, T=20, D=[poisson(4 if k < 8 else 1.5) for k in range(20)])

N = 9
edges = [(i, i + 1) for i in range(1, N)] + [(1, 4), (2, 5), (3, 6)]
save("spatial", N=N, N_edges=len(edges), node1=[a for a, _ in edges], node2=[b for _, b in edges],
     y=[poisson(5) for _ in range(N)], E=[5] * N, K=2, x=[[g(), g()] for _ in range(N)], scaling_factor=0.5)

pairs = [(i, j) for i in range(6) for j in range(3)]
true = [i % 3 for i in range(6)]
save("annotators", K=3, I=6, J=3, N=len(pairs), ii=[i + 1 for i, _ in pairs], jj=[j + 1 for _, j in pairs],
     y=[(true[i] if bern(0.7) else r.randrange(3)) + 1 for i, _ in pairs], alpha=[3, 3, 3],
     beta=[[3 if a == b else 1 for b in range(3)] for a in range(3)])

N = 12
X = [[1, g()] for _ in range(N)]
save("seemingly_unrelated", K=3, J=2, N=N, x=X, y=[[round(a[1] * k + g(), 3) for k in range(3)] for a in X])

save("volatility", T=20, y=[g(0, math.exp(-0.5 + 0.3 * math.sin(k / 4))) for k in range(20)])

R = 6
X = [g() for _ in range(R)]
there = [poisson(math.exp(1.2 + 0.3 * v)) for v in X]
save("occupancy", R=R, T=3, y=[[sum(bern(0.5) for _ in range(m)) for _ in range(3)] for m in there], X=X, K=20)

words = [(r.randrange(5), m) for m in range(4) for _ in range(10)]
save("topics", K=2, V=5, M=4, N=len(words), w=[w + 1 for w, _ in words], doc=[m + 1 for _, m in words], alpha=[0.5, 0.5],
     beta=[0.2] * 5)

N = 24
x = [g() for _ in range(N)]
save("mixture", N=N, Y=[g(-1.5 + 0.4 * v, 0.6) if bern(0.4) else g(2, 0.8) for v in x], x=x)

N = 24
t = [round(2 * k / (N - 1) - 1, 4) for k in range(N)]
save("autoregressive", N=N, Y=[round(math.sin(3 * s) + g(0, 0.3), 3) for s in t], Kar=2,
     J_lag=[min(n + 1, 2) if n + 1 < N else 0 for n in range(N)], Ks=1, Xs=[[s] for s in t], nb_1=1, knots_1=[3],
     Zs_1_1=[[round(math.cos((k + 1) * 2 * s), 4) for k in range(3)] for s in t])

save("language", N=3, M=2, v=[[g(), g()] for _ in range(3)],
     a=[[[[g(), g()], [g(), g()]] for _ in range(3)] for _ in range(2)], k=[1, 2, 3])

# Two compartments by Euler's method with short steps.
times, infused, concentration = [0.5, 1, 2, 4, 8], [0.3, 0.6, 1.1, 0.8], []
for inflow in infused:
    eliminated, levels, a, b, h = 0.4 * math.exp(g(0, 0.3)), [], 0.0, 0.0, 1e-3
    for k in range(8001):
        if any(abs(k * h - t) < h / 2 for t in times):
            levels.append(round(a * math.exp(g(0, 0.1)), 4))
        flow = (4 * (1 - k * h / inflow) ** 3 / inflow if k * h < inflow else 0) - (eliminated + 0.3) * a + 0.35 * b
        a, b = a + h * flow, b + h * (0.3 * a - 0.35 * b)
    concentration.append(levels)
save("pharmacokinetics", J=4, T=5, times=times, infused=infused, concentration=concentration)
