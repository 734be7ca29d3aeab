# All tests that start the program need it; `front/r/test` names it.
needs_engine <- function() {
  skip_if(inherits(try(ppl_path(), silent = TRUE), "try-error"), "no program ppl: see ?ppl_path")
}

schools_text <- "
data {
  int J;
  vector[J] y;
  vector<lower=0>[J] sigma;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] theta;
}
model {
  mu ~ normal(0, 5);
  tau ~ normal(0, 5);
  theta ~ normal(mu, tau);
  y ~ normal(theta, sigma);
}
"
schools <- list(J = 8, y = c(28, 8, -3, 7, -1, 1, 18, 12), sigma = c(15, 10, 16, 11, 9, 11, 10, 18))

# A fit that several tests read.
made <- new.env()
schools_fit <- function() {
  if (is.null(made$fit)) made$fit <- ppl_model(text = schools_text, name = "schools")$sample(schools, seed = 1)
  made$fit
}

caught <- function(code) tryCatch(code, error = identity)

# Evaluates code with options.
with_option <- function(options, code) {
  old <- options(options)
  on.exit(options(old))
  code
}
