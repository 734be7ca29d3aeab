package proggen

// discreteTemplates are templates for hidden states, dynamic programming, mixtures, censoring, and
// distributions with atoms.
var discreteTemplates = []template{
	{name: "forward algorithm", text: `
array[@N] vector[@K] $g;
for ($t in 1:@N) {
  @nojumps
  for ($k in 1:@K) {
    @nojumps
    if ($t == 1) {
      $g[1][$k] = @{-log(@K)|@e};
    } else {
      vector[@K] $acc;
      for ($j in 1:@K) {
        $acc[$j] = $g[$t - 1][$j] + @{Z@K@K[$j, $k]|0.3 * @e};
      }
      $g[$t][$k] = log_sum_exp($acc);
    }
    @{if (@o) |}$g[$t][$k] += normal_lpdf(y@N[$t] | z@K[$k], @+);
  }
  @S
}
if (@N > 0 && @K > 0) @T{log_sum_exp($g[@N])}`},
	{name: "forward algorithm, one vector", text: `
vector[@K] $l = rep_vector(-1, @K);
for ($t in 1:@N) {
  vector[@K] $n;
  for ($k in 1:@K) {
    $n[$k] = @{log_sum_exp($l + Z@K@K[, $k])|log_sum_exp($l) + 0.2 * z@K[$k]};
    if (@o) $n[$k] += @e;
  }
  @S
  $l = $n - @{0|mean($n)|max($n)};
  @?{@T{$n[1]}}
}
if (@K > 0) @T{log_sum_exp($l)}`},
	{name: "forward with resets", text: `
vector[2] $l = rep_vector(log(0.5), 2);
for ($n in 1:@N) {
  if (@{$n == 1|c@N[$n] == 0|$n == 1 || g@N@K[$n] != g@N@K[$n - 1]}) {
    $l = [log(pr), log1m(pr)]';
  } else {
    real $u = log_sum_exp($l[1] + log(0.9), $l[2] + log(0.2));
    $l[2] = log_sum_exp($l[1] + log(0.1), $l[2] + log(0.8));
    $l[1] = $u;
  }
  @S
  if (@o) {
    $l[1] += normal_lpdf(y@N[$n] | a, 1);
    $l[2] += normal_lpdf(y@N[$n] | b[2], @+);
  }
  @?{if ($n == @N) @T{log_sum_exp($l)}}
}
@T{log_sum_exp($l)}`},
	{name: "Viterbi", text: `
array[@N, @K] real $best;
for ($t in 1:@N) {
  @nojumps
  for ($k in 1:@K) {
    @nojumps
    $best[$t, $k] = negative_infinity();
    if ($t == 1) {
      $best[$t, $k] = @e;
    } else {
      for ($j in 1:@K) {
        real $l = $best[$t - 1, $j] @{+ 0.1 * @e|+ Z@K@K[$j, $k]};
        if ($l > $best[$t, $k]) $best[$t, $k] = $l;
      }
    }
    @?{$best[$t, $k] += X@N@K[$t, $k];}
  }
}
if (@N > 0 && @K > 0) @T{max($best[@N])}`},
	{name: "table by rows and columns", text: `
matrix[@N + 1, @K + 1] $d;
for ($i in 0:@N) {
  $d[$i + 1, 1] = 0.3 * $i;
}
for ($j in 0:@K) {
  $d[1, $j + 1] = 0.3 * $j;
}
for ($n in 1:@N) {
  for ($k in 1:@K) {
    real $c = @{O@N@K[$n, $k]|X@N@K[$n, $k]|@e};
    @S
    $d[$n + 1, $k + 1] = @{fmin(fmin($d[$n, $k + 1] + sg, $d[$n + 1, $k] + 0.5), $d[$n, $k] + $c)|-log_sum_exp([-$d[$n, $k + 1], -$d[$n + 1, $k] - a, -$d[$n, $k] - tanh($c)])|0.3 * ($d[$n, $k + 1] + $d[$n + 1, $k]) + tanh($c)};
  }
}
@T{$d[@N + 1, @K + 1]}`},
	{name: "table in three dimensions", text: `
array[@N + 1, @K + 1, 3] real $d;
for ($i in 1:(@N + 1)) {
  for ($j in 1:(@K + 1)) {
    for ($k in 1:3) {
      real $x = @{b[$k]|0.1 * $k + @e};
      if ($i > 1) $x += 0.3 * $d[$i - 1, $j, $k];
      @{if ($j > 1 && $i > 1) $x += 0.2 * $d[$i - 1, $j - 1, 4 - $k];|if ($k > 1) $x -= 0.3 * $d[$i, $j, $k - 1];}
      @?{if ($j > 1 && ($i % 2 == 0 || $k == 1)) $x += 0.2 * $d[$i, $j - 1, $k];}
      $d[$i, $j, $k] = $x;
    }
  }
}
@{@T{$d[@N + 1, @K + 1, 3]}|for ($k in 1:3) @+={$d[@N + 1, @K + 1, $k]}}`},
	{name: "counts by recursion", text: `
vector[@K + 1] $p = rep_vector(0, @K + 1);
$p[1] = 1;
for ($n in 1:@N) {
  real $q = @p;
  @?{if (!o@N[$n]) continue;}
  for ($r in 1:@K) {
    int $k = @K + 2 - $r;
    $p[$k] = $p[$k] * (1 - $q) + $p[$k - 1] * $q;
  }
  $p[1] *= 1 - $q;
  @S
}
@T{log(@{$p[1]|$p[1 + @K % 2]} + 0.01)}`},
	{name: "mixture", text: `
for ($n in 1:@N) {
  vector[@K] $l@{ = log(w@K + 0.01)|};
  for ($k in 1:@K) {
    $l[$k] = @{log(w@K[$k])|0.2 * z@K[$k]} + normal_lpdf(y@N[$n] | z@K[$k], @+);
    @?{if (@o) $l[$k] += @e;}
  }
  @S
  @{if (@K > 0) |if (@K > 0 && o@N[$n]) }@T{log_sum_exp($l)}
}`},
	{name: "mixture of two", text: `
for ($n in 1:@N) {
  @{if (@o) continue;|}
  @+={log_mix(@p, normal_lpdf(y@N[$n] | a, @+), normal_lpdf(y@N[$n] | @e, 2))}
  @S
}`},
	{name: "occupancy", text: `
for ($j in 1:@K) {
  int $seen = 0;
  real $l = 0;
  for ($n in 1:@N) {
    $seen += O@K@N[$j, $n];
    $l += bernoulli_logit_lpmf(O@K@N[$j, $n] | @e);
    @S
  }
  if ($seen > 0) {
    @+={log(pr) + $l}
  } else {
    @+={log_sum_exp(log(pr) + $l, log1m(pr))}
  }
}`},
	{name: "zero-inflated", text: `
for ($n in 1:@N) {
  if (c@N[$n] == 0) {
    @+={log_sum_exp(bernoulli_lpmf(1 | @p), bernoulli_lpmf(0 | @p) + poisson_lpmf(c@N[$n] | exp(tanh(@e))))}
  } else {
    @+={bernoulli_lpmf(0 | @p) + poisson_lpmf(c@N[$n] | exp(tanh(@e)))}
  }
  @S
}`},
	{name: "zero-inflated, a function", funcs: `
real $f(int y, real mu, real zi) {
  if (y == 0) {
    return log_sum_exp(bernoulli_lpmf(1 | zi), bernoulli_lpmf(0 | zi) + poisson_lpmf(0 | mu));
  } else {
    return bernoulli_lpmf(0 | zi) + poisson_lpmf(y | mu);
  }
}`, text: `
for ($n in 1:@N) {
  @S
  @{if (@o) |}@+={$f(c@N[$n], exp(tanh(@e)), @p)}
}`},
	{name: "hurdle gamma, a function", funcs: `
real $f(real y, real shape, real rate, real hu) {
  if (y == 0) {
    return bernoulli_lpmf(1 | hu);
  } else {
    return bernoulli_lpmf(0 | hu) + gamma_lpdf(y | shape, rate);
  }
}`, text: `
for ($n in 1:@N) {
  @{if (@o) |}@+={$f(c@N[$n] @{|* 0.5}, sg, @+, @p)}
  @S
}`},
	{name: "zero-one-inflated beta, a function", funcs: `
real $f(real y, real mu, real phi, real zoi, real coi) {
  row_vector[2] shape = [mu * phi, (1 - mu) * phi];
  if (y == 0) {
    return bernoulli_lpmf(1 | zoi) + bernoulli_lpmf(0 | coi);
  } else if (y == 1) {
    return bernoulli_lpmf(1 | zoi) + bernoulli_lpmf(1 | coi);
  } else {
    return bernoulli_lpmf(0 | zoi) + beta_lpdf(y | shape[1], shape[2]);
  }
}`, text: `
for ($n in 1:@N) {
  @+={$f(c@N[$n] / 5.0, @p, 0.5 + sg, @p, pr)}
  @S
}`},
	{name: "zero-inflated beta, a function", funcs: `
real $f(real y, real mu, real phi, real zi) {
  if (y == 0) {
    return bernoulli_lpmf(1 | zi);
  } else {
    return bernoulli_lpmf(0 | zi) + beta_lpdf(y | mu * phi, (1 - mu) * phi);
  }
}`, text: `
for ($n in 1:@N) {
  @+={$f(fmin(c@N[$n] * 0.19, 0.95), @p, 0.5 + sg, @p)}
  @S
}`},
	{name: "hurdle in place", text: `
for ($n in 1:@N) {
  @S
  if (c@N[$n] == 0) {
    @+={log(@p)}
    continue;
  }
  @+={log1m(pr) + poisson_lpmf(c@N[$n] | exp(tanh(@e))) - log1m_exp(-exp(tanh(a)))}
}`},
	{name: "censored by data", text: `
for ($n in 1:@N) {
  real $m = @e;
  @S
  if (c@N[$n] == 1) {
    @+={normal_lccdf(y@N[$n] | $m, @+)}
  } else if (c@N[$n] == 2) {
    @+={normal_lcdf(y@N[$n] | $m, sg)}
  } else if (c@N[$n] == 3) {
    @+={log_diff_exp(normal_lcdf(y@N[$n] + 1 | $m, 1), normal_lcdf(y@N[$n] | $m, 1))}
  } else {
    @+={normal_lpdf(y@N[$n] | $m, @+)}
  }
}`},
	{name: "interval that may be empty", text: `
for ($n in 1:@N) {
  real $lo = @{0.3 * c@N[$n]|normal_lcdf(0 | a, 1)};
  real $hi = @{$lo + o@N[$n]|$lo + 0.5 * o@N[$n]};
  if (@{o@N[$n]|$hi > $lo}) @T{log_diff_exp($hi, $lo)}
  @S
}`},
	{name: "delays, a function that returns early", funcs: `
real $f(real d, real m, real s) {
  if (d <= 0) return @{0|0.1 * m};
  @?{if (d > 4) return @e;}
  else return lognormal_lcdf(d | m, s);
}`, text: `
for ($d in 0:@{6|@N}) {
  @S
  @T{$f($d, @e, @+)}
}`},
	{name: "prior chosen by a number", funcs: `
real $f(real x, int k, real s) {
  if (k == 0) return 0;
  if (k == 1) return normal_lpdf(x | 0, s);
  if (k == 2) return student_t_lpdf(x | 4, 0, s);
  if (k == 3) return x > 0 ? gamma_lpdf(x | 2, s) : -1;
  return @{cauchy_lpdf(x | 0, s)|-square(x)};
}`, text: `
for ($n in 1:@N) {
  @{|if (@o) }@+={$f(z@N[$n], c@N[$n], @+)}
  @S
}`},
	{name: "ordered categories", text: `
for ($n in 1:@N) {
  real $m = @e;
  @S
  int $k = 1 + c@N[$n] % 3;
  @+={@{ordered_logistic_lpmf($k | $m, [-1, 0.5]')|categorical_logit_lpmf($k | [$m, 0, a]')}}
}`},
	{name: "stopping continuation", text: `
for ($n in 1:@N) {
  for ($k in 1:c@N[$n]) {
    @S
    if ($k == c@N[$n]) {
      @+={log_inv_logit(@e - 0.1 * $k)}
      @{break;|}
    } else {
      @+={log1m_inv_logit(@e)}
    }
  }
}`},
	{name: "guess or know", text: `
for ($j in 1:@K) {
  for ($n in 1:@N) {
    real $p = 0.2 + 0.8 * inv_logit(z@K[$j] - z@N[$n]);
    if (@{O@K@N[$j, $n] == 1|@c}) {
      @T{log($p)}
    } else {
      @+={log1m($p)}
    }
    @S
  }
}`},
	{name: "knowledge traced", text: `
real $k = @p;
for ($n in 1:@N) {
  if (@{$n > 1 && g@N@K[$n] != g@N@K[$n - 1]|$n == 1}) $k = pr;
  real $c = $k * 0.9 + (1 - $k) * 0.2;
  @+={bernoulli_lpmf(o@N[$n] | $c)}
  real $q = o@N[$n] ? $k * 0.9 / $c : $k * 0.1 / (1 - $c);
  @S
  $k = 0.9 * ($q + (1 - $q) * @p);
}`},
}
