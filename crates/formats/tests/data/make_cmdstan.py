"""What `arviz.from_cmdstan` sees in `cmdstan/*.csv`: makes `cmdstan/warmup.json` and `cmdstan/dense.json`.

    python make_cmdstan.py    # with arviz 0.23.4
"""

import os
import warnings

warnings.simplefilter("ignore")

import arviz
from make_traces import keep, groups_of

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cmdstan")

for name, files in {"warmup": ["warmup_1.csv", "warmup_2.csv"], "dense": ["dense.csv"]}.items():
    data = arviz.from_cmdstan([os.path.join(HERE, file) for file in files], save_warmup=True)
    groups = {group: dataset.copy() for group, dataset in groups_of(data).items() if dataset.sizes["draw"] > 0}
    for dataset in groups.values():
        # Octopus keeps the settings one by one, ArviZ as the text of lists.
        dataset.attrs = {}
    keep(os.path.join(HERE, name), groups)
