# Fits models of package brms through cmdstanr, and prints how each came out: the names of
# the parameters, their means, R-hat. Each checks something that is known of its data,
# which are drawn here.
suppressMessages({library(brms); library(cmdstanr)})
options(brms.backend = "cmdstanr", mc.cores = 2)
set.seed(1)
failed <- 0
fit <- function(name, formula, data, family, check, ...) {
  t <- system.time(out <- try({
    m <- suppressMessages(suppressWarnings(brm(formula, data, family = family, chains = 2, iter = 1000, refresh = 0, silent = 2, seed = 1, ...)))
    s <- fixef(m)
    worst <- max(rhat(m), na.rm = TRUE)
    list(s = s, rhat = worst, ok = check(s, m) && worst < 1.05)
  }, silent = TRUE))
  if (inherits(out, "try-error")) {
    cat("BRMS FAIL", name, "\n", substr(out, 1, 1500), "\n")
    failed <<- failed + 1
  } else {
    cat(sprintf("BRMS %s %s: %.1f s, R-hat %.3f, %s\n", if (out$ok) "ok" else "FAIL", name, t["elapsed"], out$rhat,
      paste(sprintf("%s %.2f", rownames(out$s), out$s[, 1]), collapse = ", ")))
    if (!out$ok) failed <<- failed + 1
  }
}
near <- function(s, name, want, by = 4) abs(s[name, "Estimate"] - want) < by * s[name, "Est.Error"]

n <- 200
x <- rnorm(n); g <- factor(rep(1:10, 20)); u <- rnorm(10)[g]
fit("gaussian", y ~ x, data.frame(x, y = 1 + 2 * x + rnorm(n)), gaussian(), function(s, m) near(s, "x", 2))
fit("gaussian, varying intercepts", y ~ x + (1 | g), data.frame(x, g, y = 1 + 2 * x + u + rnorm(n)), gaussian(), function(s, m) near(s, "x", 2))
fit("poisson, varying intercepts", y ~ x + (1 | g), data.frame(x, g, y = rpois(n, exp(1 + 0.5 * x + 0.3 * u))), poisson(), function(s, m) near(s, "x", 0.5))
fit("bernoulli", y ~ x, data.frame(x, y = rbinom(n, 1, plogis(x))), bernoulli(), function(s, m) near(s, "x", 1))
zi <- rbinom(n, 1, 0.7)
fit("zero_inflated_poisson", y ~ x, data.frame(x, y = zi * rpois(n, exp(1 + 0.5 * x))), zero_inflated_poisson(), function(s, m) near(s, "x", 0.5))
fit("zero_inflated_negbinomial", bf(y ~ x, zi ~ x), data.frame(x, y = zi * rnbinom(n, mu = exp(1 + 0.5 * x), size = 3)), zero_inflated_negbinomial(), function(s, m) near(s, "x", 0.5))
h <- rpois(n, exp(1 + 0.5 * x)); h[h == 0] <- 1
fit("hurdle_poisson", y ~ x, data.frame(x, y = zi * h), hurdle_poisson(), function(s, m) abs(s["x", 1] - 0.5) < 0.3)
fit("hurdle_gamma", y ~ x, data.frame(x, y = zi * rgamma(n, 2, 2 / exp(1 + 0.5 * x))), hurdle_gamma(), function(s, m) near(s, "x", 0.5))
fit("hurdle_lognormal", y ~ x, data.frame(x, y = zi * rlnorm(n, 1 + 0.5 * x, 0.5)), hurdle_lognormal(), function(s, m) near(s, "x", 0.5))
fit("com_poisson", y ~ x, data.frame(x, y = rpois(n, exp(0.5 + 0.3 * x)))[1:60, ], brmsfamily("com_poisson"), function(s, m) abs(s["x", 1] - 0.3) < 0.3)
fit("negbinomial, spline", y ~ s(x), data.frame(x, y = rnbinom(n, mu = exp(1 + sin(x)), size = 3)), negbinomial(), function(s, m) TRUE, control = list(adapt_delta = 0.95))
fit("cumulative", y ~ x, data.frame(x, y = ordered(cut(x + rlogis(n), c(-Inf, -1, 1, Inf), labels = 1:3))), cumulative(), function(s, m) near(s, "x", 1))
fit("beta", y ~ x, data.frame(x, y = rbeta(n, plogis(x) * 5, (1 - plogis(x)) * 5)), Beta(), function(s, m) near(s, "x", 1))
fit("student, distributional", bf(y ~ x, sigma ~ x), data.frame(x, y = 1 + x + exp(0.3 * x) * rt(n, 5)), student(), function(s, m) near(s, "x", 1))
fit("weibull, censored", y | cens(c) ~ x, { y <- rweibull(n, 2, exp(1 + 0.3 * x)); data.frame(x, y = pmin(y, 4), c = as.integer(y > 4)) }, weibull(), function(s, m) near(s, "x", 0.3))
fit("gaussian process", y ~ gp(x), data.frame(x, y = sin(x) + rnorm(n, 0, 0.3))[1:40, ], gaussian(), function(s, m) TRUE, control = list(adapt_delta = 0.95))
fit("multivariate", bf(mvbind(y, z) ~ x) + set_rescor(TRUE), data.frame(x, y = x + rnorm(n), z = -x + rnorm(n)), gaussian(), function(s, m) near(s, "y_x", 1) && near(s, "z_x", -1))
fit("threads", y ~ x, data.frame(x, y = 1 + 2 * x + rnorm(n)), gaussian(), function(s, m) near(s, "x", 2), threads = threading(2))
m <- suppressMessages(suppressWarnings(brm(y ~ x, data.frame(x, y = x + rnorm(n)), refresh = 0, silent = 2, seed = 2, chains = 2)))
l <- loo(m)
cat("BRMS loo", if (all(is.finite(l$estimates))) "ok" else "FAIL", "\n")
p <- posterior_predict(m, ndraws = 10)
cat("BRMS posterior_predict", if (all(dim(p) == c(10, n))) "ok" else "FAIL", "\n")
cat("BRMS", failed, "failed\n")
quit(status = failed > 0)
