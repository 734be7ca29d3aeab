package stdlibtest

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// multivariateFile is the output of testdata/golden/multivariate.py, which uses mpmath.
const multivariateFile = "testdata/golden/multivariate.txt"

// manyExceptions lists the functions for which points of multivariateFile exceed the bounds, with
// the number of these points and the reason.
var manyExceptions = map[string]sweepException{
	"gaussian_dlm_obs_lpdf": {2, "a prior covariance of 10⁶ times the noise, observed through fewer numbers than the state has"},
}

// manyPoint is a point of a function of containers.
type manyPoint struct {
	name, kinds string
	args        []Value
	letters     []byte
	// want has the value and the derivatives. moves has the change of each when the arguments
	// change by half a unit in the last place.
	want, moves []float64
}

// directions returns, for each derivative, the argument and those of its elements that change
// together.
func (p *manyPoint) directions() (of []int, elements [][]int) {
	add := func(n int, at ...int) { of, elements = append(of, n), append(elements, at) }
	for n, v := range p.args {
		k := v.Shape
		switch p.letters[n] {
		case 'r', 'v', 'w', 'm':
			for i := range v.Data {
				add(n, i)
			}
		case 'l', 'k', 's', 'c':
			for i := range k[0] {
				for j := range i + 1 {
					switch l := p.letters[n]; {
					case i == j && l == 'c':
					case i == j, l == 'l', l == 'k':
						add(n, i*k[1]+j)
					default:
						add(n, i*k[1]+j, j*k[1]+i)
					}
				}
			}
		}
	}
	return of, elements
}

// readMany reads a file that multivariate.py has written.
func readMany(t *testing.T, path string) (ps []*manyPoint) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		words := strings.Fields(in.Text())
		if words[0] == "#" {
			continue
		}
		p := &manyPoint{name: words[0], kinds: words[1]}
		x := make([]float64, len(words)-2)
		for i, w := range words[2:] {
			if x[i], err = strconv.ParseFloat(w, 64); err != nil {
				t.Fatal(err)
			}
		}
		for kind := range strings.SplitSeq(words[1], ",") {
			v := Value{Type: map[byte]types.Type{'r': tReal, 'i': tInt, 'a': tInt.Array(1), 'v': tVec, 'w': tRow}[kind[0]]}
			for size := range strings.SplitSeq(kind[1:], "x") {
				if n, err := strconv.Atoi(size); err == nil {
					v.Shape = append(v.Shape, n)
				}
			}
			if strings.Contains("mslck", kind[:1]) {
				v.Type = tMat
				if len(v.Shape) == 1 {
					v.Shape = append(v.Shape, v.Shape[0])
				}
			}
			n := ad.Type{Shape: v.Shape}.Size()
			v.Data, x = x[:n], x[n:]
			v.Param = kind[0] != 'i' && kind[0] != 'a'
			p.args, p.letters = append(p.args, v), append(p.letters, kind[0])
		}
		for ; len(x) > 0; x = x[2:] {
			p.want, p.moves = append(p.want, x[0]), append(p.moves, x[1])
		}
		if of, _ := p.directions(); len(p.want) != 1+len(of) {
			t.Fatalf("%s %s: %d numbers for %d derivatives", p.name, p.kinds, len(p.want), len(of))
		}
		ps = append(ps, p)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return ps
}

// eval returns the value and the derivatives of the point, and the size of the addends.
func (p *manyPoint) eval() (got []float64, addends float64, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			err = fmt.Errorf("%v", r)
		}
	}()
	ts := make([]types.Type, len(p.args))
	for i, v := range p.args {
		ts[i] = v.Type
	}
	o, _, fail := types.Resolve(stdlib.Universe().Lookup(p.name), ts)
	if fail != nil {
		return nil, 0, fmt.Errorf("%s: no form for %v", p.name, ts)
	}
	d := o.(*stdlib.Func)
	g := ad.NewGraph()
	refs := make([]ad.Ref, len(p.args))
	var inputs [][]float64
	var reals []ad.Ref
	at := make([]int, len(p.args))
	for i, v := range p.args {
		if !v.Param {
			refs[i] = g.ConstArray(v.adType(), v.Data)
			continue
		}
		refs[i] = g.Input(v.adType())
		at[i] = len(reals)
		reals, inputs = append(reals, refs[i]), append(inputs, v.Data)
	}
	out := Apply(g, d, false, p.args, refs)
	g.Output(out)
	for _, r := range g.Grad(out, reals...) {
		g.Output(r)
	}
	if d.Terms != nil {
		args := make([]stdlib.Arg, len(p.args))
		for i, v := range p.args {
			args[i] = v.arg(g, refs[i])
		}
		for _, r := range d.Terms(&stdlib.Builder{G: g, Name: d.Name}, args) {
			g.Output(g.Sum(g.Do(ad.OpAbs, nil, r)))
		}
	}
	res, err := g.Eval(inputs, &ad.Env{})
	if err != nil {
		return nil, 0, err
	}
	for _, r := range res[1+len(reals):] {
		addends += r[0]
	}
	got = append(got, res[0][0])
	of, elements := p.directions()
	for i, n := range of {
		sum := 0.0
		for _, e := range elements[i] {
			sum += res[1+at[n]][e]
		}
		got = append(got, sum)
	}
	return got, addends, nil
}

// TestMultivariate compares the distributions of vectors and matrices with mpmath, at random
// arguments with ill-conditioned matrices, far tails and extreme scales. The bounds are those of
// TestSweep, plus n times the effect of half a unit in the last place of the arguments.
// PPL_MULTIVARIATE names another file of multivariate.py.
func TestMultivariate(t *testing.T) {
	worst, missed := map[string][3]float64{}, map[string]int{}
	path := cmp.Or(os.Getenv("PPL_MULTIVARIATE"), multivariateFile)
	var names []string
	for _, p := range readMany(t, path) {
		got, addends, err := p.eval()
		at := fmt.Sprintf("%s %s", p.name, p.kinds)
		if len(p.args[0].Data) <= 9 {
			for _, v := range p.args {
				at += fmt.Sprint(" ", v.Data)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		w, seen := worst[p.name]
		if !seen {
			names = append(names, p.name)
		}
		w[2]++
		size := max(1, math.Abs(p.want[0]))
		if addends > size && !math.IsInf(addends, 0) {
			size = addends
		}
		of, elements := p.directions()
		scales := []float64{1}
		for i, j := range of {
			v := p.args[j]
			x := math.Abs(v.Data[elements[i][0]])
			if l := p.letters[j]; l == 's' || l == 'c' {
				row, col := elements[i][0]/v.Shape[1], elements[i][0]%v.Shape[1]
				x = math.Sqrt(v.Data[row*v.Shape[1]+row]) * math.Sqrt(v.Data[col*v.Shape[1]+col])
			}
			size = max(size, math.Abs(x*p.want[i+1]))
			if x == 0 {
				x = 1
			}
			scales = append(scales, x)
		}
		bad := ""
		for i, want := range p.want {
			e := math.Abs(got[i] - want)
			relative := []float64{1e-12, 1e-9}[min(i, 1)]
			bound := max(relative*math.Abs(want), 1e-14*size/scales[i], 1e-290) + 16*p.moves[i]
			beyond := i > 0 && math.IsInf(want, 0) && !(math.Abs(got[i]) <= math.MaxFloat64)
			if got[i] != want && !beyond && !(e <= bound) {
				what := "value"
				if i > 0 {
					what = fmt.Sprintf("derivative by argument %d, element %d", of[i-1]+1, elements[i-1][0]+1)
				}
				bad += fmt.Sprintf(" %s is %v, want %v (off by %.1e, allowed %.1e, moves %.1e);", what, got[i], want, e, bound, p.moves[i])
			} else if e > 0 && !math.IsInf(e, 0) {
				w[min(i, 1)] = max(w[min(i, 1)], min(e/math.Abs(want), e/bound*relative))
			}
		}
		worst[p.name] = w
		if bad != "" {
			missed[p.name]++
			t.Logf("%s:%s", at, bad)
		}
	}
	page, err := os.ReadFile(exactPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		w, e := worst[name], manyExceptions[name]
		if missed[name] != e.points {
			t.Errorf("%s misses the bounds at %d points, listed are %d", name, missed[name], e.points)
		}
		row := fmt.Sprintf("| `%s` | %.0f |", name, w[2])
		if os.Getenv("PPL_SWEEP") == "table" {
			fmt.Printf("%s %.0e | %.0e | %s |\n", row, w[0], w[1], e.text())
		} else if path == multivariateFile && !strings.Contains(string(page), row) {
			t.Errorf("%s has no row that begins with %s", exactPage, row)
		}
	}
}

// TestHiddenStatesFar tests a chain with a state that is more likely at first, by a factor of
// e³⁰⁰⁰, but is then possible only at odds of 1e-150, or impossible.
func TestHiddenStatesFar(t *testing.T) {
	for _, c := range []struct{ odds, want float64 }{{1e-150, 1}, {0, 0}} {
		vs := []Value{
			{Type: tMat, Shape: []int{2, 2}, Data: []float64{1400, 0, -1600, 0}},
			{Type: tMat, Shape: []int{2, 2}, Data: []float64{0.5, 0.5, 0.25, 0.75}},
			{Type: tVec, Shape: []int{2}, Data: []float64{c.odds, 1}},
		}
		got, err := Eval(find("hmm_hidden_state_prob"), false, vs)
		if err != nil {
			t.Fatal(err)
		}
		stay := 0.25 + 0.25*c.want
		for i, want := range []float64{c.want, stay, 1 - c.want, 1 - stay} {
			if !(math.Abs(got[i]-want) <= 1e-15) {
				t.Errorf("odds %g: probability %d is %v, want %v", c.odds, i, got[i], want)
			}
		}
		fn := find("hmm_latent_rng")
		for _, z := range sample(t, fn, vs, 20, source(fn, 7)) {
			if z != 1 && z != 2 {
				t.Errorf("odds %g: drew state %v", c.odds, z)
			}
		}
	}
}
