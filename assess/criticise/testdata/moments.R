# Makes moments.json: leave-one-out cross-validation by moment matching, by R's package
# loo.
#
#     Rscript moments.R > moments.json
#
# A line is fitted to numbers that any language can repeat, with two outliers; draws of
# intercept, slope and log scale are sines about their estimates.
suppressMessages(library(loo))
num <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), ifelse(x > 0, '"Infinity"', '"-Infinity"'))
nums <- function(x) paste0("[", paste(num(x), collapse = ","), "]")
S <- 1000; N <- 12
x <- (1:N - 6.5) / 3
y <- 1 + 2 * x + sin(7 * (1:N))
y[3] <- y[3] + 4.5; y[12] <- y[12] - 5
draw <- function(a) { s <- 1:S; sqrt(2 / 3) * (sin(a * s) + sin(2.3 * a * s + 1) + sin(0.7 * a * s + 2)) }
z <- cbind(draw(1.7), draw(2.9), draw(4.1))
f <- lm(y ~ x)
upars <- cbind(coef(f)[1] + 0.35 * z[, 1], coef(f)[2] + 0.3 * z[, 2] - 0.1 * z[, 1], log(1.6) + 0.2 * z[, 3])
ll <- function(u, i) dnorm(y[i], u[, 1] + u[, 2] * x[i], exp(u[, 3]), log = TRUE)
lp <- function(m, upars, ...) {
  v <- dnorm(upars[, 1], 0, 10, log = TRUE) + dnorm(upars[, 2], 0, 10, log = TRUE) + dnorm(exp(upars[, 3]), 0, 5, log = TRUE) + upars[, 3]
  for (i in 1:N) v <- v + ll(upars, i)
  v
}
LL <- sapply(1:N, function(i) ll(upars, i))
reff <- relative_eff(exp(LL), chain_id = rep(1, S))
l <- suppressWarnings(loo(LL, r_eff = reff, save_psis = TRUE))
run <- function(threshold, split) suppressWarnings(loo_moment_match(list(), l, post_draws = function(m, ...) upars,
  log_lik_i = function(m, i, ...) matrix(LL[, i], ncol = 1),
  unconstrain_pars = function(m, pars, ...) pars, log_prob_upars = lp,
  log_lik_i_upars = function(m, upars, i, ...) ll(upars, i), k_threshold = threshold, split = split))
out <- c()
for (t in c(0.7, 0.3, 0)) {
  m <- run(t, TRUE)
  out <- c(out, sprintf('{"limit":%s,"elpd":%s,"k":%s}', num(t), nums(m$pointwise[, "elpd_loo"]), nums(m$diagnostics$pareto_k)))
}
cat(sprintf('{"reff":%s,"coef":%s,"before":{"elpd":%s,"k":%s},\n"runs":[%s]}\n', nums(reff), nums(coef(f)), nums(l$pointwise[, "elpd_loo"]), nums(l$diagnostics$pareto_k), paste(out, collapse = ",\n")))
