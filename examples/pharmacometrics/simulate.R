# Simulates the data sets of this folder by R's package deSolve: Rscript simulate.R
library(deSolve)

# solve returns the states of f at the given times, with the doses added to the first state.
solve <- function(f, states, times, doses = numeric(), at = numeric()) {
  grid <- sort(unique(c(0, times, at)))
  events <- if (length(doses)) list(data = data.frame(var = "y1", time = at, value = doses, method = "add"))
  o <- ode(setNames(rep(0, states), paste0("y", 1:states)), grid, f, NULL, rtol = 1e-9, atol = 1e-9, events = events)
  o[match(times, o[, 1]), -1, drop = FALSE]
}

save <- function(rows, file) write.csv(do.call(rbind, rows), file, row.names = FALSE, quote = FALSE, na = ".")
# effects returns n effects with the quantiles of the standard normal distribution, in random order:
# so few independent ones would often have another mean.
effects <- function(n) sample(qnorm(ppoints(n)))
noisy <- function(x, sigma) signif(x * exp(sigma * rnorm(length(x))), 3)

# Absorption: 16 subjects, 100 mg every 12 hours, three times.
set.seed(1)
eta <- cbind(effects(16), effects(16))
save(lapply(1:16, function(i) {
  CL <- 4 * exp(0.3 * eta[i, 1]); V <- 35 * exp(0.2 * eta[i, 2]); ka <- 1.1
  t <- c(0.5, 1, 2, 4, 8, 12, 25, 28, 36)
  y <- solve(function(t, y, p) list(c(-ka * y[1], ka * y[1] - CL / V * y[2])), 2, t, rep(100, 3), c(0, 12, 24))
  data.frame(ID = i, TIME = c(0, t), AMT = c(100, NA * t), II = c(12, NA * t), ADDL = c(2, NA * t),
    EVID = c(1, 0 * t), CMT = c(1, 2 + 0 * t), DV = c(NA, noisy(y[, 2] / V, 0.1)))
}), "oral.csv")

# Time to an event: 160 subjects, five doses a day apart, followed for 120 hours. DV is 1 for an event.
set.seed(2)
save(lapply(1:160, function(i) {
  CL <- signif(4 * exp(0.3 * rnorm(1)), 3); dose <- c(0, 50, 100, 200)[(i - 1) %% 4 + 1]
  t <- seq(0, 120, 0.1)
  y <- solve(function(t, y, p) list(c(-1.1 * y[1], 1.1 * y[1] - CL / 35 * y[2], 0.03 * exp(-0.8 * y[2] / 35))), 3, t,
    rep(dose, 5), c(0, 24, 48, 72, 96))
  k <- which(y[, 3] >= rexp(1))[1]
  data.frame(ID = i, TIME = c(0, if (is.na(k)) 120 else t[k]), AMT = c(if (dose) dose else NA, NA),
    II = c(if (dose) 24 else NA, NA), ADDL = c(if (dose) 4 else NA, NA), EVID = c(if (dose) 1 else 2, 0), CMT = 1,
    DV = c(NA, as.integer(!is.na(k))), CL = CL)
}), "event.csv")

# Indirect response: 12 subjects, one dose of 50 to 200 mg.
set.seed(3)
eta <- effects(12)
save(lapply(1:12, function(i) {
  CL <- signif(4 * exp(0.3 * rnorm(1)), 3); dose <- c(50, 100, 200)[(i - 1) %% 3 + 1]; base <- 90 * exp(0.15 * eta[i])
  t <- c(1, 2, 4, 8, 12, 16, 24, 36, 48)
  y <- solve(function(t, y, p) { # the last state is the response minus its baseline
    c <- y[2] / 35
    list(c(-1.1 * y[1], 1.1 * y[1] - CL / 35 * y[2], 0.25 * base * (1 - c / (0.8 + c)) - 0.25 * (y[3] + base)))
  }, 3, t, dose, 0)
  data.frame(ID = i, TIME = c(0, t), AMT = c(dose, NA * t), EVID = c(1, 0 * t), CMT = c(1, 3 + 0 * t),
    DV = c(NA, noisy(base + y[, 3], 0.06)), CL = CL)
}), "response.csv")
