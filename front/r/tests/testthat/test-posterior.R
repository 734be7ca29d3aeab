needs_library <- function() {
  needs_engine()
  skip_if(inherits(try(ppl_library(), silent = TRUE), "try-error"), "no libppl: see ?ppl_library")
}

bounded <- "data { real y; } parameters { real<lower=0> s; vector[0] e; matrix[1, 2] m; } model { s ~ exponential(2); y ~ normal(0, s); to_vector(m) ~ normal(0, 1); } generated quantities { real z = normal_rng(0, 1); }"

test_that("the posterior in this process is that of the program", {
  needs_library()
  m <- suppressWarnings(ppl_model(text = bounded))
  p <- m$bind(list(y = 0.7))
  expect_identical(p$dim, 3L)
  expect_identical(p$unconstrained_names, c("s", "m[1,1]", "m[1,2]"))
  x <- c(-0.3, 0.5, 2)
  for (jacobian in c(TRUE, FALSE)) {
    for (propto in c(TRUE, FALSE)) {
      want <- m$log_density(matrix(x, 1), list(y = 0.7), jacobian = jacobian, propto = propto)
      got <- p$log_density_gradient(x, jacobian, propto)
      expect_equal(got$value, want$log_density)
      expect_equal(got$gradient, unname(want$gradient[1, ]))
      expect_equal(p$log_density(x, jacobian, propto), want$log_density)
    }
  }
  h <- 1e-5
  column <- (p$log_density_gradient(x + c(h, 0, 0))$gradient - p$log_density_gradient(x - c(h, 0, 0))$gradient) / (2 * h)
  expect_equal(p$log_density_hessian(x)$hessian[, 1], column, tolerance = 1e-6)
  expect_equal(p$constrain(x)[["s"]], exp(-0.3))
  expect_identical(names(p$constrain(x, generated = TRUE)), c("s", "m[1,1]", "m[1,2]", "z"))
  expect_equal(p$unconstrain(list(s = 2, e = array(0, 0), m = matrix(c(3, 4), 1))), c(log(2), 3, 4))
})

test_that("wrong calls of a posterior are errors", {
  needs_library()
  m <- suppressWarnings(ppl_model(text = bounded))
  p <- m$bind(list(y = 0.7))
  expect_s3_class(caught(p$log_density(1)), "ppl_usage_error")
  expect_s3_class(caught(p$log_density(c(0, NaN, 0))), "ppl_run_error")
  expect_s3_class(caught(m$bind(list(y = 1:2))), "ppl_data_error")
  expect_s3_class(caught(m$bind()), "ppl_data_error")
  expect_s3_class(with_option(list(ppl.library = "/nowhere.so"), caught(m$bind(list(y = 1)))), "ppl_path_error")
  empty <- ppl_model(text = "generated quantities { real z = 1; }")$bind()
  expect_identical(empty$dim, 0L)
  expect_identical(empty$log_density(numeric()), 0)
})

test_that("a saved posterior is bound anew, and a forked process says that it cannot", {
  needs_library()
  p <- suppressWarnings(ppl_model(text = bounded))$bind(list(y = 0.7))
  x <- c(-0.3, 0.5, 2)
  file <- tempfile(fileext = ".rds")
  saveRDS(p, file)
  expect_identical(readRDS(file)$log_density(x), p$log_density(x))
  skip_on_os("windows")
  said <- parallel::mclapply(1:2, function(i) tryCatch(p$log_density(x), ppl_run_error = conditionMessage), mc.cores = 2)
  expect_match(said[[1]], "forked", fixed = TRUE)
})

test_that("the functions for CmdStanR's model methods have its names, shapes and values", {
  needs_library()
  program <- as.character(jsonlite::toJSON(list(text = bounded, name = "m", include = list(), variables = c("s", "e", "m", "z")), auto_unbox = TRUE))
  env <- new.env()
  expose(env, program)
  file <- tempfile(fileext = ".json")
  writeLines("{\"y\": 0.7}", file)
  ptr <- env$model_ptr(file, 1)
  x <- c(-0.3, 0.5, 2)
  expect_identical(env$get_num_upars(ptr$model_ptr), 3L)
  expect_equal(env$get_param_metadata(ptr$model_ptr), list(s = numeric(), e = 0, m = c(1, 2), z = numeric()))
  g <- env$grad_log_prob(ptr$model_ptr, x, TRUE)
  expect_identical(attr(g, "log_prob"), env$log_prob(ptr$model_ptr, x, TRUE))
  values <- env$constrain_variables(ptr$model_ptr, ptr$base_rng, x, FALSE, FALSE)
  expect_equal(env$unconstrain_variables(ptr$model_ptr, values), x)
  expect_equal(env$unconstrain_draws(ptr$model_ptr, rbind(values, values)), lapply(x, rep, 2), ignore_attr = TRUE)
  expect_length(env$constrain_variables(ptr$model_ptr, ptr$base_rng, x, TRUE, TRUE), 4)
})
