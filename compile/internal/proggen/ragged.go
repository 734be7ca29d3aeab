package proggen

// raggedTemplates run over parts of data, with running positions, at other
// offsets, scattered and gathered.
var raggedTemplates = []template{
	{name: "running position", text: `
int $pos = 1;
for ($j in 1:@K) {
  real $s = @e;
  @S
  for ($i in $pos:($pos + l@K@N[$j] - 1)) {
    @{$s += y@N[$i] * ph|@+={normal_lpdf(y@N[$i] | z@K[$j], sg)}|$s = 0.5 * $s + z@N[$i]};
    @{if (@o) @T{$s}|}
    @S
  }
  @T{$s}
  $pos += l@K@N[$j];
}`},
	{name: "running position, segments", text: `
int $pos = 1;
for ($j in 1:@K) {
  @{if (l@K@N[$j] == 0) continue;|}
  @{if (l@K@N[$j] > 0) @+={normal_lpdf(segment(y@N, $pos, l@K@N[$j]) | @e, sg)}|if (l@K@N[$j] > 0) @+={sum(segment(z@N, $pos, l@K@N[$j]) * x@K[$j])}|if (l@K@N[$j] > 0) @+={log_sum_exp(z@N[$pos:($pos + l@K@N[$j] - 1)])}}
  @S
  $pos += l@K@N[$j];
}`},
	{name: "running counter", text: `
int $i = 0;
for ($j in 1:@K) {
  @?{if (@o) continue;}
  for ($k in 1:l@K@N[$j]) {
    $i += 1;
    @{if (@o) continue;|if (@o) break;|}
    @S
    @+={@{z|y}@N[$i]}
  }
}`},
	{name: "counter after a break", text: `
int $i = 0;
for ($k in 1:@K) {
  for ($q in 1:@M) {
    @{if (@c) break;|if (0.5 < z@K[$k]) break;|if (@o) continue;}
    @S
  }
  for ($j in 1:l@K@N[$k]) {
    $i += 1;
    @+={@{z|y}@N[$i]}
  }
}`},
	{name: "counter of observed rows", text: `
int $i = 0;
for ($n in 1:@N) {
  if (@{o@N[$n]|@o}) {
    @nojumps
    $i += 1;
    @{@+={z@N[$i] * y@N[$n]}|@T{z@N[$i]}|@+={normal_lpdf(y@N[$n] | z@N[$i], sg)}}
    @S
  }
  @S
}`},
	{name: "missing values are parameters", text: `
int $i = 1;
vector[@N] $v = @{y@N|x@N};
for ($n in 1:@N) {
  if (o@N[$n] == 0) {
    $v[$n] = z@N[$i];
    $i += 1;
  }
}
for ($t in @{1|2}:@N) {
  @T{$v[$t] - @e}
  @S
}`},
	{name: "slice at an offset", text: `
vector[@N] $v = rep_vector(@e, @N);
if (@N > 2) {
  $v[2:@N] = @{0.5 * z@N[1:(@N - 1)]|z@N[2:@N] - 0.5 * $v[1:(@N - 1)]|head($v, @N - 1) + @d};
  @?{$v[1:(@N - 1)] += 0.3 * $v[2:@N];}
}
for ($n in 1:@N) {
  if (@c) @T{$v[$n]}
}`},
	{name: "slices that grow", text: `
for ($n in 1:@N) {
  @{@T{sum(z@N[1:$n])}|@T{mean(z@N[$n:@N])}|@T{log_sum_exp(z@N[1:$n])}|@T{dot_product(z@N[1:$n], x@N[1:$n])}}
  @S
}`},
	{name: "scattered sums", text: `
vector[@K] $s = rep_vector(@{0|@e}, @K);
for ($n in 1:@N) {
  @{|if (@o) }$s[g@N@K[$n]] += @e;
  @S
}
for ($k in 1:@K) {
  if (@c) @T{$s[$k]}
}`},
	{name: "scattered reads and writes", text: `
vector[@K] $s = rep_vector(@e, @K);
for ($n in 1:@N) {
  real $m = $s[g@N@K[$n]];
  @S
  @{if (@o) @T{$m}|@T{$m}}
  @{|if (@o) }$s[g@N@K[$n]] = @{0.5 * $m + @e|@e|0.3 * $s[max(1, g@N@K[$n] - 1)]};
}
@?{@T{sum($s)}}`},
	{name: "conditional writes", text: `
vector[@N] $v @{= rep_vector(@e, @N)|= z@N};
for ($n in 1:@N) {
  @nojumps
  if (@c) $v[$n] = @e;
  @?{if (@o) $v[$n] += 0.5 * @e;}
  @{if ($n > 1 && @o) $v[$n] = 0.5 * $v[$n - 1];|if (@o) $v[@N - $n + 1] = 0.3;|}
  @S
}
for ($i in 1:@N) {
  @{if (@o) |}@T{$v[$i]}
}`},
	{name: "triangle", text: `
real $s = 0;
for ($i in 1:@K) {
  for ($j in @{1:$i|$i:@K|($i + 1):@K|1:($i - 1)}) {
    @{$s += @c ? @e : 0.5;|@T{z@K[$i] - z@K[$j]}|$s = 0.5 * $s + z@K[$j];|if (@o) continue;}
    @S
    @{if (@o) |}@T{tanh(z@K[$i] * z@K[$j])}
  }
  @S
}
@T{$s}`},
	{name: "triangle with a counter", text: `
int $c = 0;
real $s = @e;
for ($i in 1:@K) {
  for ($j in 1:$i) {
    $c += 1;
    if ($c <= @N) @T{@{z|y}@N[$c] * ($i == $j ? 1 : @e)}
    @S
  }
}
@T{$s}`},
	{name: "matrix filled by a triangle", text: `
matrix[@K, @K] $m = rep_matrix(0, @K, @K);
for ($i in 1:@K) {
  $m[$i, $i] = 1;
  for ($j in ($i + 1):@K) {
    $m[$i, $j] = exp(-square(z@K[$i] - z@K[$j])) * 0.3;
    $m[$j, $i] = @{$m[$i, $j]|-$m[$i, $j]};
    @S
  }
}
@T{sum($m @{* z@K|})}
@{|for ($n in 1:@K) @T{$m[$n, @K + 1 - $n]}}`},
	{name: "guarded neighbours", text: `
for ($n in 1:@N) {
  real $s = 0;
  if ($n > 1 && o@N[$n - 1]) $s += z@N[$n - 1];
  if ($n < @N && @{o@N[$n + 1]|z@N[$n + 1] > 0}) $s += 0.5 * z@N[$n + 1];
  @?{if ($n == 1 || y@N[$n - 1] > 0) $s -= 0.2;}
  @S
  @T{$s}
}`},
	{name: "guard on a counter", text: `
int $i = 0;
for ($n in 1:@N) {
  if ($i <= @{2|3|@N}) {
    if ($i && @{o@N[min($i, @N)]|o@N[$i]|z@N[min($i, @N)] > 0}) @T{z@N[$n]}
  }
  $i += @{1|o@N[$n]};
  @S
}`},
	{name: "elements of an array", text: `
for ($v in @{z@N|y@N|c@N|o@N}) {
  @{@T{$v * @e}|if ($v > 0) @T{@e}|if ($v == 1) continue;|@+={square($v - a)}}
  @S
}`},
	{name: "rows of a matrix", text: `
for ($n in 1:@N) {
  real $m = dot_product(X@N@K[$n], @{z@K|to_vector(Z@N@K[$n])});
  @S
  @{if (@o) |}@T{$m}
}`},
	{name: "running products and extremes", text: `
real $p = 1;
real $m = @{negative_infinity()|-5|@e};
int $at = 0;
for ($n in 1:@N) {
  real $e = @e;
  $p *= inv_logit($e);
  @S
  if ($e > $m) {
    $m = $e;
    @?{$at = $n;}
  }
}
@T{$p}
if (@N > 0) @T{$m}
if ($at > 0) @T{z@N[$at]}`},
	{name: "blocks of rows", text: `
int $first = 1;
for ($n in 1:@N) {
  if ($n == @N || g@N@K[$n] != g@N@K[$n + 1]) {
    @+={@{sum(z@N[$first:$n])|normal_lpdf(y@N[$first:$n] | @e, sg)|log_sum_exp(z@N[$first:$n])}}
    @S
    $first = $n + 1;
  }
}`},
	{name: "indices kept in an array", text: `
array[@N] int $at;
int $n = 0;
for ($i in 1:@N) {
  if (@o) {
    $n += 1;
    $at[$n] = $i;
  }
}
for ($k in 1:$n) {
  @T{z@N[$at[$k]]}
  @?{if ($k > 1) @T{z@N[$at[$k]] - z@N[$at[$k - 1]]}}
}
@?{@+={sum(z@N[$at[1:$n]])}}`},
	{name: "elements written where observed, read after", text: `
vector[@N] $v;
for ($n in 1:@N) {
  if (@{o@N[$n]|c@N[$n] > 1}) $v[$n] = @e;
}
for ($i in 1:@N) {
  if (@{o@N[$i]|c@N[$i] > 1}) @T{@{$v[$i]|is_nan($v[$i]) ? 0 : $v[$i]}}
}`},
	{name: "sorted by hand", text: `
vector[@K] $v = z@K;
for ($i in 1:(@K - 1)) {
  for ($j in 1:(@K - $i)) {
    if ($v[$j] > $v[$j + 1]) {
      real $h = $v[$j];
      $v[$j] = $v[$j + 1];
      $v[$j + 1] = $h;
    }
  }
}
for ($n in 1:@K) {
  @T{$n * $v[$n]}
}`},
	{name: "while in the same group", text: `
int $pos = 1;
for ($j in 1:@K) {
  real $s = @e;
  while ($pos <= @N && g@N@K[$pos] == $j) {
    $s = 0.5 * $s + @{y@N|z@N}[$pos];
    @{if (o@N[$pos]) @T{$s}|@T{$s}}
    $pos += 1; // step
  }
  @S
  @T{$s}
}`},
	{name: "ranges of data", text: `
for ($n in 1:@N) {
  for ($k in c@N[$n]:@{3|(c@N[$n] + 1)|@K}) {
    @S
    @T{@e + 0.1 * $k}
  }
}`},
	{name: "from below zero", text: `
real $s = @e;
for ($k in -2:@{2|1}) {
  $s = 0.5 * $s + 0.1 * $k;
  @S
  @{if ($k >= 0) |if ($k % 2) }@T{$s}
}`},
	{name: "counters per group", text: `
array[@K] int $c = rep_array(0, @K);
for ($n in 1:@N) {
  @{|if (@o) }$c[g@N@K[$n]] += 1;
  @S
  @{if ($c[g@N@K[$n]] > 1) @T{@e}|@T{@e / (1 + $c[g@N@K[$n]])}|if ($c[g@N@K[$n]] == 1) continue;}
  @T{@e}
}
for ($k in 1:@K) {
  if ($c[$k] > 0) @T{z@K[$k] * $c[$k]}
}`},
	{name: "last row of each group", text: `
array[@K] int $l = rep_array(0, @K);
for ($n in 1:@N) {
  int $k = g@N@K[$n];
  if ($l[$k] > 0) {
    @T{z@N[$n] - z@N[$l[$k]]}
    @S
  }
  @{|if (@o) }$l[$k] = $n;
}`},
	{name: "stack of ints", text: `
array[@N + 1] int $q;
int $n = 0;
for ($i in 1:@N) {
  if (o@N[$i]) {
    $n += 1;
    $q[$n] = $i;
  } else if ($n > 0) {
    @T{z@N[$q[$n]] * y@N[$i]}
    $n -= 1;
  }
}`},
	{name: "elements at repeated places", text: `
vector[@K] $v = @{rep_vector(0, @K)|z@K};
$v[g@N@K] @{+= 0.1|= z@N|+= z@N};
for ($n in 1:@N) {
  @S
  @{if (@o) |}@T{$v[g@N@K[$n]]}
}`},
	{name: "columns of a matrix", text: `
matrix[@N, @K] $m = rep_matrix(@e, @N, @K);
for ($k in 1:@K) {
  @{$m[, $k] = 0.5 * z@N|$m[:, $k] += y@N|if (@o) $m[, $k] = x@N};
  @S
  @?{if ($k > 1) $m[, $k] += 0.3 * $m[, $k - 1];}
}
for ($n in 1:@N) {
  @{if (@o) |}@T{sum($m[$n])}
}`},
	{name: "rows of a matrix written", text: `
matrix[@N, @K] $m = rep_matrix(0, @N, @K);
for ($n in 1:@N) {
  row_vector[@K] $r = X@N@K[$n] @{* ph|+ @e};
  @S
  @{if (@o) |}$m[$n] = $n > 1 ? $r + 0.5 * $m[$n - 1] : $r;
  @{if (@o) |}@T{$m[$n] * z@K}
}`},
	{name: "pairs of two groups", text: `
for ($n in 1:@N) {
  int $i = g@N@K[$n];
  int $j = @{1 + $i % @K|g@N@K[@N - $n + 1]};
  @{if ($i == $j) continue;|if ($i != $j) @T{z@K[$i] - z@K[$j]}|}
  @T{z@K[$i] * z@K[$j]}
  @S
}`},
}

// controlTemplates are loops, jumps, guards and functions as such.
var controlTemplates = []template{
	{name: "loop", kinds: "s", text: `
for ($n in @{1|1|2}:@N@{|| - 1}) {
  @S
  @T{@e}
  @S
}`},
	{name: "nest", kinds: "s", text: `
for ($n in 1:@N) {
  @S
  for ($k in 1:@K) {
    @S
    @T{@e}
    @S
  }
  @S
}`},
	{name: "carried over", kinds: "s", text: `
real $s = @e;
for ($n in 1:@N) {
  @S
  $s = @{0.5 * $s + @e|ph * $s + @e|@c ? $s : @e|fmax($s, @e)|tanh($s + @e)};
  @S
}
@T{$s}`},
	{name: "carried under a condition", kinds: "s", text: `
real $s = @e;
for ($n in 1:@N) {
  if (@c) {
    @S
    $s = 0.5 * $s + @e;
    @S
  }
  @T{$s}
}`},
	{name: "declared, skipped", kinds: "s", text: `
real $v = @e;
for ($n in 1:@N) {
  real $p;
  @{if (@o) continue;|if (@c) continue;|if (@c) break;}
  $p = @e - $v;
  @S
  $v = $v @{+|-} @{0.3|pr} * $p;
  @T{$p}
}`},
	{name: "first that", text: `
int $at = 0;
for ($n in 1:@N) {
  if (@{@c|z@N[$n] > 0.3|@o}) {
    $at = $n;
    break;
  }
  @S
}
if ($at > 0) @T{y@N[$at] * a}
@?{for ($k in ($at + 1):@N) @+={z@N[$k]}}`},
	{name: "in an iteration", kinds: "ls", text: `
if (@c) {
  real $q = @e;
  @S
  @T{$q}
}`},
	{name: "in an iteration, else", kinds: "ls", text: `
real $q = @e;
if (@c) {
  $q = @e;
  @S
} else if (@c) {
  @{continue;|$q -= 0.5;|$q = 1;}
} else {
  $q *= 0.5;
}
@T{$q}`},
	{name: "while that halves", text: `
real $x = 2 + @+;
while ($x > @#) {
  $x *= @{0.5|0.3|pr}; // step
  @S
  @T{$x}
}`},
	{name: "until small", text: `
real $x = @e;
real $d = 1;
for ($i in 1:20) {
  $d = 0.4 * tanh($x) + @e - $x;
  @{if (abs($d) < 0.1) break;|}
  $x += 0.5 * $d;
  @S
}
@T{$x}`},
	{name: "recursion", funcs: `
real $f(real x, int k) {
  if (k <= 0) return @{x|@e};
  @?{if (k % 3 == 0) return 0.5 * $f(@e, k - 1);}
  return 0.5 * $f(tanh(x), k - 1) + @e;
}`, text: `
for ($n in 1:@N) {
  @S
  @T{$f(@e, @{c@N[$n]|3|min($n, 4)})}
}`},
	{name: "two recursions", funcs: `
real $f(real x, int k) {
  if (k <= 1) return x;
  return 0.3 * $f(@e, k - 1) + 0.3 * $f(x, k - 2);
}`, text: `
for ($n in 1:@N) {
  @T{$f(@e, c@N[$n])}
  @S
}`},
	{name: "sum in a function that returns early", funcs: `
real $f(vector v, int n, real x) {
  real s = 0;
  for (i in 1:n) {
    @{if (i > rows(v)) return s;|if (i > rows(v)) break;}
    s = 0.5 * s + v[i] * x;
    @{if (s > @#) return @e;|if (s > @#) continue;|if (i == 3) return s;}
    s += 0.1;
  }
  return s;
}`, text: `
for ($n in 1:@N) {
  @{if (@o) |}@T{$f(z@K, c@N[$n], @e)}
  @S
}
@T{$f(z@N, @N, a)}`},
	{name: "search in a function", funcs: `
int $f(vector v, real x) {
  for (i in 1:rows(v)) {
    if (v[i] > x) return i;
  }
  return 0;
}`, text: `
for ($n in 1:@N) {
  int $k = $f(y@K, x@N[$n]);
  @S
  if ($k > 0) @T{z@K[$k]}
  @?{if ($k == 0) continue;}
  @S
}`},
	{name: "cases in a function", funcs: `
real $f(real x, real s) {
  real y = 0;
  if (x > @#) {
    y += x;
    @?{if (s > @#) return y;}
  }
  if (x < -0.3) {
    y -= s;
    return y;
  }
  while (y < 0.5) {
    y += 0.2 + square(x); // step
    @?{if (y > s) break;}
  }
  return y @{* s|};
}`, text: `
for ($n in 1:@N) {
  @S
  @T{$f(@e, @{sg|@e})}
}`},
	{name: "vector from a function", funcs: `
vector $f(vector v, real x) {
  vector[rows(v)] w = v;
  for (i in 2:rows(v)) {
    @{w[i] = 0.5 * w[i - 1] + v[i] * x;|if (v[i] > x) w[i] = w[i - 1];|w[i] += 0.3 * v[i - 1];}
  }
  @?{if (rows(v) > 0 && v[1] > 0) return -w;}
  return w;
}`, text: `
vector[@N] $v = $f(@{z@N|y@N}, @e);
for ($n in 1:@N) {
  if (@c) @T{$v[$n]}
  @S
}`},
	{name: "checked argument in an iteration", kinds: "s", text: `
for ($n in 1:@N) {
  @S
  if (@{o@N[$n]|c@N[$n] > 0}) @+={poisson_lpmf(c@N[$n] | @{sg + c@N[$n]|exp(@e)|c@N[$n]})}
}`},
	{name: "logarithms under a guard", text: `
for ($n in 1:@N) {
  real $x = @{c@N[$n] * sg|fmax(0, z@N[$n])|o@N[$n] * exp(a)};
  if ($x > 0) @T{log($x)}
  @{|if ($x > 0 && log($x) < 1) @T{@e}|@T{$x > 0 ? sqrt($x) : 0}}
  @S
}`},
	{name: "leaves early", kinds: "s", text: `
for ($n in 1:@N) {
  @S
  if (@c) @return
  @T{@e}
}`},
	{name: "nested jumps", text: `
for ($n in 1:@N) {
  real $s = 0;
  for ($k in 1:@K) {
    if (@c) @{continue;|break;}
    $s += @e;
    @S
    if ($s > 1.5) break;
  }
  if (@c) continue;
  @T{$s}
}`},
	{name: "switch kept", text: `
int $on = @{0|1};
for ($n in 1:@N) {
  if (@o) $on = @{1 - $on|1|0};
  @S
  if ($on@{| == 1| && (@o)}) @T{@e}
}`},
	{name: "runs counted", text: `
int $r = 0;
for ($n in 1:@N) {
  if (o@N[$n]) $r += 1;
  else $r = 0;
  @S
  @{if ($r > 1) @T{@e}|@T{pow(0.5, $r) * @e}|if ($r > 0) @T{z@N[$r]}}
}`},
	{name: "computed position", kinds: "p", text: `
int $k = 1;
for ($n in 1:@N) {
  if (z@N[$n] > 0.2) $k = $n;
  @{if (z@N[$n] < -1) $k = 1;|}
  @S
}
if ($k <= @N) @T{y@N[$k] * z@N[$k]}`},
	{name: "products of conditions", text: `
for ($n in 1:@N) {
  real $s = (o@N[$n] == 1) * @e + (c@N[$n] > 1) * @e;
  @S
  @T{$s}
}`},
}

// templates are all.
var templates = joined(seriesTemplates, discreteTemplates, raggedTemplates, controlTemplates)

func joined(lists ...[]template) (all []template) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
