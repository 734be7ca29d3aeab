# Models of package brms, sampled by the program: ?brm_ppl.
#
# brms writes the model and its data, and makes an empty brmsfit; the program samples; package rstan
# reads its files into a stanfit, in which brms renames the parameters. Where a method of brms would
# compile the model, this file has one that asks the program for log densities.

brm_ppl <- function(formula, data, ..., chains = 4, iter = 2000, warmup = floor(iter / 2), thin = 1,
                    cores = NULL, seed = NA, init = NULL, control = NULL, sampler = "auto",
                    options = list(), file = NULL, file_refit = "never", progress = interactive()) {
  needs_packages("brm_ppl", c("brms", "rstan"))
  refuse_dots(list(...))
  kept <- NULL
  if (!is.null(file)) {
    if (!file_refit %in% c("never", "always", "on_change")) stop("file_refit is \"never\", \"always\" or \"on_change\"")
    if (!grepl("\\.rds$", file, ignore.case = TRUE)) file <- paste0(file, ".rds")
    if (file_refit != "always" && file.exists(file)) kept <- readRDS(file)
    if (!is.null(kept) && file_refit == "never") {
      return(kept)
    }
  }
  x <- brms::brm(formula, data, ..., empty = TRUE)
  attr(x$data, "data_name") <- paste(deparse(substitute(data), 60), collapse = "")
  if (!is.null(kept) && !brms::brmsfit_needs_refit(kept, sdata = brms::standata(x), scode = brms::stancode(x), data = x$data, silent = TRUE)) {
    return(kept)
  }
  x <- fill_brmsfit(x, list(
    chains = chains, iter = iter, warmup = warmup, thin = thin, cores = cores, seed = seed, init = init,
    control = control, sampler = sampler, options = options, progress = progress
  ))
  if (!is.null(file)) {
    x$file <- file
    saveRDS(x, file)
  }
  x
}

needs_packages <- function(what, packages) {
  for (package in packages) {
    if (!requireNamespace(package, quietly = TRUE)) stop(sprintf("%s needs the package %s: install it", what, package), call. = FALSE)
  }
}

usage <- function(text) fail(c("ppl_usage_error", "ppl_run_error"), text, code = 2L, findings = NULL)

# Refuses arguments of brm that are about how it samples.
refuse_dots <- function(dots) {
  if (!is.null(dots$algorithm) && !dots$algorithm %in% c("sampling", "fixed_param")) {
    usage(sprintf("brm_ppl has no algorithm \"%s\": it samples; sampler = \"auto\" chooses how", dots$algorithm))
  }
  for (name in c("backend", "fit", "empty", "future", "opencl", "stan_model_args", "rename")) {
    if (!is.null(dots[[name]])) usage(sprintf("brm_ppl has no argument %s, which is about how brm runs Stan", name))
  }
}

# The arguments that several calls take out of those of brm.
own_arguments <- c("chains", "iter", "warmup", "thin", "cores", "seed", "init", "control", "sampler", "options", "progress")

brms_model <- function(x) {
  suppressWarnings(
    ppl_model(text = brms::stancode(x), name = "brms", legacy = TRUE), # rstan's brms writes arrays as of old
    classes = "ppl_model_warning"
  )
}

brms_data <- function(x) unclass(brms::standata(x))

# Options of the program for those of rstan's control.
control_options <- function(control) {
  known <- c(adapt_delta = "delta", max_treedepth = "max_depth", stepsize = "stepsize")
  wrong <- setdiff(names(control), names(known))
  if (length(wrong)) usage(sprintf("control has no %s for brm_ppl; options = list(...) has those of ppl run", wrong[1]))
  stats::setNames(as.list(control), known[names(control)])
}

# A start of chains as the program takes it: one for all chains.
one_init <- function(init) {
  if (is.function(init)) init <- init()
  if (is.null(init) || identical(init, "random")) {
    return(NULL)
  }
  if (is.list(init) && is.null(names(init))) {
    if (!all(vapply(init, identical, NA, init[[1]]))) usage("init has different values for chains, but brm_ppl starts all chains at the same")
    init <- init[[1]]
  }
  init
}

# Samples an empty brmsfit, and gives it the draws as rstan's would be.
fill_brmsfit <- function(x, settings) {
  model <- brms_model(x)
  data <- brms_data(x)
  fit <- do.call(model$sample, c(
    list(
      data,
      seed = if (!is.na(settings$seed)) settings$seed, chains = settings$chains, warmup = settings$warmup,
      draws = settings$iter - settings$warmup, thin = if (settings$thin != 1) settings$thin,
      sampler = if (identical(x$algorithm, "fixed_param")) "fixed_param" else settings$sampler,
      init = one_init(settings$init), parallel = settings$cores, progress = settings$progress
    ),
    control_options(settings$control), settings$options
  ))
  for (i in which(fit$findings$severity == "problem")) {
    warning(new_condition("ppl_finding_warning", paste(fit$findings$summary[i], fit$findings$advice[i]), "warning", finding = fit$findings[i, ]))
  }
  x$ppl <- list(settings = settings, findings = fit$findings, document = fit$document)
  # What bridge sampling and moment matching need, if all parameters are kept.
  if (isTRUE(x$save_pars$all)) {
    x$ppl$points <- densities(model, fit$folder, data, show = "points")$points
  }
  x$fit <- kept_parameters(rstan::read_stan_csv(csv_files(fit$folder)), brms_excluded(x), settings)
  x <- brms::rename_pars(x)
  class(x) <- c("ppl_brmsfit", class(x))
  x
}

# The parameters that brms does not keep. brms has the list in a generic that it does not export.
brms_excluded <- function(x) utils::getFromNamespace("exclude_pars", "brms")(x)

# A stanfit without some parameters, with the settings that brms shows and updates by.
kept_parameters <- function(stanfit, excluded, settings) {
  sim <- stanfit@sim
  keep <- !sim$pars_oi %in% excluded
  columns <- !sub("\\[.*$", "", sim$fnames_oi) %in% excluded
  sim$pars_oi <- sim$pars_oi[keep]
  sim$dims_oi <- sim$dims_oi[keep]
  sim$fnames_oi <- sim$fnames_oi[columns]
  sim$n_flatnames <- length(sim$fnames_oi)
  rows <- length(sim$samples[[1]][[1]])
  sim$iter <- settings$iter
  sim$warmup <- settings$warmup
  sim$thin <- settings$thin
  sim$warmup2 <- rep(0, sim$chains)
  sim$n_save <- rep(rows, sim$chains)
  sim$samples <- lapply(sim$samples, function(s) {
    about <- attributes(s)
    s <- s[columns]
    about$names <- sim$fnames_oi
    about$mean_pars <- about$mean_pars[columns[-length(columns)]]
    about$args$control <- settings$control
    attributes(s) <- about
    s
  })
  stanfit@sim <- sim
  stanfit@stan_args <- lapply(stanfit@stan_args, function(a) {
    utils::modifyList(a, list(method = "ppl", algorithm = settings$sampler, iter = settings$iter, warmup = settings$warmup, thin = settings$thin))
  })
  stanfit
}

update.ppl_brmsfit <- function(object, formula., newdata = NULL, ..., recompile = NULL) {
  dots <- list(...)
  settings <- object$ppl$settings
  given <- dots[names(dots) %in% own_arguments]
  if (!is.null(given$iter) && is.null(given$warmup)) given$warmup <- floor(given$iter / 2)
  settings[names(given)] <- given
  refuse_dots(dots)
  plain <- object
  class(plain) <- setdiff(class(plain), "ppl_brmsfit")
  plain$ppl <- NULL
  args <- c(list(plain, newdata = newdata, recompile = TRUE, empty = TRUE, silent = 2), dots[!names(dots) %in% c(own_arguments, "silent")])
  if (!missing(formula.)) args$formula. <- formula.
  fill_brmsfit(do.call(stats::update, args), settings)
}

# The unconstrained draws of a fit, chain after chain.
kept_points <- function(x, what) {
  if (is.null(x$ppl$points)) {
    fail("ppl_file_error", sprintf("%s needs all parameters: fit the model with save_pars = save_pars(all = TRUE)", what))
  }
  x$ppl$points
}

# A function of the log density at rows of points, with its constants.
brms_log_density <- function(x) {
  model <- brms_model(x)
  data <- brms_data(x)
  function(points) densities(model, points, data, propto = FALSE, show = "density")$log_density
}

bridge_sampler.ppl_brmsfit <- function(samples, repetitions = 1, method = "normal", maxiter = 1000, silent = FALSE, ...) {
  kept <- samples$criteria$marglik
  if (inherits(kept, "bridge") && !is.na(kept$logml)) {
    return(kept)
  }
  if (method != "normal") usage("bridge_sampler of a fit of brm_ppl has the method \"normal\"")
  if (grepl("_lup[dm]f\\(", brms::stancode(samples))) usage("bridge_sampler needs a model with its constants: fit it with normalize = TRUE")
  points <- kept_points(samples, "bridge_sampler")
  bridge(points, samples$fit@sim$chains, brms_log_density(samples), repetitions, maxiter, silent)
}

# Estimates the log of the integral of a density by bridge sampling with a normal proposal (Meng and
# Wong 1996; Gronau et al. 2017): the proposal is fitted to the first half of each chain, and
# compared with the second. The result is as package bridgesampling has it.
bridge <- function(points, chains, log_density, repetitions, maxiter, silent) {
  length_of <- nrow(points) / chains
  first <- rep(seq_len(length_of) <= length_of / 2, chains)
  center <- colMeans(points[first, , drop = FALSE])
  root <- tryCatch(chol(stats::cov(points[first, , drop = FALSE])), error = function(e) {
    fail("ppl_run_error", "the draws have no covariance of full rank: bridge_sampler needs more of them", code = 1L, findings = NULL)
  })
  proposal <- function(x) {
    z <- backsolve(root, t(x) - center, transpose = TRUE)
    -colSums(z^2) / 2 - sum(log(diag(root))) - ncol(points) / 2 * log(2 * pi)
  }
  second <- points[!first, , drop = FALSE]
  n <- nrow(second)
  ess <- apply(array(second, c(n / chains, chains, ncol(points))), 3, posterior::ess_basic)
  q11 <- log_density(second)
  q12 <- proposal(second)
  one <- function() {
    drawn <- matrix(stats::rnorm(n * ncol(points)), n) %*% root + rep(center, each = n)
    q21 <- log_density(drawn)
    q22 <- proposal(drawn)
    found <- bridge_estimate(q11 - q12, q21 - q22, stats::median(ess), maxiter)
    if (is.na(found$logml)) warning("the bridge sampling estimate has not settled within maxiter iterations: it is NA")
    if (!silent) cat("Iterations:", found$niter, "\n")
    c(found, list(method = "normal", q11 = q11, q12 = q12, q21 = q21, q22 = q22))
  }
  runs <- lapply(seq_len(repetitions), function(i) one())
  if (repetitions == 1) {
    return(structure(runs[[1]], class = "bridge"))
  }
  of <- function(name) vapply(runs, `[[`, 0, name)
  structure(list(logml = of("logml"), niter = of("niter"), method = "normal", repetitions = repetitions), class = "bridge_list")
}

# The iteration: l1 are log ratios of density and proposal at n1 effective draws of the density, l2
# those at draws of the proposal.
bridge_estimate <- function(l1, l2, n1, maxiter) {
  shift <- stats::median(l1)
  e1 <- exp(l1 - shift)
  e2 <- exp(l2 - shift)
  s1 <- n1 / (n1 + length(l2))
  s2 <- 1 - s1
  r <- 1
  for (i in seq_len(maxiter)) {
    old <- r
    r <- mean(e2 / (s1 * e2 + s2 * old)) / mean(1 / (s1 * e1 + s2 * old))
    if (!is.finite(r)) break
    if (abs(r - old) <= 1e-10 * r) {
      return(list(logml = log(r) + shift, niter = i))
    }
  }
  list(logml = NA_real_, niter = maxiter)
}

loo_moment_match.ppl_brmsfit <- function(x, loo, k_threshold = 0.7, newdata = NULL, resp = NULL, check = TRUE, ...) {
  points <- kept_points(x, "moment matching")
  newdata <- if (is.null(newdata)) stats::model.frame(x) else as.data.frame(newdata)
  if (check && nrow(newdata) != nrow(loo$pointwise)) usage("the numbers of observations of loo and newdata differ")
  log_density <- brms_log_density(x)
  model <- brms_model(x)
  data <- brms_data(x)
  at <- function(x, i, ...) as.vector(brms::log_lik(x, newdata = newdata[i, , drop = FALSE], resp = resp))
  loo::loo_moment_match.default(
    x,
    loo = loo, k_threshold = k_threshold,
    post_draws = function(x, ...) points,
    unconstrain_pars = function(x, pars, ...) pars,
    log_prob_upars = function(x, upars, ...) log_density(upars),
    log_lik_i = at,
    log_lik_i_upars = function(x, upars, i, ...) at(moved_draws(x, model, data, upars), i),
    ...
  )
}

# A fit whose draws are at other points, in one chain.
moved_draws <- function(x, model, data, points) {
  found <- densities(model, points, data, show = c("constrained", "generated"))
  values <- cbind(found$constrained, found$generated, lp__ = 0)
  sim <- x$fit@sim
  names <- sim$fnames_oi_old
  n <- nrow(points)
  x$fit@sim <- list(
    samples = list(as.list(as.data.frame(values[, names, drop = FALSE], optional = TRUE))), iter = n, thin = 1, warmup = 0, chains = 1,
    n_save = n, warmup2 = 0, permutation = list(seq_len(n)), pars_oi = sim$pars_oi_old, dims_oi = sim$dims_oi_old,
    fnames_oi = names, n_flatnames = length(names)
  )
  x$fit@stan_args <- list(list(chain_id = 1, iter = n, thin = 1, warmup = 0))
  brms::rename_pars(x)
}
