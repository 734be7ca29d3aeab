package model_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// What a model computes from all rows has the value of the fit's data in predictions of others;
// what it computes row by row follows the new rows. The expected values are computed by hand.
func TestKeepSummaries(t *testing.T) {
	const declared = `data { int N; int K; int J; vector[N] x; matrix[N, K] X; array[N] int g; vector[N] y; }`
	const parameters = `parameters { real a; real b; vector[K] B; }`
	x, X, g := []float64{1, 2, 6}, [][]float64{{1, 2}, {3, 1}, {2, 5}}, []int{1, 2, 2}
	newX, newRows, newG := []float64{4, 0}, [][]float64{{5, 7}, {1, 0}}, []int{2, 1}
	const a, b = 0.5, 2.0
	B := []float64{-1, 3}
	mean, sd := 3.0, math.Sqrt(7)
	column := func(k int) float64 { return (X[0][k] + X[1][k] + X[2][k]) / 3 }
	line := func(f func(x float64) float64) []float64 { return []float64{a + b*f(newX[0]), a + b*f(newX[1])} }
	plane := func(f func(n, k int) float64) (out []float64) {
		for n := range newRows {
			out = append(out, a+B[0]*f(n, 0)+B[1]*f(n, 1))
		}
		return out
	}
	// R of X = Q R by Gram-Schmidt, with its inverse.
	r11 := math.Hypot(math.Hypot(X[0][0], X[1][0]), X[2][0])
	r12 := (X[0][0]*X[0][1] + X[1][0]*X[1][1] + X[2][0]*X[2][1]) / r11
	rest := 0.0
	for _, row := range X {
		d := row[1] - row[0]/r11*r12
		rest += d * d
	}
	r22 := math.Sqrt(rest)
	q := func(n, k int) float64 {
		q1 := newRows[n][0] / r11
		if k == 0 {
			return q1
		}
		return (newRows[n][1] - q1*r12) / r22
	}
	centred := func(x float64) float64 { return x - mean }
	standardised := func(x float64) float64 { return (x - mean) / sd }
	close := func(x, y float64) bool { return math.Abs(x-y) < 1e-12*(1+math.Abs(y)) }
	centredColumns := plane(func(n, k int) float64 { return newRows[n][k] - column(k) })
	groups := func(total []float64) []float64 { return []float64{a + b*total[1], a + b*total[0]} }
	for name, c := range map[string]struct {
		functions, transformed, mean string
		want                         []float64 // nil: refused
	}{
		"centred":               {"", "vector[N] z = x - mean(x);", "a + b * z", line(centred)},
		"standardised":          {"", "vector[N] z = (x - mean(x)) / sd(x);", "a + b * z", line(standardised)},
		"in steps":              {"", "real m = mean(x); real s; vector[N] c; vector[N] z; s = sd(x); c = x - m; z = c / s;", "a + b * z", line(standardised)},
		"in the model":          {"", "", "a + b * (x - max(x))", line(func(x float64) float64 { return x - 6 })},
		"of transformed data":   {"", "vector[N] z = square(x); vector[N] c = z - mean(z);", "a + b * c", line(func(x float64) float64 { return x*x - 41.0/3 })},
		"of elements":           {"", "vector[N] z; for (n in 1:N) z[n] = square(x[n]);", "a + b * (z - mean(z))", line(func(x float64) float64 { return x*x - 41.0/3 })},
		"in a block":            {"", "vector[N] z; { vector[N] l = square(x); real m = mean(l); for (n in 1:N) z[n] = l[n] - m; }", "a + b * z", line(func(x float64) float64 { return x*x - 41.0/3 })},
		"columns":               {"", "matrix[N, K] Z; vector[K] m; for (k in 1:K) { m[k] = mean(X[, k]); Z[, k] = X[, k] - m[k]; }", "a + Z * B", centredColumns},
		"locals of columns":     {"", "matrix[N, K] Z; for (k in 1:K) { real m = 0; for (n in 1:N) m += X[n, k] / N; for (n in 1:N) Z[n, k] = X[n, k] - m; }", "a + Z * B", centredColumns},
		"by hand":               {"", "real m = 0; vector[N] z; for (n in 1:N) m += x[n]; m /= N; z = x - m;", "a + b * z", line(centred)},
		"largest by hand":       {"", "real m = 0; for (n in 1:N) { real v = x[n]; if (v > m) m = v; }", "a + b * (x / m)", line(func(x float64) float64 { return x / 6 })},
		"product":               {"", "real m = x' * x;", "a + b * (x / m)", line(func(x float64) float64 { return x / 41 })},
		"number of rows":        {"", "vector[N] t; for (n in 1:N) t[n] = n * 1.0 / N;", "a + b * t", []float64{a + b/3, a + b*2/3}},
		"median":                {"", "real m = sort_asc(x)[N %/% 2 + 1];", "a + b * (x - m)", line(func(x float64) float64 { return x - 2 })},
		"QR":                    {"", "matrix[N, K] Q = qr_thin_Q(X) * sqrt(N - 1);", "a + Q * B", plane(func(n, k int) float64 { return math.Sqrt2 * q(n, k) })},
		"part of QR":            {"", "matrix[N, K] Q = qr_Q(X)[, 1:K];", "a + Q * B", plane(q)},
		"QR of centred columns": {"", "matrix[N, K] Z; matrix[N, K] Q; for (k in 1:K) Z[, k] = X[, k] - mean(X[, k]); Q = qr_thin_Q(Z);", "a + Q * qr_thin_R(Z) * B", centredColumns},
		"function of centred":   {"vector f(vector v) { return v / max(v); }", "vector[N] z = f(x - mean(x));", "a + b * z", line(func(x float64) float64 { return (x - mean) / 3 })},
		"QR and its R":          {"", "matrix[N, K] Q = qr_thin_Q(X); matrix[K, K] R = qr_thin_R(X);", "a + Q * R * B", plane(func(n, k int) float64 { return newRows[n][k] })},
		"sums by group":         {"", "vector[J] m = rep_vector(0, J); for (n in 1:N) m[g[n]] += x[n];", "a + b * m[g]", groups([]float64{1, 8})},
		"means by group":        {"", "vector[J] m = rep_vector(0, J); array[J] int c = rep_array(0, J); for (n in 1:N) { m[g[n]] += x[n]; c[g[n]] += 1; } m = m ./ to_vector(c);", "a + b * m[g]", groups([]float64{1, 4})},
		"function":              {"vector f(vector v) { return v - mean(v); }", "vector[N] z = f(x);", "a + b * z", line(centred)},
		"function of groups": {"vector f(vector v, array[] int h, int J) { vector[J] m = rep_vector(0, J); vector[size(v)] o; for (n in 1:size(v)) m[h[n]] += v[n]; for (n in 1:size(v)) o[n] = m[h[n]]; return o; }",
			"vector[N] z = f(x, g, J);", "a + b * z", groups([]float64{1, 8})},
		"function that assigns": {"vector f(vector v) { vector[size(v)] o = v; o -= mean(o); o /= sd(o); return o; }", "vector[N] z = f(x);", "a + b * z", line(standardised)},
		"function in a function": {"vector f(vector v) { return v - mean(v); } vector h(vector w, int n) { vector[n] u = f(w); return u / sd(w); }",
			"vector[N] z = h(x, N);", "a + b * z", line(standardised)},
		"function with a loop": {"vector f(vector v) { real m = 0; for (n in 1:size(v)) m += v[n]; return v - m / size(v); }", "", "a + b * f(x)", line(centred)},
		"function of a number": {"real f(vector v) { real m = 0; for (n in 1:size(v)) { m += v[n]; } return m; }", "", "a + b * (x - f(x) / 3)", line(centred)},

		"reassigned":         {"", "vector[N] z = x; z = z - mean(z); z /= sd(z);", "a + b * z", line(standardised)},
		"reassigned columns": {"", "matrix[N, K] Z = X; for (k in 1:K) Z[, k] -= mean(Z[, k]);", "a + Z * B", centredColumns},
		"reassigned if":      {"", "vector[N] z = x; if (K > 1) { real m = mean(z); z = z - m; z = z / sd(z); } else z = -z;", "a + b * z", line(standardised)},
		"means in loops":     {"", "vector[N] z; for (j in 1:J) { real s = 0; for (n in 1:N) if (g[n] == j) s += x[n]; for (n in 1:N) if (g[n] == j) z[n] = x[n] - s; }", "a + b * z", []float64{a - 4*b, a - b}},
		"a number twice":     {"", "real m = mean(x); vector[N] z = x - m; m = sd(z); z /= m;", "a + b * z", line(standardised)},

		// No form says that these summarise.
		"counts in loops": {"", "vector[N] z; for (j in 1:J) { real s = 0; int c = 0; for (n in 1:N) if (g[n] == j) { s += x[n]; c += 1; } for (n in 1:N) if (g[n] == j) z[n] = x[n] - s / c; }", "a + b * z", nil},
		"while":           {"", "real m = 0; int i = 1; while (i <= N) { m += x[i]; i += 1; }", "a + b * (x - m)", nil},
		"for each":        {"", "real m = 0; for (v in x) m += v;", "a + b * (x - m)", nil},
		"last row":        {"", "vector[N] z = x - x[N];", "a + b * z", nil},
		"count":           {"", "int c = 0; for (n in 1:N) if (x[n] > 1) c += 1;", "a + b * c * x", nil},

		"order":        {"", "vector[N] z = sort_asc(x);", "a + b * z", nil},
		"of a row":     {"", "vector[N] z; for (n in 1:N) z[n] = mean(abs(x - x[n]));", "a + b * z", nil},
		"random":       {"", "real m = 0; real u = normal_rng(0, 1); for (n in 1:N) m += x[n];", "a + u + b * (x - m)", nil},
		"many returns": {"vector f(vector v) { if (size(v) > 2) return v - mean(v); return v; }", "", "a + b * f(x)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			functions := ""
			if c.functions != "" {
				functions = "functions { " + c.functions + " } "
			}
			text := functions + declared + " transformed data { " + c.transformed + " } " + parameters + " model { y ~ normal(" + c.mean + ", 1); }"
			m, err := model.Compile("m", text)
			if err != nil {
				t.Fatal(err)
			}
			fitted, err := model.ReadData(map[string]any{"N": 3, "K": 2, "J": 2, "x": x, "X": X, "g": g, "y": []float64{1, 2, 3}})
			if err != nil {
				t.Fatal(err)
			}
			some, err := model.ReadData(map[string]any{"N": 2, "K": 2, "J": 2, "x": []float64{6, 1}, "X": [][]float64{X[2], X[0]}, "g": []int{2, 1}})
			if err != nil {
				t.Fatal(err)
			}
			values, err := model.ReadData(map[string]any{"N": 2, "K": 2, "J": 2, "x": newX, "X": newRows, "g": newG})
			if err != nil {
				t.Fatal(err)
			}
			d, err := m.DeriveNew(t.Context(), fitted, values, predict.Expected, predict.Options{}, model.BindOptions{})
			if c.want == nil {
				refused, together := (*model.SummarisedError)(nil), (*model.TogetherError)(nil)
				if !errors.As(err, &together) && (!errors.As(err, &refused) || refused.Reason == "") {
					t.Errorf("not refused: %v %v\n%s", err, d.Kept, d.Text())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			means := func(d *model.Derived, values *data.Set) []float64 {
				t.Helper()
				p, err := d.BindContext(t.Context(), values, model.BindOptions{})
				if err != nil {
					t.Fatalf("%v\n%s", err, d.Text())
				}
				at, err := p.Unconstrain(map[string]any{"a": a, "b": b, "B": B})
				if err != nil {
					t.Fatal(err)
				}
				dst := make([]float64, len(p.OutputNames()))
				if err := p.Generate(at, rand.New(rand.NewPCG(1, 1)), dst); err != nil {
					t.Fatalf("%v\n%s", err, d.Text())
				}
				return dst[len(dst)-len(p.GeneratedNames()):]
			}
			got := means(d, values)
			if !slices.EqualFunc(got, c.want, close) {
				t.Errorf("%v, want %v\n%s", got, c.want, d.Text())
			}
			if len(d.Kept) == 0 {
				t.Error("it is not recorded what was kept")
			}

			// Without the data of the fit, nothing can be kept.
			if _, err := m.DeriveNew(t.Context(), nil, values, predict.Expected, predict.Options{}, model.BindOptions{}); !errors.As(err, new(*model.SummarisedError)) {
				t.Error(err)
			}
			// The data of the fit need nothing else.
			if same, err := m.DeriveNew(t.Context(), fitted, fitted, predict.Expected, predict.Options{}, model.BindOptions{}); err != nil || same.Kept != nil {
				t.Error(same, err)
			} else if part, err := m.DeriveNew(t.Context(), fitted, some, predict.Expected, predict.Options{}, model.BindOptions{}); err != nil {
				t.Error(err)
			} else if all, few := means(same, fitted), means(part, some); !close(few[0], all[2]) || !close(few[1], all[0]) {
				// Rows of the fit are predicted as in the fit, whichever of them are given.
				if name != "number of rows" {
					t.Errorf("%v, and %v for rows 3 and 1\n%s", all, few, part.Text())
				}
			}
		})
	}
}

// What a row has from earlier rows is reported. Other columns may change even if a column that
// stays is summarised in a form that is not recognised.
func TestRowsOfSeries(t *testing.T) {
	for name, c := range map[string]struct {
		transformed, earlier string
		x, v                 []float64 // new values
		refused              bool
	}{
		"rows apart":         {"vector[N] z = x;", "", []float64{6, 1}, []float64{0, 1}, false},
		"first row":          {"vector[N] z = x - x[1];", "y", []float64{6, 1}, []float64{0, 1}, false},
		"row before":         {"vector[N] z = x; for (n in 2:N) z[n] = x[n - 1];", "y", []float64{6, 1}, []float64{0, 1}, false},
		"another column":     {"real m = 0; for (u in x) m += u; vector[N] z = x - m;", "", []float64{1, 2, 6, 7}, []float64{4, 4, 4, 4}, false},
		"the summed column":  {"real m = 0; for (u in x) m += u; vector[N] z = x - m;", "", []float64{1, 2, 6, 8}, []float64{0, 1, 3, 1}, true},
		"one row":            {"real m = 0; for (u in x) m += u; vector[N] z = x - m;", "", []float64{1}, []float64{0}, true},
		"no rows":            {"vector[N] z = x;", "", []float64{}, []float64{}, false},
		"bound of parameter": {"vector[N] z = x;", "", []float64{1}, []float64{0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := model.Compile("m", "data { int N; vector[N] x; vector[N] v; vector[N] y; } transformed data { "+c.transformed+
				" } parameters { real a; real<upper=min(y)> b; } model { y ~ normal(a + b * z + v, 1); }")
			if err != nil {
				t.Fatal(err)
			}
			fitted, err := model.ReadData(map[string]any{"N": 4, "x": []float64{1, 2, 6, 7}, "v": []float64{0, 1, 3, 1}, "y": []float64{1, 2, 3, 1}})
			if err != nil {
				t.Fatal(err)
			}
			y := []float64{1, 2, 3, 1}[:len(c.x)]
			values, err := model.ReadData(map[string]any{"N": len(c.x), "x": c.x, "v": c.v, "y": y})
			if err != nil {
				t.Fatal(err)
			}
			d, err := m.DeriveNew(t.Context(), fitted, values, predict.Expected, predict.Options{}, model.BindOptions{})
			switch {
			case c.refused:
				if !errors.As(err, new(*model.TogetherError)) {
					t.Errorf("not refused: %v", err)
				}
			case err != nil:
				t.Error(err)
			case d.Earlier != c.earlier:
				t.Errorf("depends on earlier rows: %q, want %q", d.Earlier, c.earlier)
			}
		})
	}
}
