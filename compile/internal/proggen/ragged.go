package proggen

// raggedTemplates are templates of loops over parts of data: with running positions, at offsets,
// scattered and gathered.
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
	{name: "slices within ragged loops", text: `
if (@K > 0) {
  vector[@K] $p = @{z@K|y@K};
  for ($n in 1:@N) {
    int $a = 1 + @{c@N[$n]|$n|0} % @K;
    for ($j in ($a + 1):@K@{| - 1}) {
      @S
      $p[$j] = @{prod|sum|log_sum_exp|max|dot_self}(@{z@K|y@K|$p}[$a:@{($j - 1)|$j|@K}]) @{+|-} @{$p[$a]|y@K[$j]|z@K[$j]};
    }
    @?{for ($j in 1:@K) $p[@K] = @{1 - |0.5 * }sum($p[@{:(@K - 1)|$a:(@K - 1)|1:$a}]);}
    @T{@{$p[$a]|$p[@K]|mean($p[$a:@K])}}
    @?{$p = z@K;}
  }
}`},
}
