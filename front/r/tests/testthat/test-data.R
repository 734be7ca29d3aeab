test_that("numbers read back as they were", {
  set.seed(1)
  x <- c(0.1, 1 / 3, pi * 1e200, -5e-324, .Machine$double.xmax, 2^53, runif(1000))
  expect_identical(as.numeric(number_text(x)), x)
  long <- runif(20000)
  expect_identical(as.numeric(number_text(long)), long)
  expect_identical(number_text(c(0.1, 3)), c("0.1", "3"))
  expect_identical(number_text(c(Inf, -Inf, NaN)), c("\"Infinity\"", "\"-Infinity\"", "\"NaN\""))
  expect_identical(number_text(c(TRUE, FALSE)), c("1", "0"))
})

test_that("arrays are nested by rows, as jsonlite has them", {
  read <- function(x) jsonlite::fromJSON(array_json(x))
  for (size in list(1, 3, c(2, 3), c(3, 1), c(1, 1), c(2, 3, 4), c(1, 1, 1), c(2, 1, 3, 2))) {
    x <- array(seq_len(prod(size)) + 0.5, size)
    got <- read(x)
    if (length(size) == 1) dim(got) <- size
    expect_equal(got, x)
  }
  expect_identical(array_json(array(0, c(0, 3))), "[]")
  expect_identical(array_json(array(0, c(2, 0))), "[[],[]]")
})

test_that("a single number is a vector where the model declares one", {
  needs <- list(n = "int n", v = "vector[n] v", m = "array[2] matrix[n, 2] m", c = "cholesky_factor_corr[3] c")
  expect_identical(unname(vapply(needs, declared_rank, 0)), c(0, 1, 3, 2))
  expect_identical(data_json(list(n = 1, v = 2.5), needs), "{\"n\":1,\"v\":[2.5]}")
  expect_identical(data_json(list(v = 2.5)), "{\"v\":2.5}")
  expect_identical(data_json(list(v = array(2.5))), "{\"v\":[2.5]}")
})

test_that("lists, factors, logical and complex values have their form", {
  expect_identical(data_json(list(x = list(1:2, 3L))), "{\"x\":[[1,2],3]}")
  expect_identical(data_json(list(t = list(a = 1, b = c(2, 3)))), "{\"t\":{\"a\":1,\"b\":[2,3]}}")
  expect_identical(data_json(list(g = factor(c("b", "a")), l = c(TRUE, FALSE))), "{\"g\":[2,1],\"l\":[1,0]}")
  expect_identical(data_json(list(z = complex(real = 1, imaginary = 2), w = c(1i, 2))), "{\"z\":[1,2],\"w\":[[0,1],[2,0]]}")
  expect_identical(data_json(NULL), "{}")
})

test_that("data frames are columns, and counted", {
  frame <- data.frame(y = c(1.5, 2), g = c("v", "u"), day = as.Date("2020-01-01"), hole = c(NA, 1))
  needs <- list(y = "vector[N] y", g = "array[N] int g", N = "int N")
  expect_identical(
    table_data(frame, needs, c("N", "J=g")),
    "y <- structure(c(1.5, 2), .Dim = c(2L))\ng <- structure(c(2L, 1L), .Dim = c(2L), levels = c(\"u\", \"v\"), class = \"factor\")\nN <- 2L\nJ <- 2L"
  )
  expect_identical(table_data(frame[1, "y", drop = FALSE], needs, "N"), "{\"y\":[1.5],\"N\":1}")
  expect_s3_class(caught(table_data(frame, needs, "J=nothing")), "ppl_data_error")
})

test_that("wrong data are named", {
  for (wrong in list(3, list(1), list(x = "a"), list(x = NULL), list(x = Sys.time()), "no such file")) {
    folder <- tempfile()
    dir.create(folder)
    e <- caught(data_arguments(wrong, folder))
    expect_s3_class(e, "ppl_data_error")
    expect_identical(e$messages$file, "data")
  }
  e <- caught(data_json(list(x = c(1, NA))))
  expect_match(conditionMessage(e), "`x` is NA at position 2", fixed = TRUE)
})

test_that("predictions find the levels of a table by their names", {
  model <- ppl_model(text = "data { int N; int J; vector[N] y; array[N] int<lower=1, upper=J> g; } parameters { vector[J] b; } model { b ~ normal(0, 100); y ~ normal(b[g], 0.1); }")
  odd <- c("it's \\ \"b\", ä", "a", "c")
  frame <- data.frame(y = c(-10, 0, 10, -10, 0, 10), g = factor(odd[c(1, 2, 3, 1, 2, 3)], levels = odd))
  fit <- model$sample(frame, count = c("N", "J=g"), seed = 1, draws = 50, progress = FALSE)
  mean_of <- function(newdata, ...) unname(round(colMeans(posterior::as_draws_matrix(predict(fit, newdata, ...)))))
  expect_identical(c(mean_of(data.frame(g = c("c", "a")))), c(10, 0))
  expect_identical(c(mean_of(data.frame(g = factor("c")))), 10)
  expect_identical(c(mean_of(frame[4, ], count = c("N", "J=g"))), -10)
  expect_match(conditionMessage(caught(predict(fit, data.frame(g = "d")))), "d")
  expect_s3_class(predict(fit, data.frame(g = c("d", "a")), new_levels = "sample"), "draws_array")
})
