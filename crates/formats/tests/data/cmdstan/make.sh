#!/bin/sh
# Real output of CmdStan 2.37.0, without building CmdStan: the wheel of Prophet 1.5.0 on PyPI carries a model
# that it has compiled (`pip download --no-deps prophet==1.5.0`, unzip).
#
#     sh make.sh UNPACKED_WHEEL
#
# Two chains with warm-up, one thinned with a dense metric, each with its metric as JSON, as CmdStan saves it.
set -eu
wheel=$1
model=$wheel/prophet/stan_model/prophet_model.bin
export LD_LIBRARY_PATH="$wheel/prophet.libs:$(dirname "$model")/cmdstan-2.37.0/stan/lib/stan_math/lib/tbb"
cat > data.json <<'DATA'
{"T": 5, "K": 2, "t": [0, 0.25, 0.5, 0.75, 1], "cap": [1, 1, 1, 1, 1], "y": [0.1, 0.32, 0.44, 0.81, 0.97], "S": 2,
 "t_change": [0.3, 0.7], "X": [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]], "sigmas": [1, 1], "tau": 0.5,
 "trend_indicator": 0, "s_a": [1, 1], "s_m": [0, 0]}
DATA
"$model" sample num_samples=10 num_warmup=30 save_warmup=1 num_chains=2 adapt save_metric=1 \
    data file=data.json random seed=7 output file=warmup.csv sig_figs=17
"$model" sample num_samples=12 num_warmup=200 thin=2 adapt save_metric=1 algorithm=hmc metric=dense_e \
    data file=data.json random seed=8 output file=dense.csv
rm -f data.json ./*_config.json
