package proggen

// controlTemplates are templates about control flow: loops, jumps, guards and functions.
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
	{name: "links followed to their ends", text: `
array[@N] int $p;
for ($n in 1:@N) {
  $p[$n] = $n;
  @{if ($n > 1 && @q) |if ($n > 1 && @o) |if ($n > 1 && z@N[$n] < @#) |if ($n > 1) }$p[$n] = @{$n - 1|$p[$n - 1]|max(1, $n - 2)};
}
for ($n in 1:@N) {
  int $r = @{$n|@N + 1 - $n};
  while ($p[$r] < $r) {
    $r = $p[$r]; // step
    @S
  }
  @T{z@N[$r] * @e}
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

// templates are the templates of all files.
var templates = joined(seriesTemplates, discreteTemplates, raggedTemplates, controlTemplates, linkTemplates)

func joined(lists ...[]template) (all []template) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
