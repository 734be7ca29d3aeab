# Solves random schedules of doses with deSolve, for TestSchedulesInR.
#
#   Rscript schedules.R COUNT SEED > FILE
#
# Each line of the result is a JSON object: the schedule, its parameters, and the states at its records.
# The solver shares nothing with ppl: it goes from event to event with lsoda, and reaches steady
# states by many doses.
suppressMessages(library(deSolve))
args <- commandArgs(TRUE)
set.seed(as.integer(args[2]))

slopes <- list(
  one = function(t, y, p) { q <- p$theta; list(c(-q[3] * y[1], q[3] * y[1] - q[1] / q[2] * y[2]) + p$inflow) },
  two = function(t, y, p) {
    q <- p$theta
    across <- q[2] * (y[2] / q[3] - y[3] / q[4])
    list(c(-q[5] * y[1], q[5] * y[1] - q[1] / q[3] * y[2] - across, across) + p$inflow)
  },
  saturable = function(t, y, p) { q <- p$theta; list(c(-q[3] * y[1], q[3] * y[1] - q[1] * y[2] / (q[2] + y[2])) + p$inflow) })
typical <- list(one = c(30, 40, 0.8), two = c(8, 12, 20, 55, 0.9), saturable = c(30, 40, 0.8))
states <- c(one = 2, two = 3, saturable = 2)

pass <- function(model, y, theta, inflow, span) {
  if (span <= 0) return(y)
  out <- lsoda(y, c(0, span), slopes[[model]], list(theta = theta, inflow = inflow), rtol = 1e-11, atol = 1e-11, maxsteps = 1e5)
  unname(out[2, -1])
}

# From begin to end with doses: data frames with start, stop, amount, rate and compartment.
between <- function(model, y, theta, doses, begin, end) {
  now <- begin
  while (now < end) {
    later <- c(doses$start, doses$stop)
    to <- min(c(later[later > now + 1e-12], end))
    inflow <- numeric(length(y))
    for (k in seq_len(nrow(doses)))
      if (doses$rate[k] > 0 && doses$start[k] <= now + 1e-12 && doses$stop[k] > now + 1e-12)
        inflow[doses$cmt[k]] <- inflow[doses$cmt[k]] + doses$rate[k]
    y <- pass(model, y, theta, inflow, to - now)
    now <- to
    for (k in which(doses$rate == 0 & abs(doses$start - now) < 1e-12))
      y[doses$cmt[k]] <- y[doses$cmt[k]] + doses$amount[k]
  }
  y
}

solve_schedule <- function(s) {
  n <- length(s$time)
  y <- numeric(states[[s$model]])
  none <- data.frame(start = numeric(), stop = numeric(), amount = numeric(), rate = numeric(), cmt = integer())
  pending <- none
  row <- function(table, i) if (nrow(table) == 1) table[1, ] else table[i, ]
  out <- matrix(0, n, length(y))
  for (i in 1:n) {
    theta <- row(s$theta, i)
    if (s$evid[i] >= 3) {
      y[] <- 0
      pending <- none
    } else if (i > 1) {
      y <- between(s$model, y, theta, pending, s$time[i - 1], s$time[i])
    }
    if (s$evid[i] %in% c(1, 4)) {
      c <- s$cmt[i]
      amount <- row(s$biovar, i)[c] * s$amt[i]
      begin <- s$time[i] + row(s$tlag, i)[c]
      length <- if (s$rate[i] > 0) amount / s$rate[i] else 0
      dose <- function(k) data.frame(start = begin + k * s$ii[i], stop = begin + k * s$ii[i] + length, amount = amount, rate = s$rate[i], cmt = c)
      if (s$ss[i] == 1) {
        y[] <- 0
        pending <- none
      }
      constant <- s$ss[i] > 0 && s$rate[i] > 0 && s$ii[i] == 0
      if (constant)
        y <- y + between(s$model, y * 0, theta, data.frame(start = -2000, stop = 1, amount = 0, rate = s$rate[i], cmt = c), -2000, 0)
      if (s$ss[i] > 0 && !constant) {
        before <- do.call(rbind, lapply(-90:-1, dose))
        y <- y + between(s$model, y * 0, theta, before, before$start[1] - 1, s$time[i])
        pending <- rbind(pending, before[before$rate > 0 & before$stop > s$time[i], ])
      }
      if (!constant) for (k in 0:s$addl[i]) {
        d <- dose(k)
        if (d$rate == 0 && d$start == s$time[i]) y[c] <- y[c] + d$amount
        else pending <- rbind(pending, d)
      }
    }
    out[i, ] <- y
  }
  out
}

pick <- function(...) sample(list(...), 1)[[1]]
random <- function(k, model) {
  n <- if (k < 3) k else 2 + sample(0:11, 1)
  s <- list(model = model, time = numeric(n), amt = numeric(n), rate = numeric(n), ii = numeric(n), evid = integer(n), cmt = integer(n), addl = integer(n), ss = integer(n))
  t <- 0
  m <- states[[model]]
  for (i in 1:n) {
    evid <- if (i == 1) 1 else pick(0, 0, 0, 1, 1, 1, 2, 3, 4)
    t <- if (evid >= 3 && pick(TRUE, FALSE)) 0 else if (i > 1) t + pick(0, 0.5, 1, 2.25, 6) else t
    s$time[i] <- t
    s$evid[i] <- evid
    s$cmt[i] <- sample(m, 1)
    if (evid %in% c(1, 4)) {
      s$ss[i] <- pick(0, 0, 1, 2)
      if (model == "saturable" && s$ss[i] == 2) s$ss[i] <- 1 # what 2 adds is a solution only of linear systems
      s$rate[i] <- pick(0, 0, 3, 12.5)
      s$amt[i] <- pick(10, 40)
      if (s$ss[i] > 0 || pick(TRUE, FALSE)) {
        s$ii[i] <- pick(8, 12)
        s$addl[i] <- pick(0, 1, 2)
      }
      if (s$ss[i] > 0 && s$rate[i] > 0 && pick(TRUE, FALSE, FALSE)) s$amt[i] <- s$ii[i] <- s$addl[i] <- 0
    }
  }
  table <- function(of) {
    rows <- pick(1, n)
    matrix(rep(of, each = rows) * runif(rows * length(of), 0.8, 1.2), rows)
  }
  s$theta <- table(typical[[model]])
  s$biovar <- table(rep(0.75, m))
  s$tlag <- if (pick(TRUE, FALSE)) table(rep(1, m)) else matrix(0, 1, m)
  s
}

number <- function(x) format(x, digits = 17, trim = TRUE, scientific = TRUE)
list_of <- function(x) paste0("[", paste(number(x), collapse = ","), "]")
ints <- function(x) paste0("[", paste(as.integer(x), collapse = ","), "]")
rows_of <- function(x) paste0("[", paste(apply(x, 1, list_of), collapse = ","), "]")
for (k in seq_len(as.integer(args[1]))) {
  s <- random(k, c("one", "two", "saturable")[1 + k %% 3])
  y <- solve_schedule(s)
  cat(sprintf('{"model":"%s","time":%s,"amt":%s,"rate":%s,"ii":%s,"evid":%s,"cmt":%s,"addl":%s,"ss":%s,"theta":%s,"biovar":%s,"tlag":%s,"y":%s}\n',
    s$model, list_of(s$time), list_of(s$amt), list_of(s$rate), list_of(s$ii), ints(s$evid), ints(s$cmt), ints(s$addl), ints(s$ss),
    rows_of(s$theta), rows_of(s$biovar), rows_of(s$tlag), rows_of(y)))
}
