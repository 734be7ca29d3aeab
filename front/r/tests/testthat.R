library(testthat)
library(ppl)

test_check("ppl")
