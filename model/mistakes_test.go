package model_test

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
)

var update = flag.Bool("update", false, "write testdata/mistakes.txt anew")

// right is a model without mistakes. Each mistake below changes one place of it.
const right = `functions {
  real half_square(real z) {
    return 0.5 * square(z);
  }
  real tail_lpdf(real z, real scale) {
    return -abs(z) / scale - log(2 * scale);
  }
}
data {
  int<lower=1> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> g;
  vector[N] x;
  vector[N] y;
  array[N] int<lower=0> k;
}
transformed data {
  real middle = mean(x);
}
parameters {
  real alpha;
  real beta;
  vector[G] u;
  real<lower=0> sigma;
  real<lower=-1, upper=1> rho;
}
transformed parameters {
  vector[N] mu;
  for (n in 1:N) {
    mu[n] = alpha + beta * (x[n] - middle) + u[g[n]];
  }
}
model {
  alpha ~ normal(0, 5);
  beta ~ normal(0, 1);
  u ~ normal(0, 1);
  sigma ~ exponential(1);
  rho ~ tail(1);
  if (N > 2) {
    target += -half_square(rho);
  }
  y ~ normal(mu, sigma);
  k ~ poisson_log(alpha);
}
generated quantities {
  real worst = max(y);
  array[N] real again = normal_rng(mu, sigma);
}
`

// The ends of the right model.
var (
	_, rightAfter, _ = strings.Cut(right, "real middle = mean(x);\n")
	_, rightEnd, _   = strings.Cut(right, "  k ~ poisson_log(alpha);\n}\n")
)

const rightData = `{
  "N": 3,
  "G": 2,
  "g": [1, 2, 2],
  "x": [0.5, 1.5, 2.5],
  "y": [1.1, 2.2, 3.3],
  "k": [0, 1, 4]
}
`

// mistake is a change that a beginner might make, and their correction after reading the message.
type mistake struct {
	name string
	old  string // part of the right model or data, which occurs once
	new  string // what is written instead
	code string // of the first message
	then string // the text that help advises instead of new; "" if it has an edit
}

var inModels = []mistake{
	{"missing semicolon", "real beta;", "real beta", "E0101", ""},
	{"missing semicolon before a brace", "square(z);\n", "square(z)\n", "E0101", ""},
	{"arrow assigns", "mu[n] = alpha", "mu[n] <- alpha", "E0120", ""},
	{"colon assigns", "mu[n] = alpha", "mu[n] := alpha", "E0120", ""},
	{"= compares", "if (N > 2)", "if (N = 2)", "E0121", ""},
	{"=== compares", "if (N > 2)", "if (N === 2)", "E0100", ""},
	{"=< compares", "if (N > 2)", "if (N =< 2)", "E0100", ""},
	{"<> compares", "if (N > 2)", "if (N <> 2)", "E0100", ""},
	{"and", "if (N > 2)", "if (N > 2 and G > 1)", "E0100", ""},
	{"or", "if (N > 2)", "if (N > 2 or G > 1)", "E0100", ""},
	{"not", "if (N > 2)", "if (not N > 2)", "E0100", "if (!(N > 2))"},
	{"single &", "if (N > 2)", "if (N > 2 & G > 1)", "E0105", ""},
	{"single |", "if (N > 2)", "if (N > 2 | G > 1)", "E0100", ""},
	{"TRUE", "if (N > 2)", "if (TRUE)", "E0201", ""},
	{"power **", "square(z)", "z ** 2", "E0100", ""},
	{"matrix product of R", "beta * (x[n]", "beta %*% (x[n]", "E0100", ""},
	{"comment #", "  real beta;", "  # the slope\n  real beta;", "E0106", ""},
	{"docstring", "  real beta;", "  \"\"\"the slope\"\"\"\n  real beta;", "E0129", "  // the slope\n  real beta;"},
	{"if without parentheses", "if (N > 2) {", "if N > 2 {", "E0128", ""},
	{"then", "if (N > 2) {", "if (N > 2) then {", "E0100", ""},
	{"elif", "    target += -half_square(rho);\n  }", "    target += -half_square(rho);\n  } elif (N > 1) {\n    target += 1;\n  }", "E0100", ""},
	{"for without parentheses", "for (n in 1:N) {", "for n in 1:N {", "E0128", ""},
	{"for in 1..N", "1:N)", "1..N)", "E0105", ""},
	{"for in range(N)", "1:N)", "range(N))", "E0202", "1:N)"},
	{"for over a size", "1:N)", "N)", "E0313", ""},
	{"for of C", "for (n in 1:N)", "for (int n = 1; n <= N; n++)", "E0128", "for (n in 1:N)"},
	{"for with a type", "for (n in", "for (int n in", "E0128", ""},
	{"for with =", "for (n in 1:N)", "for (n = 1:N)", "E0128", ""},
	{"increment", "  vector[N] mu;\n", "  vector[N] mu;\n  real s = 0;\n  s++;\n", "E0100", ""},
	{"length", "middle = mean(x)", "middle = length(x)", "E0202", "middle = num_elements(x)"},
	{"len", "middle = mean(x)", "middle = len(x)", "E0202", "middle = num_elements(x)"},
	{"index from 0", "max(y)", "y[0]", "W0304", "max(y)"},
	{"undeclared", "+ u[g[n]]", "+ v[g[n]]", "E0201", "+ u[g[n]]"},
	{"misspelt variable", "u[g[n]]", "u[gg[n]]", "E0201", ""},
	{"misspelt function", "mean(x)", "maen(x)", "E0202", ""},
	{"misspelt distribution", "~ exponential(1)", "~ exponental(1)", "E0203", ""},
	{"misspelt type", "vector[G] u", "vectr[G] u", "E0130", ""},
	{"type of C", "real alpha;", "double alpha;", "E0130", ""},
	{"misspelt block", "parameters {\n  real alpha", "paramters {\n  real alpha", "E0113", ""},
	{"misspelt bound", "real<lower=0> sigma", "real<low=0> sigma", "E0132", ""},
	{"label twice", "int<lower=1> G;", "int<labels={\"a\", \"a\"}> G;", "E0132", "int<labels={\"a\", \"b\"}> G;"},
	{"labels without quotes", "int<lower=1> G;", "int<labels={a, b}> G;", "E0132", "int<labels={\"a\", \"b\"}> G;"},
	{"labels of a vector", "vector[G] u;", "vector<labels={\"a\", \"b\"}>[G] u;", "E0132", "vector[G] u;"},
	{"one label, no list", "int<lower=1> N;\n  int<lower=1> G;", "int<lower=1> N;\n  int<labels=\"a\"> G;", "E0132", ""},
	{"bound without name", "real<lower=0> sigma", "real<0> sigma", "E0100", "real<lower=0> sigma"},
	{"bounds after size", "array[N] int<lower=0> k;", "array[N] int k<lower=0>;", "E0132", "array[N] int<lower=0> k;"},
	{"bounds without comma", "<lower=-1, upper=1>", "<lower=-1 upper=1>", "E0100", ""},
	{"bounds by semicolon", "<lower=-1, upper=1>", "<lower=-1; upper=1>", "E0100", ""},
	{"unclosed bound", "real<lower=0> sigma", "real<lower=0 sigma", "E0100", ""},
	{"bounds swapped", "<lower=-1, upper=1> rho", "<lower=1, upper=-1> rho", "W0507", ""},
	{"int parameter", "real alpha;", "int alpha;", "E0404", "real alpha;"},
	{"missing size", "vector[G] u", "vector u", "E0131", "vector[G] u"},
	{"old array", "array[N] int<lower=0> k", "int<lower=0> k[N]", "E0124", ""},
	{"array after type", "array[N] int<lower=0> k", "int<lower=0> array[N] k", "E0100", "array[N] int<lower=0> k"},
	{"array of Python", "array[N] int<lower=0> k", "int[N] k", "E0124", ""},
	{"several types", "real alpha;\n  real beta;", "real alpha, real beta;", "E0112", "real alpha; real beta;"},
	{"missing model block", "model {\n  alpha", "alpha", "E0116", "model {\n  alpha"},
	{"statement without semicolon at end", "normal(mu, sigma);\n  k", "normal(mu, sigma)\n  k", "E0101", ""},
	{"missing brace", "+ u[g[n]];\n  }\n", "+ u[g[n]];\n", "E0103", "+ u[g[n]];\n  }\n"},
	{"brace too many", "+ u[g[n]];\n  }\n", "+ u[g[n]];\n  }}\n", "E0104", "+ u[g[n]];\n  }\n"},
	{"missing parenthesis", "(x[n] - middle)", "(x[n] - middle", "E0102", ""},
	{"parenthesis too many", "mean(x)", "mean(x))", "E0102", "mean(x)"},
	{"missing bracket", "u[g[n]]", "u[g[n]", "E0102", ""},
	{"missing comma", "normal(0, 5)", "normal(0 5)", "E0100", "normal(0, 5)"},
	{"missing operator", "beta * (x[n]", "beta(x[n]", "E0302", ""},
	{"missing product", "2 * scale", "2scale", "E0109", ""},
	{"decimal comma", "0.5 *", "0,5 *", "E0109", ""},
	{"dnorm", "~ normal(0, 5)", "~ dnorm(0, 5)", "E0203", "~ normal(0, 5)"},
	{"capital distribution", "~ normal(0, 5)", "~ Normal(0, 5)", "E0203", ""},
	{"tilde with suffix", "~ normal(0, 5)", "~ normal_lpdf(0, 5)", "E0410", ""},
	{"distribution assigned", "alpha ~ normal(0, 5)", "alpha = normal(0, 5)", "E0202", ""},
	{"distribution called", "target += -half_square(rho)", "target += normal(rho | 0, 1)", "E0202", "target += normal_lpdf(rho | 0, 1)"},
	{"density with commas", "target += -half_square(rho)", "target += normal_lpdf(rho, 0, 1)", "E0312", ""},
	{"bar in a function", "half_square(rho)", "fmax(rho | 0)", "E0312", ""},
	{"lpmf of reals", "target += -half_square(rho)", "target += normal_lpmf(rho | 0, 1)", "E0202", ""},
	{"lpdf of integers", "k ~ poisson_log(alpha)", "target += poisson_log_lpdf(k | alpha)", "E0202", ""},
	{"increment_log_prob", "target += -half_square(rho)", "increment_log_prob(-half_square(rho))", "E0123", ""},
	{"get_lp", "  if (N > 2)", "  print(get_lp());\n  if (N > 2)", "E0208", ""},
	{"target assigned", "target += -half_square(rho)", "target = target - half_square(rho)", "E0127", "target += -half_square(rho)"},
	{"truncation of BUGS", "sigma ~ exponential(1)", "sigma ~ exponential(1) I(0, )", "E0100", ""},
	{"truncation in parentheses", "sigma ~ exponential(1)", "sigma ~ exponential(1) T(0, )", "E0100", ""},
	{"truncation without comma", "sigma ~ exponential(1)", "sigma ~ exponential(1) T[0]", "E0100", "sigma ~ exponential(1) T[0, ]"},
	{"truncated vector", "u ~ normal(0, 1)", "u ~ multi_normal(u, identity_matrix(G)) T[0, ]", "E0318", "u ~ normal(0, 1)"},
	{"too few arguments", "beta ~ normal(0, 1)", "beta ~ normal(0)", "E0302", "beta ~ normal(0, 1)"},
	{"too many arguments", "~ exponential(1)", "~ exponential(1, 2)", "E0302", "~ exponential(1)"},
	{"named argument", "~ exponential(1)", "~ exponential(rate = 1)", "E0100", ""},
	{"wrong order of arguments", "real middle = mean(x);", "real middle = mean(x);\n  vector[N] twos = rep_vector(N, 2.0);\n  print(twos);", "E0302", ""},
	{"real to int", "real middle = mean(x)", "int middle = mean(x)", "E0301", "real middle = mean(x)"},
	{"vector to array", "array[N] real again = normal_rng(mu, sigma)", "vector[N] again = normal_rng(mu, sigma)", "E0301", ""},
	{"vector to real", "real worst = max(y)", "real worst = y", "E0301", "real worst = sum(y)"},
	{"array arithmetic", "y ~ normal(mu, sigma)", "y ~ normal(mu + k, sigma)", "E0304", "y ~ normal(mu + to_vector(k), sigma)"},
	{"vector by vector", "y ~ normal(mu, sigma)", "y ~ normal(mu * u, sigma)", "E0304", "y ~ normal(mu .* x, sigma)"},
	{"row_vector by vector", "real worst = max(y)", "real worst = y * x'", "E0301", "real worst = y' * x"},
	{"square of a vector", "real middle = mean(x)", "real middle = x ^ 2", "E0301", "real middle = sum(x ^ 2)"},
	{"real distribution of ints", "k ~ poisson_log(alpha)", "y ~ poisson_log(alpha)", "E0311", "k ~ poisson_log(alpha)"},
	{"real index", "u[g[n]]", "u[x[n]]", "E0306", "u[g[n]]"},
	{"too many indices", "u[g[n]]", "u[g[n], 1]", "E0305", "u[g[n]]"},
	{"list of Python", "real middle = mean(x)", "array[2] real middle2 = [1, 2]; real middle = mean(x)", "E0301", ""},
	{"declaration after use", "  vector[N] x;\n  vector[N] y;\n", "", "E0201", "  vector[N] x;\n  vector[N] y;\n"},
	{"redeclared", "real beta;", "real alpha;", "E0204", "real beta;"},
	{"data assigned", "real middle = mean(x);", "real middle = mean(x);\n  x = x - middle;", "E0401", "real middle = mean(x);\n  vector[N] xc = x - middle;"},
	{"parameter in transformed data", "real middle = mean(x)", "real middle = alpha", "E0201", "real middle = mean(x)"},
	{"random number in the model", "y ~ normal(mu, sigma)", "y ~ normal(normal_rng(0, 1), sigma)", "E0406", "y ~ normal(mu, sigma)"},
	{"missing return", "return 0.5 * square(z);", "real s = square(z);", "E0504", "real s = square(z); return s;"},
	{"missing result type", "real half_square(real z)", "half_square(real z)", "E0100", "real half_square(real z)"},
	{"missing parameter type", "half_square(real z)", "half_square(z)", "E0100", "half_square(real z)"},
	{"function of Python", "real half_square(real z)", "def half_square(real z)", "E0130", "real half_square(real z)"},
	{"size in a signature", "functions {\n", "functions {\n  real total(real[3] w) { return sum(w); }\n", "E0124", ""},
	{"density of int", "tail_lpdf(real z, real scale)", "tail_lpdf(int z, real scale)", "E0503", "tail_lpdf(real z, real scale)"},
	{"function in the model", "model {\n", "model {\n  real f(real z) { return z; }\n", "E0136", "model {\n"},
	{"distribution in data", "real middle = mean(x);", "real middle; middle ~ normal(0, 1);", "E0405", "real middle = mean(x);"},
	{"reserved name", "real alpha;", "real alpha;\n  real model;", "E0112", "real alpha;\n  real model_;"},
	{"string variable", "real middle = mean(x);", "string s = \"a\"; real middle = mean(x);", "E0130", "real middle = mean(x);"},
	{"single quotes", "real middle = mean(x);", "print('a'); real middle = mean(x);", "E0100", ""},
	{"string joined", "real middle = mean(x);", "print(\"a\" + N); real middle = mean(x);", "E0100", "print(\"a\", N); real middle = mean(x);"},
	{"ternary of Python", "real middle = mean(x)", "real middle = 1 if N > 2 else 2", "E0100", "real middle = N > 2 ? 1 : 2"},
	{"vector of R", "real middle = mean(x)", "real middle = mean(c(1, 2))", "E0202", "real middle = mean({1, 2})"},
	{"undeclared in a function", "return 0.5 * square(z)", "return half * square(z)", "E0201", "return 0.5 * square(z)"},
	{"let", "real middle = mean(x)", "let middle = mean(x)", "E0130", "real middle = mean(x)"},
	{"untyped local", "real middle = mean(x)", "middle = mean(x)", "E0201", ""},
	{"unknown block", "transformed parameters {", "linear predictor {", "E0113", "transformed parameters {"},
	{"other name of a block", "transformed parameters {", "derived {", "E0113", ""},
	{"wrong suffix of T", "rho ~ tail(1)", "rho ~ tail_lpdf(1)", "E0410", ""},
	{"typographic minus", "y ~ normal(mu, sigma)", "y ~ normal(−mu, sigma)", "E0105", ""},
	{"typographic quotes", "real middle = mean(x);", "print(“a”); real middle = mean(x);", "E0105", ""},
	{"size without bracket", "vector[G] u", "vector[G u", "E0102", ""},
	{"array without bracket", "array[N] int<lower=0> k", "array[N int<lower=0> k", "E0102", ""},
	{"size in parentheses", "vector[G] u", "vector(G) u", "E0131", ""},
	{"size as a bound", "vector[G] u", "vector<G> u", "E0132", ""},
	{"sizes in two pairs of brackets", "real alpha;", "real alpha;\n  matrix[2][2] S;", "E0131", ""},
	{"bounds in parentheses", "real<lower=0> sigma", "real(lower=0) sigma", "E0132", ""},
	{"bounds end with a bracket", "real<lower=0> sigma", "real<lower=0] sigma", "E0100", ""},
	{"bound with a colon", "real<lower=0> sigma", "real<lower:0> sigma", "E0100", ""},
	{"bound without a value", "real<lower=0> sigma", "real<lower=> sigma", "E0100", "real<lower=0> sigma"},
	{"bound without = and value", "real<lower=0> sigma", "real<lower> sigma", "E0100", "real<lower=0> sigma"},
	{"bound in words", "real<lower=0> sigma", "real<positive> sigma", "E0132", ""},
	{"bound twice", "real<lower=0> sigma", "real<lower=0, lower=0> sigma", "E0132", "real<lower=0> sigma"},
	{"comma at the end of bounds", "real<lower=0> sigma", "real<lower=0, > sigma", "E0100", ""},
	{"bound by comparison", "real<lower=0> sigma", "real sigma > 0", "E0132", ""},
	{"bound that is a vector", "real<lower=0> sigma", "real<lower=x> sigma", "E0310", "real<lower=max(x)> sigma"},
	{"capital type with a bound", "int<lower=1> G", "Int<lower=1> G", "E0130", ""},
	{"type of Fortran with a bound", "int<lower=1> G", "integer<lower=1> G", "E0130", ""},
	{"undeclared size", "vector[G] u", "vector[groups] u", "E0201", "vector[G] u"},
	{"index without its loop", "y ~ normal(mu, sigma)", "y[n] ~ normal(mu[n], sigma)", "E0201", "for (n in 1:N) y[n] ~ normal(mu[n], sigma)"},
	{"colon of Python", "for (n in 1:N) {", "for (n in 1:N): {", "E0100", ""},
	{"do", "for (n in 1:N) {", "for (n in 1:N) do {", "E0100", ""},
	{"foreach", "for (n in 1:N) {", "foreach (n in 1:N) {", "E0100", ""},
	{"in as a condition", "if (N > 2)", "if (N in 1:2)", "E0100", "if (1 <= N && N <= 2)"},
	{"is", "if (N > 2)", "if (N is 2)", "E0100", ""},
	{"comma at the end of a call", "mean(x)", "mean(x, )", "E0100", "mean(x)"},
	{"no value", "real middle = mean(x)", "real middle = ", "E0100", "real middle = mean(x)"},
	{"operator at the end", "square(z);\n", "square(z) *;\n", "E0100", "square(z);\n"},
	{"no variable before ~", "y ~ normal(mu, sigma)", "~ normal(mu, sigma)", "E0100", "y ~ normal(mu, sigma)"},
	{"no distribution", "y ~ normal(mu, sigma)", "y ~ ", "E0100", "y ~ normal(mu, sigma)"},
	{"sides of ~ exchanged", "y ~ normal(mu, sigma)", "normal(mu, sigma) ~ y", "E0100", "y ~ normal(mu, sigma)"},
	{"remainder of R", "if (N > 2)", "if (N %% 2 == 0)", "E0100", ""},
	{"integer division of Python", "real middle = mean(x);", "int half = N // 2;\n  real middle = mean(x);", "E0100", ""},
	{"integer division of Python in a header", "for (n in 1:N) {", "for (n in 1:N // 1) {", "E0100", ""},
	{"integer division of Python in a condition", "if (N > 2)", "if (N // 2 > 0)", "E0100", ""},
	{"mod", "real middle = mean(x);", "int odd = N mod 2; real middle = mean(x);", "E0100", ""},
	{"product of Python", "y ~ normal(mu, sigma)", "y ~ normal(x @ beta, sigma)", "E0105", ""},
	{"operator after =", "  vector[N] mu;\n", "  vector[N] mu;\n  real s = 1;\n  s =* 2;\n", "E0100", ""},
	{"type as a function", "real middle = mean(x);", "int h = int(2.5); real middle = mean(x);", "E0100", ""},
	{"cast to real", "real middle = mean(x);", "real middle = real(2);", "E0100", ""},
	{"printf", "real middle = mean(x);", "printf(\"N\", N); real middle = mean(x);", "E0100", ""},
	{"stop", "real middle = mean(x);", "if (N < 1) stop(\"N\"); real middle = mean(x);", "E0100", ""},
	{"f-string", "real middle = mean(x);", "print(f\"{N}\"); real middle = mean(x);", "E0100", "print(\"N is \", N); real middle = mean(x);"},
	{"break outside a loop", "  if (N > 2)", "  break;\n  if (N > 2)", "E0408", "  if (N > 2)"},
	{"return outside a function", "  if (N > 2)", "  return;\n  if (N > 2)", "E0409", "  if (N > 2)"},
	{"return without value", "return 0.5 * square(z)", "return", "E0409", "return 0.5 * square(z)"},
	{"default value of a parameter", "half_square(real z)", "half_square(real z = 1)", "E0100", "half_square(real z)"},
	{"comma at the end of parameters", "half_square(real z)", "half_square(real z, )", "E0100", ""},
	{"array in a signature", "functions {\n", "functions {\n  real total(array real w) { return sum(w); }\n", "E0100", ""},
	{"comment of Matlab", "  real beta;", "  % the slope\n  real beta;", "E0106", ""},
	{"import", "  real beta;", "  import numpy\n  real beta;", "E0130", "  real beta;"},
	{"point in a name", "real alpha;", "real alpha;\n  real beta.2;", "E0100", ""},
	{"hyphen in a name", "real alpha;", "real alpha;\n  real beta-2;", "E0100", ""},
	{"type as a name", "real alpha;", "real alpha;\n  real vector;", "E0112", "real alpha;\n  real vector_;"},
	{"two types", "real alpha;", "real real alpha;", "E0112", "real alpha;"},
	{"names without comma", "real alpha;", "real alpha gamma;", "E0100", "real alpha, gamma;"},
	{"Greek letter", "y ~ normal(mu, sigma)", "y ~ normal(μ, sigma)", "E0105", ""},
	{"short name of a block", "parameters {\n  real alpha", "params {\n  real alpha", "E0113", ""},
	{"exponent without digits", "normal(0, 5)", "normal(0, 5e)", "E0109", "normal(0, 5)"},
	{"link of BUGS on the left", "mu[n] = alpha", "exp(mu[n]) = alpha", "E0126", "mu[n] = alpha"},
	{"logit on the left", "mu[n] = alpha + beta * (x[n] - middle) + u[g[n]];", "logit(mu[n]) = alpha;", "E0126", ""},
	{"module of Python", "return 0.5 * square(z)", "return 0.5 * np.square(z)", "E0105", ""},
	{"transpose of Python", "real worst = max(y)", "real worst = y.T * x", "E0105", ""},
	{"is.na", "if (N > 2)", "if (is.na(x[1]))", "E0105", ""},
	{"column of a data frame", "real middle = mean(x)", "real middle = mean(data$x)", "E0105", ""},
	{"index in two brackets", "u[g[n]]", "u[[g[n]]]", "E0306", ""},
	{"element before the first", "mu[n] = alpha", "mu[n - 1] = alpha", "W0304", "mu[n] = alpha"},
	{"loop from 0", "for (n in 1:N)", "for (n in 0:N-1)", "W0304", "for (n in 1:N)"},
	{"slice of Python", "real worst = max(y)", "real worst = max(y[0:N])", "W0304", "real worst = max(y[1:N])"},
	{"real size", "int<lower=1> N", "real N", "E0307", "int<lower=1> N"},
	{"declared without type", "vector[N] mu;", "mu[N];", "E0125", "vector[N] mu;"},
	{"undeclared container", "  real worst = max(y);\n", "  real worst = max(y);\n  for (n in 1:N) log_lik[n] = 0;\n", "E0201", "  real worst = max(y);\n  vector[N] log_lik;\n  for (n in 1:N) log_lik[n] = 0;\n"},
	{"two sizes of a covariance", "real alpha;", "real alpha;\n  cov_matrix[2, 2] S;", "E0131", "real alpha;\n  cov_matrix[2] S;"},
	{"vector as several arguments", "u ~ normal(0, 1)", "u ~ dirichlet(1, 1)", "E0302", ""},
	{"bool", "array[N] int<lower=0> k", "array[N] bool k", "E0130", ""},
	{"factor", "array[N] int<lower=1, upper=G> g", "factor[N] g", "E0130", "array[N] int<lower=1> g"},
	{"vector of integers", "array[N] int<lower=0> k", "vector<int>[N] k", "E0132", "array[N] int k"},
	{"int_vector", "array[N] int<lower=0> k", "int_vector[N] k", "E0130", "array[N] int k"},
	{"bound without =", "int<lower=1, upper=G> g", "int<lower=1, upper G> g", "E0100", ""},
	{"bracket in a bound", "real<lower=0> sigma", "real<lower=0)> sigma", "E0100", ""},
	{"statement ends with a comma", "alpha ~ normal(0, 5);", "alpha ~ normal(0, 5),", "E0100", ""},
	{"colon for a distribution", "alpha ~ normal(0, 5)", "alpha: normal(0, 5)", "E0100", ""},
	{"tilde with =", "alpha ~ normal(0, 5)", "alpha ~= normal(0, 5)", "E0100", ""},
	{"truncate", "sigma ~ exponential(1)", "sigma ~ exponential(1) truncate(0, )", "E0100", ""},
	{"density alone", "target += -half_square(rho)", "normal_lpdf(rho | 0, 1)", "E0309", ""},
	{"end", "    target += -half_square(rho);\n  }", "    target += -half_square(rho);\n  }\n  end", "E0100", ""},
	{"comment of SQL", "  real beta;", "  -- the slope\n  real beta;", "E0106", ""},
	{"sum of distributions", "beta ~ normal(0, 1)", "beta ~ normal(0, 1) + normal(0, 2)", "E0100", "beta ~ normal(0, 1)"},
	{"distribution in a declaration", "real beta;", "real beta ~ normal(0, 1);", "E0100", "real beta;"},
	{"print without parentheses", "real middle = mean(x);", "real middle = mean(x);\n  print \"here\";", "E0100", ""},
	{"lambda", "real middle = mean(x)", "real middle = mean(map(v -> v, x))", "E0100", "real middle = mean(x)"},
	{"suffix of a number", "~ normal(0, 5)", "~ normal(0, 5.0f)", "E0109", ""},
	{"integer of R", "~ normal(0, 5)", "~ normal(0, 5L)", "E0109", "~ normal(0, 5)"},
	{"exp for exponential", "~ exponential(1)", "~ exp(1)", "E0203", ""},
	{"logarithm to a base", "- log(2 * scale)", "- log(2 * scale, 10)", "E0302", "- log(2 * scale) / log(10)"},
	{"power without exponent", "square(z)", "pow(z)", "E0302", "pow(z, 2)"},
	{"rounding to decimals", "real worst = max(y)", "real worst = round(y[1], 2)", "E0302", "real worst = round(100 * y[1]) / 100"},
	{"argument too many", "half_square(rho)", "inv_logit(rho, 1)", "E0302", "inv_logit(rho)"},
	{"no argument", "half_square(rho)", "exp()", "E0302", "exp(rho)"},
	{"density with too few arguments", "target += -half_square(rho)", "target += normal_lpdf(rho | 0)", "E0302", "target += normal_lpdf(rho | 0, 1)"},
	{"own function with too few arguments", "half_square(rho)", "half_square()", "E0302", "half_square(rho)"},
	{"compared with NULL", "if (N > 2)", "if (N != NULL)", "E0201", ""},
	{"compared with NA", "if (N > 2)", "if (x[1] == NA)", "E0201", ""},
	{"compared with None, the other way round", "if (N > 2)", "if (None != x[1])", "E0201", ""},
	{"line of PyMC", "alpha ~ normal(0, 5);", "alpha = pm.Normal(\"alpha\", 0, 5);", "E0105", "alpha ~ normal(0, 5);"},
	{"line of NumPyro", "alpha ~ normal(0, 5);", "alpha = numpyro.sample(\"alpha\", dist.Normal(0, 5));", "E0105", "alpha ~ normal(0, 5);"},
	{"program of PyMC", right, "import pymc as pm\nwith pm.Model():\n    mu = pm.Normal(\"mu\", 0, 1)\n    y = pm.Normal(\"y\", mu, 1, observed=y)\n", "E0139", right},
	{"program of NumPyro", right, "def model(y=None):\n    mu = numpyro.sample('mu', dist.Normal(0, 1))\n    numpyro.sample('y', dist.Normal(mu, 1), obs=y)\n", "E0139", right},
	{"program of BUGS", right, "model {\n  for (i in 1:N) {\n    y[i] ~ dnorm(mu, tau)\n  }\n  mu ~ dnorm(0, 0.001)\n  sigma <- 1 / sqrt(tau)\n  tau ~ dgamma(0.01, 0.01)\n}\n", "E0139", right},
	{"program of R", right, "library(brms)\nfit <- brm(y ~ x, data = d)\n", "E0139", right},
	{"file cut off within a string", "real middle = mean(x);\n" + rightAfter, "print(\"middle", "E0108", "real middle = mean(x);\n" + rightAfter},
	{"file cut off within a statement", "  k ~ poisson_log(alpha);\n}\n" + rightEnd, "  k ~ poisson_l", "E0100", "  k ~ poisson_log(alpha);\n}\n" + rightEnd},
	{"elements of a matrix by a vector", "y ~ normal(mu, sigma)", "y ~ normal(identity_matrix(N) .* mu, sigma)", "E0304", "y ~ normal(identity_matrix(N) * mu, sigma)"},
}

var inData = []mistake{
	{"missing variable", "  \"x\": [0.5, 1.5, 2.5],\n", "", "E0601", "  \"x\": [0.5, 1.5, 2.5],\n"},
	{"misspelt variable", "\"k\"", "\"K\"", "E0601", "\"k\""},
	{"too few values", "[1.1, 2.2, 3.3]", "[1.1, 2.2]", "E0602", "[1.1, 2.2, 3.3]"},
	{"a number for an array", "[1.1, 2.2, 3.3]", "1.1", "E0602", "[1.1, 2.2, 3.3]"},
	{"an array for a number", "\"G\": 2", "\"G\": [2]", "E0602", "\"G\": 2"},
	{"fraction for an integer", "[0, 1, 4]", "[0, 1.5, 4]", "E0603", "[0, 1, 4]"},
	{"decimal point for an integer", "\"N\": 3", "\"N\": 3.0", "E0603", "\"N\": 3"},
	{"below the bound", "[0, 1, 4]", "[0, -1, 4]", "E0604", "[0, 1, 4]"},
	{"index from 0", "[1, 2, 2]", "[0, 1, 1]", "E0604", "[1, 2, 2]"},
	{"index beyond", "[1, 2, 2]", "[1, 2, 3]", "E0604", "[1, 2, 2]"},
	{"years as numbers", "\"G\": 2,\n  \"g\": [1, 2, 2]", "\"G\": 2,\n  \"g\": [2019, 2020, 2020]", "E0604", "\"g\": [\"y2019\", \"y2020\", \"y2020\"]"},
	{"string", "\"N\": 3", "\"N\": \"3\"", "E0617", "\"N\": 3"},
	{"missing value of R", "[0.5, ", "[NA, ", "E0617", "[0.5, "},
	{"missing value as string", "[0.5, ", "[\"NA\", ", "E0617", "[0.5, "},
	{"null", "[0.5, ", "[null, ", "E0617", "[0.5, "},
	{"true", "[0, 1, 4]", "[false, true, 4]", "E0617", "[0, 1, 4]"},
	{"comma at the end", "3.3]", "3.3,]", "E0617", "3.3]"},
	{"missing comma", "\"N\": 3,", "\"N\": 3", "E0617", "\"N\": 3,"},
	{"single quotes", "\"N\"", "'N'", "E0617", "\"N\""},
	{"no quotes", "\"N\"", "N", "E0617", "\"N\""},
	{"comment", "\"N\": 3,", "\"N\": 3, // number", "E0617", "\"N\": 3,"},
	{"given twice", "\"N\": 3,", "\"N\": 3, \"N\": 3,", "E0617", "\"N\": 3,"},
	{"rows of different length", "[1.1, 2.2, 3.3]", "[[1.1], [2.2, 3.3]]", "E0617", "[1.1, 2.2, 3.3]"},
	{"nested", "[1.1, 2.2, 3.3]", "[[1.1, 2.2, 3.3]]", "E0602", "[1.1, 2.2, 3.3]"},
	{"file cut off", "3.3],\n  \"k\": [0, 1, 4]\n}\n", "3.3", "E0617", "3.3],\n  \"k\": [0, 1, 4]\n}\n"},
	{"list of Python", "[1, 2, 2]", "(1, 2, 2)", "E0617", "[1, 2, 2]"},
}

// plainReplacement matches help that gives the exact text to write, which must come with an edit.
var plainReplacement = regexp.MustCompile("^(write `[^`…]*`|did you mean `[^`]*`\\?)$")

// TestMistakes makes each mistake, and follows the help of its first message literally: it applies
// the edits of all messages, or else the change in the table. The result must have no errors. The
// messages are stored in testdata/mistakes.txt for review.
func TestMistakes(t *testing.T) {
	var shown strings.Builder
	check := func(text string) diag.List { return compile.Check(source.NewFile("m.stan", text), compile.Options{}) }
	bind := func(data string) diag.List {
		m, err := model.Compile("m.stan", right)
		if err == nil {
			_, err = m.Bind(model.JSON(data))
		}
		if list := model.Diagnostics(err); err == nil || list != nil {
			return list
		}
		return diag.List{diag.Errorf("", source.Span{}, "%v", err)}
	}
	for _, kind := range []struct {
		name, text string
		list       []mistake
		check      func(string) diag.List
	}{{"model", right, inModels, check}, {"data", rightData, inData, bind}} {
		if list := kind.check(kind.text); len(list) > 0 {
			t.Fatalf("the right %s gives %s", kind.name, list[0])
		}
		for _, m := range kind.list {
			t.Run(kind.name+"/"+m.name, func(t *testing.T) {
				if n := strings.Count(kind.text, m.old); n != 1 {
					t.Fatalf("%q is %d times in the right %s", m.old, n, kind.name)
				}
				at := strings.Index(kind.text, m.old)
				before, after := kind.text[:at], kind.text[at+len(m.old):]
				list := kind.check(before + m.new + after)
				shown.WriteString("======== " + kind.name + ": " + m.name + "\n")
				diag.Render(&shown, list, diag.Options{})
				if len(list) == 0 {
					t.Fatal("no message")
				}
				for _, d := range list {
					if !d.Span.IsValid() || d.Code == "" {
						t.Errorf("without a place or a code: %s", d)
					}
					if plainReplacement.MatchString(d.Fix) && len(d.Edits) == 0 && kind.name == "model" {
						t.Errorf("no edit for the help %q", d.Fix)
					}
				}
				if list[0].Code != diag.Code(m.code) {
					t.Errorf("code %s, want %s", list[0].Code, m.code)
				}
				if len(list) > 2 {
					t.Errorf("%d messages for one mistake", len(list))
				}
				if list[0].Fix == "" {
					t.Error("no help")
				}
				fixed := before + m.then + after
				if m.then == "" {
					fixed = applied(before+m.new+after, list)
					if fixed == before+m.new+after {
						t.Fatal("no edit, and nothing to write instead")
					}
				} else if len(list[0].Edits) > 0 && list[0].Severity == diag.Error {
					t.Errorf("the message has an edit, which is what must be tested: %q", list[0].Edits[0].Text)
				}
				if left := kind.check(fixed); left.HasErrors() {
					t.Errorf("following the help gives %s\n%s", left[0], fixed)
				}
			})
		}
	}
	const file = "testdata/mistakes.txt"
	if *update {
		if err := os.WriteFile(file, []byte(shown.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != shown.String() {
		t.Errorf("the messages are not those of %s (%v): go test ./model -run TestMistakes -update, and read what changed", file, err)
	}
}

// applied returns a text after the edits of all diagnostics.
func applied(text string, list diag.List) string {
	var edits []diag.Edit
	for _, d := range list {
		edits = append(edits, d.Edits...)
	}
	slices.SortStableFunc(edits, func(a, b diag.Edit) int { return b.Span.Start - a.Span.Start })
	for _, e := range edits {
		text = text[:e.Span.Start] + e.Text + text[e.Span.End:]
	}
	return text
}
