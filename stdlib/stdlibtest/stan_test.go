package stdlibtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

var stanNames = flag.String("stannames", "", "only functions whose name matches; results are added to those that there are")

var stanDir = flag.String("stan", "", "write the cases and the Stan programs that evaluate them to this folder")

const stanFile = "testdata/stan.json"

// stanCase is a call that real Stan has evaluated: a density both without constants and in full,
// another function as the sum of its elements with the weights cos 1, cos 2, …. Parameters are made
// from the numbers u, in order.
type stanCase struct {
	Name   string
	Args   []stanArg
	Result string // type of the result
	Propto bool   // it is a density, so terms can be dropped

	// Results for the numbers points[0] and points[1].
	Values [2]stanValue
}

type stanArg struct {
	Type string
	Data []float64 // the numbers of a data argument
	Lo   *float64  `json:",omitempty"` // bounds of a parameter
	Hi   *float64  `json:",omitempty"`
	Kind string    `json:",omitempty"` // the constrained type of a parameter, such as simplex or ordered
}

type stanValue struct {
	Err  string     `json:",omitempty"`
	Lp   number64   // without constant terms
	Full number64   // with all terms
	Grad []number64 // derivatives with respect to u
}

// points returns the numbers u: fixed random numbers between -1.5 and 1.5.
func points() [2][]float64 {
	rng := rand.New(rand.NewPCG(2, 39))
	var p [2][]float64
	for i := range p {
		p[i] = make([]float64, 48)
		for k := range p[i] {
			p[i][k] = math.Round((3*rng.Float64()-1.5)*1024) / 1024
		}
	}
	return p
}

// stanCases makes cases for the whole library.
func stanCases() []stanCase {
	var cs []stanCase
	u := stdlib.Universe()
	only := regexp.MustCompile("^(?:" + *stanNames + ")$")
	if *stanNames == "" {
		only = regexp.MustCompile("")
	}
	for name := range u.Names() {
		switch {
		case strings.HasPrefix(name, "operator") || !only.MatchString(name):
			continue
		case name == "linspaced_array": // Stan rounded the numbers to ints before version 2.33
			continue
		// Signs are arbitrary.
		case name == "eigenvectors_sym" || name == "svd_U" || name == "svd_V":
			continue
		}
		for _, o := range u.Lookup(name) {
			f := o.(*stdlib.Func)
			if f.Random {
				continue
			}
			rng := source(f, 30)
			_, elementwise := f.Overload.(types.Elementwise)
			for i, ts := range forms(f) {
				if elementwise && i == 1 && len(ts) > 1 {
					continue // arrays are left out, as they would make the file large
				}
				if strings.Contains(name, "s_dot_") && !ts[0].Equal(tMat) {
					continue // Stan's value is a 1 by 1 matrix, for which wsum is ambiguous
				}
				if name == "ordered_probit_lpmf" && ts[0].Dims > 0 && ts[1].IsScalar() {
					continue // Stan 2.32 adds up the first outcome only, or fails
				}
				m, _ := f.Match(ts)
				reals := 0
				for k, t := range ts {
					if t.Kind != types.Int {
						reals |= 1 << k
					}
				}
				for mask := range 1 << len(ts) {
					// Densities of scalars are tried with all subsets of arguments as parameters,
					// other densities with none, one and all. Other functions are tried with all,
					// or all but the first. More combinations of matrices would take minutes to
					// compile.
					if f.Dist == nil && bits.OnesCount(uint(mask)) > 1 && mask != reals && mask != reals&^1 {
						continue
					}
					if mask&^reals != 0 || mask == 0 && reals != 0 && (f.Terms == nil || i > 0) {
						continue
					}
					if !(f.Terms != nil && i == 0) && mask != reals && (f.Terms == nil || mask != reals&^1) {
						continue
					}
					c := stanCase{Name: name, Result: m.Result.String(), Propto: f.Terms != nil}
					for k, v := range arguments(rng, f, ts) {
						a := stanArg{Type: ts[k].String()}
						d := domain(f, k)
						if mask>>k&1 == 0 || m.DataOnly != nil && m.DataOnly[k] {
							a.Data = v.Data
							if ts[k].Kind != types.Int {
								for e, x := range v.Data {
									v.Data[e] = math.Round(x*256) / 256
									if d.Kind == types.Simplex || d.Kind == types.RowStochasticMatrix {
										v.Data[e] = []float64{0.125, 0.25, 0.5, 0.125}[e%4]
									}
								}
							}
						} else if d.Kind != types.Unconstrained {
							a.Kind = d.Kind.String()
						} else if d != (types.Constraint{}) {
							if lo := d.Lo; !math.IsInf(lo, 0) {
								a.Lo = &lo
							}
							if hi := d.Hi; !math.IsInf(hi, 0) {
								a.Hi = &hi
							}
						}
						c.Args = append(c.Args, a)
					}
					cs = append(cs, c)
				}
			}
		}
	}
	return cs
}

// typeOf parses a type.
func typeOf(s string) types.Type {
	m := typeText.FindStringSubmatch(s)
	t := map[string]types.Type{"int": tInt, "real": tReal, "vector": tVec, "row_vector": tRow, "matrix": tMat}[m[2]]
	if strings.HasPrefix(s, "array") {
		t = t.Array(len(m[1]) + 1)
	}
	return t
}

// literal writes numbers, given as expressions, as a value of type t.
func literal(t types.Type, shape []int, elems []string) string {
	if len(shape) == 0 {
		return elems[0]
	}
	n := len(elems) / max(shape[0], 1)
	open, end := "{", "}"
	inner := t
	switch {
	case t.Dims > 0:
		inner.Dims--
	case t.Kind == types.Vector:
		open, end, inner = "[", "]'", tReal
	case t.Kind == types.RowVector:
		open, end, inner = "[", "]", tReal
	case t.Kind == types.Matrix:
		open, end, inner = "[", "]", tRow
	}
	var parts []string
	for i := range shape[0] {
		parts = append(parts, literal(inner, shape[1:], elems[i*n:(i+1)*n]))
	}
	return open + strings.Join(parts, ", ") + end
}

// program returns the statements of a Stan program that add the value of a case to its result.
func (c *stanCase) program() string {
	var args []string
	next := 1
	for _, a := range c.Args {
		t := typeOf(a.Type)
		shape := shapeOf(t)
		elems := make([]string, ad.Type{Shape: shape}.Size())
		for i := range elems {
			switch {
			case a.Data != nil && t.Kind == types.Int:
				elems[i] = fmt.Sprintf("%d", int(a.Data[i]))
			case a.Data != nil:
				elems[i] = fmt.Sprintf("%.10f", a.Data[i])
			case a.Lo != nil && a.Hi != nil:
				elems[i] = fmt.Sprintf("(%v + %v * inv_logit(u[%d]))", *a.Lo, *a.Hi-*a.Lo, next)
			case a.Lo != nil:
				elems[i] = fmt.Sprintf("(%v + exp(u[%d]))", *a.Lo, next)
			case a.Hi != nil:
				elems[i] = fmt.Sprintf("(%v - exp(u[%d]))", *a.Hi, next)
			case strings.HasPrefix(a.Kind, "cholesky_factor") && i%vectorSize > i/vectorSize:
				elems[i] = "0"
			case strings.HasPrefix(a.Kind, "cholesky_factor") && i%vectorSize == i/vectorSize:
				elems[i] = fmt.Sprintf("exp(u[%d])", next)
			case a.Kind == "ordered" && i%vectorSize > 0:
				elems[i] = fmt.Sprintf("%s + exp(u[%d])", elems[i-1], next)
			case a.Kind == "simplex" || a.Kind == "row_stochastic_matrix":
				first := next - i%vectorSize
				elems[i] = fmt.Sprintf("softmax([u[%d], u[%d], u[%d], u[%d]]')[%d]", first, first+1, first+2, first+3, i%vectorSize+1)
			default:
				elems[i] = fmt.Sprintf("u[%d]", next)
			}
			if a.Data == nil {
				next++
			}
		}
		if a.Data == nil && (a.Kind == "cov_matrix" || a.Kind == "corr_matrix") {
			f := map[string]string{"cov_matrix": "spd_matrix", "corr_matrix": "unit_spd_matrix"}[a.Kind]
			args = append(args, fmt.Sprintf("%s(u[%d:%d])", f, next-len(elems), next-1))
			continue
		}
		args = append(args, literal(t, shape, elems))
	}
	name, bar := c.Name, ", "
	if c.Propto {
		name = strings.Replace(strings.Replace(name, "_lpdf", "_lupdf", 1), "_lpmf", "_lupmf", 1)
		bar = " | "
	} else if strings.HasSuffix(name, "cdf") {
		bar = " | "
	}
	s := name + "("
	for i, a := range args {
		switch i {
		case 0:
		case 1:
			s += bar
		default:
			s += ", "
		}
		s += a
	}
	return "wsum(" + s + "))"
}

// stanHead defines the Stan function wsum for every type of results.
const stanHead = `functions {
  matrix spd_matrix(vector u) { matrix[4, 4] m = to_matrix(u, 4, 4, 0); return add_diag(m * m', 1); }
  matrix unit_spd_matrix(vector u) { matrix[4, 4] s = spd_matrix(u); return quad_form_diag(s, inv_sqrt(diagonal(s))); }
  real wsum(real x) { return cos(1) * x; }
  real wsum(vector x) { real s = 0; for (i in 1:size(x)) s += cos(i) * x[i]; return s; }
  real wsum(row_vector x) { return wsum(x'); }
  real wsum(matrix x) { return wsum(to_vector(x')); }
  real wsum(array[] real x) { return wsum(to_vector(x)); }
  real wsum(array[] int x) { return wsum(to_vector(x)); }
  real wsum(array[,] real x) { return wsum(to_array_1d(x)); }
  real wsum(array[,] int x) { return wsum(to_array_1d(x)); }
  real wsum(array[,,] real x) { return wsum(to_array_1d(x)); }
  real wsum(array[] vector x) { real s = 0; int k = 0; for (i in 1:size(x)) for (j in 1:size(x[i])) { k += 1; s += cos(k) * x[i, j]; } return s; }
  real wsum(array[] row_vector x) { real s = 0; int k = 0; for (i in 1:size(x)) for (j in 1:size(x[i])) { k += 1; s += cos(k) * x[i, j]; } return s; }
  real wsum(array[] matrix x) { real s = 0; int k = 0; for (i in 1:size(x)) for (j in 1:rows(x[i])) for (l in 1:cols(x[i])) { k += 1; s += cos(k) * x[i, j, l]; } return s; }
  real wsum(array[,] matrix x) { real s = 0; int k = 0; for (h in 1:size(x)) for (i in 1:size(x[h])) for (j in 1:rows(x[h, i])) for (l in 1:cols(x[h, i])) { k += 1; s += cos(k) * x[h, i, j, l]; } return s; }
  real wsum(array[,,] matrix x) { real s = 0; int k = 0; for (g in 1:size(x)) for (h in 1:size(x[g])) for (i in 1:size(x[g, h])) for (j in 1:rows(x[g, h, i])) for (l in 1:cols(x[g, h, i])) { k += 1; s += cos(k) * x[g, h, i, j, l]; } return s; }
}
data { int which; }
parameters { vector[48] u; }
model {
`

// TestWriteStanCases writes cases and programs, if -stan is set; see testdata/stan.sh.
func TestWriteStanCases(t *testing.T) {
	if *stanDir == "" {
		t.Skip("-stan is not set")
	}
	if results, err := os.ReadFile(*stanDir + "/results.txt"); err == nil {
		var all []stanCase
		if b, err := os.ReadFile(*stanDir + "/cases.json"); err != nil {
			t.Fatal(err)
		} else if err := json.Unmarshal(b, &all); err != nil {
			t.Fatal(err)
		}
		collect(t, all, string(results))
		return
	}
	var all []stanCase
	for _, c := range stanCases() {
		n := 0
		for _, a := range c.Args {
			if a.Data == nil {
				n += ad.Type{Shape: shapeOf(typeOf(a.Type))}.Size()
			}
		}
		if n <= 48 {
			all = append(all, c)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(*stanDir+"/"+name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	for i, c := range all {
		lines = append(lines, fmt.Sprintf("  if (which == %d) target += %s;\n", i, c.program()))
	}
	write("cases.json", b)
	write("lines.txt", []byte(strings.Join(lines, "")))
	write("head.txt", []byte(stanHead))
	var pts []string
	for _, p := range points() {
		pts = append(pts, strings.Trim(fmt.Sprint(p), "[]"))
	}
	write("points.txt", []byte(strings.Join(pts, "\n")+"\n"))
	t.Logf("%d cases", len(all))
}

// collect adds Stan's results to their cases, and writes the cases that have results.
func collect(t *testing.T, all []stanCase, results string) {
	seen := map[int]bool{}
	for line := range strings.Lines(results) {
		f := strings.Fields(line)
		i, err1 := strconv.Atoi(f[0])
		k, err2 := strconv.Atoi(f[1])
		if err1 != nil || err2 != nil {
			t.Fatal(line)
		}
		seen[i] = true
		v := &all[i].Values[k]
		if f[2] == "error" {
			v.Err = strings.Join(f[3:], " ")
			continue
		}
		var x []number64
		for _, s := range f[2:] {
			d, err := strconv.ParseFloat(strings.Replace(s, "-nan", "nan", 1), 64)
			if err != nil {
				t.Fatal(line)
			}
			x = append(x, number64(d))
		}
		v.Lp, v.Full, v.Grad = x[0], x[1], x[2:]
		for n := len(v.Grad); n > 0 && v.Grad[n-1] == 0; n = len(v.Grad) {
			v.Grad = v.Grad[:n-1]
		}
	}
	added := map[string]bool{}
	var kept []stanCase
	for i, c := range all {
		if seen[i] {
			kept = append(kept, c)
			added[c.Name] = true
		}
	}
	var former []stanCase
	if b, err := os.ReadFile(stanFile); err == nil && *stanNames != "" {
		if err := json.Unmarshal(b, &former); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range former {
		if !added[c.Name] && c.Name != "linspaced_array" {
			kept = append(kept, c)
		}
	}
	slices.SortStableFunc(kept, func(a, b stanCase) int { return strings.Compare(a.Name, b.Name) })
	var out strings.Builder
	sep := "["
	for _, c := range kept {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(sep + "\n")
		out.Write(b)
		sep = ","
	}
	out.WriteString("\n]\n")
	if err := os.WriteFile(stanFile, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// number64 is a float64 whose JSON may be an infinity or NaN.
type number64 float64

func (x number64) MarshalJSON() ([]byte, error) {
	if f := float64(x); math.IsInf(f, 0) || math.IsNaN(f) {
		return json.Marshal(fmt.Sprint(f))
	}
	return json.Marshal(float64(x))
}

func (x *number64) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*x = number64(f)
	return err
}

// TestStan compares with the results of real Stan: values without constants and in full, gradients,
// and errors.
func TestStan(t *testing.T) {
	b, err := os.ReadFile(stanFile)
	if err != nil {
		t.Fatal(err)
	}
	var cs []stanCase
	if err := json.Unmarshal(b, &cs); err != nil {
		t.Fatal(err)
	}
	pts := points()
	for i := range cs {
		c := &cs[i]
		for k, want := range c.Values {
			got := c.eval(pts[k])
			if diff := got.differs(want, c); diff != "" {
				t.Errorf("%s: %s", c.program(), diff)
				break
			}
		}
	}
}

// approximate matches functions whose derivatives are approximations in Stan, with errors from
// 1e-10 (digamma) over 1e-5 (normal_lcdf) to 1e-2 (gamma_p in the tail). Their values are compared,
// their derivatives only roughly. Other tests compare these derivatives with differences, and those
// of the ops with mpmath.
var approximate = regexp.MustCompile("^(digamma|trigamma|gamma_p|gamma_q|inc_beta|ordered_probit_lpmf|" +
	"(normal|std_normal|chi_square|inv_chi_square|scaled_inv_chi_square|gamma|inv_gamma|poisson|neg_binomial|neg_binomial_2|" +
	"binomial|beta|beta_proportion|student_t)_(cdf|lcdf|lccdf))$")

// coarse has bounds for the values of families that Stan computes less exactly: by series cut at an
// error of 1e-6, or by differences in the tails.
var coarse = map[string]float64{"wiener_": 1e-6, "skew_normal_": 1e-9}

func (v stanValue) differs(want stanValue, c *stanCase) string {
	if (v.Err != "") != (want.Err != "") {
		return fmt.Sprintf("error %q, in Stan %q", v.Err, want.Err)
	}
	if v.Err != "" {
		return ""
	}
	tol, isCoarse := coarse[strings.TrimRight(c.Name, "lcdfp")]
	if !isCoarse {
		tol = 1e-11
	}
	if !same(v.Lp, want.Lp, tol) || !same(v.Full, want.Full, tol) {
		return fmt.Sprintf("value %v, in full %v; in Stan %v, %v", v.Lp, v.Full, want.Lp, want.Full)
	}
	for i := range want.Grad {
		if math.IsNaN(float64(want.Grad[i])) {
			continue // for instance, a distance has no derivative at 0
		}
		tol := 1e-9
		if approximate.MatchString(c.Name) {
			tol = 1e-2
		} else if isCoarse {
			tol = 1e-6
		}
		if !same(v.Grad[i], want.Grad[i], tol) {
			return fmt.Sprintf("gradient %v, in Stan %v", v.Grad[:len(want.Grad)], want.Grad)
		}
	}
	return ""
}

func same(a, b number64, tol float64) bool { return near(float64(a), float64(b), tol) }

// eval evaluates a case with this library.
func (c *stanCase) eval(u []float64) (out stanValue) {
	out.Grad = make([]number64, len(u))
	var vs []Value
	var ts []types.Type
	for _, a := range c.Args {
		typ := typeOf(a.Type)
		ts = append(ts, typ)
		vs = append(vs, Value{Type: typ, Shape: shapeOf(typ), Param: a.Data == nil})
	}
	o, _, fail := types.Resolve(stdlib.Universe().Lookup(c.Name), ts)
	if fail != nil {
		return stanValue{Err: "no overload"}
	}
	f := o.(*stdlib.Func)
	if f.OfShape != nil {
		var shapes [][]int
		for _, v := range vs {
			shapes = append(shapes, v.Shape)
		}
		for i, n := range f.OfShape(shapes) {
			out.Lp += number64(math.Cos(float64(i+1)) * float64(n))
		}
		out.Full = out.Lp
		return out
	}
	for _, propto := range []bool{true, false} {
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{len(u)}})
		refs := make([]ad.Ref, len(vs))
		next := 0
		for i, a := range c.Args {
			if a.Data != nil {
				refs[i] = g.ConstArray(vs[i].adType(), a.Data)
				vs[i].Data = a.Data
				continue
			}
			n := ad.Type{Shape: vs[i].Shape}.Size()
			refs[i] = a.transform(g, g.Slice(in, next, vs[i].Shape))
			next += n
		}
		y, err := tryApply(g, f, propto, vs, refs)
		if err != nil {
			return stanValue{Err: err.Error()}
		}
		w := make([]float64, g.Type(y).Size())
		for i := range w {
			w[i] = math.Cos(float64(i + 1))
		}
		y = g.Sum(g.Mul(y, g.ConstArray(g.Type(y), w)))
		g.Output(y)
		if propto {
			g.Output(g.Grad(y, in)[0])
		}
		v, err := g.Eval([][]float64{u}, &ad.Env{})
		switch {
		case err != nil:
			return stanValue{Err: err.Error()}
		case propto:
			out.Lp = number64(v[0][0])
			for i, d := range v[1] {
				out.Grad[i] = number64(d)
			}
		default:
			out.Full = number64(v[0][0])
		}
	}
	return out
}

func tryApply(g *ad.Graph, f *stdlib.Func, propto bool, vs []Value, refs []ad.Ref) (r ad.Ref, err error) {
	defer func() {
		if e, ok := recover().(*stdlib.Error); ok {
			err = e
		}
	}()
	return Apply(g, f, propto, vs, refs), nil
}

// transform maps unconstrained numbers to the domain of the argument.
func (a *stanArg) transform(g *ad.Graph, x ad.Ref) ad.Ref {
	switch {
	case a.Kind == "simplex" || a.Kind == "row_stochastic_matrix":
		return staying(g, g.Exp(x), types.Simplex)
	case a.Kind == "cov_matrix" || a.Kind == "corr_matrix":
		s := g.Add(g.MatMul(x, g.Transpose(x)), identity(g))
		if a.Kind == "corr_matrix" {
			d := g.Inv(g.Sqrt(g.Diagonal(s)))
			n := vectorSize
			s = g.Mul(s, g.MatMul(g.Reshape(d, []int{n, 1}), g.Reshape(d, []int{1, n})))
		}
		return s
	case strings.HasPrefix(a.Kind, "cholesky_factor"): // Stan's rows may have any length here
		s := g.Type(x).Shape
		diag := ad.Index{Dims: []ad.Dim{{N: s[0], Stride: s[0] + 1}}}
		d := g.Gather(x, diag)
		return g.Mul(lowerMask(g), g.Add(x, g.Scatter(g.Sub(g.Exp(d), d), diag, s)))
	case a.Kind == "ordered":
		s := g.Type(x).Shape
		x = g.Reshape(x, []int{g.Type(x).Size()})
		var sum []ad.Ref
		for i := range g.Type(x).Size() {
			e := g.Slice(x, i, nil)
			if i%vectorSize > 0 {
				e = g.Add(sum[i-1], g.Exp(e))
			}
			sum = append(sum, e)
		}
		return g.Reshape(g.Concat(sum...), s)
	case a.Lo != nil && a.Hi != nil:
		return g.Add(g.Const(*a.Lo), g.Scale(*a.Hi-*a.Lo, g.Do(ad.OpInvLogit, nil, x)))
	case a.Lo != nil:
		return g.Add(g.Const(*a.Lo), g.Exp(x))
	case a.Hi != nil:
		return g.Sub(g.Const(*a.Hi), g.Exp(x))
	}
	return x
}
