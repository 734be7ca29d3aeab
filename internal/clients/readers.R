# Reads the runs that readers.py has left with CmdStanR and rstan.
#
#   Rscript readers.R DIR/readers
#
# Prints a line for each; the exit status is 1 if one cannot be read.
suppressMessages(library(cmdstanr))
failed <- FALSE
check <- function(name, what) {
  line <- tryCatch(paste("READERS ok", name, what()), error = function(e) {
    failed <<- TRUE
    paste("READERS FAIL", name, conditionMessage(e))
  })
  cat(line, "\n", sep = "")
}
for (dir in list.dirs(commandArgs(TRUE)[1], recursive = FALSE)) {
  files <- Sys.glob(file.path(dir, "*.csv"))
  if (length(files) == 0) next
  check(paste("CmdStanR", basename(dir)), function() {
    fit <- suppressMessages(suppressWarnings(as_cmdstan_fit(files)))
    fit$time()
    fit$diagnostic_summary(quiet = TRUE)
    paste(paste(dim(fit$draws()), collapse = "x"), "metric", paste(dim(fit$inv_metric()[[1]]), collapse = "x"))
  })
  if (!requireNamespace("rstan", quietly = TRUE)) {
    cat("READERS skip rstan: it is not installed\n")
    next
  }
  check(paste("rstan", basename(dir)), function() {
    fit <- suppressMessages(rstan::read_stan_csv(files))
    invisible(rstan::get_sampler_params(fit, inc_warmup = FALSE))
    paste(fit@sim$chains, "chains", fit@sim$iter, "iterations")
  })
}
quit(status = as.integer(failed))
