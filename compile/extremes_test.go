package compile

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// extremePoint has the arguments of a call, its value, and its derivatives with respect to the real
// arguments.
type extremePoint struct {
	args  []float64
	value float64
	grad  []float64
}

// extremeProgram returns a program that adds up calls of a function of scalars: one call with
// scalars, one with vectors, or calls in a loop. Its parameters are the real arguments, one after
// another.
func extremeProgram(name, kinds, form string) string {
	var d, p, args strings.Builder
	isDensity := slices.ContainsFunc([]string{"_lpdf", "_lpmf", "cdf"}, func(s string) bool { return strings.HasSuffix(name, s) })
	for i, k := range kinds {
		sep := ", "
		if i == 0 {
			sep = ""
		} else if i == 1 && isDensity {
			sep = " | "
		}
		fmt.Fprintf(&args, "%sx%d", sep, i)
		if form == "loop" {
			args.WriteString("[n]")
		}
		switch {
		case k == 'i' && form == "numbers":
			fmt.Fprintf(&d, "int x%d; ", i)
		case k == 'i':
			fmt.Fprintf(&d, "array[N] int x%d; ", i)
		case form == "numbers":
			fmt.Fprintf(&p, "real x%d; ", i)
		default:
			fmt.Fprintf(&p, "vector[N] x%d; ", i)
		}
	}
	call := fmt.Sprintf("%s(%s)", name, args.String())
	model := "target += sum(" + call + ");"
	switch {
	case form == "loop":
		model = "for (n in 1:N) target += " + call + ";"
	case form == "numbers" || isDensity:
		model = "target += " + call + ";"
	}
	return "data { int N; " + d.String() + "}\nparameters { " + p.String() + "}\nmodel { " + model + " }\n"
}

// TestExtremes evaluates compiled functions of vectors, and functions in loops, at the points of
// the sweep. Derivatives must equal those of the functions of numbers, and values their sums.
func TestExtremes(t *testing.T) {
	b, err := os.ReadFile("../stdlib/stdlibtest/testdata/golden/sweep.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	kinds, points := map[string]string{}, map[string][][]float64{}
	mostPoints := short.Of(50, 5) // of a function
	for line := range strings.Lines(string(b)) {
		w := strings.Fields(line)
		if w[0] == "#" || !strings.Contains(w[1], "r") {
			continue
		}
		if kinds[w[0]] == "" {
			kinds[w[0]] = w[1]
			names = append(names, w[0])
		}
		var args []float64
		for _, s := range w[2 : 2+len(w[1])] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, x)
		}
		if len(points[w[0]]) < mostPoints {
			points[w[0]] = append(points[w[0]], args)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { compareExtremes(t, name, kinds[name], points[name]) })
	}
}

// extremeExceptions lists the functions that differ at some points, with the reasons. Do not add to
// it.
var extremeExceptions = map[string]string{
	"beta_proportion_lpdf": addendsCancel,
}

const (
	addendsCancel = "gamma functions of large numbers, which cancel, are rounded in other ways"
)

func compareExtremes(t *testing.T, name, kinds string, args [][]float64) {
	const programs, repeated = 3, 3
	split := func(x []float64) (ints, reals []float64) {
		for i, k := range kinds {
			if k == 'i' {
				ints = append(ints, x[i])
			} else {
				reals = append(reals, x[i])
			}
		}
		return ints, reals
	}
	bind := func(form string, points [][]float64) *Model {
		values := map[string]any{"N": len(points)}
		for i, k := range kinds {
			if k == 'i' {
				var column []int
				for _, x := range points {
					column = append(column, int(x[i]))
				}
				values[fmt.Sprint("x", i)] = column
				if form == "numbers" {
					values[fmt.Sprint("x", i)] = column[0]
				}
			}
		}
		return boundText(t, extremeProgram(name, kinds, form), values)
	}
	// at returns the value, and the gradient by point, of a program that adds up the points.
	at := func(m *Model, points [][]float64) (value float64, grads [][]float64, err error) {
		_, first := split(points[0])
		x, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
		for n, p := range points {
			_, reals := split(p)
			for i, v := range reals {
				x[i*len(points)+n] = v
			}
		}
		value, err = m.LogDensityGrad(x, grad)
		for n := range points {
			var g []float64
			for i := range first {
				g = append(g, grad[i*len(points)+n])
			}
			grads = append(grads, g)
		}
		return value, grads, err
	}
	differ := map[string]bool{}
	compare := func(form string, p extremePoint, value float64, grad []float64) {
		_, reals := split(p.args)
		cond := 0.0
		for i, x := range reals {
			cond += math.Abs(x * p.grad[i])
		}
		off := func(got, want, bound float64) bool {
			return got != want && !(math.IsNaN(got) && math.IsNaN(want)) && !(math.Abs(got-want) <= bound+1e-290)
		}
		if math.IsNaN(cond) {
			cond = 0
		}
		size := max(1, math.Abs(p.value))
		bad := off(value, p.value, 1e-11*size+0x1p-49*cond) // addends may cancel
		for i, x := range reals {
			if !math.IsInf(p.value, 0) && !math.IsInf(cond, 0) {
				bad = bad || off(grad[i], p.grad[i], max(1e-9*math.Abs(p.grad[i]), 1e-14*max(size, cond)/math.Abs(x)))
			}
		}
		if bad {
			differ[form] = true
			if extremeExceptions[name] == "" {
				t.Errorf("%s %v, %s: %v and derivatives %v, as numbers %v and %v", name, p.args, form, value, grad, p.value, p.grad)
			}
		}
	}
	models := map[string][]*Model{}
	var points []extremePoint
	var all [][]float64
	forms := []string{"numbers", "loop"}
	if _, list := Compile(source.NewFile("m.model", extremeProgram(name, kinds, "vectors"))); !list.HasErrors() {
		forms = append(forms, "vectors")
	}
	for _, x := range args {
		ints, _ := split(x)
		key := fmt.Sprint(ints)
		if models[key] == nil {
			if len(models) == programs {
				continue
			}
			for _, form := range forms {
				n := repeated
				if form == "numbers" {
					n = 1
				}
				models[key] = append(models[key], bind(form, slices.Repeat([][]float64{x}, n)))
			}
		}
		value, grads, err := at(models[key][0], [][]float64{x})
		if err != nil {
			continue // outside of the domain
		}
		p := extremePoint{x, value, grads[0]}
		points, all = append(points, p), append(all, x)
		for k, form := range forms[1:] {
			value, grads, err := at(models[key][k+1], slices.Repeat([][]float64{x}, repeated))
			if err != nil {
				t.Errorf("%s %v, %s: %v", name, x, form, err)
				continue
			}
			compare(form, p, value/repeated, grads[1])
		}
	}
	if len(all) == 0 {
		return
	}
	for _, form := range forms[1:] {
		_, grads, err := at(bind(form, all), all)
		if err != nil {
			t.Errorf("%s, %s: %v", name, form, err)
			continue
		}
		for n, p := range points {
			compare(form+" of all", p, p.value, grads[n])
		}
	}
	if len(differ) == 0 && extremeExceptions[name] != "" && !testing.Short() {
		t.Errorf("%s does not differ: delete it from the list", name)
	}
}
