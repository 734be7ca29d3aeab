// Variants of a page are shown to visitors, of whom some buy. How likely is each
// variant the best?
data {
  int<lower=1> K;                             // variants; the first is what there was
  array[K] int<lower=0> visitors;
  array[K] int<lower=0> buyers;
  real<lower=0> a;                            // prior of the rates: Beta(a, b)
  real<lower=0> b;
}
parameters {
  vector<lower=0, upper=1>[K] rate;
}
model {
  rate ~ beta(a, b);
  buyers ~ binomial(visitors, rate);
}
generated quantities {
  vector[K] loss = max(rate) - rate;          // of choosing a variant that is not the best
  vector[K] lift = rate / rate[1] - 1;        // over the first
  array[K] int best = rep_array(0, K);
  for (k in 1:K) {
    best[k] = loss[k] == 0;
  }
}
