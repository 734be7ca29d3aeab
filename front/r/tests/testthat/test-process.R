# A program that runs until it is interrupted, and writes that down.
endless_engine <- function(folder) {
  script <- file.path(folder, "engine")
  writeLines(c(
    "#!/bin/sh",
    "if [ \"$1\" != run ]; then exec \"$REAL_PPL\" \"$@\"; fi",
    sprintf("trap 'echo ended >%s; exit 130' INT", shQuote(file.path(folder, "ended"))),
    "echo '{\"chain\":1,\"iteration\":1,\"total\":2,\"phase\":\"warm-up\",\"divergences\":0}' >&2",
    "while :; do sleep 0.05; done"
  ), script)
  Sys.chmod(script, "755")
  script
}

test_that("an interrupt and an error end the program, and leave no files", {
  needs_engine()
  skip_on_os("windows")
  m <- ppl_model(text = schools_text)
  folder <- tempfile()
  dir.create(folder)
  Sys.setenv(REAL_PPL = ppl_path())
  on.exit(Sys.unsetenv("REAL_PPL"))
  for (kind in c("interrupt", "error")) {
    ended <- file.path(folder, "ended")
    unlink(ended)
    before <- list.files(tempdir())
    progress <- function(p) if (kind == "error") stop("enough") else tools::pskill(Sys.getpid(), tools::SIGINT)
    how <- with_option(list(ppl.path = endless_engine(folder)), tryCatch(
      m$sample(schools, progress = progress),
      interrupt = function(e) "interrupt", error = function(e) conditionMessage(e)
    ))
    expect_identical(how, if (kind == "error") "enough" else "interrupt")
    expect_true(file.exists(ended), info = kind)
    expect_identical(setdiff(list.files(tempdir()), before), character())
  }
})

test_that("progress is reported", {
  needs_engine()
  seen <- list()
  m <- ppl_model(text = schools_text)
  m$sample(schools, seed = 1, chains = 2, progress = function(p) seen[[length(seen) + 1]] <<- p)
  expect_setequal(vapply(seen, function(p) p$phase, ""), c("warm-up", "sampling"))
  expect_setequal(vapply(seen, function(p) as.integer(p$chain), 1L), 1:2)
})

test_that("a failed run is an error with its code", {
  needs_engine()
  m <- ppl_model(text = "parameters { real x; } model { x ~ normal(0, 1); if (x < 1e300) reject(\"never\"); }", name = "none")
  before <- list.files(tempdir())
  e <- caught(m$sample(seed = 1, chains = 1))
  expect_s3_class(e, "ppl_run_error")
  expect_identical(e$code, 1L)
  expect_match(conditionMessage(e), "^none:1:.*never")
  expect_identical(setdiff(list.files(tempdir()), before), character())
})
