package compile

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// greedy are statements that ask for more than they get: each is refused with its line,
// before the memory is taken, wherever it stands.
var greedy = []string{
	"real s = sum(linspaced_vector(2147483647, 0, 1));",
	"real s = sum(identity_matrix(2147483647));",
	"real s = sum(identity_matrix(30000));",
	"real s = sum(one_hot_vector(2147483647, 1));",
	"int s = sum(zeros_int_array(2147483647));",
	"int s = sum(linspaced_int_array(2147483647, 1, 3));",
	"vector[2147483647] v;",
	"array[2147483647, 2147483647, 2147483647] vector[2147483647] v;",
	"array[100000, 100000] int v;",
	"matrix[20000, 20000] v = rep_matrix(0, 20000, 20000);",
	"real s = sum(rep_vector(0.5, 2147483647));",
	"int s = size(rep_array(1, 300000000, 300000000, 300000000));",
	"int s = num_elements(rep_array(1, 968973220, 49477, 384773));",
	"int s = num_elements(rep_array(1.5, 1073741824, 1073741824, 16));",
	"int s = num_elements(rep_array(rep_matrix(1, 65536, 65536), 65536, 65536));",
	"array[30000] real x = linspaced_array(30000, 0, 1); real s = sum(gp_exp_quad_cov(x, 1, 1));",
	"vector[30000] x = rep_vector(1, 30000); real s = sum(x * x');",
}

func TestGreedyStatements(t *testing.T) {
	for _, block := range []string{"transformed data", "model", "generated quantities"} {
		for _, s := range greedy {
			text := fmt.Sprintf("%s {\n  {\n    %s\n  }\n}\n", block, s)
			prog, list := Compile(source.NewFile("greedy.model", text))
			if prog == nil {
				t.Fatalf("%s\n%v", s, list)
			}
			begin := time.Now()
			_, err := prog.Bind(data.Empty(), BindOptions{Memory: 100e6})
			var e *Error
			if !errors.As(err, &e) || len(e.List) == 0 || e.List[0].Code != diag.TooLarge || e.List[0].Span.Begin().Line != 3 {
				t.Errorf("%s: %s\n%v", block, s, err)
			}
			if d := time.Since(begin); d > 3*time.Second {
				t.Errorf("%s: %s: refused after %s", block, s, d)
			}
		}
	}
}

// endless are statements that never end, or not before long.
var endless = []string{
	"int i = 0; while (1) i = 1 - i;",
	"real s = 0; while (s < 1) s += 0;",
	"for (i in 1:2147483647) for (j in 1:2147483647) { if (i == j) break; }",
	"int s = 0; for (i in 1:2000000000) s = i;",
	"real s = 0; for (i in 1:30000) for (j in 1:30000) s += i * j;",
}

func TestInterruptedBind(t *testing.T) {
	for _, block := range []string{"transformed data", "generated quantities"} {
		for _, s := range endless {
			text := fmt.Sprintf("%s {\n  {\n    %s\n  }\n}\n", block, s)
			prog, list := Compile(source.NewFile("endless.model", text))
			if prog == nil {
				t.Fatalf("%s\n%v", s, list)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			begin := time.Now()
			_, err := prog.BindContext(ctx, data.Empty(), BindOptions{Memory: 200e6})
			var e *Error
			limited := errors.As(err, &e) && e.List[0].Code == diag.TooLarge
			if !limited && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %s\n%v", block, s, err)
			}
			if d := time.Since(begin); d > time.Second {
				t.Errorf("%s: %s: ended after %s", block, s, d)
			}
			cancel()
			_, err = prog.Bind(data.Empty(), BindOptions{Memory: 200e6, Statements: 10000})
			if !errors.As(err, &e) || e.List[0].Code != diag.TooLarge {
				t.Errorf("%s: %s\n%v", block, s, err)
			}
		}
	}
}

// TestGreedyEvaluation: an evaluation that needs too much memory is refused when the
// model is bound, at the line of its largest value.
func TestGreedyEvaluation(t *testing.T) {
	text := `parameters {
  vector[6000] x;
}
model {
  target += sum(x)
    + log_determinant(
        x * x');
}
`
	prog, list := Compile(source.NewFile("greedy.model", text))
	if prog == nil {
		t.Fatal(list)
	}
	_, err := prog.Bind(data.Empty(), BindOptions{Memory: 100e6})
	var e *Error
	if !errors.As(err, &e) || e.List[0].Code != diag.TooLarge || e.List[0].Span.Begin().Line < 5 {
		t.Error(err)
	}
}

// TestStop: an evaluation ends soon after it is asked to, also one without loops, and
// the next one is right.
func TestStop(t *testing.T) {
	text := `parameters {
  vector[1500] x;
}
model {
  matrix[1500, 1500] a = add_diag(x * x', 1500);
  target += log_determinant(a * a) + sum(eigenvalues_sym(a)) - dot_self(x);
}
`
	prog, list := Compile(source.NewFile("long.model", text))
	if prog == nil {
		t.Fatal(list)
	}
	m, err := prog.Bind(data.Empty(), BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
	enough := errors.New("enough")
	begin := time.Now()
	m.SetStop(func() error {
		if time.Since(begin) > 30*time.Millisecond {
			return enough
		}
		return nil
	})
	if _, err := m.LogDensityGrad(x, grad); !errors.Is(err, enough) {
		t.Fatalf("%v after %s", err, time.Since(begin))
	}
	if d := time.Since(begin); d > 500*time.Millisecond { // 80 ms on a machine that has time
		t.Errorf("ended after %s", d)
	}
}

// TestShortSlices: slices of a wrong length are an error, of every method.
func TestShortSlices(t *testing.T) {
	prog, list := Compile(source.NewFile("short.model", "parameters { vector[3] x; }\nmodel { x ~ normal(0, 1); }\ngenerated quantities { real y = x[1]; }\n"))
	if prog == nil {
		t.Fatal(list)
	}
	m, err := prog.Bind(nil, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	right := make([]float64, 3)
	for _, wrong := range [][]float64{nil, {1}, {1, 2, 3, 4, 5}} {
		if _, err := m.LogDensityGrad(wrong, right); err == nil {
			t.Error("LogDensityGrad")
		}
		if _, err := m.LogDensityGrad(right, wrong); err == nil {
			t.Error("LogDensityGrad")
		}
		if m.Constrain(wrong, right) == nil || m.Constrain(right, wrong) == nil {
			t.Error("Constrain")
		}
		if m.Generate(wrong, nil, make([]float64, 4)) == nil || m.Generate(right, nil, wrong) == nil {
			t.Error("Generate")
		}
	}
	if x, err := m.Unconstrain(nil); err != nil || len(x) != 3 {
		t.Error(x, err)
	}
}
