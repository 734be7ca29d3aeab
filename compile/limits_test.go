package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// greedy lists statements that ask for too much memory. Each must be refused with its line before
// the memory is taken, wherever it is.
var greedy = []string{
	"real s = sum(linspaced_vector(2147483647, 0, 1));",
	"real s = sum(identity_matrix(2147483647));",
	"real s = falling_factorial(3.0, 2147483647);",
	"real s = rising_factorial(3.0, 2147483647);",
	"real s = lmgamma(2147483647, 2.0);",
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
			if d := time.Since(begin); d > 40*time.Second { // 1.7 s on a machine that does nothing else
				t.Errorf("%s: %s: refused after %s", block, s, d)
			}
		}
	}
}

// endless are statements that never end, or only after very long.
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
			// The bound allows for a busy machine; a binding that is not stopped takes minutes.
			if d := time.Since(begin); d > 30*time.Second {
				t.Errorf("%s: %s: ended after %s", block, s, d)
			}
			cancel()
			_, err = prog.Bind(data.Empty(), BindOptions{Memory: 200e6, Statements: 10000})
			if !errors.As(err, &e) || e.List[0].Code != diag.TooLarge && e.List[0].Code != diag.TooManyStatements {
				t.Errorf("%s: %s\n%v", block, s, err)
			}
		}
	}
}

// TestGreedyEvaluation checks that a model whose evaluation needs too much memory is refused when
// it is bound, at the line of its largest value.
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

// TestStop checks that an evaluation, even one without loops, ends soon after the stop function
// returns an error. The next evaluation must be right.
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
	asked, left := 0, 0
	m.SetStop(func() error {
		if asked++; asked >= 3 {
			return &leave{enough, &left}
		}
		return nil
	})
	if _, err := m.LogDensityGrad(x, grad); !errors.Is(err, enough) {
		t.Fatalf("%v after %d questions", err, asked)
	}
	if left != 1 {
		t.Errorf("whoever stopped it heard %d times that it goes on", left)
	}
	if asked != 3 {
		t.Errorf("asked %d times whether to stop, and was told to at the third", asked)
	}
}

// leave is the error with which a caller stops waiting.
type leave struct {
	error
	times *int
}

func (l *leave) Unwrap() error { return l.error }

func (l *leave) Leave() (ended func()) {
	*l.times++
	return func() {}
}

// TestShortSlices checks that every method returns an error for a slice of the wrong length.
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

// TestLiveValues checks values each of which fits the budget. They are refused if together they
// exceed it, and accepted if each replaces the previous one.
func TestLiveValues(t *testing.T) {
	const megabyte = "rep_vector(1, 125000)"
	many := func(text, between string, n int) string {
		return strings.TrimSuffix(strings.Repeat(text+between, n), between)
	}
	declared := ""
	for i := range 120 {
		declared += fmt.Sprintf("vector[125000] v%d = %s; ", i, megabyte)
	}
	functions := "functions { real deep(int n) { vector[125000] v = " + megabyte + "; return n == 0 ? sum(v) : deep(n - 1) + v[n]; }\n" +
		"vector twice(vector v) { return append_row(v, v); }\n" +
		"real wide(int n) { " + declared[:strings.LastIndex(declared, "v119")-15] + " return n == 0 ? v0[1] : 1; } }\n"
	type program struct {
		text    string
		refused bool
	}
	for _, c := range short.Every(3, []program{
		{declared, true},
		{"real s = deep(120);", true},
		{"real s = sum({" + many(megabyte+"[1]", ", ", 120) + "});", false},
		{"array[120] vector[125000] s = {" + many(megabyte, ", ", 120) + "};", true},
		{"real s = num_elements({" + many(megabyte, ", ", 120) + "});", true},
		{"array[100000] int k = rep_array(1, 100000); matrix[2, 2] m = identity_matrix(2); int s = num_elements(m[k, k]);", true},
		{"array[100000] int k = rep_array(1, 100000); array[2, 2] int m = rep_array(1, 2, 2); int s = size(m[k, k]);", true},
		{"vector[20000] v = rep_vector(1, 20000); for (i in 1:5) { vector[num_elements(v) * 2] w = twice(v); v[1] += w[2]; }", false},
		{"real s = 0; for (i in 1:150) { vector[125000] v = " + megabyte + "; s += v[i]; }", false},
		{"real s = 0; vector[125000] v; for (i in 1:150) { v = v + " + megabyte + "; s += v[i]; }", false},
		{"real s = 0; for (i in 1:40) s += deep(3) + sum(twice(" + megabyte + "));", false},
		{"real s = 0; for (i in 1:20) s += sum(" + many(megabyte, " + ", 8) + ");", false},
		{"real s = 0; for (i in 1:120) { for (x in " + megabyte + ") { s += x; if (s > 3) break; } }", false},
	}) {
		prog, list := Compile(source.NewFile("live.model", functions+"transformed data {\n"+c.text+"\n}"))
		if prog == nil {
			t.Fatalf("%.200s\n%v", c.text, list)
		}
		_, err := prog.Bind(nil, BindOptions{Memory: 100e6})
		var e *Error
		refused := errors.As(err, &e) && e.List[0].Code == diag.TooLarge
		if refused != c.refused || err != nil && !refused {
			t.Errorf("%.200s\n%v", c.text, err)
		}
	}
}

// TestDeepRecursion checks that a recursion ends before the stack overflows, however deep its calls
// are nested in expressions and statements, and that it ends the run.
func TestDeepRecursion(t *testing.T) {
	for name, f := range map[string]string{
		"plain":      "return f(x + 1);",
		"expression": "return " + strings.Repeat("exp(", 900) + "f(x + 1)" + strings.Repeat(")", 900) + ";",
		"statements": strings.Repeat("if (x > -1) { ", 450) + "return f(x + 1);" + strings.Repeat(" }", 450) + " return 1;",
		"sum":        "return f(x + 1)" + strings.Repeat(" + 1", 9000) + ";",
		"variables":  strings.Repeat("{ real y = 1; }", 3000) + "return f(x + 1);",
	} {
		if testing.Short() && name != "plain" && name != "sum" {
			continue
		}
		text := "functions { real f(real x) { " + f + " } }\n"
		prog, list := Compile(source.NewFile("deep.model", text+"transformed data { real y = f(1); }"))
		if prog == nil {
			t.Fatal(list)
		}
		begin := time.Now()
		_, err := prog.Bind(nil, BindOptions{Memory: 200e6})
		var e *Error
		if !errors.As(err, &e) || e.List[0].Code != diag.EndlessRecursion && e.List[0].Code != diag.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(begin); d > 40*time.Second { // 1.7 s on a machine that does nothing else
			t.Errorf("%s: refused after %s", name, d)
		}
	}
	prog, list := Compile(source.NewFile("deep.model", "functions { real f(real x) { return f(x + 1) + 1; } }\nparameters { real x; }\nmodel { target += f(x); }"))
	if prog == nil {
		t.Fatal(list)
	}
	m, err := prog.Bind(nil, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var r *Rejection
	if _, err := m.LogDensityGrad([]float64{1}, []float64{0}); !errors.As(err, &r) || !r.Fatal() || r.Span.Begin().Line != 1 {
		t.Error(err)
	}
	// A recursion that ends is evaluated: thousands of calls.
	prog, list = Compile(source.NewFile("deep.model", "functions { real f(int n, real x) { if (n == 0) { return x; } else { return 0.5 * f(n - 1, x) + 1; } } }\nparameters { real x; }\nmodel { target += -square(f(9000, x)); }"))
	if prog == nil {
		t.Fatal(list)
	}
	if m, err = prog.Bind(nil, BindOptions{}); err != nil {
		t.Fatal(err)
	}
	if lp, err := m.LogDensityGrad([]float64{1}, []float64{0}); err != nil || lp != -4 {
		t.Error(lp, err)
	}
}

// TestManyCalls checks that nested calls that multiply a statement are stopped by the limit on
// statements, without a graph node for each call.
func TestManyCalls(t *testing.T) {
	for _, text := range []string{
		`functions {
  real f(real x, int n) {
    if (n == 0) return x;
    return f(x, n - 1) + f(x, n - 1);
  }
}
parameters { real a; }
model { target += f(a, 30); }`,
		`functions {
  real f(real x) { return x; }
  real g(real x) { return f(f(f(f(f(f(f(f(f(f(x)))))))))); }
  real h(real x) { return g(g(g(g(g(g(g(g(g(g(x)))))))))); }
  real k(real x) { return h(h(h(h(h(h(h(h(h(h(x)))))))))); }
}
parameters { real a; }
model { target += k(k(k(a))); }`,
	} {
		prog, list := Compile(source.NewFile("calls.model", text))
		if prog == nil {
			t.Fatal(list)
		}
		_, err := prog.Bind(data.Empty(), BindOptions{Statements: 100_000})
		var e *Error
		if !errors.As(err, &e) || e.List[0].Code != diag.TooManyStatements || e.List[0].Span.Begin().Line > 4 || !strings.Contains(err.Error(), "100000 statements") {
			t.Error(err)
		}
	}
}

// TestSizeOfWhatIsFilled checks a loop over the size of a container that it fills. It must need as
// little memory as a loop up to a literal number.
func TestSizeOfWhatIsFilled(t *testing.T) {
	for _, text := range []string{
		"parameters { real a; } model { vector[100000] x; for (i in 1:size(x)) x[i] = a * i; target += dot_self(x); }",
		"parameters { real a; } generated quantities { vector[100000] x; for (i in 1:num_elements(x)) x[i] = std_normal_rng(); }",
		"parameters { real a; } model { matrix[400, 300] x; for (i in 1:rows(x)) for (j in 1:cols(x)) x[i, j] = a * i + j; target += sum(x); }",
	} {
		prog, list := Compile(source.NewFile("filled.model", text))
		if prog == nil {
			t.Fatal(list)
		}
		if _, err := prog.Bind(data.Empty(), BindOptions{Memory: 50e6}); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// TestNestedLoops checks that the size of the program does not grow by a factor with each level of
// nested loops.
func TestNestedLoops(t *testing.T) {
	var open, closed strings.Builder
	for i := range 40 {
		fmt.Fprintf(&open, "{ real z%d = s; while (z%d < %d) { z%d += 10; s += 0.001 * square(z%d) * x; ", i, i, i%3-1, i, i)
		closed.WriteString("} }")
	}
	prog, list := Compile(source.NewFile("nested.model", "parameters { real x; } model { real s = x; "+open.String()+closed.String()+" target += -square(s); }"))
	if prog == nil {
		t.Fatal(list)
	}
	begin := time.Now()
	m, err := prog.Bind(data.Empty(), BindOptions{Memory: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d > 40*time.Second { // 2 s on a busy machine; what doubles with each loop takes years
		t.Errorf("binding took %s", d)
	}
	at := func(x float64) (float64, float64) {
		grad := []float64{0}
		lp, err := m.LogDensityGrad([]float64{x}, grad)
		if err != nil {
			t.Fatal(err)
		}
		return lp, grad[0]
	}
	for _, x := range []float64{-1.3, -0.4, 0.2} {
		_, got := at(x)
		high, _ := at(x + 1e-6)
		low, _ := at(x - 1e-6)
		if want := (high - low) / 2e-6; math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("the slope at %v is %v, want %v", x, got, want)
		}
	}
}

// asked is a context that reports cancellation once Err has been called more than `most` times.
type asked struct {
	context.Context
	times, most int
}

func (a *asked) Err() error {
	if a.times++; a.times > a.most {
		return context.Canceled
	}
	return nil
}

// TestInterruptedPasses checks that binding can be interrupted at any point, within passes too, and
// returns the reason. The same holds for programs that are made on first use; after an interruption
// they can be made again.
func TestInterruptedPasses(t *testing.T) {
	var text strings.Builder
	text.WriteString("parameters { real x; } transformed parameters { real s = 0;\n")
	for i := range 400 {
		fmt.Fprintf(&text, "if (x > %d) s += x * %d; else s -= sin(x);\n", i%7-3, i)
	}
	text.WriteString("{ real z = x; while (z < 3) { z += 1; s += z; } }\n} model { target += -square(x) - s; }")
	prog, list := Compile(source.NewFile("many.model", text.String()))
	if prog == nil {
		t.Fatal(list)
	}
	whole := &asked{t.Context(), 0, math.MaxInt}
	m, err := prog.BindContext(whole, data.Empty(), BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if whole.times < 200 { // 243; it was 148 when most passes did not check
		t.Errorf("binding is asked %d times whether to go on", whole.times)
	}
	for most := range whole.times {
		if most%short.Of(7, 41) != 0 && most+short.Of(10, 2) < whole.times {
			continue
		}
		if _, err := prog.BindContext(&asked{t.Context(), 0, most}, data.Empty(), BindOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted when asked %d times of %d: %v", most, whole.times, err)
		}
	}
	enough, out := errors.New("enough"), make([]float64, 2)
	m.SetStop(func() error { return enough })
	if err := m.Constrain([]float64{0.5}, out); !errors.Is(err, enough) {
		t.Errorf("stopped: %v", err)
	}
	m.SetStop(nil)
	if err := m.Constrain([]float64{0.5}, out); err != nil || out[0] != 0.5 {
		t.Errorf("not stopped any more: %v", err)
	}
}
