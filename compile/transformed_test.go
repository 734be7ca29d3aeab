package compile

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/direct"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestTransformedData checks that sharing, reuse and changes in place within package interp have no
// visible effect. Package direct, which copies everything, must compute the same values.
func TestTransformedData(t *testing.T) {
	const functions = `functions {
  vector same(vector v) { return v; }
  vector raised(vector v) { vector[size(v)] w = v; for (i in 1:size(v)) w[i] += 1; return w; }
  array[] int counts(int n) { array[n] int c; for (i in 1:n) { array[2] int pair; pair[1] = i; c[i] = pair[1]; } return c; }
  real total(array[] vector a) { real s = 0; for (v in a) s += sum(v); return s; }
  tuple(real, vector) both(vector v) { return (v[1], v); }
  int fib(int n) { if (n < 3) return 1; return fib(n - 1) + fib(n - 2); }
  void nothing(vector v) { real x = v[1]; if (x > 0) return; reject("no"); }
}
`
	for _, c := range [][2]string{
		{"vector[4] x = [1, 2, 3, 4]'; vector[4] y = x; y[1] = 9; x[2:3] = x[1:2]; x[{4, 1}] = x[{1, 4}];", "x, y"},
		{"vector[3] x = [1, 2, 3]'; x = x; x[:] = x; vector[3] y = same(x); y[1] = 7; vector[3] z = raised(x); x[3] += sum(z); nothing(x);", "x, y, z"},
		{"matrix[2, 3] m = [[1, 2, 3], [4, 5, 6]]; m[2] = m[1] * 2; m[, 2] = m[, 3]; m[1:2, {3, 1}] = m[1:2, {1, 3}]; real s = 0; for (v in m) s = 2 * s + v;", "m, s"},
		{"array[3] vector[2] a = {[1, 2]', [3, 4]', [5, 6]'}; for (v in a) { a[1] += v; a[3, 2] = v[1]; } real s = total(a); a[2:3] = a[1:2]; a[, 1] = {7, 8, 9};", "a, s"},
		{"array[5] int c = counts(5); array[2, 2] int k = {{1, 2}, {3, 4}}; k[2] = k[1]; k[1, 2] *= 5; int f = fib(12); c[k[2, {2, 1}]] = {9, 8};", "c, k, f"},
		{"tuple(real, vector[2]) t = both([3, 4]'); real a = 1; real b = 2; (a, b) = (b, a); t.2[1] = a; complex z = to_complex(1, 2); z *= z; array[2] complex w = {z, 1}; real r = get_imag(w[1] * w[2]);", "t.1, t.2, a, b, z, w, r"},
		{"int i = 0; real s = 0; while (1) { i += 1; if (i % 2 == 0) continue; if (i > 9) break; for (j in 1:i) { if (j == 4) break; s += j ? i * 0.5 : 1 %/% 0; } } int e = i > 100 && 1 %/% 0 == 0 || i == 11;", "i, s, e"},
		{"real u = normal_rng(0, 1); array[3] int n = poisson_rng({1.5, 2, 3}); vector[2] v; for (i in 1:2) v[i] = normal_rng(i, 0.1) + n[i]; int b = binomial_rng(10, 0.3); vector[2] d = multi_normal_rng([0, 1]', identity_matrix(2));", "u, n, v, b, d"},
		{"matrix[2, 2] a = [[2, 1], [1, 3]]; matrix[2, 2] l = cholesky_decompose(a); vector[2] x = a \\ [1, 2]'; x ./= [2, 4]'; row_vector[2] y = x' * a; real q = quad_form(a, x); vector[0] none; real m = sum(none); array[2] int order = sort_indices_desc(x);", "a, l, x, y, q, none, m, order"},
		{"vector[3] x; real n = x[2]; array[2] int k; int least = k[1]; for (i in 1:3) { vector[2] w; x[i] = is_nan(w[2]); w[2] = 3; }", "x, n, k, least"},
	} {
		text := functions + "transformed data {\n" + c[0] + "\nprint(" + c[1] + ");\n}"
		prog, wrong := Compile(source.NewFile("td.model", text))
		if wrong.HasErrors() {
			t.Fatalf("%s\n%v", text, wrong)
		}
		printed := func(run func(print func(string), rng *rand.Rand) error) (out string) {
			if err := run(func(s string) { out += s }, rand.New(rand.NewPCG(3, 4))); err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			return out
		}
		want := printed(func(print func(string), rng *rand.Rand) error {
			_, err := direct.New(prog.ir, data.Empty(), direct.Options{Print: print, Rand: rng})
			return err
		})
		got := printed(func(print func(string), rng *rand.Rand) error {
			_, err := interp.Data(prog.ir, data.Empty(), interp.Options{Print: print, Rand: rng})
			return err
		})
		if got != want {
			t.Errorf("%s\nprints %s\nby the plain interpreter %s", text, got, want)
		}
	}
}

// TestStoppedBinding checks that binding ends when it is stopped, even in an infinite loop of
// transformed data.
func TestStoppedBinding(t *testing.T) {
	prog, _ := Compile(source.NewFile("endless.model", "transformed data { int i = 0; while (1) i += 1; } parameters { real x; }"))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := prog.BindContext(ctx, nil, BindOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestMistakesInTransformedData checks the code, position and enclosing calls of errors.
func TestMistakesInTransformedData(t *testing.T) {
	for _, c := range []struct {
		text  string
		code  diag.Code
		place string // the underlined text
		notes int
	}{
		{"vector[3] x = [1, 2]';", diag.SizeMismatch, "[1, 2]'", 0},
		{"vector[3] x; x[1:2] = [1, 2, 3]';", diag.SizeMismatch, "[1, 2, 3]'", 0},
		{"int n = -1; vector[n] x;", diag.NegativeSize, "n", 0},
		{"int k = 7; k = k %/% (k - 7);", diag.IntArithmetic, "k %/% (k - 7)", 0},
		{"real x = f(-2);", diag.Rejected, "x ~ normal", 1},
		{"real x = normal_lpdf(1 | 0, -1);", diag.Rejected, "normal_lpdf(1 | 0, -1)", 0},
		{"real<lower=0> x = -2;", diag.OutsideBounds, "x", 0},
		{"simplex[2] x = [0.5, 0.6]';", diag.OutsideBounds, "x", 0},
		{"vector[2] x = rep_vector(1, 2) + rep_vector(1, 3);", diag.BadCall, "rep_vector(1, 2) + rep_vector(1, 3)", 0},
	} {
		text := "functions { real f(real x) { if (x < 0) reject(\"below: \", x); return sqrt(x); } }\ntransformed data { " + c.text + " }"
		list := bindText(t, text)
		if len(list) != 1 || list[0].Code != c.code || len(list[0].Related) != c.notes {
			t.Errorf("%s: %v", c.text, list)
			continue
		}
		if at := list[0].Span.Text(); c.notes == 0 && at != c.place {
			t.Errorf("%s: the place is %q", c.text, at)
		}
	}
}

// TestMadeWhenFirstUsed checks that several clones may ask for outputs at the same time.
func TestMadeWhenFirstUsed(t *testing.T) {
	for _, text := range []string{
		"parameters { real<lower=0> s; } transformed parameters { real v = s * s; } model { s ~ exponential(1); } generated quantities { real w = v + 1; }",
		decided[1].text,
	} {
		m := bindSource(t, text, "{}")
		var group sync.WaitGroup
		for range 8 {
			c := m.Clone()
			group.Go(func() {
				out, grad := make([]float64, len(c.OutputNames())), make([]float64, 1)
				err1 := c.Generate([]float64{0.5}, nil, out)
				err2 := c.Constrain([]float64{0.5}, out[:len(c.ConstrainedNames())])
				_, err3 := c.LogDensityGrad([]float64{0.5}, grad)
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
}
