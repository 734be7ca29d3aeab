package bind

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

func compileIR(t testing.TB, name, text string) *ir.Program {
	t.Helper()
	f := source.NewFile(name, text)
	tree, list := lang.Parse(f)
	if !list.HasErrors() {
		info, more := check.Check(tree, stdlib.Universe())
		if !more.HasErrors() {
			return ir.Lower(tree, info, stdlib.Language())
		}
		list = append(list, more...)
	}
	for _, d := range list {
		t.Log(d)
	}
	t.Fatal("does not compile")
	return nil
}

// TestLoops binds every program of testdata/loops as usual, and once more with all loops unrolled
// as the reference. It compares log density, gradient and outputs, and the gradient with finite
// differences. The first line of each file is a comment `// DATA {…}` with the data in JSON. The
// second is a comment with the expected number of loops of each kind, in the model block and
// transformed parameters: `// LOOPS lanes=1 scans=0 carried=0 iterated=0 unrolled=0 ifs=0`.
func TestLoops(t *testing.T) {
	files, err := filepath.Glob("testdata/loops/*.model")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range short.Every(3, files) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".model"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitN(string(text), "\n", 3)
			set, err := data.ParseJSON(file, []byte(strings.TrimPrefix(lines[0], "// DATA ")))
			if err != nil {
				t.Fatal(err)
			}
			prog := compileIR(t, file, string(text))
			fast, err := Bind(prog, set, Options{Propto: true, Jacobian: true})
			if err != nil {
				t.Fatal(err)
			}
			plain, err := Bind(prog, set, Options{Propto: true, Jacobian: true, Unroll: true})
			if err != nil {
				t.Fatal(err)
			}
			s := fast.Stats
			got := fmt.Sprintf("// LOOPS lanes=%d scans=%d carried=%d iterated=%d unrolled=%d ifs=%d", s.Laned, s.Scanned, s.Carried, s.Iterated, s.Unrolled, s.Ifs)
			if lines[1] != got {
				t.Errorf("loops came out as\n%s\nwant\n%s\n%s", got, lines[1], strings.Join(s.Notes, "\n"))
			}
			compare(t, fast, plain)
		})
	}
}

func compare(t *testing.T, fast, plain *Bound) {
	t.Helper()
	for _, b := range []*Bound{fast, plain} {
		for _, r := range b.Density.Grad(b.Density.Outputs[0], b.Density.Inputs...) {
			b.Density.Output(r)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		var x [][]float64
		for _, p := range fast.Params {
			v := make([]float64, p.Size)
			for i := range v {
				v[i] = 2*rng.Float64() - 1
			}
			x = append(x, v)
		}
		a, errA := fast.Density.Eval(x, &ad.Env{})
		b, errB := plain.Density.Eval(x, &ad.Env{})
		if (errA == nil) != (errB == nil) {
			t.Fatalf("errors %v and %v", errA, errB)
		}
		if errA != nil {
			continue
		}
		near(t, "density and gradient", a, b, 1e-12)
		const h = 1e-5
		for k := range x {
			for i := range x[k] {
				at := func(d float64) float64 {
					x[k][i] += d
					v, err := fast.Density.Eval(x, &ad.Env{})
					x[k][i] -= d
					if err != nil {
						t.Fatal(err)
					}
					return v[0][0]
				}
				fd := (at(h) - at(-h)) / (2 * h)
				if g := a[k+1][i]; math.Abs(fd-g) > 1e-6*(1+math.Abs(fd)+math.Abs(a[0][0])) {
					t.Errorf("gradient of %s: %v, differences give %v", fast.Params[k].Names[i], g, fd)
				}
			}
		}
		for _, gs := range [][2]*ad.Graph{{fast.Constrained, plain.Constrained}, {fast.Generated, plain.Generated}} {
			a, errA := gs[0].Eval(x, &ad.Env{})
			b, errB := gs[1].Eval(x, &ad.Env{})
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			near(t, "outputs", a, b, 1e-12)
		}
	}
}

func near(t *testing.T, what string, a, b [][]float64, tol float64) {
	t.Helper()
	for k := range a {
		scale := 1.0
		for _, v := range b[k] {
			scale = max(scale, math.Abs(v))
		}
		for i := range a[k] {
			x, y := a[k][i], b[k][i]
			if math.IsNaN(x) && math.IsNaN(y) || x == y {
				continue
			}
			if !(math.Abs(x-y) <= tol*scale) {
				t.Errorf("%s: output %d element %d: %v, plain %v", what, k, i, x, y)
			}
		}
	}
}
