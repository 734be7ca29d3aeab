test_that("a wrong model is an error with a place", {
  needs_engine()
  e <- caught(ppl_model(text = c("parameters {", "  real x", "}"), name = "wrong"))
  expect_s3_class(e, c("ppl_model_error", "ppl_error"))
  expect_identical(e$messages$line, 2L)
  expect_identical(e$messages$code, "E0101")
  expect_match(conditionMessage(e), "wrong:2:", fixed = TRUE)
  expect_s3_class(caught(ppl_model("no such file.stan")), "ppl_file_error")
  expect_error(ppl_model(), "give the file")
})

test_that("a model that is likely to be wrong is a warning", {
  needs_engine()
  expect_warning(
    ppl_model(text = "parameters { real x; real unused; } model { x ~ normal(0, 1); }"),
    class = "ppl_model_warning"
  )
})

test_that("data are checked", {
  needs_engine()
  m <- ppl_model(text = schools_text)
  expect_identical(nrow(m$check(schools)), 0L)
  expect_identical(nrow(m$check()), 0L)
  found <- m$check(list(J = 8, y = 1:7, sigma = rep(1, 8)))
  expect_identical(found$severity, "error")
  expect_identical(found$file, "data")
  expect_output(print(found), "data:1:")
  expect_output(print(m), "Model model")
  for (wrong in list(list(J = 8), list(J = 8, y = 1:7, sigma = rep(1, 8)), list(J = -1, y = 1, sigma = 1), NULL)) {
    e <- caught(m$sample(wrong, seed = 1))
    expect_s3_class(e, "ppl_data_error")
    expect_false(any(grepl(tempdir(), e$messages$file, fixed = TRUE)))
  }
})

test_that("wrong options are named as in R", {
  needs_engine()
  m <- ppl_model(text = schools_text)
  e <- caught(m$sample(schools, foo_bar = 1))
  expect_s3_class(e, c("ppl_usage_error", "ppl_run_error"))
  expect_match(conditionMessage(e), "no option foo_bar", fixed = TRUE)
  e <- caught(m$sample(schools, max_depth = -1))
  expect_s3_class(e, "ppl_usage_error")
  expect_match(conditionMessage(e), "max_depth must be", fixed = TRUE)
  expect_s3_class(caught(m$sample(schools, 1, 2, 3, 4, 5, "nuts", 2, 1, 1, NULL, FALSE, character(), 7)), "ppl_usage_error")
})

test_that("the log density is that of the formula", {
  needs_engine()
  m <- ppl_model(text = "data { real y; } parameters { real<lower=0> s; } model { s ~ exponential(2); y ~ normal(0, s); }")
  u <- c(-0.3, 1.2)
  want <- dexp(exp(u), 2, log = TRUE) + dnorm(0.7, 0, exp(u), log = TRUE) + u
  got <- m$log_density(matrix(u, 2), list(y = 0.7), propto = FALSE)
  expect_equal(got$log_density, want)
  expect_equal(got$constrained[, "s"], exp(u))
  h <- 1e-6
  near <- m$log_density(matrix(u + h, 2), list(y = 0.7), propto = FALSE)
  expect_equal(got$gradient[, "s"], (near$log_density - got$log_density) / h, tolerance = 1e-4)
  expect_equal(m$log_density(u[1], list(y = 0.7), jacobian = FALSE, propto = FALSE)$log_density, want[1] - u[1])
})

test_that("a program that is missing is named", {
  expect_s3_class(with_option(list(ppl.path = "/no/such/ppl"), caught(ppl_path())), "ppl_path_error")
})
