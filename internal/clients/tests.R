# Runs one file of cmdstanr's tests, and prints a line for each test: RESULT PASS, FAIL or
# SKIP, the file, the test; below it, what was wrong.
.libPaths(c("/clients/rlib", .libPaths()))
suppressMessages({library(testthat); library(cmdstanr)})
ppl::ppl_cmdstanr() # its model methods, by libppl
file <- commandArgs(TRUE)[1]
results <- test_file(file.path("/clients/cmdstanr/tests/testthat", paste0("test-", file, ".R")),
  package = "cmdstanr", load_package = "installed", reporter = "silent", stop_on_failure = FALSE)
for (test in results) {
  bad <- Filter(function(x) inherits(x, c("expectation_failure", "expectation_error")), test$results)
  skipped <- Filter(function(x) inherits(x, "expectation_skip"), test$results)
  status <- if (length(bad)) "FAIL" else if (length(skipped)) "SKIP" else "PASS"
  cat("RESULT", status, file, "::", test$test, "\n")
  for (x in if (length(bad)) bad else skipped) cat("    ", gsub("\n", "\n      ", substr(conditionMessage(x), 1, 700)), "\n")
}
