# Makes reference.json: the measures of package diagnose as R's package
# posterior computes them. Run in this folder with
#
#     Rscript reference.R > reference.json
#
# The inputs come from a Lehmer generator and from +, -, *, / alone, so Go
# (reference_test.go, same names) makes the same arrays bit for bit.
suppressMessages(suppressWarnings(library(posterior)))
options(warn = -1)

lehmer <- function(seed) {
  state <- seed
  function() {
    state <<- (16807 * state) %% 2147483647
    state / 2147483647
  }
}
# Sum of twelve uniforms, less six: mean 0, variance 1, nearly normal.
nearly_normal <- function(uniform) {
  sum <- 0
  for (i in 1:12) sum <- sum + uniform()
  sum - 6
}
autoregressive <- function(phi) function(uniform, chain, n) {
  x <- numeric(n)
  previous <- nearly_normal(uniform)
  for (i in 1:n) {
    previous <- phi * previous + nearly_normal(uniform)
    x[i] <- previous
  }
  x
}
independent <- function(uniform, chain, n) sapply(1:n, function(i) nearly_normal(uniform))

cases <- list(
  list("independent", 4, 1000, independent),
  list("autoregressive", 4, 500, autoregressive(0.9)),
  list("slow", 4, 300, autoregressive(0.99)),
  list("antithetic", 4, 500, autoregressive(-0.7)),
  list("strongly antithetic", 2, 200, autoregressive(-0.95)),
  list("heavy tails", 4, 400, function(uniform, chain, n)
    sapply(1:n, function(i) { z <- nearly_normal(uniform); z / uniform() })),
  list("one chain", 1, 1000, autoregressive(0.5)),
  list("odd length", 4, 333, autoregressive(0.5)),
  list("odd length, one chain", 1, 77, independent),
  list("ten chains", 10, 101, autoregressive(0.3)),
  list("ties", 4, 250, function(uniform, chain, n) floor(2 * autoregressive(0.3)(uniform, chain, n))),
  list("shifted chain", 4, 200, function(uniform, chain, n) independent(uniform, chain, n) + ifelse(chain == 4, 2, 0)),
  list("wider chain", 4, 200, function(uniform, chain, n) independent(uniform, chain, n) * chain),
  list("trend", 2, 150, function(uniform, chain, n) independent(uniform, chain, n) + (1:n) / 50),
  list("large offset", 4, 200, function(uniform, chain, n) 1000 + independent(uniform, chain, n) / 1024),
  list("skewed", 4, 250, function(uniform, chain, n) { x <- autoregressive(0.6)(uniform, chain, n); x * x * x + x * x }),
  list("alternating", 2, 40, function(uniform, chain, n) (2 * ((1:n) %% 2) - 1) * (1 + (1:n) / 1024)),
  list("constant", 4, 50, function(uniform, chain, n) rep(3.25, n)),
  list("rare event", 4, 100, function(uniform, chain, n) as.numeric(independent(uniform, chain, n) > 2)),
  list("ten draws", 4, 10, independent),
  list("seven draws", 2, 7, independent),
  list("six draws", 2, 6, independent),
  list("five draws", 3, 5, independent),
  list("four draws", 3, 4, independent)
)

figure <- function(x) if (is.na(x)) "null" else format(as.numeric(x), digits = 17)

cat("{\"posterior\": \"", as.character(packageVersion("posterior")), "\", \"cases\": [\n", sep = "")
for (i in seq_along(cases)) {
  case <- cases[[i]]
  uniform <- lehmer(20130616 + i)
  x <- sapply(1:case[[2]], function(chain) case[[4]](uniform, chain, case[[3]]))
  x <- matrix(x, nrow = case[[3]])
  q <- quantile2(x, probs = c(0.05, 0.5, 0.95), names = FALSE)
  measures <- c(
    mean = mean(x), sd = sd(x), q5 = q[1], q50 = q[2], q95 = q[3],
    rhat = rhat(x), ess_bulk = ess_bulk(x), ess_tail = ess_tail(x), ess_mean = ess_mean(x), ess_sd = ess_sd(x),
    ess_q25 = ess_quantile(x, 0.25)[[1]], mcse_mean = mcse_mean(x), mcse_sd = mcse_sd(x),
    mcse_q5 = mcse_quantile(x, 0.05)[[1]], mcse_q50 = mcse_quantile(x, 0.5)[[1]], mcse_q95 = mcse_quantile(x, 0.95)[[1]])
  cat("{\"name\": \"", case[[1]], "\", \"chains\": ", case[[2]], ", \"length\": ", case[[3]], ", \"first\": ", figure(x[1, 1]), ", \"last\": ", figure(x[case[[3]], case[[2]]]),
      ",\n  ", sep = "")
  cat(paste0("\"", names(measures), "\": ", sapply(measures, figure)), sep = ", ")
  cat(if (i < length(cases)) "},\n" else "}\n")
}
cat("]}\n")
