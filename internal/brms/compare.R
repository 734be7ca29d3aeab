# Compares `ppl new`, `ppl predict`, `ppl effects`, `ppl loo` and `ppl ppc` with R.
#
#   Rscript internal/brms/compare.R PPL [FOLDER]
#
# PPL is the program, FOLDER a library of R with marginaleffects. R needs brms, rstan, emmeans, loo, posterior,
# survival and jsonlite. Nothing is compiled: brms writes its program and data, and ppl samples it.
#
# 1. Posteriors: the program of `ppl new` and that of brms, with the priors of `ppl new`. Independent runs are
#    compared in units of the Monte Carlo standard error.
# 2. The same draws: those of `ppl new` are put into a brmsfit, whose methods then give expected values, linear
#    predictors, log likelihoods, contrasts and effects. They are compared with ppl's, draw by draw where both are
#    known by draw.
# 3. Kaplan-Meier curves of `ppl ppc` and of survfit.
#
# It prints the tables of doc/evidence/brms.md.

arguments <- commandArgs(TRUE)
ppl <- normalizePath(arguments[1])
if (length(arguments) > 1) .libPaths(c(normalizePath(arguments[2]), .libPaths()))
suppressPackageStartupMessages({
  library(brms)
  library(jsonlite)
})
draws <- 1000 # of each of four chains
folder <- tempfile("compare")
dir.create(folder)
setwd(folder)

run <- function(...) {
  out <- suppressWarnings(system2(ppl, shQuote(c(...)), stdout = TRUE, stderr = "err.txt"))
  status <- attr(out, "status")
  # Code 1 says that the run has findings; they are about draws, which are compared below.
  if (!is.null(status) && !(status == 1 && c(...)[1] %in% c("run", "loo", "ppc"))) {
    stop(paste(c("ppl", ...), collapse = " "), "\n", paste(c(out, readLines("err.txt")), collapse = "\n"))
  }
  out
}
csv <- function(dir) {
  files <- sort(Sys.glob(file.path(dir, "*_[0-9].csv")))
  if (!length(files)) stop("no draws in ", dir, "\n", paste(readLines("err.txt"), collapse = "\n"))
  lapply(files, function(f) as.matrix(read.csv(f, comment.char = "#", check.names = FALSE)))
}
sampled <- function(model, data, out, seed, ...) {
  run("run", model, "--data", data, "--seed", seed, "--draws", draws, "-q", "--out", out, ...)
  csv(out)
}

# Data: every outcome depends on x, on the levels of f and on the groups g.
set.seed(40)
n <- 180
d <- data.frame(x = round(rnorm(n, 50, 10)), f = sample(c("a", "b", "c"), n, TRUE), g = sample(paste0("g", 1:8), n, TRUE), size = sample(5:20, n, TRUE))
u <- rnorm(8, 0, 0.5)[as.integer(factor(d$g))]
v <- rnorm(8, 0, 0.02)[as.integer(factor(d$g))]
eta <- 0.3 + (0.03 + v) * (d$x - 50) + c(a = 0, b = 0.5, c = -0.4)[d$f] + u
flat <- eta - u - v * (d$x - 50)
d$normal <- round(eta + rnorm(n, 0, 0.7), 3)
d$heavy <- round(flat + 0.4 * rt(n, 3), 3)
d$cost <- round(exp(flat + rnorm(n, 0, 0.6)), 3)
d$amount <- round(rgamma(n, 3, 3 / exp(flat)), 4) + 0.001
d$yes <- rbinom(n, 1, plogis(eta))
d$hits <- rbinom(n, d$size, plogis(eta))
d$some <- rbinom(n, d$size, rbeta(n, 8 * plogis(flat), 8 * plogis(-flat)))
d$count <- rpois(n, exp(eta) * d$size / 10)
d$events <- rnbinom(n, size = 2, mu = exp(flat))
d$visits <- rbinom(n, 1, 0.7) * rpois(n, exp(0.7 + flat))
d$spent <- round(rbinom(n, 1, 0.7) * exp(flat + rnorm(n, 0, 0.5)), 3)
d$grade <- as.integer(cut(flat + rlogis(n), c(-Inf, -1, 0.5, 2, Inf)))
d$choice <- apply(cbind(0, flat, -flat) + matrix(-log(rexp(3 * n)), n), 1, function(z) c("p", "q", "r")[which.max(z)])
d$share <- pmin(pmax(round(rbeta(n, 6 * plogis(flat), 6 * plogis(-flat)), 4), 0.001), 0.999)
life <- 10 * exp(flat) * rweibull(n, 1.5)
end <- runif(n, 4, 40)
d$time <- round(pmax(pmin(life, end), 0.01), 2)
d$dead <- as.integer(life <= end)
write.csv(d, "d.csv", row.names = FALSE, quote = FALSE)

models <- list(
  list("normal ~ x * f + (1 + x | g)", "gaussian"),
  list("heavy ~ x + f", "student"),
  list("cost ~ x + f", "lognormal"),
  list("amount ~ x + f", "gamma", Gamma("log")),
  list("yes ~ x + f + (1 | g)", "bernoulli"),
  list("hits | trials(size) ~ x * f + (1 | g)", "binomial"),
  list("some | trials(size) ~ x + f", "beta_binomial"),
  list("count ~ x + f + offset(log(size)) + (1 | g)", "poisson"),
  list("events ~ x + f", "negbinomial"),
  list("visits ~ x + f", "zero_inflated_poisson"),
  list("spent ~ x + f", "hurdle_lognormal"),
  list("grade ~ x + f", "cumulative"),
  list("choice ~ x", "categorical"),
  list("share ~ x + f", "beta", Beta()),
  list("time | cens(1 - dead) ~ x + f", "weibull")
)

# The priors of the program of `ppl new`, as brms takes them, and the names of its parameters in brms.
translate <- function(text, family) {
  value <- function(pattern) {
    line <- grep(pattern, text, value = TRUE)
    if (length(line)) sub("^.*~ *(.*?);.*$", "\\1", line[1], perl = TRUE)
  }
  priors <- list()
  names <- c()
  add <- function(p, ...) if (!is.null(p)) priors[[length(priors) + 1]] <<- set_prior(p, ...)
  dpars <- if (family == "categorical") c("_q", "_r") else ""
  for (s in dpars) {
    dpar <- if (s == "") "" else paste0("mu", sub("_", "", s))
    inside <- if (s == "") "b" else paste0("b_", dpar)
    if (family != "cumulative") {
      add(value(paste0("^  intercept", s, " ~")), class = "b", coef = "Intercept", dpar = dpar)
      names[paste0("intercept", s)] <- paste0(inside, "_Intercept")
    }
    add(value(paste0("^  b_x", s, " ~")), class = "b", coef = "x", dpar = dpar)
    names[paste0("b_x", s)] <- paste0(inside, "_x")
  }
  for (k in 1:2) {
    add(value("^  b_f ~"), class = "b", coef = c("fb", "fc")[k])
    add(value("^  b_x_f ~"), class = "b", coef = c("x:fb", "x:fc")[k])
    names[paste0("b_f.", k)] <- paste0("b_", c("fb", "fc"))[k]
    names[paste0("b_x_f.", k)] <- paste0("b_x:", c("fb", "fc")[k])
  }
  sd <- value("^  sd_g ~")
  if (!is.null(sd) && grepl("\\[", sd)) {
    sd <- sub("^[^[]*", "", sd)
    each <- regmatches(sd, gregexpr("[0-9.]+", sd))[[1]]
    add(sprintf("normal(0, %s)", each[1]), class = "sd", group = "g", coef = "Intercept")
    add(sprintf("normal(0, %s)", each[2]), class = "sd", group = "g", coef = "x")
    add("lkj(2)", class = "cor")
    names[c("sd_g.1", "sd_g.2", "cor_g")] <- c("sd_g__Intercept", "sd_g__x", "cor_g__Intercept__x")
    for (j in 1:8) names[c(sprintf("r_g.%d.1", j), sprintf("r_g.%d.2", j))] <- sprintf("r_g[g%d,%s]", j, c("Intercept", "x"))
  } else if (!is.null(sd)) {
    add(sd, class = "sd", group = "g", coef = "Intercept")
    names["sd_g"] <- "sd_g__Intercept"
    for (j in 1:8) names[sprintf("r_g.%d", j)] <- sprintf("r_g[g%d,Intercept]", j)
  }
  rate <- value("^  sigma ~")
  if (!is.null(rate)) add(paste0("exponential(", eval(parse(text = sub("exponential", "", rate))), ")"), class = "sigma")
  names["sigma"] <- "sigma"
  add(value("^  nu ~"), class = "nu")
  names["nu"] <- "nu"
  add(value("^  shape ~"), class = "shape")
  names["shape"] <- "shape"
  add(value("^  phi ~"), class = if (family == "negbinomial") "shape" else "phi")
  names["phi"] <- if (family == "negbinomial") "shape" else "phi"
  add(value("^  zi ~"), class = "zi")
  add(value("^  hu ~"), class = "hu")
  names[c("zi", "hu")] <- c("zi", "hu")
  cut <- value("^  cutpoints ~")
  for (k in 1:3) {
    if (!is.null(cut)) add(cut, class = "Intercept", coef = as.character(k))
    names[paste0("cutpoints.", k)] <- sprintf("b_Intercept[%d]", k)
  }
  list(priors = do.call(c, priors), names = names)
}

summarise <- function(chains, name) {
  m <- sapply(chains, function(x) x[, name])
  c(mean = mean(m), sd = sd(m), e1 = posterior::mcse_mean(m), e2 = posterior::mcse_sd(m))
}

compare_model <- function(k) {
  m <- models[[k]]
  formula <- m[[1]]
  name <- m[[2]]
  family <- if (length(m) > 2) m[[3]] else name
  own <- paste0("own", k)
  file <- paste0(own, ".model")
  run("new", formula, "--family", name, "--data", "d.csv", "--out", file)
  text <- readLines(file)
  centre <- as.numeric(sub("^.*x_c = x - ([0-9.]+);.*$", "\\1", grep("x_c = x -", text, value = TRUE)))
  chains <- sampled(file, "d.csv", own, 1)
  t <- translate(text, name)
  e <- d
  e$x <- d$x - centre
  # brms does not centre here: the intercept is a coefficient, as in the program of `ppl new`.
  f <- brmsformula(formula, center = FALSE)
  empty <- suppressWarnings(brm(f, e, family = family, prior = t$priors, empty = TRUE))
  theirs <- paste0("theirs", k)
  writeLines(stancode(empty), paste0(theirs, ".stan"))
  data <- unclass(standata(empty))
  attributes(data) <- list(names = names(data))
  data <- lapply(data, function(v) if (is.array(v)) unclass(v) else as.vector(v))
  scalars <- vapply(data, function(v) is.null(dim(v)) && length(v) == 1, NA)
  data[scalars] <- lapply(data[scalars], unbox)
  write_json(data, paste0(theirs, ".json"), digits = NA)
  sampled(paste0(theirs, ".stan"), paste0(theirs, ".json"), theirs, 2, "--legacy")
  filled <- empty
  filled$fit <- rstan::read_stan_csv(sort(Sys.glob(file.path(theirs, "*_[0-9].csv"))))
  filled <- rename_pars(filled)
  other <- lapply(filled$fit@sim$samples, function(s) do.call(cbind, s[!vapply(s, is.null, NA)]))
  known <- t$names[names(t$names) %in% colnames(chains[[1]]) & t$names %in% colnames(other[[1]])]
  missing <- setdiff(grep("^(intercept|b_|cutpoints|sd_|cor_|sigma|nu|shape|phi|zi|hu)", colnames(chains[[1]]), value = TRUE), names(known))
  if (length(missing)) stop("no counterpart in brms: ", paste(missing, collapse = ", "))
  top <- known[!grepl("^r_", known)]
  z <- sapply(seq_along(top), function(i) {
    a <- summarise(chains, names(top)[i])
    b <- summarise(other, top[i])
    c(mean = unname((a["mean"] - b["mean"]) / sqrt(a["e1"]^2 + b["e1"]^2)), sd = unname((a["sd"] - b["sd"]) / sqrt(a["e2"]^2 + b["e2"]^2)),
      relative = unname(abs(a["mean"] - b["mean"]) / b["sd"]))
  })
  # The draws of `ppl new` in the brmsfit.
  same <- filled
  for (chain in seq_along(chains)) {
    for (i in seq_along(known)) same$fit@sim$samples[[chain]][[known[i]]] <- chains[[chain]][, names(known)[i]]
  }
  list(k = k, formula = formula, family = name, own = own, fit = same, data = e, z = z, centre = centre)
}

# The largest difference of two arrays, relative to the largest value.
distance <- function(a, b) max(abs(a - b)) / max(abs(b))

predicted <- function(r, ..., suffix) {
  out <- paste0(r$own, suffix)
  run("predict", r$own, "--out", out, "-q", ...)
  x <- do.call(rbind, csv(out))
  x[, grepl(paste0("_", suffix), colnames(x)), drop = FALSE]
}

same_draws <- function(r) {
  epred <- posterior_epred(r$fit)
  link <- posterior_linpred(r$fit)
  flat <- function(a) if (length(dim(a)) == 3) matrix(aperm(a, c(1, 3, 2)), dim(a)[1]) else a
  own <- predicted(r, "--expected", suffix = "mean")
  ordered <- function(x, a) { # columns y_mean.row.category, as rows of the table one after another
    at <- regmatches(colnames(x), regexpr("[0-9.]+$", colnames(x)))
    at <- do.call(rbind, strsplit(sub("^\\.", "", at), ".", fixed = TRUE))
    key <- if (ncol(at) > 1) order(as.integer(at[, 1]), as.integer(at[, 2])) else order(as.integer(at[, 1]))
    x[, key, drop = FALSE]
  }
  result <- c(expected = distance(ordered(own), flat(epred)))
  other <- predicted(r, "--link", suffix = "link")
  if (r$family == "categorical") { # brms leaves out the reference
    other <- ordered(other)
    other <- other[, -seq(1, ncol(other), by = 3)]
    k <- dim(link)[3]
    if (k == 3) link <- link[, , -1]
  }
  result["link"] <- distance(if (r$family == "categorical") other else ordered(other), flat(link))
  log_lik <- log_lik(r$fit)
  reference <- suppressWarnings(loo::loo(log_lik, r_eff = rep(1, ncol(log_lik))))
  j <- fromJSON(paste(run("loo", r$own, "--json", "-q"), collapse = ""))
  result["loo"] <- abs(j$estimates$elpd_loo$estimate - reference$estimates["elpd_loo", 1])
  result["loo_se"] <- abs(j$estimates$elpd_loo$se - reference$estimates["elpd_loo", 2])
  result["k"] <- max(abs(j$pointwise[[grep("^(pareto_)?k$", names(j$pointwise))[1]]] - loo::pareto_k_values(reference)))
  result
}

effects_of <- function(r, ...) fromJSON(paste(run("effects", r$own, "--json", "-q", ...), collapse = ""))$effects

# Contrasts at x = its centre by emmeans, on the scale of the outcome and of the linear predictor.
with_emmeans <- function(r) {
  at <- list(x = 0)
  relative <- function(j, m) {
    m <- m[, seq_len(nrow(j)), drop = FALSE]
    max(abs(j$mean - colMeans(m)) / apply(m, 2, sd), abs(j$sd - apply(m, 2, sd)) / apply(m, 2, sd))
  }
  values <- function(grid) as.matrix(do.call(rbind, as.list(coda::as.mcmc(grid))))
  out <- c()
  place <- paste0("x=", r$centre)
  response <- emmeans::emmeans(r$fit, ~f, at = at, epred = TRUE)
  link <- emmeans::emmeans(r$fit, ~f, at = at)
  out["means"] <- relative(effects_of(r, "--of", "f", "--show", "predictions", "--at", place), values(response))
  out["contrasts"] <- relative(effects_of(r, "--of", "f", "--pairs", "reference", "--at", place), values(emmeans::contrast(response, "trt.vs.ctrl")))
  out["link"] <- relative(effects_of(r, "--of", "f", "--pairs", "pairwise", "--link", "--at", place), values(emmeans::contrast(link, "revpairwise")))
  out
}

# Effects averaged over the rows, by marginaleffects.
with_marginaleffects <- function(r) {
  options(marginaleffects_posterior_center = mean, marginaleffects_posterior_interval = "eti")
  relative <- function(j, m) { # draws in rows of m
    s <- apply(m, 1, sd)
    max(abs(j$mean - rowMeans(m)) / s, abs(j$sd - s) / s)
  }
  values <- function(x) marginaleffects::posterior_draws(x, shape = "DxP")
  tall <- function(x) { m <- values(x); if (nrow(m) > ncol(m)) t(m) else m }
  e <- r$data
  out <- c()
  out["factor"] <- relative(effects_of(r, "--of", "f"), tall(marginaleffects::avg_comparisons(r$fit, variables = "f")))
  out["step"] <- relative(effects_of(r, "--of", "x", "--step", "10"),
    tall(marginaleffects::avg_comparisons(r$fit, variables = list(x = function(v) data.frame(lo = v, hi = v + 10)))))
  # marginaleffects 0.11.2 averages the ratios of several levels, so these are from brms.
  averages <- sapply(sort(unique(e$f)), function(level) {
    rows <- e
    rows$f <- level
    rowMeans(posterior_epred(r$fit, newdata = rows))
  })
  out["ratio"] <- relative(effects_of(r, "--of", "f", "--compare", "ratio"), t(averages[, -1] / averages[, 1]))
  out["by"] <- relative(effects_of(r, "--of", "x", "--step", "10", "--by", "f"),
    tall(marginaleffects::avg_comparisons(r$fit, variables = list(x = function(v) data.frame(lo = v, hi = v + 10)), by = "f")))
  out["slope"] <- relative(effects_of(r, "--of", "x", "--show", "slopes"), tall(marginaleffects::avg_slopes(r$fit, variables = "x")))
  out
}

# The points of the curves of `ppl ppc` and of survfit.
kaplan_meier <- function(r, by) {
  j <- fromJSON(paste(run(c("ppc", r$own, "--json", "-q", if (by) c("--by", "f"))), collapse = ""), simplifyVector = FALSE)
  curves <- j$variables[[1]]$survival$curves
  worst <- 0
  for (i in seq_along(curves)) {
    rows <- if (by) d[d$f == sort(unique(d$f))[i], ] else d
    fit <- survival::survfit(survival::Surv(time, dead) ~ 1, data = rows)
    for (p in curves[[i]]$points) {
      s <- summary(fit, times = p$time)
      worst <- max(worst, abs(s$surv - p$check$observed), abs(s$n.risk - p$at_risk))
    }
  }
  worst
}

figure <- function(x, digits = 2) ifelse(is.na(x), "", formatC(x, digits = digits, format = "g"))
row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
main <- function() {
  chosen <- as.integer(strsplit(Sys.getenv("MODELS", paste(seq_along(models), collapse = ",")), ",")[[1]])
  results <- lapply(chosen, function(k) {
    message(models[[k]][[1]])
    compare_model(k)
  })

  cat("Versions:", R.version.string)
  for (p in c("brms", "rstan", "emmeans", "marginaleffects", "loo", "posterior", "survival")) {
    cat(",", p, tryCatch(as.character(packageVersion(p)), error = function(e) "missing"))
  }
  cat(".\n\n## Posteriors\n\n")
  row("formula", "family", "parameters", "mean, in MCSE", "sd, in MCSE", "mean, in sd")
  row("---", "---", "---", "---", "---", "---")
  for (r in results) {
    row(paste0("`", gsub("|", "\\|", r$formula, fixed = TRUE), "`"), r$family, ncol(r$z), figure(max(abs(r$z["mean", ]))), figure(max(abs(r$z["sd", ]))), figure(max(r$z["relative", ])))
  }
  all <- do.call(cbind, lapply(results, `[[`, "z"))
  cat(sprintf("\n%d parameters. Root mean square of the differences in standard errors: means %.2f, standard deviations %.2f.\n",
    ncol(all), sqrt(mean(all["mean", ]^2)), sqrt(mean(all["sd", ]^2))))
  cat("\n## The same draws\n\n")
  attempt <- function(f, r) tryCatch(f(r), error = function(e) { message(r$family, ": ", conditionMessage(e)); NULL })
  row("family", "expected", "link", "elpd_loo", "its se", "Pareto k")
  row("---", "---", "---", "---", "---", "---")
  for (r in results) {
    s <- attempt(same_draws, r)
    row(r$family, figure(s["expected"]), figure(s["link"]), figure(s["loo"]), figure(s["loo_se"]), figure(s["k"]))
  }
  cat("\n## Contrasts\n\n")
  row("family", "means", "contrasts", "contrasts, link")
  row("---", "---", "---", "---")
  for (r in Filter(function(r) r$family %in% c("student", "lognormal", "gamma", "negbinomial", "zero_inflated_poisson", "hurdle_lognormal", "beta"), results)) {
    s <- attempt(with_emmeans, r)
    row(r$family, figure(s["means"]), figure(s["contrasts"]), figure(s["link"]))
  }
  cat("\n## Effects\n\n")
  row("family", "factor", "step", "ratio", "step by group", "slope")
  row("---", "---", "---", "---", "---", "---")
  if (requireNamespace("marginaleffects", quietly = TRUE)) {
    for (r in Filter(function(r) !r$family %in% c("categorical", "cumulative"), results)) {
      s <- attempt(with_marginaleffects, r)
      row(r$family, figure(s["factor"]), figure(s["step"]), figure(s["ratio"]), figure(s["by"]), figure(s["slope"]))
    }
  }
  for (r in Filter(function(r) r$family == "weibull", results)) {
    cat(sprintf("\n## Kaplan-Meier\n\nLargest difference from survfit: %s for all rows, %s by f.\n", figure(kaplan_meier(r, FALSE)), figure(kaplan_meier(r, TRUE))))
  }
}
if (!interactive() && is.na(Sys.getenv("COMPARE_FUNCTIONS", NA))) main()
