package proggen

// seriesTemplates are templates for time series, filters and difference equations.
var seriesTemplates = []template{
	{name: "local level, missing rows", text: `
real $s = @e;
for ($n in 1:@N) {
  real $m = @{@#|ph|0.5} * $s;
  @S
  $s = $m + @e;
  @{if (@o) @T{$m}|if (@o) @T{@d - $m}|@T{$m}|if (@c) @+={-square($m)}}
  @S
}
@?{@T{$s}}`},
	{name: "copied state read under a mask", text: `
real $p = @e;
for ($n in 1:@N) {
  real $q = $p;
  @S
  if (@o) @T{$q}
  $p = @{0.5|@e|0.6 * $p + @e};
}`},
	{name: "state updated where observed", text: `
real $s = @e;
real $v = 1;
for ($n in 1:@N) {
  real $k = $v / ($v + @+);
  @S
  if (@o) {
    real $r = @d - $s;
    @T{-0.5 * square($r) / ($v + 1)}
    $s += $k * $r;
    $v *= 1 - $k;
  }
  $v = 0.8 * $v + 0.3;
}`},
	{name: "autoregression with lags", text: `
for ($n in @{2|3}:@N) {
  real $m = a + ph * y@N[$n - 1];
  @S
  @?{if ($n > 2) $m += 0.2 * y@N[$n - 2];}
  @?{if (@o) continue;}
  @T{y@N[$n] - $m}
}`},
	{name: "moving average errors", text: `
vector[@N] $e = rep_vector(0, @N);
for ($n in 1:@N) {
  real $m = @e;
  @S
  if ($n > 1) $m += ph * $e[$n - 1];
  @?{if ($n > 2) $m += 0.2 * $e[$n - 2];}
  $e[$n] = @{y@N[$n] - $m|o@N[$n] ? y@N[$n] - $m : 0};
  @T{$e[$n]}
}
@?{@T{sum($e)}}`},
	{name: "garch", text: `
real $v = @+;
for ($n in 1:@N) {
  @?{if ($n > 1 && g@N@K[$n] != g@N@K[$n - 1]) $v = 1;}
  @S
  @{if (@o) @T{normal_lpdf(y@N[$n] | 0, sqrt($v))}|@T{normal_lpdf(y@N[$n] | @e, sqrt($v))}}
  $v = 0.2 + @{pr|0.3} * square(y@N[$n]) + 0.5 * $v;
  @S
}`},
	{name: "garch, variances in a vector", text: `
vector[@N] $v;
for ($n in 1:@N) {
  @nojumps
  $v[$n] = $n == 1 ? @+ : 0.1 + 0.3 * square(y@N[$n - 1] @?{- @e}) + 0.6 * $v[$n - 1];
  @S
}
@ready $v
@{@T{sum($v)}|}
for ($i in 1:@N) {
  @S
  @{if (@o) @T{normal_lpdf(y@N[$i] | 0, sqrt($v[$i]))}|@T{$v[$i]}}
}`},
	{name: "exponential smoothing", text: `
real $l = @e;
real $b = @?{0.1 * }a;
for ($n in 1:@N) {
  real $f = $l + @?{ph * }$b;
  @{if (@o) @T{y@N[$n] - $f}|@T{y@N[$n] - $f}|if (!o@N[$n]) continue;}
  @S
  real $e = y@N[$n] - $f;
  $l = $f + pr * $e;
  $b = 0.9 * $b + 0.1 * $e;
}
@?{@T{$l}}`},
	{name: "seasonal smoothing", text: `
vector[4] $s = rep_vector(@e, 4);
for ($n in 1:@N) {
  int $k = ($n - 1) % 4 + 1;
  real $f = $s[$k];
  @S
  if (@o) @T{y@N[$n] - $f}
  $s[$k] = 0.5 * $f + @e;
}
@?{@T{sum($s)}}`},
	{name: "states per subject, reset", text: `
real $s = 0;
for ($n in 1:@N) {
  if ($n == 1 || g@N@K[$n] != g@N@K[$n - 1]) $s = @e;
  @S
  @{real $m = $s;|real $m = ph * $s;|real $m;}
  @{if (!o@N[$n]) continue;|}
  $m = 0.5 * $s + @e;
  @T{$m}
  $s = $m;
}`},
	{name: "states with gaps", text: `
real $s = @e;
for ($n in 1:@N) {
  for ($k in 1:c@N[$n]) {
    $s = ph * $s @?{+ 0.1 * @e};
    @S
  }
  @S
  if (@c) @T{$s}
}`},
	{name: "states with gaps as a power", text: `
real $s = @e;
for ($n in 1:@N) {
  real $d = pow(@{0.6|pr|inv_logit(a)}, c@N[$n]);
  $s = $d * $s + (1 - $d) * @e;
  if (@{c@N[$n] > 0|@c}) @T{$s}
}`},
	{name: "reinforcement learning", text: `
vector[@K + 2] $v = rep_vector(0, @K + 2);
for ($n in 1:@N) {
  real $e;
  @{if (!o@N[$n]) continue;|if (@c) continue;}
  $e = y@N[$n] - $v[g@N@K[$n]];
  @T{$v[g@N@K[$n]]}
  $v[g@N@K[$n]] += pr * $e;
  @S
}`},
	{name: "two choices learnt", text: `
vector[2] $v = rep_vector(@e, 2);
for ($n in 1:@N) {
  real $pe;
  if (c@N[$n] == 0) {
    continue;
  }
  @+={bernoulli_logit_lpmf(o@N[$n] | sg * ($v[1] - $v[2]))}
  $pe = y@N[$n] - $v[o@N[$n] + 1];
  @S
  $v[o@N[$n] + 1] += pr * $pe;
  @?{$v[2 - o@N[$n]] *= 0.9;}
}`},
	{name: "subjects with their own series", text: `
for ($j in 1:@K) {
  real $s = @e;
  @S
  for ($n in 1:@N) {
    real $m = @{ph|0.7} * $s;
    @S
    $s = $m + X@K@N[$j, $n];
    @{if (O@K@N[$j, $n]) @T{$m}|@T{$m}|if (O@K@N[$j, $n] == 0) continue;}
    @?{@T{$s}}
  }
  @?{@T{$s}}
}`},
	{name: "subjects, vector of states", text: `
vector[@K] $s = rep_vector(0, @K);
for ($n in 1:@N) {
  @S
  for ($k in 1:@K) {
    real $p = $s[$k];
    $s[$k] = 0.5 * $p + @e;
    @{if (O@N@K[$n, $k]) @T{$p}|if (@c) @T{$s[$k] - $p}|@T{$p}}
    @S
  }
}
@?{@T{sum($s)}}`},
	{name: "table of states", text: `
matrix[@N, @K] $m = rep_matrix(0, @N, @K);
for ($n in 1:@N) {
  for ($k in 1:@K) {
    @S
    if ($n == 1) {
      $m[$n, $k] = @e;
    } else @{if ($k == 1 || @o) |if (@o) }{
      $m[$n, $k] = 0.5 * $m[$n - 1, $k] + @e;
    } else {
      $m[$n, $k] = 0.3 * $m[$n, max($k - 1, 1)] @{- @e|+ 0.2 * $m[$n - 1, $k]};
    }
  }
}
for ($i in 1:@N) {
  for ($j in 1:@K) {
    if (@c) @T{$m[$i, $j]}
  }
}`},
	{name: "difference equation, two states", text: `
real $x = 0.5;
real $y = @e;
for ($n in 1:@N) {
  real $u = $x + 0.1 * (pr * $x - 0.2 * $x * tanh($y));
  @S
  real $w = $y + 0.1 * (tanh($x) - @e);
  $x = @{tanh($u)|0.9 * $u};
  @?{if (@o) @T{$x}}
  $y = @{tanh($w)|0.9 * $w};
  @{if (@o) @T{$y - @d}|@T{$x}}
}`},
	{name: "compartments with doses", text: `
vector[2] $c = rep_vector(0, 2);
for ($n in 1:@N) {
  vector[2] $d;
  if (c@N[$n] > 2) $c[1] += y@N[$n];
  @S
  $d[1] = -0.3 * $c[1];
  $d[2] = 0.3 * $c[1] - pr * $c[2];
  $c += @{0.5|0.1 * c@N[$n]} * $d;
  if (@o) @T{$c[2]}
}`},
	{name: "epidemic with delays", text: `
vector[@N] $i;
for ($n in 1:@N) {
  @nojumps
  real $f = 0;
  if ($n == 1) {
    $i[$n] = 1 + @+;
  } else {
    for ($d in 1:min($n - 1, 4)) {
      $f += $i[$n - $d] * @{0.2|exp(-$d)|(pr / $d)};
    }
    $i[$n] = @{1 + 0.5 * tanh($f)|log1p_exp($f)};
  }
  @S
}
@ready $i
for ($t in 1:@N) {
  @{if (@o) |}@+={poisson_lpmf(c@N[$t] | $i[$t] + 0.1)}
}`},
	{name: "convolution", text: `
for ($n in 1:@N) {
  real $s = 0;
  for ($k in 1:@{min($n, 3)|$n}) {
    @S
    $s += x@N[$n - $k + 1] * @{pow(pr, $k)|0.1|inv($k)};
  }
  @{if (@o) |}@T{$s}
}`},
	{name: "random walk in a vector", text: `
vector[@N] $v;
if (@N > 0) {
  @nojumps
  $v[1] = @e;
  for ($n in 2:@N) {
    @nojumps
    $v[$n] = @{$v[$n - 1] + 0.1 * @e|0.8 * $v[$n - 1] + @e|o@N[$n] ? $v[$n - 1] : @e};
    @S
  }
}
@ready $v
@{@T{sum($v)}|@T{dot_self($v) / (@N + 1)}}
@S`},
	{name: "backwards", text: `
vector[@N] $v;
for ($i in 1:@N) {
  @nojumps
  int $k = @N - $i + 1;
  @index $k N
  if ($k == @N) {
    $v[$k] = @e;
  } else {
    $v[$k] = @{0.5|pr|inv_logit(x@N[$k])} * $v[$k + 1] @{+ @e|* (o@N[$k] ? 1 : 0.5)};
  }
  @S
}
@ready $v
for ($n in 1:@N) {
  @{if (@o) |}@T{$v[$n]}
}`},
	{name: "survival backwards", text: `
vector[@N] $chi;
if (@N > 0) {
  @nojumps
  $chi[@N] = 1;
  for ($t in 1:(@N - 1)) {
    @nojumps
    int $c = @N - $t;
    $chi[$c] = (1 - pr) + pr * (1 - inv_logit(@{z@N[$c]|z@N[$c + 1]|a})) * $chi[$c + 1];
    @?{if (o@N[$c]) $chi[$c] = 1;}
  }
}
@ready $chi
for ($j in 1:@K) {
  if (@N > 0) {
    int $last = min(@N, 1 + c@K[$j]);
    for ($t in 2:$last) {
      @S
      @+={bernoulli_lpmf(o@K[$j] | 0.1 + 0.8 * pr)}
    }
    @{if (@c) |}@+={log($chi[$last])}
  }
}`},
	{name: "capture and recapture", text: `
for ($j in 1:@K) {
  int $first = 0;
  int $last = 0;
  for ($t in 1:@N) {
    if (O@K@N[$j, $t] == 1) {
      if ($first == 0) $first = $t;
      $last = $t;
    }
  }
  if ($first > 0) {
    for ($t in ($first + 1):$last) {
      @+={log(@p)}
      @S
      @+={bernoulli_lpmf(O@K@N[$j, $t] | @p)}
    }
    real $c = 1;
    for ($k in ($last + 1):@N) {
      $c = 1 - pr + pr * 0.5 * $c;
    }
    @+={log($c)}
  }
}`},
	{name: "change point, marginalised", text: `
vector[@N] $lp = rep_vector(0, @N);
for ($s in 1:@N) {
  for ($n in 1:@N) {
    $lp[$s] += normal_lpdf(y@N[$n] | $n < $s ? @{a|@e} : @{b[1]|@e}, sg);
    @S
  }
}
if (@N > 0) @T{log_sum_exp($lp)}`},
	{name: "change point by a running sum", text: `
vector[@N + 1] $e;
vector[@N + 1] $l;
$e[1] = 0;
$l[1] = 0;
for ($n in 1:@N) {
  $e[$n + 1] = $e[$n] + poisson_lpmf(c@N[$n] | @+);
  $l[$n + 1] = $l[$n] + poisson_lpmf(c@N[$n] | sg + 0.5);
  @S
}
@T{log_sum_exp(rep_vector($l[@N + 1], @N) + head($e, @N) - head($l, @N))}`},
	{name: "cumulated hazard", text: `
real $h = 0;
for ($n in 1:@N) {
  $h += exp(0.3 * tanh(@e)) * 0.1;
  @S
  if (@{o@N[$n]|@c}) {
    @T{log($h + 0.01) - $h}
    @?{$h = 0;}
    @?{break;}
  }
}
@?{@T{-$h}}`},
	{name: "while over a state", text: `
int $t = 1;
real $s = @e;
while ($t <= @N@?{ && (@o)}) {
  $t += @{1|1|1 + $t % 2}; // step
  $s = 0.5 * $s + @e;
  @S
  @T{$s}
}`},
	{name: "Kalman filter of two", text: `
vector[2] $m = [a, 0]';
matrix[2, 2] $p = [[1, 0.1], [0.1, 1]];
for ($n in 1:@N) {
  $m = [[0.8, ph], [0, 0.5]] * $m;
  @S
  if (o@N[$n] == 1) {
    real $f = $p[1, 1] + square(sg) + 0.1;
    vector[2] $k = $p[, 1] / $f;
    @+={normal_lpdf(y@N[$n] | $m[1], sqrt($f))}
    $m += $k * (y@N[$n] - $m[1]);
    $p -= $k * $p[1];
  }
  $p = 0.8 * $p + [[0.2, 0], [0, 0.2]];
}`},
	{name: "kept lags shifted", text: `
vector[3] $h = rep_vector(0, 3);
for ($n in 1:@N) {
  real $m = dot_product($h, b);
  @S
  @{if (@o) |}@T{$m}
  $h[2:3] = $h[1:2];
  $h[1] = tanh(@e);
}`},
	{name: "two buffers", text: `
vector[@K] $p = z@K;
vector[@K] $c = @{z@K|rep_vector(0, @K)};
for ($n in 1:@N) {
  for ($k in 1:@K) {
    $c[$k] = 0.5 * $p[@{$k|@K - $k + 1|max($k - 1, 1)}] + @e;
    @S
  }
  @{if (@o) @T{sum($p)}|if (@o) @T{sum($c) - sum($p)}|}
  @{|if (@o) }$p = $c;
}
@T{sum($p)}`},
	{name: "vector copied, updated, copy read", text: `
vector[@K] $s = @{z@K|rep_vector(@e, @K)};
for ($n in 1:@N) {
  vector[@K] $q = $s;
  @S
  $s = @{0.5 * $q + z@K|tanh($q)|X@N@K[$n]' + 0.3 * $q};
  @?{if (@o) $s[1:@K] = 0.5 * $q[1:@K];}
  @{if (@o) @+={sum($q)}|if (@o) @T{dot_product($q, z@K)}|for ($k in 1:@K) if (O@N@K[$n, $k]) @+={$q[$k]}}
}`},
	{name: "one state, two loops", text: `
real $s = @e;
for ($n in 1:@N) {
  $s = 0.5 * $s + @e;
  @{if (@o) |}@T{$s}
  @S
}
@S
for ($k in 1:@K) {
  real $q = $s;
  $s = ph * $s + @e;
  @{if (@o) |}@T{$q}
}
@T{$s}`},
	{name: "state passed through a function", funcs: `
real $f(real s, real x) {
  real r = 0.5 * s;
  if (x > @#) r += 0.1 * x;
  @{else return s;|}
  return tanh(r + x);
}`, text: `
real $s = @e;
for ($n in 1:@N) {
  real $q = $s;
  $s = $f($s, @e);
  @{if (@o) @T{$q}|if (@o) @T{$s - $q}|@T{$s}}
  @S
}`},
	{name: "terms in a function that adds", kinds: "t", funcs: `
void $f_lp(real x, int o, real s) {
  if (o == 0) return;
  target += normal_lpdf(x | @e, 1 + square(s));
  @?{if (s > @#) target += -s;}
}`, text: `
real $s = @e;
for ($n in 1:@N) {
  @{|if (@o) }$f_lp(y@N[$n], o@N[$n], $s);
  $s = 0.5 * $s + @e;
  @S
}`},
	{name: "two statements in turn", text: `
real $u = @e;
real $v = @e;
for ($n in 1:@N) {
  real $w = $u;
  $u = 0.5 * $v + @e;
  @S
  $v = @{0.5 * $w|tanh($w)};
  if (@o) @T{$u - $w}
  if (@c) $u = @{$w|$v|0.3};
}
@T{$u + $v}`},
}
