# Models of brms through brm_ppl. Their estimates are compared with those of lme4 and glm, or with
# what the data were drawn from; marginal likelihoods and elpd with exact values.

needs_brms <- function() {
  needs_engine()
  skip_if_not_installed("brms")
  skip_if_not_installed("rstan")
}

# A run so short that findings say so.
short <- function(...) suppressWarnings(brm_ppl(..., progress = FALSE), classes = "ppl_finding_warning")
quick <- function(...) short(..., seed = 1, chains = 2, iter = 1000)

# What brms does with a fit.
expect_methods <- function(fit, effect, hypothesis) {
  expect_s3_class(fit, c("ppl_brmsfit", "brmsfit"))
  expect_output(print(fit), "ppl(auto)", fixed = TRUE)
  expect_true(all(brms::rhat(fit) < 1.05, na.rm = TRUE))
  expect_equal(brms::ndraws(fit), 1000)
  expect_true(effect %in% names(suppressWarnings(brms::conditional_effects(fit, effects = effect))))
  expect_identical(nrow(predict(fit)), nrow(fit$data))
  suppressMessages(expect_s3_class(brms::pp_check(fit), "ggplot"))
  expect_s3_class(suppressWarnings(brms::loo(fit)), "psis_loo")
  expect_s3_class(brms::hypothesis(fit, hypothesis), "brmshypothesis")
  fewer <- suppressWarnings(update(fit, newdata = fit$data[seq_len(nrow(fit$data) %/% 2), ], iter = 200))
  expect_equal(stats::nobs(fewer), nrow(fit$data) %/% 2)
  expect_equal(brms::ndraws(fewer), 200)
}

near <- function(fit, name, want, se) expect_lt(abs(brms::fixef(fit)[name, "Estimate"] - want), se)

drawn <- function() {
  set.seed(4)
  d <- data.frame(x = rnorm(120), g = factor(rep(letters[1:12], 10)), t = runif(120, 1, 4))
  d$u <- rnorm(12)[d$g]
  d
}

test_that("gaussian, with groups", {
  needs_brms()
  d <- transform(drawn(), y = 1 + 2 * x + u + rnorm(120))
  fit <- quick(y ~ x + (1 | g), d)
  expect_methods(fit, "x", "x > 0")
  skip_if_not_installed("lme4")
  want <- lme4::fixef(lme4::lmer(y ~ x + (1 | g), d))
  near(fit, "x", want[["x"]], 0.03)
  expect_identical(dim(brms::ranef(fit)$g), c(12L, 4L, 1L))
  expect_setequal(
    posterior::variables(fit),
    c("b_Intercept", "b_x", "sd_g__Intercept", "sigma", "Intercept", sprintf("r_g[%s,Intercept]", letters[1:12]), "lprior", "lp__") |>
      setdiff("Intercept")
  )
  expect_identical(nrow(brms::nuts_params(fit, pars = "divergent__")), 1000L)
  # A change of the formula is a new model.
  changed <- suppressWarnings(update(fit, . ~ . - x, iter = 400))
  expect_identical(rownames(brms::fixef(changed)), "Intercept")
  expect_identical(brms::fixef(changed), brms::fixef(short(y ~ 1 + (1 | g), d, seed = 1, chains = 2, iter = 400)))
})

test_that("bernoulli", {
  needs_brms()
  d <- transform(drawn(), y = rbinom(120, 1, plogis(0.5 + x)))
  fit <- quick(y ~ x, d, family = brms::bernoulli())
  expect_methods(fit, "x", "x > 0")
  near(fit, "x", coef(glm(y ~ x, binomial, d))[["x"]], 0.15)
})

test_that("poisson, with an offset", {
  needs_brms()
  d <- transform(drawn(), y = rpois(120, t * exp(0.2 + 0.5 * x)))
  fit <- quick(y ~ x + offset(log(t)), d, family = stats::poisson())
  expect_methods(fit, "x", "x = 0.5")
  near(fit, "x", coef(glm(y ~ x + offset(log(t)), poisson, d))[["x"]], 0.03)
})

test_that("a spline", {
  needs_brms()
  d <- transform(drawn(), y = sin(2 * x) + rnorm(120, 0, 0.3))
  fit <- quick(y ~ s(x, k = 8), d, control = list(adapt_delta = 0.95))
  expect_methods(fit, "x", "Intercept < 2")
  expect_gt(cor(fitted(fit)[, 1], sin(2 * d$x)), 0.95)
  expect_identical(brms::control_params(fit)$adapt_delta, 0.95)
})

test_that("ordinal, with a monotonic effect", {
  needs_brms()
  d <- transform(drawn(), m = ordered(sample(1:4, 120, TRUE)))
  d <- transform(d, y = ordered(cut(c(0, 1, 2, 3)[m] + x + rlogis(120), c(-Inf, 0, 1, 2, Inf), labels = 1:4)))
  fit <- quick(y ~ x + mo(m), d, family = brms::cumulative())
  expect_methods(fit, "m", "x > 0")
  near(fit, "x", 1, 4 * brms::fixef(fit)["x", "Est.Error"])
})

# A regression with a known error: all that follows has a formula.
conjugate <- function() {
  set.seed(5)
  d <- data.frame(x = rnorm(20))
  d$y <- 0.5 + d$x + rnorm(20)
  d$y[3] <- d$y[3] + 4.5
  d
}

test_that("marginal likelihoods and moment matching are exact where there is a formula", {
  needs_brms()
  skip_if_not_installed("bridgesampling")
  skip_if_not_installed("loo")
  d <- conjugate()
  priors <- c(brms::set_prior("normal(0, 2)", class = "b"), brms::set_prior("constant(1)", class = "sigma"))
  fit <- brm_ppl(y ~ 0 + Intercept + x, d, prior = priors, save_pars = brms::save_pars(all = TRUE), seed = 1, progress = FALSE)
  x <- cbind(1, d$x)
  log_normal <- function(y, v) -sum(backsolve(chol(v), y, transpose = TRUE)^2) / 2 - sum(log(diag(chol(v)))) - length(y) / 2 * log(2 * pi)
  cover <- diag(20) + 4 * x %*% t(x)
  set.seed(1)
  found <- brms::bridge_sampler(fit, silent = TRUE)
  expect_s3_class(found, "bridge")
  expect_equal(found$logml, log_normal(d$y, cover), tolerance = 1e-3)
  expect_lt(bridgesampling::error_measures(found)$cv, 0.05)
  several <- brms::bridge_sampler(fit, silent = TRUE, repetitions = 2)
  expect_equal(several$logml, rep(found$logml, 2), tolerance = 1e-3)
  other <- brm_ppl(y ~ 0 + Intercept, d, prior = priors, save_pars = brms::save_pars(all = TRUE), seed = 1, progress = FALSE)
  exact <- log_normal(d$y, cover) - log_normal(d$y, diag(20) + 4)
  expect_equal(log(brms::bayes_factor(fit, other, silent = TRUE)$bf), exact, tolerance = 0.02)

  leave <- function(i) log_normal(d$y, cover) - log_normal(d$y[-i], cover[-i, -i])
  before <- suppressWarnings(brms::loo(fit))
  worst <- which.max(before$diagnostics$pareto_k)
  after <- suppressWarnings(brms::loo(fit, moment_match = TRUE, k_threshold = sort(before$diagnostics$pareto_k, TRUE)[2]))
  expect_lt(after$diagnostics$pareto_k[worst], before$diagnostics$pareto_k[worst])
  expect_equal(unname(after$pointwise[worst, "elpd_loo"]), leave(worst), tolerance = 0.02)

  without <- quick(y ~ x, d)
  expect_error(brms::bridge_sampler(without), "save_pars", class = "ppl_error")
})

test_that("arguments that brm_ppl does not have are refused", {
  needs_brms()
  d <- conjugate()
  for (wrong in list(list(backend = "rstan"), list(algorithm = "meanfield"), list(control = list(gamma = 1)), list(init = list(list(b = 1), list(b = 2))))) {
    expect_s3_class(caught(do.call(brm_ppl, c(list(y ~ x, d), wrong))), "ppl_usage_error")
  }
})

test_that("a fit is kept in a file", {
  needs_brms()
  d <- conjugate()
  file <- tempfile()
  fit <- short(y ~ x, d, seed = 1, chains = 1, iter = 200, file = file)
  expect_identical(brms::fixef(short(y ~ 1, d, file = file)), brms::fixef(fit))
  same <- short(y ~ x, d, seed = 2, chains = 1, iter = 200, file = file, file_refit = "on_change")
  expect_identical(brms::fixef(same), brms::fixef(fit))
  other <- short(y ~ 1, d, seed = 1, chains = 1, iter = 200, file = file, file_refit = "on_change")
  expect_identical(rownames(brms::fixef(other)), "Intercept")
})

test_that("a run that goes wrong is a warning", {
  needs_brms()
  d <- conjugate()
  expect_warning(
    brm_ppl(y ~ x, d, seed = 1, chains = 2, iter = 20, sampler = "nuts", progress = FALSE),
    class = "ppl_finding_warning"
  ) |> suppressWarnings()
})
