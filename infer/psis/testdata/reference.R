# Makes reference.json: Pareto smoothed weights by R's package loo.
#
#     Rscript reference.R > reference.json
#
# The ratios come from a generator that any language can repeat: the sine of i²,
# scaled and bent, so that neither file holds thousands of numbers.
library(loo)
num <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), ifelse(x > 0, '"Infinity"', '"-Infinity"'))
ratios <- function(n, scale, power) {
  u <- sin((1:n)^2 + 0.5 * (1:n))
  scale * sign(u) * abs(u)^power
}
cases <- list(list(100, 1, 1), list(400, 5, 3), list(1000, 0.1, 2), list(4000, 20, 9), list(4000, 3, 1), list(24, 2, 2), list(20, 2, 2))
out <- sapply(cases, function(c) {
  r <- ratios(c[[1]], c[[2]], c[[3]])
  p <- suppressWarnings(psis(r, r_eff = 1))
  lw <- as.vector(p$log_weights)
  k <- p$diagnostics$pareto_k
  sprintf('{"n":%d,"scale":%s,"power":%s,"k":%s,"sum":%s,"first":%s,"largest":%s,"ess":%s}', c[[1]], num(c[[2]]), num(c[[3]]),
    num(k), num(sum(exp(lw))), num(lw[1]), num(max(lw)), num(p$diagnostics$n_eff))
})
cat("[", paste(out, collapse = ",\n"), "]\n", sep = "")
