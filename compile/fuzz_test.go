package compile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// sized are expressions whose sizes come from data.
var sized = []string{
	"sum(to_array_1d(rep_array(1, N, I, K)))", "size(rep_array(rep_vector(1, N), I, K))", "sum(rep_matrix(0.5, N, I))",
	"sum(rep_matrix(rep_vector(1, N), I))", "sum(rep_vector(a, N))", "sum(identity_matrix(N))", "sum(one_hot_vector(N, I))",
	"sum(one_hot_int_array(N, K))", "sum(linspaced_vector(N, 0, 1))", "sum(linspaced_int_array(N, I, K))", "sum(zeros_array(N))",
	"sum(ones_row_vector(N))", "sum(uniform_simplex(N))", "sum(v[N:I])", "sum(v[N:])", "sum(v[:I])", "sum(m[N:I, K:])", "m[N, I]", "v[K]",
	"sum(head(v, N))", "sum(tail(v, I))", "sum(segment(v, N, I))", "sum(block(m, N, I, K, 2))", "sum(sub_col(m, N, I, K))",
	"sum(sub_row(m, N, I, K))", "sum(add_diag(rep_matrix(a, N, N), 1))", "sum(to_matrix(v, N, I))", "sum(to_matrix(v, N, I, K))",
	"sum(diag_matrix(rep_vector(1, N)))", "sum(gp_exp_quad_cov(linspaced_array(N, 0, 1), 1, 1))", "sum(append_row(rep_vector(a, N), rep_vector(a, I)))",
	"sum(append_col(rep_matrix(a, 2, N), rep_matrix(a, 2, I)))", "sum(quad_form(rep_matrix(a, N, N), rep_matrix(a, N, I)))",
	"sum(rep_matrix(a, N, I) * rep_matrix(a, I, K))", "sum(crossprod(rep_matrix(a, N, I)))", "sum(cumulative_sum(rep_vector(a, N)))",
	"sum(sort_asc(rep_vector(a, N)))", "sum(reverse(rep_vector(a, N)))", "sum(to_vector(rep_matrix(a, N, I)))", "log_sum_exp(rep_vector(a, N))",
	"sum(to_array_1d(rep_matrix(a, N, I)))", "sum(rep_row_vector(a, N) * rep_matrix(a, N, K))",
	"sum(col(rep_matrix(a, N, I), K))", "max(rep_array(N, I))", "sum(cholesky_decompose(add_diag(rep_matrix(0, N, N), 1)))", "choose(N, I) * 1.0", "sum(csr_extract_w(rep_matrix(1, N, I)))",
}

// around are statements that contain one of these expressions.
var around = []string{
	"target += %s;", "vector[N] w = rep_vector(a, N); target += sum(w) + %s;", "array[N, I] int w; target += size(w) + %s;",
	"matrix[N, I] w = rep_matrix(a, N, I); target += sum(w) + %s;", "for (i in N:I) target += a + %s;", "for (i in 1:N) for (j in 1:I) target += %s;",
	"array[N] vector[I] w; for (i in 1:N) w[i] = rep_vector(%s, I); target += sum(w[1]);", "for (i in 1:N) { vector[i] w = rep_vector(a, i); target += sum(w) * %s; }",
	"{ matrix[N, N] w = add_diag(rep_matrix(0, N, N), a); target += sum(w) + %s; }", "if (a > 0) { vector[N] w = rep_vector(1, N); target += %s + sum(w); }",
}

// FuzzSizes checks that a model is either bound and evaluated or refused, quickly and within its
// budget, whatever sizes the data contain.
func FuzzSizes(f *testing.F) {
	big := []int32{0, 1, -1, 2, 3, 17, 1000, 46341, 65536, 1 << 20, 1 << 28, 1 << 30, 1<<31 - 1, -1 << 31}
	for k := range max(len(sized), len(around)) {
		for i := range 3 {
			f.Add(uint8(k), uint8(k/3+i), big[(k+5*i)%len(big)], big[(3*k+i)%len(big)], big[(7*k+2*i)%len(big)], k%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, expr, stmt uint8, n, i, k int32, transformed bool) {
		text := fmt.Sprintf(around[int(stmt)%len(around)], sized[int(expr)%len(sized)])
		program := "data { int N, I, K; }\nparameters { real a; vector[3] v; matrix[3, 3] m; }\nmodel {\n" + text + "\n}\n"
		if transformed {
			text = strings.ReplaceAll(text, "target += ", "s += ")
			program = "data { int N, I, K; }\ntransformed data { real s = 0; real a = 0.3; vector[3] v = [1, 2, 3]'; matrix[3, 3] m = identity_matrix(3);\n" + text + "\n}\nparameters { real q; }\nmodel { q ~ normal(s, 1); }\n"
		}
		p, list := Compile(source.NewFile("sizes.model", program))
		if p == nil {
			t.Fatalf("%s\n%v", program, list)
		}
		set, err := data.FromGo(map[string]int{"N": int(n), "I": int(i), "K": int(k)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		m, err := p.BindContext(ctx, set, BindOptions{Memory: 64e6, Statements: 100_000})
		if d := time.Since(begin); d > 4*time.Second {
			t.Fatalf("N %d, I %d, K %d: bound after %s\n%s", n, i, k, d, program)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("N %d, I %d, K %d: %v\n%s", n, i, k, err, program)
			}
			return
		}
		m.SetStop(func() error { return context.Cause(ctx) })
		x, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
		_, _ = m.LogDensityGrad(x, grad) // which may reject
	})
}
