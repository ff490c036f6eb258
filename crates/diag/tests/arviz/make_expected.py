"""Writes expected.json and eight_schools.f64: what ArviZ 0.23.4 says about arrays that the tests make again (arrays.py).

    python3.11 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make_expected.py

ArviZ's two bundled posteriors of the eight schools are stored as they are, little-endian f64; their log likelihoods follow
from them. parity.py compares the stored numbers with those of the ArviZ that is installed.
"""

import json
import math
import pathlib
import warnings

import arviz as az
import numpy as np
from arrays import CASES, CURVES, DENSITIES, ODD_DRAWS, PSIS, make, many, matrix
from scipy.optimize import minimize

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent


def plain(value):
    """NaN and infinities as words, all else as the shortest decimal that reads back the same."""
    if np.ndim(value) > 0:
        return [plain(v) for v in value]
    value = float(value)
    return value if math.isfinite(value) else repr(value)


def bits(value):
    """The 64 bits in hexadecimal: readers of JSON may round decimals by a bit."""
    return np.float64(value).tobytes()[::-1].hex()


def interval(function):
    try:
        return plain(function())
    except ValueError:
        return None


def estimates(x):
    dataset = az.convert_to_dataset({"x": x[None] if x.ndim == 1 else x})
    table = az.summary(dataset, hdi_prob=0.89, round_to="none")
    flat = x.ravel()
    return {
        "rhat": plain(az.rhat(x, method="rank")),
        "rhat_split": plain(az.rhat(x, method="split")),
        "rhat_folded": plain(az.rhat(x, method="folded")),
        "rhat_z_scale": plain(az.rhat(x, method="z_scale")),
        "rhat_identity": plain(az.rhat(x, method="identity")),
        "ess_bulk": plain(az.ess(x, method="bulk")),
        "ess_tail": plain(az.ess(x, method="tail")),
        "ess_mean": plain(az.ess(x, method="mean")),
        "ess_sd": plain(az.ess(x, method="sd")),
        "ess_median": plain(az.ess(x, method="median")),
        "ess_mad": plain(az.ess(x, method="mad")),
        "ess_z_scale": plain(az.ess(x, method="z_scale")),
        "ess_folded": plain(az.ess(x, method="folded")),
        "ess_identity": plain(az.ess(x, method="identity")),
        "ess_local": plain(az.ess(x, method="local", prob=[0.3, 0.45])),
        "ess_quantile_10": plain(az.ess(x, method="quantile", prob=0.1)),
        "ess_quantile_75": plain(az.ess(x, method="quantile", prob=0.75)),
        "mcse_mean": plain(az.mcse(x, method="mean")),
        "mcse_sd": plain(az.mcse(x, method="sd")),
        "mcse_median": plain(az.mcse(x, method="median")),
        "mcse_quantile_10": plain(az.mcse(x, method="quantile", prob=0.1)),
        "mcse_quantile_75": plain(az.mcse(x, method="quantile", prob=0.75)),
        "hdi_89": interval(lambda: az.hdi(flat, hdi_prob=0.89)),
        "hdi_50": interval(lambda: az.hdi(flat, hdi_prob=0.5)),
        "hdi_94": interval(lambda: az.hdi(flat, hdi_prob=0.94)),
        "eti_89": plain(np.quantile(flat, [(1 - 0.89) / 2, 1 - (1 - 0.89) / 2])),
        "bfmi": plain(az.bfmi(x)) if x.shape[1] > 1 else None,
        "autocov": plain(az.autocov(x[0])[:5]),
        "autocorr": plain(az.autocorr(x[0])[:5]),
        "summary": plain(table.iloc[0].to_numpy()),
    }


def odd_draws():
    found = []
    for seed, (kind, chains, draws) in enumerate(ODD_DRAWS, start=1000):
        x = make(kind, chains, draws, seed)
        all_of_them = list(estimates(x).values())
        # The first 22 are numbers of all chains together.
        found.append({"kind": kind, "chains": chains, "draws": draws, "seed": seed, "estimates": all_of_them[:22]})
    return found


def cases():
    found = []
    for seed, (kind, chains, draws) in enumerate(CASES, start=1):
        x = make(kind, chains, draws, seed)
        found.append(
            {"kind": kind, "chains": chains, "draws": draws, "seed": seed, "last": bits(x[-1, -1]), **estimates(x)}
        )
    return found


def psis():
    found = []
    for seed, (kind, chains, draws, scale, reff) in enumerate(PSIS, start=201):
        raw = scale * make(kind, chains, draws, seed).ravel()
        smoothed, k = az.psislw(raw, reff)
        # Equal weights may be given their smoothed values in any order: what is stored is in the order of size.
        ascending = np.sort(np.asarray(smoothed))
        places = sorted({0, 1, len(raw) // 2, *(len(raw) - 1 - i for i in range(min(10, len(raw))))})
        found.append(
            {
                "kind": kind,
                "chains": chains,
                "draws": draws,
                "seed": seed,
                "scale": scale,
                "reff": plain(reff),
                "pareto_k": plain(k),
                "places": places,
                "log_weights": plain(ascending[places]),
            }
        )
    return found


def densities():
    found = []
    for seed, (kind, chains, draws) in enumerate(DENSITIES, start=301):
        x = make(kind, chains, draws, seed).ravel()
        grid, density, width = az.kde(x, bw_return=True)
        rules = {rule: plain(az.kde(x, bw=rule, bw_return=True)[2]) for rule in ("isj", "silverman", "scott")}
        places = [0, 1, 50, 128, 200, 255, 256, 300, 400, 510, 511]
        multimodal = [plain(az.hdi(x, hdi_prob=p, multimodal=True, max_modes=300).ravel()) for p in (0.5, 0.89)]
        found.append(
            {
                "kind": kind,
                "chains": chains,
                "draws": draws,
                "seed": seed,
                "bandwidth": plain(width),
                **rules,
                "places": places,
                "grid": plain(grid[places]),
                "density": plain(density[places]),
                "total": plain(density.sum()),
                "hdi_multimodal": multimodal,
            }
        )
    return found


def curves(points=20):
    """As az.plot_ess has them."""
    found = []
    for seed, (kind, chains, draws) in enumerate(CURVES, start=401):
        data = az.convert_to_dataset({"x": make(kind, chains, draws, seed)})
        steps = np.linspace(draws // points, draws, points, dtype=int)
        parts = [data.sel(draw=slice(0 + step)) for step in steps]
        probs = np.linspace(1 / points, 1 - 1 / points, points)
        lows = np.linspace(0, 1, points, endpoint=False)
        found.append(
            {
                "kind": kind,
                "chains": chains,
                "draws": draws,
                "seed": seed,
                "ess_bulk": plain([az.ess(part, method="bulk").x for part in parts]),
                "ess_tail": plain([az.ess(part, method="tail").x for part in parts]),
                "rhat": plain([az.rhat(part).x for part in parts]),
                "quantile": plain([az.ess(data, method="quantile", prob=p).x for p in probs]),
                "local": plain([az.ess(data, method="local", prob=[p, p + 1 / points]).x for p in lows]),
            }
        )
    return found


def best_weights(pointwise):
    """Stacking to the end: az.compare stops when the score changes by less than 1e-6."""
    density = np.exp(pointwise - pointwise.max(axis=1, keepdims=True))
    models = density.shape[1]
    weights = np.full(models, 1 / models)
    # Expectation maximisation never falls; the simplex is kept. A second solver must agree.
    for _ in range(20_000):
        weights = weights * (density / (density @ weights)[:, None]).mean(axis=0)
    other = minimize(
        lambda w: -np.log(density @ w).sum(),
        np.full(models, 1 / models),
        jac=lambda w: -(density / (density @ w)[:, None]).sum(axis=0),
        bounds=[(0, 1)] * models,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 1000},
        method="SLSQP",
    )
    assert np.abs(other.x - weights).max() < 1e-3, (other.x, weights)
    return weights


def elpd(data, reff=None):
    loo, waic = az.loo(data, pointwise=True, reff=reff), az.waic(data, pointwise=True)
    return {
        "elpd_loo": plain(loo.elpd_loo),
        "se_loo": plain(loo.se),
        "p_loo": plain(loo.p_loo),
        "good_k": plain(loo.good_k),
        "warning_loo": bool(loo.warning),
        "loo_i": plain(loo.loo_i.to_numpy().ravel()),
        "pareto_k": plain(loo.pareto_k.to_numpy().ravel()),
        "elpd_waic": plain(waic.elpd_waic),
        "se_waic": plain(waic.se),
        "p_waic": plain(waic.p_waic),
        "warning_waic": bool(waic.warning),
        "waic_i": plain(waic.waic_i.to_numpy().ravel()),
    }


def comparisons(judged):
    """Of models with their loo and waic."""
    names = list(judged)
    found = {}
    for ic in ("loo", "waic"):
        models = {name: judged[name][ic] for name in names}
        for method in ("stacking", "pseudo-BMA", "BB-pseudo-BMA"):
            options = {"b_samples": 4000, "seed": 1} if method == "BB-pseudo-BMA" else {}
            table = az.compare(models, ic=ic, method=method, **options)
            columns = ["rank", f"elpd_{ic}", f"p_{ic}", "elpd_diff", "weight", "se", "dse"]
            found[f"{ic} {method}"] = {name: plain(table.loc[name, columns].to_numpy()) for name in names}
        best = best_weights(np.stack([models[name][f"{ic}_i"].to_numpy().ravel() for name in names], axis=1))
        found[f"{ic} best"] = dict(zip(names, plain(best)))
    return found


SCHOOLS_Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SCHOOLS_SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def schools():
    arrays, found, predictive, judged = [], [], {}, {}
    models = {name: az.load_arviz_data(name) for name in ("centered_eight", "non_centered_eight")}
    for name, data in models.items():
        for variable in ("mu", "tau", "theta"):
            values = data.posterior[variable].to_numpy()
            values = values.reshape(values.shape[0], values.shape[1], -1)
            for element in range(values.shape[2]):
                x = np.ascontiguousarray(values[:, :, element])
                arrays.append(x)
                found.append({"name": f"{name}.{variable}[{element}]", **estimates(x)})
        # The Rust test computes the log likelihood from theta.
        theta = data.posterior["theta"].to_numpy()
        again = -0.5 * ((SCHOOLS_Y - theta) / SCHOOLS_SIGMA) ** 2 - np.log(SCHOOLS_SIGMA * np.sqrt(2 * np.pi))
        assert np.abs(again - data.log_likelihood.obs.to_numpy()).max() < 1e-13
        posterior = data.posterior[["mu", "tau", "theta"]]
        # Draws that a chain repeats have equal weights, which are smoothed in any order: they must predict the same.
        draws = theta.reshape(-1, 8)
        likelihood = data.log_likelihood.obs.stack(__sample__=("chain", "draw"))
        reff = np.hstack([az.ess(posterior, method="mean")[v].to_numpy().ravel() for v in posterior]).mean() / len(draws)
        weights = az.psislw(-likelihood, reff)[0].to_numpy()
        judged[name] = {"loo": az.loo(data, pointwise=True, reff=reff), "waic": az.waic(data, pointwise=True)}
        predictive[name] = {
            "reff": plain(reff),
            **elpd(data, reff),
            "loo_pit": plain(az.loo_pit(y=SCHOOLS_Y, y_hat=draws.T.copy(), log_weights=weights)),
        }
    stored = np.stack(arrays).astype("<f8")
    document = {
        "chains": stored.shape[1],
        "draws": stored.shape[2],
        "arrays": found,
        "predictive": predictive,
        "compare": comparisons(judged),
    }
    return stored, document


def likelihoods():
    """Three models of 20 observations; one observation of the second is far too influential."""
    samples, width = 4 * 250, 20
    posterior = {"x": make("ar_plus", 4, 250, 501), "z": np.stack([make("iid", 4, 250, s) for s in (502, 503)], axis=2)}
    models, matrices = {}, {}
    for seed, (name, spread) in enumerate([("calm", 0.3), ("wild", 0.8), ("worse", 0.5)], start=511):
        noise = matrix(samples, width, seed)
        values = -1.0 - 0.5 * (spread * noise + np.arange(width) / width) ** 2 - 0.1 * (seed - 511)
        if name == "wild":
            values[:, 3] *= 4.0
            values[:, 7] -= 0.3 * matrix(samples, 1, 520)[:, 0] ** 2 * 10
        matrices[name] = values
        models[name] = az.from_dict(
            posterior=posterior, log_likelihood={"y": values.reshape(4, 250, width)}
        )
    observed = matrix(1, width, 530)[0]
    draws = matrix(samples, width, 531)
    weights = az.psislw(-matrices["wild"].T, 0.7)[0]
    counts = np.floor(draws)
    efficient = az.ess(models["calm"].posterior, method="mean")
    return {
        "reff": plain(np.hstack([v.to_numpy().ravel() for v in efficient.values()]).mean() / samples),
        **{name: elpd(data) for name, data in models.items()},
        "compare": comparisons(
            {name: {"loo": az.loo(data, pointwise=True), "waic": az.waic(data, pointwise=True)} for name, data in models.items()}
        ),
        "loo_pit": plain(az.loo_pit(y=observed, y_hat=draws.T.copy(), log_weights=weights)),
        "loo_pit_counts": plain(az.loo_pit(y=np.floor(observed), y_hat=counts.T.copy(), log_weights=weights)),
        "bpv": {
            "mean": plain((draws.mean(axis=1) <= observed.mean()).mean()),
            "std": plain((draws.std(axis=1) <= observed.std()).mean()),
            "min": plain((draws.min(axis=1) <= observed.min()).mean()),
            "max": plain((draws.max(axis=1) <= observed.max()).mean()),
            "median": plain((np.median(draws, axis=1) <= np.median(observed)).mean()),
            "quantile_20": plain((np.quantile(draws, 0.2, axis=1) <= np.quantile(observed, 0.2)).mean()),
            "p_values": plain((draws <= observed).mean(axis=1)[:10]),
            "u_values": plain((draws <= observed).mean(axis=0)),
        },
    }


def wide(variables=2003, chains=4, draws=100):
    table = az.summary(az.convert_to_dataset({"x": many(variables, chains, draws)}), hdi_prob=0.89, round_to="none")
    rows = list(range(0, variables, 100)) + [variables - 1]
    return {
        "variables": variables,
        "chains": chains,
        "draws": draws,
        "rows": rows,
        "summary": plain(table.iloc[rows].to_numpy()),
        "column_sums": plain(table.to_numpy().sum(axis=0)),
    }


def document():
    stored, eight = schools()
    return stored, {
        "arviz": az.__version__,
        "summary_columns": ["mean", "sd", "hdi_low", "hdi_high", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "rhat"],
        "cases": cases(),
        "odd_draws": odd_draws(),
        "psis": psis(),
        "densities": densities(),
        "curves": curves(),
        "likelihoods": likelihoods(),
        "wide": wide(),
        "eight_schools": eight,
    }


def main():
    stored, found = document()
    (HERE / "eight_schools.f64").write_bytes(stored.tobytes())
    lines = json.dumps(found, separators=(",", ":")).replace('{"kind"', '\n{"kind"').replace('{"name"', '\n{"name"')
    (HERE / "expected.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
