package stdlibtest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// This file: values at the ends of domains and beyond, at infinities and NaN, compared with real
// Stan. A line of testdata/special.txt has a call (NAME and the arguments) and Stan's result:
// "error", or the value and its derivatives with respect to the real arguments. testdata/special.sh
// writes the file. Functions without lines have not been run yet.

var specialDir = flag.String("special", "", "write the calls of TestSpecial and a Stan program that evaluates them to this folder")

const specialFile = "testdata/special.txt"

// specialFuncs returns the functions of numbers to call: the univariate distributions, and
// functions with golden values.
func specialFuncs(t *testing.T) []*goldenFunc {
	var all []*goldenFunc
	u := stdlib.Universe()
	for name := range u.Names() {
		f := u.Lookup(name)[0].(*stdlib.Func)
		if f.Dist == nil || f.Random {
			continue
		}
		all = append(all, &goldenFunc{name: name, params: forms(f)[0]})
	}
	for _, f := range readGolden(t) {
		if !slices.ContainsFunc(all, func(g *goldenFunc) bool { return g.name == f.name }) {
			all = append(all, f)
		}
	}
	return all
}

// specialCalls returns arguments of which one is replaced by a special number, and for outcomes
// that are counts also two.
func specialCalls(t *testing.T, f *goldenFunc) [][]float64 {
	d, err := f.declaration()
	if err != nil {
		t.Fatal(err)
	}
	base := make([]float64, len(f.params))
	for i, v := range arguments(source(d, 40), d, f.params) {
		base[i] = math.Round(v.Data[0]*64) / 64
		if d.Dist == nil && len(f.points) > 0 {
			base[i] = f.points[0].args[i]
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	candidates := func(i int) []float64 {
		if f.params[i].Kind == types.Int {
			return []float64{-1, 0, 1, 2, 9}
		}
		vs := []float64{-inf, -1, 0, 1, inf, nan}
		if i == 0 && f.params[0].Kind != types.Int { // the other arguments are its bounds
			vs = append(vs, base[1:]...)
		}
		return vs
	}
	calls := [][]float64{base}
	for i := range base {
		for _, v := range candidates(i) {
			c := slices.Clone(base)
			c[i] = v
			calls = append(calls, c)
			if f.params[0].Kind != types.Int || i == 0 || math.IsInf(v, 0) {
				continue
			}
			for k, y := range []float64{0, 1, base[1]} {
				if k == 2 && f.params[1].Kind != types.Int {
					continue
				}
				c := slices.Clone(c)
				c[0] = y
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// TestWriteSpecial writes the calls, if -special is set.
func TestWriteSpecial(t *testing.T) {
	if *specialDir == "" {
		t.Skip("-special is not set")
	}
	var lines, calls, names strings.Builder
	for k, f := range specialFuncs(t) {
		args := make([]string, len(f.params))
		for i, p := range f.params {
			args[i] = fmt.Sprintf("x[%d]", i+1)
			if p.Kind == types.Int {
				args[i] = fmt.Sprintf("n[%d]", i+1)
			}
		}
		list := strings.Join(args, ", ")
		if strings.HasSuffix(f.name, "cdf") || strings.HasSuffix(f.name, "_lpdf") || strings.HasSuffix(f.name, "_lpmf") {
			list = args[0] + " | " + strings.Join(args[1:], ", ")
		}
		fmt.Fprintf(&lines, "  if (which == %d) target += %s(%s);\n", k, f.name, list)
		fmt.Fprintf(&names, "%d %s\n", k, f.name)
		for _, c := range specialCalls(t, f) {
			fmt.Fprintf(&calls, "%d", k)
			for _, p := range f.params {
				fmt.Fprintf(&calls, " %s", map[bool]string{true: "i", false: "r"}[p.Kind == types.Int])
			}
			for _, x := range c {
				fmt.Fprintf(&calls, " %v", x)
			}
			fmt.Fprintln(&calls)
		}
	}
	for name, text := range map[string]string{"lines.txt": lines.String(), "calls.txt": calls.String(), "names.txt": names.String()} {
		if err := os.WriteFile(*specialDir+"/"+name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// specialCall is a line of the file testdata/special.txt.
type specialCall struct {
	args []float64
	err  bool
	want []float64 // the value, then the derivatives
}

func readSpecial(t *testing.T) map[string][]specialCall {
	b, err := os.ReadFile(specialFile)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, f := range specialFuncs(t) {
		kinds[f.name] = len(f.params)
	}
	out := map[string][]specialCall{}
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		n, ok := kinds[words[0]]
		if !ok {
			t.Errorf("no %s", words[0])
			continue
		}
		var c specialCall
		for i, w := range words[1:] {
			if w == "error" {
				c.err = true
				break
			}
			x, err := strconv.ParseFloat(strings.Replace(w, "-nan", "nan", 1), 64)
			if err != nil {
				t.Fatal(line)
			}
			if i < n {
				c.args = append(c.args, x)
			} else {
				c.want = append(c.want, x)
			}
		}
		out[words[0]] = append(out[words[0]], c)
	}
	return out
}

// otherThanStan lists functions whose result at some special argument differs from Stan's, with the
// difference. The list may only become shorter.
var otherThanStan = map[string]string{
	"beta_binomial_cdf":   accepted,
	"beta_binomial_lccdf": accepted,
	"beta_binomial_lcdf":  accepted,
	"beta_lcdf":           atEnd,
	"chi_square_lccdf":    atEnd,
	"exp_mod_normal_cdf":  atEnd,
	"exp_mod_normal_lcdf": atEnd,
	"exp_mod_normal_lpdf": stanNaN,
	"logistic_cdf":        infinite,
	"logistic_lccdf":      infinite,
	"logistic_lcdf":       infinite,
	"normal_cdf":          atEnd,
	"gumbel_lpdf":         stanNaN,
	"pareto_lccdf":        atEnd,
	"pareto_type_2_cdf":   infinite,
	"pareto_type_2_lccdf": accepted + "; " + infinite,
	"pareto_type_2_lcdf":  accepted + "; " + infinite,
	"pareto_type_2_lpdf":  infinite,
	"poisson_log_lpmf":    infiniteRate,
}

const (
	infinite     = "infinities are an error on one side only"
	accepted     = "an error in Stan only"
	infiniteRate = "NaN instead of -Inf at an infinite rate"
	stanNaN      = "Stan's value is NaN"
	atEnd        = "derivatives at an end of the support, a kink or an infinity"
)

// TestSpecial compares errors and values with real Stan, and derivatives if Stan's are numbers.
func TestSpecial(t *testing.T) {
	calls := readSpecial(t)
	for _, f := range specialFuncs(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			d, err := f.declaration()
			if err != nil {
				t.Fatal(err)
			}
			other := 0
			for _, c := range calls[f.name] {
				diff := c.differs(f, d)
				if diff == "" {
					continue
				}
				other++
				if otherThanStan[f.name] == "" {
					t.Errorf("%v: %s", c.args, diff)
				}
			}
			if other == 0 && otherThanStan[f.name] != "" {
				t.Error("gives what Stan gives: delete it from the list")
			}
		})
	}
}

func (c *specialCall) differs(f *goldenFunc, d *stdlib.Func) string {
	got, err := f.at(d, goldenPoint{args: c.args}, 1)
	if (err != nil) != c.err {
		return fmt.Sprintf("error %v, of Stan %t", err, c.err)
	}
	if c.err {
		return ""
	}
	if !same(number64(got.value), number64(c.want[0]), 1e-8) {
		return fmt.Sprintf("value %v, of Stan %v", got.value, c.want[0])
	}
	for i, w := range c.want[1:] {
		if math.IsNaN(w) || math.IsInf(w, 0) || math.IsInf(c.want[0], 0) {
			continue
		}
		if !same(number64(got.grad[i]), number64(w), 1e-2) {
			return fmt.Sprintf("derivatives %v, of Stan %v", got.grad, c.want[1:])
		}
	}
	return ""
}
