package stdlibtest

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// goldenFile is the output of testdata/golden/main.py, which uses mpmath.
const goldenFile = "testdata/golden/golden.txt"

// goldenFunc is a function of numbers with recorded points.
type goldenFunc struct {
	name   string
	params []types.Type
	points []goldenPoint
}

// goldenPoint has the value of a function and its derivatives with respect to the real arguments.
// hess is the upper triangle, row by row.
type goldenPoint struct {
	args, grad, hess []float64
	want             float64
}

func readGolden(t *testing.T) []*goldenFunc {
	file, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []*goldenFunc
	var f *goldenFunc
	reals := 0
	for in := bufio.NewScanner(file); in.Scan(); {
		line := in.Text()
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			f = nil
		case f == nil:
			f = &goldenFunc{name: words[0]}
			for _, k := range words[1] {
				f.params = append(f.params, map[rune]types.Type{'r': tReal, 'i': tInt}[k])
			}
			reals = strings.Count(words[1], "r")
			all = append(all, f)
		default:
			x := make([]float64, len(words))
			for i, w := range words {
				if x[i], err = strconv.ParseFloat(w, 64); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
			}
			n := len(f.params)
			if len(x) != n+1+reals+reals*(reals+1)/2 {
				t.Fatalf("%s: %d numbers", line, len(x))
			}
			f.points = append(f.points, goldenPoint{args: x[:n], want: x[n], grad: x[n+1 : n+1+reals], hess: x[n+1+reals:]})
		}
	}
	return all
}

// declaration returns the overload of the function for numbers of these kinds.
func (f *goldenFunc) declaration() (*stdlib.Func, error) {
	o, m, fail := types.Resolve(stdlib.Universe().Lookup(f.name), f.params)
	if fail != nil || !slices.EqualFunc(m.Params, f.params, types.Type.Equal) {
		return nil, fmt.Errorf("%s: no form for %v", f.name, f.params)
	}
	return o.(*stdlib.Func), nil
}

// computed is what the library computes at a point. size is the sum of the sizes of a density's
// addends.
type computed struct {
	value, addends float64
	grad, hess     []float64
}

// at computes a point, up to derivatives of the given order.
func (f *goldenFunc) at(d *stdlib.Func, p goldenPoint, order int) (c computed, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	g := ad.NewGraph()
	var reals []ad.Ref
	var inputs [][]float64
	refs := make([]ad.Ref, len(p.args))
	vs := make([]Value, len(p.args))
	for i, t := range f.params {
		vs[i] = Scalar(t, p.args[i])
		if t.Kind == types.Int {
			refs[i] = g.Const(p.args[i])
			continue
		}
		vs[i].Param = true
		refs[i] = g.Input(ad.Scalar)
		reals = append(reals, refs[i])
		inputs = append(inputs, p.args[i:i+1])
	}
	out := Apply(g, d, false, vs, refs)
	outs := []ad.Ref{out}
	if order > 0 {
		grad := g.Grad(out, reals...)
		outs = append(outs, grad...)
		for i := range grad {
			if order > 1 {
				outs = append(outs, g.Grad(grad[i], reals[i:]...)...)
			}
		}
	}
	terms := ad.None
	if d.Terms != nil {
		terms = g.Const(0)
		args := make([]stdlib.Arg, len(vs))
		for i, v := range vs {
			args[i] = v.arg(g, refs[i])
		}
		for _, r := range d.Terms(&stdlib.Builder{G: g, Name: d.Name}, args) {
			terms = g.Add(terms, g.Do(ad.OpAbs, nil, r))
		}
		outs = append(outs, terms)
	}
	for _, o := range outs {
		g.Output(o)
	}
	v, err := g.Eval(inputs, &ad.Env{})
	if err != nil {
		return c, err
	}
	x := make([]float64, len(v))
	for i := range v {
		x[i] = v[i][0]
	}
	c.value, x = x[0], x[1:]
	if terms != ad.None {
		c.addends, x = x[len(x)-1], x[:len(x)-1]
	}
	if n := len(reals); order > 0 {
		c.grad, c.hess = x[:n], x[n:]
	}
	return c, nil
}

// fewerOrders lists functions that lack second derivatives, or also first ones (order 0), with
// respect to some of their arguments.
var fewerOrders = map[string]int{
	"log_modified_bessel_first_kind": 1, // not two with respect to the order of the Bessel function
	// The incomplete beta function has no second derivatives with respect to its shape parameters.
	"beta_lcdf": 1, "beta_lccdf": 1, "beta_proportion_lcdf": 1, "beta_proportion_lccdf": 1, "inc_beta": 1, "inv_inc_beta": 1,
	"beta_neg_binomial_lcdf": 1, "beta_neg_binomial_lccdf": 1,
	"neg_binomial_lcdf": 1, "neg_binomial_lccdf": 1, "neg_binomial_2_lcdf": 1, "neg_binomial_2_lccdf": 1,
	"student_t_lcdf": 1, "student_t_lccdf": 1,
}

// cancelling lists densities whose addends, which ~ can drop one by one, cancel for large
// arguments. Their error is bounded relative to the addends.
var cancelling = []string{
	"beta_lpdf", "beta_neg_binomial_lpmf", "beta_proportion_lpdf", "binomial_lpmf", "binomial_logit_lpmf",
	"chi_square_lpdf", "gamma_lpdf", "inv_chi_square_lpdf", "inv_gamma_lpdf", "neg_binomial_2_lpmf", "neg_binomial_2_log_lpmf",
	"poisson_lpmf", "scaled_inv_chi_square_lpdf", "yule_simon_lpmf",
}

// inexact lists results that miss the bounds, with the reasons: "NAME [ARGUMENTS]: WHAT", where
// WHAT is "value", "first" or "second" (derivatives). The list may only become shorter.
var inexact = map[string]string{
	"exp_mod_normal_lccdf [1 0 1 1e+06]: second":           farTail,
	"exp_mod_normal_lcdf [1 0 1 1e+06]: second":            farTail,
	"exp_mod_normal_lpdf [1 0 1 1e+06]: second":            farTail,
	"inv_logit [20]: first":                                rounded,
	"inv_logit [37.5]: first":                              rounded,
	"inv_logit [37.5]: second":                             rounded,
	"log_modified_bessel_first_kind [0 1e-08]: value":      scaledBessel,
	"log_modified_bessel_first_kind [0 1e-08]: first":      scaledBessel,
	"scaled_inv_chi_square_lccdf [0.49 1e+06 0.7]: second": nearNormal,
	"scaled_inv_chi_square_lcdf [0.49 1e+06 0.7]: second":  nearNormal,
}

// Reasons that several entries have.
const (
	rounded      = "the derivative is that of 1 - y as it is rounded, which programs divide by"
	farTail      = "second derivatives that are differences of much larger numbers"
	nearNormal   = "the derivative by a parameter on which, at so large a shape, hardly anything depends"
	scaledBessel = "the op is of exp(-x) I(x)"
)

// TestGolden compares with mpmath. The errors may be 1e-12 for values, 1e-10 for first derivatives
// and 1e-7 for second derivatives, relative to the size of the number. Exceptions:
//
//   - The effect of half a unit in the last place of the arguments is added. For a value it follows
//     from the first derivatives, for a first derivative from the second ones.
//   - The size of a log density counts as 1 at least, because it may be 0 anywhere.
//   - Errors of derivatives are ignored if they change the value by less than two units in its last
//     place when the arguments change by their own size.
//   - Second derivatives of a logarithm are differences with products of the first ones, whose size
//     counts too.
func TestGolden(t *testing.T) {
	missed := make(chan string, 10000)
	t.Run("all", func(t *testing.T) {
		for _, f := range readGolden(t) {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				f.compare(t, missed)
			})
		}
	})
	close(missed)
	seen := map[string]bool{}
	for m := range missed {
		seen[m] = true
	}
	for what := range inexact {
		if !seen[what] {
			t.Errorf("%s is within the bounds by now: delete it from the list", what)
		}
	}
	for _, name := range cancelling {
		if !seen[name] {
			t.Errorf("the addends of %s do not cancel: delete it from the list", name)
		}
	}
	for name := range fewerOrders {
		if !seen[name] {
			t.Errorf("%s has more derivatives by now: delete it from the list", name)
		}
	}
}

// compare checks all points. It sends points that are listed as exceptions to missed.
func (f *goldenFunc) compare(t *testing.T, missed chan<- string) {
	d, err := f.declaration()
	if err != nil {
		t.Fatal(err)
	}
	order, fewer := fewerOrders[f.name]
	if !fewer {
		order = 2
	}
	for _, p := range f.points {
		c, err := f.at(d, p, order)
		if err != nil {
			t.Errorf("%v: %v", p.args, err)
			continue
		}
		f.check(p, c, order, func(what, text string, loss float64) {
			name := fmt.Sprintf("%s %v: %s", f.name, p.args, group(what))
			if slices.Contains(cancelling, f.name) && loss <= 8*ulp*c.addends {
				missed <- f.name
			} else if _, listed := inexact[name]; listed {
				missed <- name
			} else {
				t.Errorf("%s (%s) %s", name, what, text)
			}
		})
	}
	if fewer {
		// The error says that there is no further derivative.
		if _, err := f.at(d, f.points[0], order+1); err != nil {
			missed <- f.name
		}
	}
}

// group returns the word for a kind of error in the list inexact.
func group(what string) string {
	number, derivative := strings.CutPrefix(what, "derivative ")
	switch {
	case !derivative:
		return what
	case len(number) == 1:
		return "first"
	}
	return "second"
}

const ulp = 0x1p-53

// check reports numbers that are wrong. loss is the resulting change of the value when the
// arguments change by their own size.
func (f *goldenFunc) check(p goldenPoint, c computed, order int, report func(what, text string, loss float64)) {
	var reals []float64
	for i, typ := range f.params {
		if typ.Kind != types.Int {
			reals = append(reals, p.args[i])
		}
	}
	n := len(reals)
	second := func(i, j int) float64 { return p.hess[inTriangle(i, j, n)] }
	// The effect of half a unit in the last place of the arguments.
	cond := 0.0
	for i, x := range reals {
		cond += math.Abs(x * p.grad[i])
	}
	density := strings.HasSuffix(f.name, "_lpdf") || strings.HasSuffix(f.name, "_lpmf")
	size := math.Abs(p.want)
	if density {
		size = max(size, 1)
	}
	off := func(what string, got, want, bound float64, xs ...float64) {
		e := math.Abs(got - want)
		if got == want || e < 1e-290 || math.IsInf(want, 0) || e <= bound {
			return
		}
		loss := e
		for _, x := range xs {
			loss *= math.Abs(x)
		}
		report(what, fmt.Sprintf("is %v, want %v, off by %.2g (%.2g), allowed %.2g", got, want, e, e/math.Abs(want), bound), loss)
	}
	// seen is the smallest error of a derivative that matters, given the size of the value.
	seen := func(xs ...float64) float64 {
		v := 4 * ulp * size
		for _, x := range xs {
			v /= math.Abs(x)
		}
		return v
	}
	off("value", c.value, p.want, 1e-12*size+16*ulp*cond)
	if order == 0 {
		return
	}
	relative := make([]float64, n) // condition numbers of the first derivatives
	for i, x := range reals {
		cond := 0.0
		for j, y := range reals {
			cond += math.Abs(y * second(i, j))
		}
		off(fmt.Sprint("derivative ", i+1), c.grad[i], p.grad[i], max(1e-10*math.Abs(p.grad[i])+16*ulp*cond, seen(x)), x)
		if p.grad[i] != 0 {
			relative[i] = cond / math.Abs(p.grad[i])
		}
	}
	if order == 1 || slices.ContainsFunc(p.hess, func(x float64) bool { return math.IsInf(x, 0) }) {
		return
	}
	k := 0
	for i, x := range reals {
		for j := i; j < n; j++ {
			h := math.Abs(p.hess[k])
			bound := 1e-7*max(h, math.Abs(p.grad[i]*p.grad[j])) + 16*ulp*h*max(relative[i], relative[j])
			off(fmt.Sprintf("derivative %d%d", i+1, j+1), c.hess[k], p.hess[k], max(bound, seen(x, reals[j])), x, reals[j])
			k++
		}
	}
}
