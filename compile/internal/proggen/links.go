package proggen

// linkTemplates are templates whose loops follow links: they read and write elements at indices
// that earlier statements or parameters determine, and carry several numbers from one iteration to
// the next. They are about trees, linked lists, rings, and arrays filled in loops with an unknown
// number of trips. Links are followed only as long as they decrease, so that programs end even if
// they were mutated.
var linkTemplates = []template{
	{name: "tree by parents", text: `
vector[@N] $v;
for ($n in 1:@N) {
  @nojumps
  if ($n == 1) {
    $v[$n] = @e;
  } else {
    int $p = @{1 + c@N[$n] % ($n - 1)|max(1, $n - 1 - c@N[$n])|1 + ($n - 1) * o@N[$n] %/% 2|min(g@N@K[$n], $n - 1)};
    $v[$n] = @{ph * $v[$p] + @e|$v[$p] + sg * z@N[$n]|tanh($v[$p] + @e)|(@c ? $v[$p] : $v[$n - 1]) + 0.3 * @e};
    @S
  }
}
@ready $v
@{@T{sum($v)}|@T{dot_product($v, y@N)}}`},
	{name: "tree from its leaves", text: `
vector[@N] $v = @{z@N|y@N * a|rep_vector(1, @N)};
for ($n in 2:@N) {
  int $i = @N - $n + 2;
  int $p = @{1 + c@N[$i] % ($i - 1)|max(1, $i - 1 - c@N[$i])|min(g@N@K[$i], $i - 1)};
  @{$v[$p] += 0.5 * $v[$i]|$v[$p] *= 1 + 0.1 * tanh($v[$i])|$v[$p] = log_sum_exp($v[$p], $v[$i] + @e)|$v[$p] = fmax($v[$p], $v[$i])};
  @S
}
if (@N > 0) @T{$v[1]}`},
	{name: "links to a root", text: `
array[@N] int $p;
for ($n in 1:@N) {
  $p[$n] = @{max(1, $n - c@N[$n])|1 + c@N[$n] % $n|o@N[$n] == 1 ? $n : max(1, $n - 1)};
}
for ($n in 1:@N) {
  int $r = $n;
  while ($p[$r] < $r) {
    $r = $p[$r]; // step
    @?{@T{z@N[$r]}}
    @S
  }
  @{if (@o) |}@T{z@N[$r] * @e}
}`},
	{name: "sets joined", text: `
array[@N] int $p;
for ($n in 1:@N) $p[$n] = $n;
for ($n in 2:@N) {
  int $r = $n;
  int $s = max(1, $n - c@N[$n]);
  if (@{o@N[$n] == 0|x@N[$n] > 0}) continue;
  while ($p[$r] < $r) $r = $p[$r];
  while ($p[$s] < $s) $s = $p[$s];
  $p[max($r, $s)] = min($r, $s);
  @T{z@N[$r] - z@N[$s]}
}
for ($n in 1:@N) {
  int $t = $n;
  while ($p[$t] < $t) $t = $p[$t];
  @{@T{z@N[$t]}|@+={sin($n * z@N[$n]) * z@N[$t]}|if (@o) @T{z@N[$p[$n]]}}
}`},
	{name: "place walked", text: `
int $k = @{1|min(@K, 2)};
for ($n in 1:@N) {
  if (@K == 0) break;
  $k = @{1 + ($k + c@N[$n]) % @K|o@N[$n] == 1 ? g@N@K[$n] : $k|$k == @K ? 1 : $k + o@N[$n]};
  @S
  @{if (@o) |}@T{z@K[$k]}
}`},
	{name: "ring", text: `
if (@K > 0) {
  vector[@K] $v = @{rep_vector(0, @K)|z@K};
  int $k = 1;
  for ($n in 1:@N) {
    real $u = $v[$k];
    $v[$k] = @{@e|ph * $u + @e|0.5 * ($u + $v[1 + $k % @K]) + y@N[$n]};
    @S
    @{if (@o) |}@T{$v[$k] - $u}
    $k = @{1 + $k % @K|1 + ($k + c@N[$n]) % @K|$k == @K ? 1 : $k + 1};
  }
  @+={sum($v)}
}`},
	{name: "array in a while loop", text: `
for ($n in 1:@N) {
  array[3] real $v = @{rep_array(@e, 3)|{@e, a, 0.5}};
  int $i = 0;
  while ($i < c@N[$n]) {
    $i += 1; // step
    $v[1 + $i % 3] = @{tanh($v[1 + ($i + 1) % 3]) + @e|0.5 * $v[1 + $i % 3] + y@N[$n]|$v[1 + ($i + c@N[$n]) % 3] * ph};
    @S
    @?{if ($v[1] > 1.5) break;}
    @?{if ($v[2] < -0.5) continue;}
    $v[@{1|3}] += 0.1;
  }
  @T{@{$v[1]|sum($v)|$v[1 + c@N[$n] % 3]}}
}`},
	{name: "long array in while loops of a loop", text: `
if (@N > 0) {
  vector[@N + 199] $v = append_row(@{z@N|y@N * a}, rep_vector(0.3, 199));
  int $i = 1;
  for ($n in 1:@N) {
    int $m = 0;
    real $u = $v[$i] + @e;
    while ($m < @{9|c@N[$n]} && $v[$i] < $u + 1) {
      int $j = 1 + ($i + @{$m|c@N[$n]|@N}) % (@N + 199);
      $m += 1; // step
      $v[$j] = @{0.5 * $v[$i] + @e|0.9 * $v[$i] + 0.1|tanh($v[$j]) + $u};
      @S
      @?{if ($v[$j] > 1.5) break;}
      $i = $j;
    }
    @{if (@o) |}@T{$v[$i] - $u}
    @?{while ($m > 0 && $v[$i] > 0.2) { $v[$i] = 0.5 * $v[$i] - 0.1; $m -= 1; }}
    $v[$n] += 0.1;
  }
  @+={sum($v)}
}`},
	{name: "places that places name", text: `
if (@K > 0) {
  array[@K] int $p;
  for ($k in 1:@K) $p[$k] = 1 + (@{$k|$k + c@K[$k]|0}) % @K;
  for ($n in 1:@N) {
    $p[$p[@{g@N@K[$n]|1|1 + $n % @K}]] = @{1 + c@N[$n] % @K|$p[g@N@K[$n]]|1 + ($p[1] + $n) % @K};
    @?{$p[$p[{1, @K}]] = @{$p[{@K, 1}]|{@K, 1}};}
    @S
    @{if (@o) |}@T{z@K[$p[g@N@K[$n]]]}
  }
  @+={dot_product(z@K[$p], y@K)}
}`},
	{name: "array of one number in a while loop", text: `
for ($n in 1:@N) {
  array[1] real $v = {@e};
  int $i = 0;
  while ($i < @{5|c@N[$n]}) {
    $i += 1; // step
    if ($v[@{1|max(1, min(1, c@N[$n]))|1 + $i % 1}] < @{@e|0.5|x@N[$n]}) {
      if (@{o@N[$n] == 1|c@N[$n] > $i}) @{break|continue};
    } else {
      $v[1] = @{tanh(@e)|0.5 * $v[max(1, min(1, $i))]|0.3};
    }
    @S
    @T{$v[@{1|max(1, min(1, c@N[$n]))}]}
  }
  @T{sum($v)}
}`},
	{name: "slice at a fixed place", text: `
if (@N > 0) {
  vector[@N] $v = @{z@N|y@N * a};
  for ($n in 1:@N) {
    $v[$n] = tanh(@{$v[$n] + |}@{sum|max|log_sum_exp|dot_self}($v[@{1:1|1:min(2, @N)|max(1, @N - 1):@N|max(1, $n - 2):$n}]) + @e);
    @S
    @{if (@o) |}@T{$v[$n]}
  }
  @+={sum($v)}
}`},
	{name: "place found by numbers", kinds: "p", text: `
if (@K > 0) {
  vector[@K] $v = z@K;
  for ($n in 1:@N) {
    int $k = 1;
    for ($j in 2:@K) {
      if ($v[$j] > $v[$k]) $k = $j;
    }
    @T{$v[$k]}
    $v[$k] = @{0.5 * $v[$k]|$v[$k] - 1|tanh($v[$k]) - 0.5 + @e};
    @S
  }
  @+={sum($v)}
}`},
	{name: "while between two ends", kinds: "p", text: `
for ($n in 1:@N) {
  int $i = 1;
  int $j = @K;
  while ($i < $j) {
    int $m = ($i + $j) %/% 2;
    if (@{z@K[$m] + $m < y@N[$n] + @K / 2.0|x@K[$m] < z@N[$n]|@c}) $i = $m + 1; // step
    else $j = $m;
    @?{@T{z@K[$m]}}
  }
  if ($i <= @K) @T{z@K[$i] * y@N[$n]}
}`},
	{name: "sum at risk", text: `
real $s = negative_infinity();
for ($k in 1:@N) {
  int $n = @{@N - $k + 1|$k};
  real $u = @e;
  $s = @{log_sum_exp($s, $u)|log_sum_exp($u, $s)|log_sum_exp({$s, $u})};
  @{if (o@N[$n] == 1) |if (@c) |}@T{@{$u - $s|y@N[$n] * ($u - $s)}}
  @?{if (@{$n > 1 && g@N@K[$n] != g@N@K[$n - 1]|c@N[$n] == 0}) $s = @{negative_infinity()|@e};}
}`},
	{name: "sums at risk of groups", text: `
vector[@K] $s = rep_vector(@{negative_infinity()|0}, @K);
for ($n in 1:@N) {
  int $k = g@N@K[$n];
  $s[$k] = log_sum_exp($s[$k], @e);
  @S
  @{if (@o) |}@T{@e - $s[$k]}
}`},
	{name: "products into elements", text: `
vector[@K] $v = @{rep_vector(1, @K)|1 + 0.1 * z@K};
for ($n in 1:@N) {
  $v[g@N@K[$n]] @{*=|/=|+=|-=} @{1 + 0.1 * tanh(@e)|inv_logit(@e)|@p};
  @?{if (@o) $v[g@N@K[$n]] *= @p;}
  @S
}
@{@T{sum($v)}|for ($k in 1:@K) @T{log($v[$k])}}`},
	{name: "days in groups", text: `
matrix[@N, @K] $v;
for ($k in 1:@K) {
  @nojumps
  for ($n in 1:@N) {
    @nojumps
    real $s = 0;
    for ($i in 1:@{($n - 1)|min($n - 1, 3)}) {
      $s += $v[@{$i|$n - $i}, $k] * @{0.1|x@N[$n - $i]|exp(-$i)};
    }
    $v[$n, $k] = @{log1p_exp($s + z@K[$k])|sg + 0.5 * tanh($s) + o@N[$n]|($n <= 2 ? @e : $s + 0.1 * @e)};
    @S
  }
}
for ($n in 1:@N) {
  @{@T{sum($v[$n])}|@T{$v[$n] * z@K}|for ($k in 1:@K) @T{$v[$n, $k]}}
}`},
	{name: "levels", text: `
vector[@K] $v = z@K;
for ($n in 1:@N) {
  int $i = g@N@K[$n];
  int $j = @{1 + c@N[$n] % @K|g@N@K[@N - $n + 1]|1 + $i % @K};
  @{$v[$i] = tanh($v[$j]) + @e|$v[$i] = 0.5 * $v[$i] + 0.3 * $v[$j]|if (@c) $v[$i] = $v[$j];|$v[$i] += 0.2 * $v[$j]};
  @S
  @?{if (c@N[$n] > 3) $v[$j] = @e;}
}
@+={dot_self($v)}`},
	{name: "state by a matrix", text: `
vector[3] $v = @{b|rep_vector(@e, 3)};
matrix[3, 3] $m = [[0.5, ph, 0], [0.1, 0.2, a], [0, pr, 0.3]];
for ($n in 1:@N) {
  $v = @{$m * $v|tanh($m * $v)|$m * $v + y@N[$n] * b|o@N[$n] == 1 ? $v : $m * $v};
  @{|$v[1 + c@N[$n] % 3] += @e;|if (@c) $v[2] = 0;|$m[1, 1] = 0.5 * $m[1, 1];}
  @S
  @{if (@o) |}@T{@{$v[1]|sum($v)|$v[1 + c@N[$n] % 3]}}
}`},
	{name: "covariance updated", text: `
matrix[2, 2] $m = [[1 + sg, 0.2], [0.2, 1]];
vector[2] $v = [0, a]';
for ($n in 1:@N) {
  real $f = $m[1, 1] + 0.5;
  vector[2] $g = col($m, 1) / $f;
  real $r = y@N[$n] - $v[1];
  if (@o) @+={normal_lpdf($r | 0, sqrt($f))}
  @{|if (o@N[$n] == 0) continue;}
  $v += $g * $r;
  $m = $m - $f * $g * $g';
  $m = @{quad_form_sym($m, [[0.9, 0], [0.1, 0.8]]) |[[0.9, 0.1], [0, 0.8]] * $m * [[0.9, 0], [0.1, 0.8]]} + diag_matrix([0.1, sg]');
  $m[2, 1] = $m[1, 2];
  @S
}
@T{$v[2]}`},
	{name: "choice among states", text: `
real $s = @e;
real $h = @e;
for ($n in 1:@N) {
  if (@{o@N[$n] == 1|@c}) {
    real $u = $s;
    $s = @{0.5 * $h + @e|tanh($h)|$h};
    $h = @{$u|0.5 * $u|$u + 0.1};
  } else if (@{c@N[$n] > 2|@c}) {
    $h @{+= 0.2 * $s|*= 0.5|= $s};
  }
  @S
  @{if (@o) |}@T{$s - 0.5 * $h}
}`},
	{name: "table of links by columns", text: `
array[@N, 2] int $t;
int $k = 0;
for ($n in 1:@N) {
  if (@{o@N[$n] == 1|c@N[$n] > 2}) {
    $k += 1;
    $t[$k, 1] = $n;
    $t[$k, 2] = @{max(1, $n - c@N[$n])|@N - $n + 1};
  }
}
for ($i in 1:$k) {
  @{|if ($t[$i, 1] == $t[$i, 2]) continue;}
  @T{z@N[$t[$i, 1]] - z@N[$t[$i, 2]]}
}
@?{@+={-0.5 * dot_self(z@N[$t[1:$k, 1]] - z@N[$t[1:$k, 2]])}}`},
	{name: "trips that numbers end, in groups", text: `
for ($k in 1:@K) {
  real $x = @e;
  int $i = 0;
  while ($x < @{1.5|1 + @p} && $i < @{5|c@K[$k]|@N}) {
    $i += 1; // step
    $x += 0.1 + @{0.3 * square(z@K[$k])|0.2 * @p|(@c ? 0.1 : 0.4)};
    @?{if ($i <= @N) @T{z@N[$i]}}
    @S
  }
  @T{$x + 0.1 * $i}
}`},
}
