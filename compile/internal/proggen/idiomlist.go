package proggen

// idioms returns the fragments of everyday Stan that NewIdioms combines.
func idioms() []idiom {
	return []idiom{
		{name: "function of arrays in a function", funcs: `
array[] vector $g(array[] vector p, array[] int w, @formal) {
  array[size(p)] vector[3] m = p;
  for (k in 1:size(p)) {
    @{for (j in 1:3) m[k][j] = w[k] > 1 ? p[k][4 - j] : p[k][j] * f¦if (w[k] == 2) m[k] = reverse(p[k]); else m[k, 2] += a * f¦m[k] = k > 1 ? f * m[k - 1] + 0.5 * p[k] : p[k]};
  }
  return m;
}

real $f(array[] vector p, @formal) {
  real lp = 0;
  array[size(p)] int w;
  for (k in 1:size(p)) w[k] = @{k % 3¦1 + k %/% 2¦size(p) - k};
  array[size(p)] vector[3] m = $g(p, w, @args:$g);
  for (n in 1:N) {
    int k = @k;
    lp += @{m[k][1 + c[n] % 3]¦log_sum_exp(m[k])¦dot_product(m[k], m[1])¦m[k, 3]} * @s;
    @{if (@c) m[k][1] = @s;¦m[k] = 0.5 * m[k] + 0.1 * @s;¦if (@c) continue;¦}
  }
  return lp;
}`, text: `
@t += $f(t, @args:$f);`},
		{name: "tuple of a function", funcs: `
tuple(real, int, vector) $f(real v, int i, @formal) {
  vector[2] w = [v, f]';
  if (@{i > 2¦i % 2 == 0¦v > a}) return (tanh(v), i + 1, w);
  @{w[1] = a;¦w = reverse(w);¦}
  return (v * f, abs(i - 3), w + a);
}`, text: `
real $s = 0;
int $i = 0;
for (n in 1:N) {
  real v; int i; vector[2] w;
  (v, i, w) = $f(@s, @{@i¦$i¦c[n]}, @args:$f);
  @{$i = i % 7;¦if (@c) $i = i % 5;¦}
  $s = @{0.5 * $s + v¦$s + v * w[1]¦@c ? v : 0.9 * $s};
  @t += @{w[1 + i % 2] * v¦i * 0.1 * tanh(w[2])¦normal_lpdf(y[n] | w[1], 1)};
}
@t += tanh($s) + 0.01 * $i;`},
		{name: "array of tuples", text: `
array[K] tuple(real, vector[2], int) $p;
for (k in 1:K) $p[k] = (u[k], [u[k], a]', k);
for (n in 1:N) {
  int k = @k;
  @{$p[k].1 = 0.5 * $p[k].1 + @s¦$p[k].2[1 + c[n] % 2] += 0.1 * @s¦$p[k].3 = (g[n] + $p[k].3) % 4¦if (@c) $p[k] = (@s, [f, a]', c[n])};
  @t += @{$p[k].1 * @s¦sum($p[k].2) * 0.1¦$p[k].3 * 0.1 * @s};
}
for (k in 1:K) @t += tanh($p[k].1) + 0.1 * $p[k].2[2] - 0.01 * $p[k].3;`},
		{name: "ragged with a counter", text: `
int $p = @{1¦0 + 1¦min(1, N)};
for (k in 1:K) {
  real m = @{0¦u[k]¦a};
  for (i in 1:len[k]) {
    int n = $p;
    m = @{m + @s¦0.5 * m + @s¦fmax(m, @s)¦log_sum_exp(m, @s)};
    @{if (@c) { $p += 1; continue; }¦@t += @s * m;¦if (i == 1) m = @s;}
    $p += 1;
  }
  @{@t += tanh(m);¦if (len[k] > 0) @t += normal_lpdf(u[k] | m, 1);¦@t += len[k] * tanh(m);}
}`},
		{name: "segments of ragged data", text: `
int $p = 1;
vector[N] $m = @{X * b¦u[g]¦e¦rep_vector(a, N)};
for (k in 1:K) {
  int l = len[k];
  @{if (l == 0) continue;¦}
  @{segment(y, $p, l) ~ normal(u[k], 0.5 + s)¦@t += normal_lpdf(segment(y, $p, l) | segment($m, $p, l), 0.5 + s)¦y[$p:($p + l - 1)] ~ normal($m[$p:$p + l - 1] + u[k], 1)¦@t += dot_product(y[$p:$p + l - 1], $m[$p:$p + l - 1])¦@t += sum(cumulative_sum(segment($m, $p, l))) * 0.1};
  $p += l;
}`},
		{name: "while over data", text: `
int $n = 1;
int $m = 0;
real $v = @{0¦a};
while ($n <= N@{¦ && $m < 300¦ && c[$n] < 6}) {
  int n = $n;
  @{$v = 0.7 * $v + @s;¦if (@c) $v = @s; else $v *= 0.9;¦$v += @s;}
  @{if (@c) $m += 1;¦$m += c[n];¦}
  @t += @{$v * @s¦@s¦normal_lpdf(y[n] | $v, 1)};
  $n += @{1¦1 + o[n]¦1 + c[n] % 2¦1 + $m % 2};
}
@t += tanh($v) + 0.01 * $m;`},
		{name: "search by while", known: `
array[N + 1] real $t;
$t[1] = 0;
for (n in 1:N) $t[n + 1] = $t[n] + 0.1 + abs(x[n]);
`, text: `
int $p = 1;
for (n in 1:N) {
  real d = 0.05 + (n - 1) * @{0.3¦0.01¦$t[N + 1] / (N + 1)};
  @{while ($p < N && $t[$p + 1] < d) $p += 1;¦$p = 1; while ($p < N && $t[$p + 1] < d && $p < 5) $p += 1;}
  real w = (d - $t[$p]) / ($t[$p + 1] - $t[$p]);
  @t += @{w * 0.1 * @s¦(1 - w) * 0.1 * e[$p] + 0.1 * w * e[min(N, $p + 1)]¦exp(-0.1 * d) * @s};
}`},
		{name: "int arithmetic", text: `
int $i = @{0¦-3¦7¦K};
for (n in 1:N) {
  int j = @i;
  int k = @{j %/% 2¦-j %/% 3¦j % 3¦(-j) % 4¦j * j - 5¦j - K¦(j + $i) %/% (1 + o[n])¦j / 2};
  $i = @{($i * 3 + k) % 11¦$i - k > 20 ? 0 : $i - k¦max(-9, min(9, $i + k))¦($i %/% 2) + k¦(k < 0) - (k > 2) + !$i¦$i == k};
  @{if (k > 2 || j < 0) continue;¦if ($i < -2 && j) break;¦}
  @t += @{k¦$i¦(j - k)¦j * 1.0 / (1 + abs(k))¦k ^ 2¦pow(2, min(k, 3))} * 0.1 * @s;
}
@t += 0.01 * $i * a;`},
		{name: "positions in transformed data", known: `
int $c = 0;
for (n in 1:N) if (@c) $c += 1;
array[$c] int $p;
array[N - $c] int $q;
{
  int i = 0; int j = 0;
  for (n in 1:N) {
    if (n - j <= $c && i < $c) { i += 1; $p[i] = @{n¦N + 1 - n}; } else { j += 1; $q[j] = n; }
  }
}
array[N] int $o = @{sort_indices_asc(y)¦sort_indices_desc(x)¦sort_indices_asc(c)};
vector[N] $w;
for (n in 1:N) $w[$o[n]] = n > 1 ? @{$w[$o[n - 1]] * 0.5 + @d¦@d¦y[n] - y[n - 1]} : @d;
`, text: `
@{@t += sum(e[$p]) - 0.5 * sum(e[$q]);¦y[$p] ~ normal(e[$p], 1);¦for (i in 1:$c) { int n = $p[i]; @t += @s; }}
@{for (n in 1:N) @t += 0.1 * $w[$o[n]] * @s;¦@t += 0.1 * dot_product($w, e[$o]);¦for (j in 1:N - $c) { int n = $q[j]; if (@c) continue; @t += @s * tanh($w[n]); }}`},
		{name: "counts in transformed data", known: `
array[K] int $c = rep_array(0, K);
array[K + 1] int $p;
array[N] int $l;
for (n in 1:N) $c[g[n]] += 1;
$p[1] = 1;
for (k in 1:K) $p[k + 1] = $p[k] + $c[k];
{
  array[K] int at = $p[1:K];
  for (n in 1:N) { $l[at[g[n]]] = n; at[g[n]] += 1; }
}
`, text: `
for (k in 1:K) {
  real m = @{0¦u[k]};
  for (i in $p[k]:($p[k + 1] - 1)) {
    int n = $l[i];
    m += @{@s¦0.5 * @s * m¦i > $p[k] ? @s : 0};
    @{if (@c) break;¦if (@c) continue;¦}
    @{@t += 0.1 * @s;¦}
  }
  @t += @{tanh(m)¦m * 1.0 / max(1, $c[k])¦normal_lpdf(m | u[k], 1 + $c[k])};
  @{@t += sum(e[$l[$p[k]:($p[k + 1] - 1)]]) * 0.1;¦}
}`},
		{name: "complex numbers", text: `
complex $z = to_complex(@{1, 0¦a, f¦0.3, a});
complex $w = 0;
for (n in 1:N) {
  @{$z = 0.9 * $z * to_complex(cos(0.1 * @s), sin(0.1 * @s));¦$z = (0.5 + 0.3i) * $z + @s;¦$z = to_complex(@s, f);¦if (@c) $z = conj($z) + @s * 1i; else $z *= 0.7;}
  @{$w += 0.1 * $z;¦$w = $w * 0.5 + $z / (2.0 + norm($z));¦}
  @t += @{get_real($z) * @s¦0.1 * abs($z + 1.5)¦get_imag($z) * 0.1¦0.1 * norm($z)¦0.1 * get_real(exp(0.1 * $z))};
}
@t += tanh(get_real($w)) + tanh(get_imag($w * $z));`},
		{name: "array of complex", text: `
array[K] complex $z;
for (k in 1:K) $z[k] = to_complex(u[k], 0.5 * k);
for (n in 1:N) {
  int k = @k;
  @{$z[k] = 0.5 * $z[k] + to_complex(@s, 0);¦$z[k] *= to_complex(0.6, 0.6);¦complex v = $z[k]; $z[k] = $z[1] * 0.5; $z[1] = 0.5 * v;}
  @t += 0.1 * get_real($z[k] * @{$z[1]¦@s¦conj($z[K])});
}`},
		{name: "reduce_sum", funcs: `
real $g(real v, real m, int i, data vector w) { return i > 2 ? normal_lpdf(v | m, 1) : @{w[1 + i % 3] * m¦-square(v - m)¦sum(w[1:i]) * tanh(m)}; }

real $f(array[] real slice, int lo, int hi, data vector w, @formal) {
  real lp = 0;
  for (i in 1:size(slice)) {
    int n = lo + i - 1;
    @{if (@c) continue;¦}
    lp += $g(slice[i], @s, c[n], w) * 0.5;
    @{lp = 0.99 * lp;¦}
  }
  @{lp += normal_lpdf(y[lo:hi] | u[g[lo:hi]], 1);¦lp += sum(e[lo:hi]);¦}
  return lp;
}`, text: `
@t += reduce_sum($f, r, @{1¦5¦64¦1000}, [0.5, -0.3, 0.2]', @args:$f);`},
		{name: "truncation in a loop", text: `
for (n in 1:N) {
  @{y[n] ~ normal(@s, 0.5 + s) T[@{-9¦y[n] - 1¦-5 + f}, ];¦y[n] ~ normal(@s, 1) T[, @{9¦y[n] + 0.5¦6 + f}];¦y[n] ~ student_t(4, @s, 1) T[y[n] - 1, y[n] + 2];¦if (@c) y[n] ~ normal(@s, 1) T[-6, 6]; else y[n] ~ normal(@s, 1);¦abs(y[n]) + 0.1 ~ exponential(exp(@s)) T[, 8];¦c[n] ~ poisson(exp(@s)) T[@{0, ¦, 12¦0, 15}];¦abs(y[n]) + 0.2 ~ lognormal(@s, 1) T[0.1, ]; }
}`},
		{name: "filter of matrices", text: `
matrix[2, 2] $p = @{identity_matrix(2)¦[[1 + s, 0.1], [0.1, 1]]};
vector[2] $m = [0, a]';
matrix[2, 2] $f = [[0.9, 0.1 * f], [@{0¦0.2}, 0.8]];
for (n in 1:N) {
  @{if (@c) { $m = $f * $m; continue; }¦$m = $f * $m;¦}
  $p = @{$f * $p * $f' + 0.1 * identity_matrix(2)¦quad_form($p, $f') + diag_matrix([0.1, 0.2]')¦add_diag($f * $p * $f', 0.1 + s)};
  real v = $p[1, 1] + 0.5 + s;
  vector[2] k = $p[, 1] / v;
  real w = @d - $m[1];
  $m = $m + k * w;
  $p = @{$p - k * $p[1]¦$p - k * k' * v¦0.5 * ($p + $p') - k * $p[1]};
  @t += @{normal_lpdf(w | 0, sqrt(v))¦-0.5 * (log(v) + square(w) / v)};
}
@t += 0.1 * trace($p) + 0.1 * sum($m);`},
		{name: "product of matrices", text: `
matrix[3, 3] $m = @{identity_matrix(3)¦rep_matrix(0.2, 3, 3)};
for (n in 1:N) {
  matrix[3, 3] w = rep_matrix(0.1 * @s, 3, 3);
  w[1 + c[n] % 3, @{1¦2¦1 + o[n]}] = @s;
  @{w[, 2] = t[g[n]];¦w[2] = t[g[n]]';¦}
  $m = @{0.3 * tanh($m * w) + 0.1¦0.5 * $m + w * 0.3¦tanh(w * $m')¦@c ? $m : 0.5 * $m + w};
  @{if (@c) $m[1, 1] = 0.5;¦if (@c) break;¦}
}
@t += sum($m) + @{$m[3, 1]¦trace($m)¦log_determinant_spd(add_diag(tcrossprod($m), 1))};`},
		{name: "forward algorithm", text: `
vector[3] $l = log(pi1);
for (n in 1:N) {
  vector[3] w;
  @{if (n > 1 && g[n] != g[max(1, n - 1)]) $l = log(pi1);¦}
  for (j in 1:3) w[j] = log_sum_exp($l + @{t[@k]¦t[1] * f¦rep_vector(a, 3)}) + @{normal_lpdf(y[n] | t[1, j], 1)¦@s * j¦(@c ? 0 : normal_lpdf(y[n] | j * f, 1))};
  $l = @{w¦w - max(w)¦log_softmax(w)};
  @{if (@c) @t += 0.1 * log_sum_exp($l);¦}
}
@t += log_sum_exp($l) @{¦+ $l[2]};`},
		{name: "forward algorithm of more states", text: `
int $k = @{4¦5¦6};
vector[$k] $l = rep_vector(a, $k);
for (n in 1:N) {
  vector[$k] w;
  for (j in 1:$k) {
    vector[$k] v;
    for (i in 1:$k) v[i] = @{$l[i] + f * i * j¦a * (i - j) + $l[i] + @s¦$l[i] - 300 * abs(i - j) * f};
    w[j] = log_sum_exp(v) + normal_lpdf(y[n] | j * f, 1);
  }
  $l = @{w¦w - max(w)};
}
@t += log_sum_exp($l) @{¦+ $l[2]};`},
		{name: "missing values", known: `
int $c = 0;
for (n in 1:N) if (@c) $c += 1;
array[$c] int $p;
{ int i = 0; for (n in 1:N) if (i < $c) { i += 1; $p[i] = @{n¦N - n + 1}; } }
`, text: `
vector[N] $y = y;
@{$y[$p] = e[1:$c];¦for (i in 1:$c) $y[$p[i]] = e[i] + a;¦$y[$p] += f * e[$p];}
@{for (n in 2:N) @t += normal_lpdf($y[n] | f * $y[n - 1] @{¦+ @s}, 0.5 + s);¦@t += normal_lpdf($y[2:N] | f * $y[1:(N - 1)], 1);¦@t += normal_lpdf($y | u[g], 1);}`},
		{name: "jumps by data", text: `
real $v = 0;
int $k = 0;
for (n in 1:N) {
  for (j in 1:@{3¦deg[n]¦min(n, 4)}) {
    @{if (c[n] == j) break;¦if (deg[n] == j) continue;¦if (@c && j > 1) break;}
    int m = @{nb[n, min(j, 3)]¦max(1, n - j)¦@n};
    $v = @{0.8 * $v + e[m]¦$v + 0.1 * e[m] * @s¦fmax($v, e[m])};
    @{$k = j;¦if (j == 2) $k += 1;¦}
  }
  @{if (@c) break;¦if (@c) continue;¦if (n > 200 && @c) break;¦}
  @t += @{$v * @s¦0.1 * $k * @s¦normal_lpdf(y[n] | tanh($v), 1)};
  @{if (@c) $v = 0;¦$v = tanh($v);¦}
}
@t += tanh($v) + 0.01 * $k;`},
		{name: "jumps by parameters", text: `
real $v = @{0¦a};
for (n in 1:N) {
  $v = @{0.8 * $v + @s¦$v + 0.05 + 0.1 * @s};
  if ($v > @{1.2¦f + 1¦0.7 + s}) @{break;¦{ $v = 0; continue; }¦$v = 0.1;}
  @t += @{@s¦$v * 0.1¦normal_lpdf(y[n] | $v, 1)};
}
@t += tanh($v);`, maxRows: 257},
		{name: "gaussian process", text: `
int $n = min(N, @{12¦25¦7});
array[$n] real $x = r[1:$n];
matrix[$n, $n] $k = @{gp_exp_quad_cov($x, 1 + s, 1.5)¦gp_matern32_cov($x, 1.2, 0.5 + s)¦rep_matrix(0, $n, $n)};
for (i in 1:$n) {
  for (j in 1:(i - 1)) {
    $k[i, j] @{+=¦= 0.5 * $k[i, j] +} 0.05 * exp(-abs($x[i] - $x[j]) * (1 + s));
    $k[j, i] = $k[i, j];
  }
  $k[i, i] += @{1¦0.5 + s¦2 + abs(y[i])};
}
@t += @{multi_normal_lpdf(y[1:$n] | rep_vector(a, $n), $k)¦multi_normal_cholesky_lpdf(y[1:$n] | e[1:$n], cholesky_decompose($k))¦-0.5 * quad_form(mdivide_left_spd($k, identity_matrix($n)), y[1:$n])¦log_determinant_spd($k)};`},
		{name: "differential equation", funcs: `
vector $f(real w, vector v, data real p, int i, @formal) {
  vector[2] d;
  d[1] = -(0.3 + s) * v[1] + (i > 2 ? p : 0.2) * v[2];
  d[2] = @{f * v[1] - 0.5 * v[2]¦0.1 * sin(w) - v[2] * v[1]¦-a * 0.1 - v[2]};
  return d;
}`, text: `
for (n in 1:min(N, 4)) {
  array[2] vector[2] m = ode_rk45($f, [1 + abs(y[n]), @{1¦exp(0.1 * f)}]', 0, {0.5, 1.1 + 0.1 * c[n]}, x[n], c[n], @args:$f);
  @t += normal_lpdf(y[n] | m[1, 1 + o[n]] + m[2, 1], 1);
}`, maxRows: 5},
		{name: "GARCH", text: `
vector[N] $h;
real $w = 0.2 + s;
for (n in 1:N) {
  $h[n] = n > 1 ? $w + 0.3 * square(y[n - 1] - a) + @{0.5¦0.4 * inv_logit(f)} * $h[n - 1] : @{$w¦1¦variance([1, 2, a]')};
  @{if (@c) $h[n] = fmax($h[n], 0.5);¦if (@c) $h[n] += 0.1;¦}
}
@t += @{normal_lpdf(y | a, sqrt($h))¦-0.5 * sum(log($h))¦normal_lpdf(y[1:min(N, 5)] | a, sqrt(head($h, min(N, 5))))};`},
		{name: "first steps of a recurrence", text: `
vector[N] $x;
vector[N] $h;
if (N > 0) { $x[1] = a; $h[1] = s; }
for (n in @{1¦2}:N) {
  int k = @k;
  real m = @{0¦@s};
  if (n == 1) m = a; else for (j in 1:min(n - 1, @{2¦5})) { @{¦¦if (c[n] > 1) break;¦if (c[n - j] == 2) continue;} m += 0.1 * @s * $x[n - j]; }
  $x[n] = @{n == 1 ? a : tanh(m)¦n > 3 ? tanh($x[n - 3] + m) : n > 1 ? 0.5 * $x[n - 1] : @s¦tanh(m)};
  $h[n] = @s;
  for (j in 1:2) if (n > j@{¦ && c[n] > 1}) $h[n] @{+=¦-=¦*=} @{0.1 * $h[n - j]¦tanh($h[n - j] * @s)¦tanh($x[n - j])};
  @{¦if (n > 2) $h[n] = tanh($h[n]) + 0.1 * $h[n - 2]; else $h[n] += $x[n];}
  @t += @{tanh($h[n]) * $x[n]¦$x[n]¦normal_lpdf(y[n] | $x[n], 1 + square(tanh($h[n])))};
}`},
		{name: "moving average", text: `
vector[N] $r;
for (n in 1:N) {
  $r[n] = y[n] - a;
  for (j in 1:@{2¦min(3, n - 1)¦4}) if (n > j) $r[n] -= @{f * 0.3 * $r[n - j]¦t[1, min(j, 3)] * 0.2 * $r[n - j]};
  @{if (@c) $r[n] = 0;¦}
}
@{$r ~ normal(0, 0.5 + s)¦@t += -0.5 * dot_self($r)¦for (n in 1:N) @t += normal_lpdf($r[n] | 0, 1 + s * o[n])};`},
		{name: "compartments and events", known: `
vector[N] $d;
for (n in 1:N) $d[n] = 0.1 + 0.2 * abs(x[n]);
`, text: `
vector[2] $m = [0, 0]';
real $k = exp(0.3 * f);
for (n in 1:N) {
  if (n == 1 || g[n] != g[max(1, n - 1)]) $m = [@{0¦1¦s}, 0]';
  if (@{c[n] > 3¦o[n] == 1¦@c}) $m[1] += @{1¦c[n] * 0.2¦exp(0.2 * u[g[n]])};
  real w = $m[1] * exp(-$k * $d[n]);
  $m[2] = ($m[2] + ($m[1] - w)) * exp(-0.3 * $d[n]);
  $m[1] = w;
  @{if (o[n] == 0)¦} @t += @{lognormal_lpdf(0.5 + abs(y[n]) | log(0.1 + $m[2]), 0.3 + s)¦normal_lpdf(y[n] | $m[2], 1)};
}`},
		{name: "last seen", text: `
int $l = 0;
array[K] int $p = rep_array(0, K);
vector[N] $v;
for (n in 1:N) {
  int k = g[n];
  $v[n] = @s;
  if ($p[k] > 0) @t += normal_lpdf(y[n] | @{$v[$p[k]]¦f * $v[$p[k]] + @s¦y[$p[k]] * f}, 0.5 + s @{¦+ 0.1 * (n - $p[k])});
  @{else¦@t += 0.1 * a; if (@c)} { $v[n] = u[k]; @{$l = n;¦}}
  $p[k] = n;
  @{if (@c) $l = n;¦if ($l > 0 && @c) @t += 0.1 * $v[$l];}
}
@t += @{sum($v)¦0.001 * $l * a¦log_sum_exp(append_row($v, a))};`},
		{name: "copies", text: `
vector[3] $v = t[1];
array[2] vector[3] $w = {t[1], t[K]};
for (n in 1:N) {
  vector[3] p = @{$v¦$w[1]¦$w[1 + o[n]]};
  $v[1 + c[n] % 3] = @s;
  @{$w[2] = p;¦$w = {$w[2], p};¦p[1] = 0.5; $w[1] = p;¦$w[1 + o[n]][2] = p[1];¦{ vector[3] w = $w[1]; $w[1] = $w[2]; $w[2] = w; }}
  @{$v = $w[1 + o[n]];¦p = $v;¦}
  @t += 0.1 * @{dot_product(p, $v)¦sum($w[2])¦p[1 + c[n] % 3]¦max(p)};
}
@t += 0.1 * (sum($v) + sum($w[1]) - $w[2][3]);`},
		{name: "pairs", text: `
int $n = min(N, @{9¦20¦33});
for (i in 1:$n) {
  real m = 0;
  for (j in @{(i + 1):$n¦1:(i - 1)¦1:$n}) {
    int n = j;
    @{if (j == i) continue;¦if (g[i] != g[j]) continue;¦if (@c) break;}
    m += @{e[i] * e[j] * 0.1¦inv_logit(u[g[i]] - u[g[j]])¦exp(-abs(x[i] - x[j]) * s)¦0.1 * @s};
    @{if (o[i] > o[j]) @t += log_inv_logit(e[i] - e[j]);¦}
  }
  @t += @{tanh(m)¦m * 0.05¦log1p(square(m))};
}`},
		{name: "dynamic programming", text: `
int $r = min(N, 15);
matrix[$r + 1, 4] $m = rep_matrix(@{0¦-1¦a}, $r + 1, 4);
for (n in 1:$r) {
  for (j in 2:4) {
    $m[n + 1, j] = @{log_sum_exp($m[n, j], $m[n, j - 1] + @s)¦fmax($m[n, j] + e[n], $m[n + 1, j - 1] + 0.1 * j)¦$m[n, j - 1] * 0.5 + (@c ? @s : $m[n + 1, j - 1] * 0.5)¦o[n] ? $m[n, j - 1] + @s : log_mix(0.3, $m[n, j], $m[n + 1, j - 1])};
  }
  @{if (@c) $m[n + 1, 1] = @s;¦}
}
@t += $m[$r + 1, 4] + @{0.1 * sum($m[$r + 1])¦0.1 * sum($m[, 3])¦0};`},
		{name: "own densities", funcs: `
real $d_lpdf(real v, real m, @formal) {
  if (v < -1) return @{normal_lpdf(v | m, 1)¦-square(v - m)};
  return student_t_lpdf(v | 4, m, 0.5 + s) @{¦+ f};
}

real $m_lpmf(int v, real m, @formal) {
  if (v == 0) return log_sum_exp(bernoulli_logit_lpmf(1 | f), bernoulli_logit_lpmf(0 | f) + poisson_log_lpmf(0 | m));
  return bernoulli_logit_lpmf(0 | f) + @{poisson_log_lpmf(v | m)¦neg_binomial_2_log_lpmf(v | m, 2)};
}`, text: `
for (n in 1:N) {
  @{@t += $d_lpdf(y[n] | @s, @args:$d_lpdf);¦@t += 0.5 * $d_lpdf(@s | y[n], @args:$d_lpdf);}
  @{if (@c)¦} @t += $m_lpmf(@{c¦o¦deg}[n] | @s, @args:$m_lpmf);
}`},
		{name: "mixture over groups", text: `
vector[2] $l = rep_vector(0, 2);
for (n in 1:N) {
  $l[1] += normal_lpdf(y[n] | @{t[@k, 1]¦a¦@s}, 1);
  $l[2] += @{normal_lpdf(y[n] | f, 0.5 + s)¦student_t_lpdf(y[n] | 4, @s, 1)};
  if (n == N || g[min(N, n + 1)] != g[n]) {
    @t += @{log_mix(pi1[1], $l[1], $l[2])¦log_sum_exp($l)};
    $l = rep_vector(@{0¦0.1}, 2);
  }
}`},
		{name: "censoring", text: `
int $c = 0;
for (n in 1:N) {
  if (@c) {
    @t += @{normal_lccdf(y[n] | @s, 1)¦normal_lcdf(y[n] | @s, 0.5 + s)¦exponential_lccdf(0.1 + abs(y[n]) | exp(@s))};
    $c += 1;
  } else if (@c) @t += log_diff_exp(normal_lcdf(y[n] + 1 | @s, 1), normal_lcdf(y[n] - 1 | @s, 1));
  else @t += normal_lpdf(y[n] | @s, 1);
}
@t += 0.01 * $c * a;`},
		{name: "growing list", text: `
array[N + 1] int $l;
int $c = 0;
for (n in 1:N) {
  if (@c) { $c += 1; $l[$c] = n; }
  @{else if ($c > 0 && @c) $c -= 1;¦while ($c > 0 && x[$l[$c]] > x[n]) $c -= 1;¦}
  @t += $c > 0 ? @{e[$l[$c]] * 0.5¦0.1 * $c * @s¦e[n] - e[$l[$c]]} : @s;
}
for (i in 1:$c) @t += @{0.1 * e[$l[i]]¦e[$l[i]] * y[$l[max(1, i - 1)]] * 0.1};`},
		{name: "backwards", text: `
vector[N + 1] $v;
$v[N + 1] = @{0¦a};
for (i in 1:N) {
  int n = N - i + 1;
  $v[n] = @{0.8 * $v[n + 1] + @s¦@c ? @s : f * $v[n + 1]¦log_sum_exp($v[n + 1], @s)};
}
@t += @{$v[1]¦0.1 * sum($v)¦log_sum_exp($v)};
@{for (n in 1:N) @t += 0.1 * $v[n] * @s;¦}`},
		{name: "running mean", text: `
real $m = 0;
real $w = 0;
int $c = 0;
for (n in 1:N) {
  @{if (@c) continue;¦if (@c) { $m = 0; $c = 0; }¦}
  $c += 1;
  real d = @s - $m;
  $m += d / $c;
  $w += d * (@s - $m);
  @{@t += 0.1 * $m;¦if ($c > 1) @t += 0.1 * log1p(square($w) / $c);¦}
}
@t += tanh($m) + ($c > 1 ? 0.01 * $w / ($c - 1) : 0);`},
		{name: "powers and factorials", text: `
real $p = 1;
for (n in 1:N) {
  $p *= @{0.5¦(1 - inv_logit(@s)) * 1.5¦@c ? 1 : 0.5};
  @{if ($p < 1e-6) $p = 1;¦$p = fmax($p, 1e-3);}
  @t += @{lchoose(6, c[n]) * 0.1 * a¦c[n] ^ 2 * 0.01 * f¦(0.5 + s) ^ c[n]¦pow(exp(f), @i)¦lgamma(1 + c[n] + s)¦$p ^ o[n]¦inv_logit(a) ^ (c[n] - 3)};
}
@t += $p;`},
		{name: "interval by sorting", text: `
vector[K] $v = sort_@{asc¦desc}(u);
array[K] int $o = sort_indices_asc(u);
for (n in 1:N) {
  int k = @k;
  @t += 0.1 * @{$v[k]¦u[$o[k]]¦$v[k] * @s¦normal_lpdf(y[n] | $v[k], 1)¦rank(u, k) * @s};
}`},
		{name: "nested arrays", text: `
array[K, 2] vector[3] $v;
array[K, 2] int $c = rep_array(0, K, 2);
for (k in 1:K) for (j in 1:2) $v[k, j] = t[k] * j;
for (n in 1:N) {
  int k = @k;
  int j = 1 + o[n];
  $c[k, j] += 1;
  @{$v[k, j][1 + c[n] % 3] += 0.1 * @s;¦$v[k, j] = 0.5 * $v[k, 3 - j];¦$v[k] = {$v[k, 2], $v[k, 1]};¦$v[k, j] = 0.9 * $v[k, j] + 0.1 * t[g[n]];¦$v[:, 1] = $v[:, 2];}
  @{if ($c[k, j] > 3) continue;¦}
  @t += 0.1 * @{$v[k, j, 2]¦sum($v[k, 1])¦$c[k, j] * @s¦dot_product($v[k, 1], $v[k, 2])};
}
for (k in 1:K) @t += 0.01 * (sum($v[k, 1]) - sum($v[k, 2]) + $c[k, 1]);`},
		{name: "adds to the target", funcs: `
void $f_lp(int n, real m, @formal) {
  if (@c) { y[n] ~ normal(m, 1); return; }
  @{target += m * a;¦for (j in 1:c[n]) target += 0.1 * m * j;¦y[n] ~ student_t(4, m, 1);}
}`, text: `
for (n in 1:N) $f_lp(n, @s, @args:$f_lp);`},
		{name: "recursion", funcs: `
real $f(int i, real v, @formal) {
  if (i <= 0) return v * f;
  return tanh($f(i - @{1¦2}, v + a * i, @args:$f)) @{+¦*} 0.5;
}`, text: `
for (n in 1:N) @t += 0.1 * $f(@{c[n]¦deg[n]¦@i}, @s, @args:$f);`, maxRows: 257},
		{name: "regression with interactions", text: `
vector[N] $m = @{X * b¦a + X * b¦rows_dot_product(X, B[g])};
for (n in 1:N) {
  for (j in 1:P) @{$m[n] += X[n, j] * B[g[n], j];¦if (X[n, j] > 0) $m[n] += 0.1 * b[j];¦$m[n] += b[j] * X[n, P - j + 1] * 0.3;}
  @{if (@c) $m[n] = @s;¦}
}
@{y ~ normal($m, 0.5 + s)¦@t += bernoulli_logit_lpmf(o | $m)¦@t += normal_id_glm_lpdf(y | X, $m, b, 1)¦@t += poisson_log_lpmf(c | 0.1 * $m)¦for (n in 1:N) @t += -0.1 * square($m[n] - y[n])};`},
		{name: "parts of vectors", text: `
vector[N] $v = e;
for (n in 1:N) {
  @{if (@c)¦} @{$v[n] = sum($v[max(1, n - 2):n]) * 0.3;¦$v[1:min(n, 3)] *= 0.9;¦$v[@n] = @s;¦$v[{1, n}] = $v[{n, 1}];¦$v[n:min(N, n + 1)] += 0.1 * @s;}
}
@t += @{0.1 * sum($v)¦0.1 * dot_self($v)¦0.1 * dot_product($v, y)¦0.1 * sum($v[q])};`},
	}
}
