package diag

import "strings"

// Pedantic reports whether a warning is given on demand only, because what it warns of is often
// intended.
func (c Code) Pedantic() bool { return strings.HasPrefix(string(c), "W06") }

// Warnings that are given on demand. Reported by lang/check.
const (
	// NoPriorOfItsOwn: a parameter without bounds on both sides has no prior.
	//
	// Its prior is flat and improper, so the posterior may not exist. If the data determine the
	// parameter well, you can leave it so. Give a prior to scales, and to effects with few
	// observations.
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

	// OnlyBounds: nothing but its bounds restricts a parameter.
	//
	// The density does not depend on it, so its posterior is uniform between the bounds. Use
	// the parameter in the model, or delete it.
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

	// WideUniform: a parameter has a uniform prior on a very wide interval.
	//
	// Nearly all of such an interval is far from zero, so the prior makes large values likely.
	// With few data, the posterior then concentrates near a bound. Use a half-normal or
	// exponential prior: it favours plausible values and has no edge.
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
	// Their densities are multiplied, which is seldom intended. Keep one of the statements.
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

	// ParameterDecides: a condition depends on a parameter.
	//
	// The density may jump, or have a kink, where the condition changes. Gradients do not show
	// this, so the sampler may be slow or biased near that place. Write a smooth function, or a
	// mixture with log_mix.
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

	// NonlinearVariate: the left side of ~ is a nonlinear function of parameters.
	//
	// The parameters do not get the stated distribution. Add the log determinant of the
	// derivatives to the target.
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
