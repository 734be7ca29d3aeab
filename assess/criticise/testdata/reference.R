# Makes reference.json: leave-one-out cross-validation, WAIC, comparison and stacking
# by R's packages loo and posterior.
#
#     Rscript reference.R > reference.json
#
# The log likelihoods are those of three normal models for numbers that any language
# can repeat; draws come from sines, so that neither file holds thousands of numbers.
suppressMessages({library(loo); library(posterior)})
num <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), ifelse(x > 0, '"Infinity"', '"-Infinity"'))
nums <- function(x) paste0("[", paste(num(x), collapse = ","), "]")
chains <- 4; length <- 250; S <- chains * length; N <- 12
y <- 2 * sin(3 * (1:N)) + (1:N == 7) * 6          # one outlier
# A draw wanders slowly within its chain, so that its effective size is less.
draw <- function(s, a) sin(a * s) + 0.5 * sin(0.05 * s + a)
loglik <- function(model) {
  s <- 1:S
  mu <- 0.4 * draw(s, 1.7 + model)
  sigma <- exp(0.3 + 0.25 * draw(s, 2.9 + model))
  slope <- if (model == 1) 0 else 0.1 * model * draw(s, 4.1)
  sapply(1:N, function(i) dnorm(y[i], mu + slope * (i - 6.5), sigma * (1 + 0.2 * (model == 3)), log = TRUE))
}
out <- c()
loos <- list(); lls <- list()
for (model in 1:3) {
  ll <- loglik(model)
  arr <- array(ll, c(length, chains, N))
  reff <- sapply(1:N, function(i) ess_mean(exp(arr[, , i])) / S)
  l <- suppressWarnings(loo(ll, r_eff = reff, save_psis = TRUE))
  l1 <- suppressWarnings(loo(ll, r_eff = rep(1, N)))
  w <- suppressWarnings(waic(ll))
  loos[[model]] <- l1; lls[[model]] <- ll
  # The Monte Carlo error in closed form: equation 6 of Vehtari et al. (2024), which is
  # how loo has computed it since 2.8; 2.5.1 draws random numbers.
  lw <- weights(l$psis_object); e <- l$pointwise[, "elpd_loo"]
  mcse <- sapply(1:N, function(i) {
    v <- sum(exp(lw[, i])^2 * (exp(ll[, i]) - exp(e[i]))^2) / reff[i]
    sqrt(log(1 + v / exp(e[i])^2))
  })
  yrep <- sapply(1:N, function(i) 0.4 * draw(1:S, 1.7 + model) + exp(0.3 + 0.25 * draw(1:S, 2.9 + model)) * draw(1:S, 0.37 * i))
  pit <- sapply(1:N, function(i) exp(matrixStats::logSumExp(lw[yrep[, i] <= y[i], i])))
  out <- c(out, sprintf('{"reff":%s,"elpd":%s,"p":%s,"k":%s,"ess":%s,"mcse":%s,"pit":%s,"sum":%s,"elpd1":%s,"waic":%s,"pwaic":%s}',
    nums(reff), nums(e), nums(l$pointwise[, "p_loo"]), nums(l$diagnostics$pareto_k), nums(l$diagnostics$n_eff), nums(mcse), nums(pit),
    nums(c(l$estimates)), nums(l1$pointwise[, "elpd_loo"]), nums(w$pointwise[, "elpd_waic"]), nums(w$pointwise[, "p_waic"])))
}
comp <- loo_compare(loos)
stack <- stacking_weights(sapply(loos, function(l) l$pointwise[, "elpd_loo"]), optim_control = list(reltol = 1e-15, maxit = 10000))
bma <- pseudobma_weights(sapply(loos, function(l) l$pointwise[, "elpd_loo"]), BB = FALSE)
cat('{"models":[', paste(out, collapse = ",\n"), '],\n"order":[', paste(sprintf('"%s"', rownames(comp)), collapse = ","),
  '],"diff":', nums(comp[, "elpd_diff"]), ',"se":', nums(comp[, "se_diff"]),
  ',"stacking":', nums(as.vector(stack)), ',"pseudobma":', nums(as.vector(bma)), '}\n', sep = "")
