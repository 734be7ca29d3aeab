# Projection predictive selection by R's package projpred, with the draws of ppl:
#
#	Rscript projpred.R PROBLEM RESULT
#
# PROBLEM is what TestSelectBesideR writes. All draws are projected one by one, in the search too:
# neither program puts them into clusters, so no random numbers are left.
suppressMessages({
  library(projpred)
  library(jsonlite)
})
paths <- commandArgs(TRUE)
q <- fromJSON(paths[1])
d <- as.data.frame(q$data, stringsAsFactors = FALSE)
if (!is.null(d$g)) d$g <- factor(d$g)
n <- nrow(d)
trials <- if (is.null(q$trials)) rep(1, n) else q$trials
outcome <- if (q$family == "binomial") q$outcome / trials else q$outcome
d[[q$variable]] <- outcome
family <- switch(q$family, gaussian = gaussian(), binomial = binomial(), poisson = poisson())
reference <- init_refmodel(
  object = list(), data = d, formula = as.formula(q$formula), family = family,
  ref_predfun = function(fit, newdata = NULL) {
    stopifnot(is.null(newdata) || nrow(newdata) == n)
    t(q$predictor)
  },
  extract_model_data = function(object, newdata = NULL, wrhs = NULL, orhs = NULL, extract_y = TRUE) {
    stopifnot(is.null(newdata) || nrow(newdata) == n)
    list(y = if (extract_y) q$outcome, weights = trials, offset = rep(0, n))
  },
  dis = q$sd
)
draws <- nrow(q$predictor)
cv <- cv_varsel(reference,
  method = "forward", cv_method = "LOO", validate_search = FALSE, seed = 1, verbose = FALSE,
  ndraws = draws, ndraws_pred = draws, nclusters = NULL, nclusters_pred = NULL
)
s <- summary(cv, stats = "elpd", type = c("diff", "diff.se"))$selection
write_json(list(
  terms = solution_terms(cv), difference = s[["diff"]], se = s[["diff.se"]],
  suggested = suggest_size(cv, stat = "elpd"), version = as.character(packageVersion("projpred"))
), paths[2], auto_unbox = TRUE, digits = NA)
