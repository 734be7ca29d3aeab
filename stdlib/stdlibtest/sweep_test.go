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

	"github.com/ppl-lang/ppl/lang/types"
)

// sweepFile is the output of testdata/golden/sweep.py, which uses mpmath.
const sweepFile = "testdata/golden/sweep.txt"

// exactPage is the page with the results of TestSweep.
const exactPage = "../../doc/evidence/exact.md"

// sweepExceptions lists functions with points that miss the bounds: their maximum number, and the
// reason. The list may only become shorter.
var sweepExceptions = map[string]sweepException{
	"cauchy_lpdf":        {2, quotient},
	"logistic_lccdf":     {2, quotient},
	"neg_binomial_lccdf": {1, "the probability is below the doubles that have all digits"},
	"student_t_lpdf":     {1, quotient},
	"wiener_lpdf":        {4, "alpha beyond 1e76: the derivative by (y - tau)/alpha² is beyond the doubles"},
}

const (
	quotient = "the quotient (y - mu)/sigma is beyond the doubles"
)

// supported lists distributions whose support ends at their parameters.
var supported = []string{"discrete_range_lpmf", "pareto_lpdf", "uniform_lpdf"}

type sweepException struct {
	points int
	reason string
}

// TestSweep compares with mpmath at arguments that are far apart. Relative errors of values may be
// 1e-12, plus the effect of half a unit in the last place of the arguments. Errors of derivatives
// may be 1e-9, or 1e-14 of the size of the terms, which are the addends of a density, or the
// derivatives times their arguments. With PPL_SWEEP=table it prints the table of the page.
func TestSweep(t *testing.T) {
	names, byName := readSweep(t, sweepFile)
	t.Run("all", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				byName[name].compare(t, false)
			})
		}
	})
	slices.Sort(names)
	page, err := os.ReadFile(exactPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		r := byName[name]
		e := sweepExceptions[name]
		if r.missed > e.points || r.missed < e.points {
			t.Errorf("%s misses the bounds at %d points, listed are %d", name, r.missed, e.points)
		}
		row := fmt.Sprintf("| `%s` | %d |", name, len(r.points)-r.refused)
		if os.Getenv("PPL_SWEEP") == "table" {
			fmt.Printf("%s %.0e | %.0e | %s |\n", row, r.worst[0], r.worst[1], e.text())
		} else if !strings.Contains(string(page), row) {
			t.Errorf("%s has no row that begins with %s", exactPage, row)
		}
	}
}

// readSweep reads a file of points. names are in the order of the file.
func readSweep(t *testing.T, path string) (names []string, byName map[string]*sweepResult) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	byName = map[string]*sweepResult{}
	for in := bufio.NewScanner(file); in.Scan(); {
		words := strings.Fields(in.Text())
		if words[0] == "#" {
			continue
		}
		r := byName[words[0]]
		if r == nil {
			r = &sweepResult{f: goldenFunc{name: words[0]}}
			for _, k := range words[1] {
				r.f.params = append(r.f.params, map[rune]types.Type{'r': tReal, 'i': tInt}[k])
			}
			byName[words[0]], names = r, append(names, words[0])
		}
		x := make([]float64, len(words)-2)
		for i, w := range words[2:] {
			if x[i], err = strconv.ParseFloat(w, 64); err != nil {
				t.Fatal(err)
			}
		}
		n := len(words[1])
		r.points = append(r.points, goldenPoint{args: x[:n], want: x[n], grad: x[n+1:]})
	}
	return names, byName
}

func (e sweepException) text() string {
	if e.points == 0 {
		return ""
	}
	return fmt.Sprintf("%d: %s", e.points, e.reason)
}

type sweepResult struct {
	f               goldenFunc
	points          []goldenPoint
	worst           [2]float64 // worst errors within the bounds, of value and derivatives
	missed, refused int
}

// compare checks all points. With rounded, it also allows the effect of rounded arguments on a
// derivative: 16 times Σ |xⱼ ∂²f/∂xᵢ∂xⱼ| 2⁻⁵³. That is the change of the exact derivative when
// every argument changes by half a unit in its last place, so no algorithm on doubles avoids it. It
// exceeds 1e-9 of the derivative if, for example, (y/sigma)^alpha has an alpha of 1e8. The points
// of sweep.txt are within the bounds without it.
func (r *sweepResult) compare(t *testing.T, rounded bool) {
	d, err := r.f.declaration()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.points {
		c, err := r.f.at(d, p, 1)
		outside := slices.Contains(supported, r.f.name) && math.IsInf(c.value, -1)
		if err != nil || outside { // outside the domain or the support, for which formulas do not apply
			r.refused++
			continue
		}
		cond, k := 0.0, 0
		var reals []float64
		for i, typ := range r.f.params {
			if typ.Kind != types.Int {
				reals = append(reals, p.args[i])
				cond += math.Abs(p.args[i] * max(-math.MaxFloat64, min(math.MaxFloat64, p.grad[k])))
				k++
			}
		}
		least := 1.0 // scale for arguments that are 0
		for _, x := range reals {
			if x != 0 {
				least = min(least, math.Abs(x))
			}
		}
		size := max(1, math.Abs(p.want))
		if c.addends > size && !math.IsInf(c.addends, 0) {
			size = c.addends
		}
		// seen returns the effect of half a unit in the last place of the arguments on a
		// derivative.
		seen := func(i int) (cond float64) {
			second, err := r.f.at(d, p, 2)
			if err != nil || len(second.hess) == 0 {
				return 0
			}
			for j, x := range reals {
				h := second.hess[inTriangle(i, j, len(reals))] * x
				cond += math.Abs(max(-math.MaxFloat64, min(math.MaxFloat64, h)))
			}
			return cond
		}
		bad := ""
		off := func(what string, kind int, got, want, bound float64) {
			e := math.Abs(got - want)
			if math.IsInf(bound, 1) {
				bound = 1e-9 * math.Abs(want)
			}
			switch {
			case got == want || e < 1e-290:
			case kind == 1 && math.IsInf(want, 0) && (math.IsNaN(got) || math.IsInf(got, 0)): // the derivative overflows
			case math.IsInf(want, 0) || !(e <= bound):
				bad += fmt.Sprintf(" %s is %v, want %v;", what, got, want)
			default:
				r.worst[kind] = max(r.worst[kind], min(e/math.Abs(want), e/bound*[]float64{1e-12, 1e-9}[kind]))
			}
		}
		off("value", 0, c.value, p.want, max(1e-12*math.Abs(p.want), 1e-14*size)+16*ulp*cond)
		if !math.IsInf(p.want, 0) {
			for i, x := range reals {
				if x == 0 {
					x = least
				}
				bound := max(1e-9*math.Abs(p.grad[i]), 1e-14*max(size, cond)/math.Abs(x))
				if rounded && !(math.Abs(c.grad[i]-p.grad[i]) <= bound) {
					bound += 16 * ulp * seen(i)
				}
				off(fmt.Sprint("derivative ", i+1), 1, c.grad[i], p.grad[i], bound)
			}
		}
		if bad != "" {
			r.missed++
			t.Logf("%s %v:%s", r.f.name, p.args, bad)
		}
	}
}

// inTriangle returns the index of the second derivative with respect to numbers i and j of n, in
// the upper triangle, which is stored row by row.
func inTriangle(i, j, n int) int {
	i, j = min(i, j), max(i, j)
	return i*n - i*(i-1)/2 + j - i
}
