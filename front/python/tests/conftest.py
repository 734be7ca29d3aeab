"""What the tests share: the examples, and fits that several of them look at."""

import os
from pathlib import Path

import pytest

import ppl

EXAMPLES = Path(os.environ.get("PPL_EXAMPLES") or Path(__file__).resolve().parents[3] / "examples")
SCHOOLS = EXAMPLES / "eight_schools" / "eight_schools.model"
SCHOOLS_DATA = EXAMPLES / "eight_schools" / "eight_schools.data.json"

NORMAL = """data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ normal(mu, sigma);
}
"""


@pytest.fixture(scope="session")
def schools() -> ppl.Model:
    return ppl.Model(SCHOOLS)


@pytest.fixture(scope="session")
def fit(schools: ppl.Model) -> ppl.Fit:
    return schools.sample(SCHOOLS_DATA, seed=1)


@pytest.fixture(scope="session")
def normal() -> ppl.Model:
    return ppl.Model(text=NORMAL, name="normal")
