# Fits: the draws of a run, with findings, and what follows from them.

new_fit <- function(store, document) {
  fit <- structure(
    class = "ppl_fit",
    list(
      folder = store$path, findings = findings_of(document$findings), divergences = document$divergences,
      document = document, store = store
    )
  )
  fit$draws <- function(variables = NULL) fit_draws(store, document, variables)
  fit$sampler_diagnostics <- function() {
    values <- fit_values(store, document)
    as_draws_of(values, is_statistic(dimnames(values)[[3]]))
  }
  fit$save <- function(folder) {
    if (file.exists(folder)) fail("ppl_file_error", sprintf("%s exists already", folder))
    dir.create(folder)
    file.copy(list.files(store$path, full.names = TRUE), folder, recursive = TRUE)
    ppl_load(folder)
  }
  fit
}

ppl_load <- function(folder) {
  if (!dir.exists(folder)) fail("ppl_file_error", sprintf("there is no folder %s", folder))
  document <- run_json("summary", folder)
  if (!length(csv_files(folder))) {
    fail("ppl_file_error", sprintf("%s has no CSV files: convert the run by `ppl convert %s --to csv --out FOLDER`", folder, folder))
  }
  new_fit(run_folder(normalizePath(folder)), document)
}

# The files of a run, in the order of the chains.
csv_files <- function(folder) {
  files <- list.files(folder, "_[0-9]+\\.csv$", full.names = TRUE)
  files[order(as.integer(sub(".*_([0-9]+)\\.csv$", "\\1", files)))]
}

# All columns of a run's files, read when they are asked for.
fit_values <- function(store, document) {
  if (is.null(store$values)) {
    if (!dir.exists(store$path)) {
      fail("ppl_file_error", sprintf("the folder %s of the fit is gone: keep fits by out = or $save(folder), and read them by ppl_load", store$path))
    }
    draws <- vapply(document$diagnostics, function(d) as.integer(d$draws), 1L)
    store$values <- read_chains(csv_files(store$path), if (length(draws)) min(draws))
  }
  store$values
}

fit_draws <- function(store, document, variables = NULL) {
  values <- fit_values(store, document)
  names <- dimnames(values)[[3]]
  draws <- as_draws_of(values, !is_statistic(names) | names == "lp__")
  if (is.null(variables)) draws else posterior::subset_draws(draws, variables)
}

as_draws.ppl_fit <- function(x, ...) x$draws()
as_draws_array.ppl_fit <- function(x, ...) x$draws()
as_draws_df.ppl_fit <- function(x, ...) posterior::as_draws_df(x$draws())
as_draws_matrix.ppl_fit <- function(x, ...) posterior::as_draws_matrix(x$draws())
as_draws_rvars.ppl_fit <- function(x, ...) posterior::as_draws_rvars(x$draws())
as_draws_list.ppl_fit <- function(x, ...) posterior::as_draws_list(x$draws())

# A text in which options of the program, such as --target-ess, have the names that they have in R.
named_as_in_r <- function(text) {
  at <- gregexpr("(?<![a-z-])--[a-z][a-z-]*", text, perl = TRUE)
  regmatches(text, at) <- lapply(regmatches(text, at), function(flag) gsub("-", "_", substring(flag, 3), fixed = TRUE))
  text
}

# Findings as a data frame with a row each.
findings_of <- function(found) {
  text <- function(name) vapply(found, function(f) as.character(f[[name]]), "")
  list_of <- function(name) I(lapply(found, function(f) as.character(unlist(f[[name]]))))
  rows <- data.frame(code = text("code"), severity = text("severity"), summary = text("summary"), advice = named_as_in_r(text("advice")))
  rows$quantities <- list_of("quantities")
  setting <- function(s) {
    name <- sub("=.*", "", s)
    paste0(gsub("-", "_", name, fixed = TRUE), substring(s, nchar(name) + 1))
  }
  rows$settings <- I(lapply(list_of("settings"), setting))
  class(rows) <- c("ppl_findings", class(rows))
  rows
}

print.ppl_findings <- function(x, ...) {
  lines <- if (nrow(x)) sprintf("%s: %s %s [%s]", x$severity, x$summary, x$advice, x$code) else "No findings."
  cat(unlist(lapply(lines, strwrap, exdent = 2)), sep = "\n")
  invisible(x)
}

# The program's rows of quantities as a data frame.
summary_of <- function(rows) {
  if (!length(rows)) {
    return(data.frame(variable = character()))
  }
  wide <- lapply(rows, function(r) {
    percentiles <- r$percentiles
    if (!is.null(percentiles)) {
      names(percentiles) <- paste0("q", names(percentiles))
      r[c("q5", "q50", "q95", "percentiles")] <- NULL
    }
    c(r, percentiles)
  })
  columns <- setdiff(names(wide[[1]]), c("name", "label"))
  quantiles <- grep("^q[0-9.]+$", columns, value = TRUE)
  quantiles <- quantiles[order(as.numeric(substring(quantiles, 2)))]
  shown <- intersect(c("mean", "sd", quantiles, "mcse_mean", "ess_bulk", "ess_tail", "rhat"), columns)
  out <- data.frame(variable = display_names(vapply(wide, `[[`, "", "name")))
  for (c in shown) out[[c]] <- numbers(lapply(wide, `[[`, c))
  out
}

summary.ppl_fit <- function(object, variables = NULL, percentiles = NULL, sort = NULL, ...) {
  if (is.null(variables) && is.null(percentiles) && is.null(sort)) {
    return(summary_of(object$document$summary))
  }
  join <- function(v) if (!is.null(v)) paste(v, collapse = ",")
  options <- list(vars = join(variables), percentiles = join(percentiles), sort = sort)
  summary_of(run_json("summary", object$folder, options)$summary)
}

print.ppl_fit <- function(x, limit = 10, ...) {
  cat(sprintf("%d chains, %d draws each; sampler %s\n", x$document$chains, min(vapply(x$document$diagnostics, function(d) as.integer(d$draws), 1L)), x$document$sampler))
  print(x$findings)
  table <- summary_of(utils::head(x$document$summary, limit))
  table[-1] <- lapply(table[-1], signif, 3)
  print(table, row.names = FALSE)
  left <- length(x$document$summary) - limit
  if (left > 0) cat(sprintf("... and %d more: summary(fit)\n", left))
  invisible(x)
}

loo.ppl_fit <- function(x, moment_match = FALSE, exact = FALSE, ...) {
  options <- list(moment_match = if (moment_match) TRUE, exact = if (exact) TRUE, ...)
  as_loo(run_json("loo", c(x$folder, "-q"), options))
}

# The result of `ppl loo --json` as package loo has it.
as_loo <- function(o) {
  rows <- c("elpd_loo", "p_loo", "looic")
  estimates <- t(vapply(rows, function(r) numbers(o$estimates[[r]][c("estimate", "se")]), c(Estimate = 0, SE = 0)))
  p <- lapply(o$pointwise[c("elpd", "mcse", "p", "pareto_k", "ess")], numbers)
  pointwise <- cbind(elpd_loo = p$elpd, mcse_elpd_loo = p$mcse, p_loo = p$p, looic = -2 * p$elpd, influence_pareto_k = p$pareto_k)
  out <- list(
    estimates = estimates, pointwise = pointwise,
    diagnostics = list(pareto_k = p$pareto_k, n_eff = p$ess), psis_object = NULL,
    elpd_loo = estimates[1, 1], p_loo = estimates[2, 1], looic = estimates[3, 1],
    se_elpd_loo = estimates[1, 2], se_p_loo = estimates[2, 2], se_looic = estimates[3, 2],
    findings = findings_of(o$findings)
  )
  structure(out, dims = c(as.integer(o$draws), as.integer(o$observations)), class = c("psis_loo", "importance_sampling_loo", "loo"))
}

predict.ppl_fit <- function(object, newdata = NULL, seed = 1, count = character(), ...) {
  folder <- tempfile("ppl-")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  input <- if (is.null(newdata)) list() else data_arguments(newdata, folder, needs_of(object), count, levels = TRUE)
  to <- file.path(folder, "predictions")
  options <- list(seed = seed, ...)
  args <- c("predict", object$folder, "-q", "--out", to, options_of(options), input$args)
  result <- run_engine(args, input$stdin)
  if (!is.null(input$file)) result$stderr <- gsub(input$file, "data", result$stderr, fixed = TRUE)
  if (result$code != 0) {
    if (grepl("[E06", result$stderr, fixed = TRUE)) {
      fail("ppl_data_error", gsub("stdin:", "data:", sub("^error: ", "", result$stderr), fixed = TRUE), messages = NULL)
    }
    fail_of(result, options = names(options))
  }
  values <- read_chains(csv_files(to))
  as_draws_of(values, !is_statistic(dimnames(values)[[3]]))
}

# The declarations of the data of a fit's model.
needs_of <- function(fit) {
  record <- jsonlite::read_json(file.path(fit$folder, "run.json"))
  model <- file.path(fit$folder, record$texts[[1]]$file)
  found <- run_engine(c("data", file.path(fit$folder, record$data_file), "--json", "--model", model))
  needs <- parse_json(found$stdout)$needs
  stats::setNames(lapply(needs, `[[`, "declared"), vapply(needs, `[[`, "", "name"))
}

# The data of a fit, by name.
data_of <- function(fit) {
  record <- jsonlite::read_json(file.path(fit$folder, "run.json"))
  jsonlite::fromJSON(file.path(fit$folder, record$data_file))
}

ppc <- function(fit, ...) {
  if (!inherits(fit, "ppl_fit")) stop("ppc takes a fit of ppl")
  document <- run_json("ppc", c(fit$folder, "-q"), list(...))
  one <- function(v) {
    field <- function(name) if (name == "statistic") vapply(v$checks, `[[`, "", name) else numbers(lapply(v$checks, `[[`, name))
    columns <- c("statistic", "observed", "mean", "sd", "q5", "q95", "p")
    cbind(variable = v$name, as.data.frame(stats::setNames(lapply(columns, field), columns)))
  }
  do.call(rbind, lapply(document$variables, one))
}

pp_check.ppl_fit <- function(object, type = "dens_overlay", variable = NULL, ndraws = NULL, seed = 1, ...) {
  replicated <- predict.ppl_fit(object, seed = seed)
  found <- unique(sub("\\[.*", "", posterior::variables(replicated)))
  observed <- sub("_rep$", "", found)
  if (is.null(variable)) variable <- observed[1]
  if (!variable %in% observed) stop(sprintf("the model draws no %s; it draws %s", variable, paste(observed, collapse = ", ")))
  name <- found[match(variable, observed)]
  yrep <- unclass(posterior::as_draws_matrix(posterior::subset_draws(replicated, name)))
  if (is.null(ndraws)) ndraws <- if (grepl("overlay", type)) 50 else nrow(yrep)
  yrep <- yrep[unique(round(seq(1, nrow(yrep), length.out = min(ndraws, nrow(yrep))))), , drop = FALSE]
  plot <- getExportedValue("bayesplot", paste0("ppc_", type))
  plot(as.numeric(data_of(object)[[variable]]), unname(yrep), ...)
}
