# Fits models of package brms through cmdstanr, and prints how each came out: the names of
# the parameters, their means, R-hat. Each checks something that is known of its data,
# which are drawn here.
#
#   Rscript brms.R [NAME…]   only models whose name begins with one of these
suppressMessages({library(brms); library(cmdstanr)})
options(brms.backend = "cmdstanr", mc.cores = 2)
only <- commandArgs(TRUE)
wanted <- function(name) !length(only) || any(startsWith(name, only))
failed <- 0
fit <- function(name, formula, data, family, check, ...) {
  if (!wanted(name)) return(invisible())
  set.seed(sum(utf8ToInt(name))) # the data are drawn when they are first asked for: whatever came before, they are the same
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
# Generates the program of a model and its data and draws few times, without brms' reading
# of the result: an initial value is found, and all that is drawn is finite.
draw <- function(name, formula, data, family = gaussian(), ...) {
  if (!wanted(name)) return(invisible())
  set.seed(sum(utf8ToInt(name))) # the data are drawn when they are first asked for: whatever came before, they are the same
  t <- system.time(out <- try({
    program <- cmdstan_model(write_stan_file(make_stancode(formula, data, family = family, ...)))
    m <- suppressMessages(program$sample(unclass(make_standata(formula, data, family = family, ...)), chains = 1,
      iter_warmup = 200, iter_sampling = 200, seed = 1, refresh = 0, show_messages = FALSE, show_exceptions = FALSE))
    all(is.finite(m$draws("lp__"))) && length(unique(m$draws("lp__"))) > 100
  }, silent = TRUE))
  if (isTRUE(out)) cat(sprintf("BRMS ok %s: %.1f s\n", name, t["elapsed"]))
  else {
    cat("BRMS FAIL", name, if (inherits(out, "try-error")) substr(out, 1, 1500), "\n")
    failed <<- failed + 1
  }
}
near <- function(s, name, want, by = 4) abs(s[name, "Estimate"] - want) < by * s[name, "Est.Error"]

set.seed(1)
n <- 200
z <- rnorm(n); x <- rnorm(n); g <- factor(rep(1:10, 20)); u <- rnorm(10)[g]; zi <- rbinom(n, 1, 0.7); h <- rpois(n, exp(1 + 0.5 * x)); h[h == 0] <- 1
fit("gaussian", y ~ x, data.frame(x, y = 1 + 2 * x + rnorm(n)), gaussian(), function(s, m) near(s, "x", 2))
fit("gaussian, varying intercepts", y ~ x + (1 | g), data.frame(x, g, y = 1 + 2 * x + u + rnorm(n)), gaussian(), function(s, m) near(s, "x", 2))
fit("poisson, varying intercepts", y ~ x + (1 | g), data.frame(x, g, y = rpois(n, exp(1 + 0.5 * x + 0.3 * u))), poisson(), function(s, m) near(s, "x", 0.5))
fit("bernoulli", y ~ x, data.frame(x, y = rbinom(n, 1, plogis(x))), bernoulli(), function(s, m) near(s, "x", 1))
fit("zero_inflated_poisson", y ~ x, data.frame(x, y = zi * rpois(n, exp(1 + 0.5 * x))), zero_inflated_poisson(), function(s, m) near(s, "x", 0.5))
fit("zero_inflated_negbinomial", bf(y ~ x, zi ~ x), data.frame(x, y = zi * rnbinom(n, mu = exp(1 + 0.5 * x), size = 3)), zero_inflated_negbinomial(), function(s, m) near(s, "x", 0.5))
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

# Of our own making: structures that the above do not have.
time <- rep(1:20, each = 10); set.seed(2); mo <- sample(1:4, n, TRUE)
d <- data.frame(x, z, g, time)
fit("own: smooths, also of the scale", bf(y ~ s(x, k = 8) + t2(z, time, k = 4) + (1 | g), sigma ~ s(z, k = 5)), transform(d, y = sin(2 * x) + u + rnorm(n, 0, 0.3)),
  gaussian(), function(s, m) abs(cor(fitted(m)[, 1], sin(2 * x) + u)) > 0.95, control = list(adapt_delta = 0.95))
fit("own: Gaussian process by basis functions", y ~ gp(x, k = 8, c = 5 / 4), transform(d, y = rpois(n, exp(1 + sin(x)))),
  poisson(), function(s, m) cor(fitted(m)[, 1], exp(1 + sin(x))) > 0.9, control = list(adapt_delta = 0.95))
fit("own: monotonic effects, varying", y ~ mo(m) + x + (1 + mo(m) | g), transform(d, m = ordered(mo), y = c(0, 1, 1.5, 3)[mo] + x + u + rnorm(n)),
  gaussian(), function(s, m) near(s, "x", 1) && abs(s["mom", 1] - 1) < 0.3, control = list(adapt_delta = 0.95))
fit("own: two families, correlated groups", bf(y1 | trials(k) ~ x + (1 | p | g), family = binomial()) + bf(y2 ~ x + (1 | p | g), family = Gamma("log")) + set_rescor(FALSE),
  transform(d, k = 10, y1 = rbinom(n, 10, plogis(x + u)), y2 = rgamma(n, 2, 2 / exp(0.3 * x + u))), NULL, function(s, m) near(s, "y1_x", 1) && near(s, "y2_x", 0.3), control = list(adapt_delta = 0.95))
fit("own: censored on all sides, weighted", y | cens(c, y2) + weights(w) ~ x,
  { e <- 1 + x + rnorm(n); c <- ifelse(e < -1, "left", ifelse(e > 2.5, "right", ifelse(seq_len(n) %% 5 == 0, "interval", "none")))
    y <- pmin(pmax(ifelse(c == "interval", floor(2 * e) / 2, e), -1), 2.5); transform(d, y = y, y2 = y + 0.5, c = c, w = runif(n, 0.8, 1.2)) },
  student(), function(s, m) near(s, "x", 1))
fit("own: mixture, with predicted shares", bf(y ~ 1, mu1 ~ x, mu2 ~ 1, theta1 ~ z), transform(d, y = ifelse(runif(n) < plogis(z), rnorm(n, -2 + x, 0.5), rnorm(n, 3, 1))),
  mixture(gaussian, gaussian, order = "mu"), function(s, m) near(s, "mu1_x", 1) && near(s, "mu2_Intercept", 3) && near(s, "theta1_z", 1),
  init = 0.1, prior = c(prior(normal(-2, 2), Intercept, dpar = mu1), prior(normal(3, 2), Intercept, dpar = mu2)))
fit("own: autocorrelated residuals", y ~ x + arma(time = time, gr = g, p = 1, q = 1, cov = TRUE), { y <- numeric(n); for (k in levels(g)) y[g == k] <- arima.sim(list(ar = 0.7), 20); transform(d, y = y + x)[order(g, time), ] }, # brms 2.22 sorts the response and not the rest
  gaussian(), function(s, m) near(s, "x", 1) && near(posterior_summary(m), "ar[1]", 0.7))
fit("own: ordinal, category-specific", y ~ x + cs(z), transform(d, y = ordered(cut(x + rlogis(n), c(-Inf, -1, 0.5, Inf), labels = 1:3))), sratio("probit"), function(s, m) s["x", 1] > 0.3)
fit("own: measurement error and missing values", bf(y ~ mi(xm) + z) + bf(xm | mi(se) ~ 1) + set_rescor(FALSE),
  { se <- runif(n, 0.1, 0.3); xm <- x + rnorm(n, 0, se); xm[1:20] <- NA; se[1:20] <- 1; transform(d, xm = xm, se = se, y = 1 + 2 * x + rnorm(n)) },
  gaussian(), function(s, m) near(s, "y_mixm", 2))
fit("own: nonlinear and distributional", bf(y ~ a * exp(-exp(b) * x2), a ~ 1 + (1 | g), b ~ z, sigma ~ x2, nl = TRUE),
  { x2 <- abs(x); transform(d, x2 = x2, y = (5 + u) * exp(-exp(0.2 + 0.3 * z) * x2) + rnorm(n, 0, exp(-1))) }, gaussian(), function(s, m) near(s, "b_z", 0.3),
  prior = c(prior(normal(5, 2), nlpar = "a"), prior(normal(0, 1), nlpar = "b")), control = list(adapt_delta = 0.95))

# Families and structures that are left, a few draws of each.
set.seed(3)
count <- transform(d, k = 10, y = rnbinom(n, mu = exp(0.5 * x), size = 2))
positive <- transform(d, y = 0.3 + rlnorm(n, 0.2 * x, 0.4), dec = rbinom(n, 1, 0.6))
plain <- transform(d, y = 1 + x + rnorm(n))
level <- ordered(cut(x + rlogis(n), c(-Inf, -1, 0.5, 1.5, Inf), labels = 1:4))
W <- matrix(0, 10, 10); for (i in 1:9) W[i, i + 1] <- W[i + 1, i] <- 1; rownames(W) <- colnames(W) <- 1:10
A <- diag(10) * 0.5 + 0.5; rownames(A) <- colnames(A) <- 1:10
draw("family: acat, category-specific groups", y ~ cs(x) + (cs(1) | g), transform(d, y = level), acat())
draw("family: cratio", y ~ cs(x), transform(d, y = level), cratio("cloglog"))
draw("family: cumulative, discrimination", bf(y ~ x) + lf(disc ~ 0 + z, cmc = FALSE), transform(d, y = level), cumulative("probit", threshold = "equidistant"))
draw("family: zero_one_inflated_beta", bf(y ~ x, phi ~ z, zoi ~ x, coi ~ 1), transform(d, y = sample(c(0, 1, 0.3, 0.6, 0.2), n, TRUE)), zero_one_inflated_beta())
draw("family: categorical", y ~ x + (1 | g), transform(d, y = sample(c("a", "b", "c"), n, TRUE)), categorical())
draw("family: dirichlet", y ~ x, { q <- matrix(rgamma(3 * n, 2), n); e <- d; e$y <- q / rowSums(q); e }, dirichlet())
draw("family: multinomial", y | trials(k) ~ x, { e <- transform(d, k = 10); e$y <- t(rmultinom(n, 10, c(0.2, 0.3, 0.5))); e }, multinomial())
draw("family: wiener", bf(y | dec(dec) ~ x, bs ~ 1, ndt ~ 1, bias ~ 1), positive, wiener(), prior = prior(normal(-3, 0.5), Intercept, dpar = ndt))
draw("family: shifted_lognormal", bf(y ~ x), positive, shifted_lognormal())
draw("family: exgaussian", y ~ x, positive, exgaussian())
draw("family: cox", y | cens(1 - dec) ~ x, positive, cox())
draw("family: skew_normal", bf(y ~ x, alpha ~ z), plain, skew_normal())
draw("family: asym_laplace", bf(y ~ x, quantile = 0.25), plain, asym_laplace())
draw("family: von_mises", y ~ x, transform(d, y = runif(n, -3, 3)), von_mises())
draw("family: frechet", y ~ x, positive, frechet())
draw("family: inverse.gaussian", y ~ x, positive, inverse.gaussian("log"))
draw("family: zero_inflated_binomial", y | trials(k) ~ x, transform(d, k = 10, y = rbinom(n, 10, plogis(x))), zero_inflated_binomial())
draw("family: hurdle_negbinomial", bf(y ~ x, hu ~ z), count, hurdle_negbinomial())
draw("family: geometric, groups by groups", y ~ x + offset(z) + (1 | gr(g, by = h)), transform(count, h = factor(as.integer(g) %% 2)), geometric())
draw("family: discrete_weibull", y ~ x, count, brmsfamily("discrete_weibull"))
draw("structure: truncated", y | trunc(lb = 0) ~ x, positive, gaussian())
draw("structure: unstructured residuals", y ~ x + unstr(time = time, gr = g), plain[plain$time <= 4, ])
draw("structure: compound symmetry", y ~ x + cosy(time = time, gr = g), plain)
draw("structure: conditional autoregression", y ~ x + car(W, gr = g), count, poisson(), data2 = list(W = W))
draw("structure: simultaneous autoregression", y ~ x + sar(W, type = "lag"), plain[1:10, ], data2 = list(W = W / rowSums(W)))
draw("structure: phylogeny", y ~ x + (1 + x | gr(g, cov = A)), count, poisson(), data2 = list(A = A))
draw("structure: several memberships", y ~ x + (1 | mm(g, g2)), transform(plain, g2 = factor(rep(1:10, each = 20))))
draw("structure: Student groups", y ~ x + (1 + x | gr(g, dist = "student")), plain)
draw("structure: measurement error", y ~ me(x, se) * z, transform(plain, se = 0.2))
draw("prior: horseshoe", y ~ x + z + time, plain, prior = prior(horseshoe(df = 1, par_ratio = 0.3)))
draw("prior: R2D2", y ~ x + z + time, plain, prior = prior(R2D2(0.5, 5)))

if (wanted("loo")) {
  m <- suppressMessages(suppressWarnings(brm(y ~ x, data.frame(x, y = x + rnorm(n)), refresh = 0, silent = 2, seed = 2, chains = 2)))
  l <- loo(m)
  cat("BRMS loo", if (all(is.finite(l$estimates))) "ok" else "FAIL", "\n")
  p <- posterior_predict(m, ndraws = 10)
  cat("BRMS posterior_predict", if (all(dim(p) == c(10, n))) "ok" else "FAIL", "\n")
}
cat("BRMS", failed, "failed\n")
quit(status = failed > 0)
