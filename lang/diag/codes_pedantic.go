package diag

import "strings"

// Pedantic reports whether a warning is given on demand only: what it is about is
// often meant.
func (c Code) Pedantic() bool { return strings.HasPrefix(string(c), "W06") }

// Warnings that are given on demand. Reported by lang/check.
const (
	// NoPriorOfItsOwn: a parameter without bounds on both sides has no distribution.
	//
	// Its prior is flat, and improper: there may be no posterior. Parameters
	// that the data determine well need no more than that; scales, and effects of
	// few observations, do.
	//
	// Example:
	//
	//	data {
	//	  vector[5] y;
	//	}
	//	parameters {
	//	  real mu;
	//	  real<lower=0> sigma;
	//	}
	//	model {
	//	  y ~ normal(mu, sigma);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[5] y;
	//	}
	//	parameters {
	//	  real mu;
	//	  real<lower=0> sigma;
	//	}
	//	model {
	//	  mu ~ normal(0, 5);
	//	  sigma ~ exponential(1);
	//	  y ~ normal(mu, sigma);
	//	}
	NoPriorOfItsOwn Code = "W0601"

	// OnlyBounds: the density does not depend on a parameter, which is uniform between its bounds.
	//
	// Example:
	//
	//	parameters {
	//	  real<lower=0, upper=1> p;
	//	}
	//	model {
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int<lower=0, upper=1> y;
	//	}
	//	parameters {
	//	  real<lower=0, upper=1> p;
	//	}
	//	model {
	//	  y ~ bernoulli(p);
	//	}
	OnlyBounds Code = "W0602"

	// WideUniform: a parameter is uniform on a very wide interval.
	//
	// Such bounds are seldom meant: nearly all of the interval is far from zero,
	// and the posterior crowds at a bound when the data say little. Half-normal or
	// exponential priors say what is plausible without an edge.
	//
	// Example:
	//
	//	parameters {
	//	  real<lower=0, upper=1000> sigma;
	//	}
	//	model {
	//	  sigma ~ uniform(0, 1000);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real<lower=0> sigma;
	//	}
	//	model {
	//	  sigma ~ exponential(0.1);
	//	}
	WideUniform Code = "W0603"

	// SeveralDistributions: a parameter has several distributions.
	//
	// Their densities are multiplied, which is seldom what two statements mean.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal(0, 10);
	//	  mu ~ normal(5, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal(5, 1);
	//	}
	SeveralDistributions Code = "W0604"

	// ParameterDecides: a parameter decides what is computed.
	//
	// Where it does, the density may jump or have a kink, which gradients do not
	// tell of: the sampler steps over it, and is slow or biased there.
	//
	// Example:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  if (x > 0) {
	//	    x ~ normal(0, 1);
	//	  } else {
	//	    x ~ normal(0, 2);
	//	  }
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  target += log_mix(0.5, normal_lpdf(x | 0, 1), normal_lpdf(x | 0, 2));
	//	}
	ParameterDecides Code = "W0605"

	// NonlinearVariate: what has a distribution is computed from parameters, but not as a sum.
	//
	// Unless the log of the determinant of the derivatives is added to the target,
	// the parameters do not have the distribution that this says.
	//
	// Example:
	//
	//	parameters {
	//	  real<lower=0> a;
	//	  real<lower=0> b;
	//	}
	//	model {
	//	  a ~ lognormal(0, 1);
	//	  a * b ~ lognormal(0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real<lower=0> a;
	//	  real<lower=0> b;
	//	}
	//	model {
	//	  a ~ lognormal(0, 1);
	//	  a * b ~ lognormal(0, 1);
	//	  target += log(a);
	//	}
	NonlinearVariate Code = "W0606"
)
