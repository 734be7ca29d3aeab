package vm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/ad/kernel/routines"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// widths calls f for every target that this processor supports, and for each of the target's
// numbers of lanes.
func widths(t *testing.T, f func(t *testing.T, target *native.Target, lanes int)) {
	t.Helper()
	none := true
	for _, target := range native.Targets {
		if native.Find(target.Name) == nil {
			continue
		}
		none = false
		done := map[int]bool{}
		for _, n := range []int{1, 2, 8} {
			if lanes := target.NewAsm().Frame(n).Lanes(); !done[lanes] {
				done[lanes] = true
				t.Run(fmt.Sprintf("%s %d", target.Name, lanes), func(t *testing.T) { f(t, target, lanes) })
			}
		}
	}
	if none {
		t.Skip("no machine code here")
	}
}

// runFormula runs a formula as machine code. It has up to three operands, which are as long as the
// first. If the length is not a multiple of the lanes, the last vector has fewer active lanes.
func runFormula(t *testing.T, target *native.Target, lanes int, text *native.Formula, args [3][]float64) []float64 {
	t.Helper()
	g := target.NewAsm()
	function := func(active int) native.Label {
		l := g.NewLabel()
		g.Place(l)
		g.Enter()
		b := &native.Builder{}
		var x []native.Value
		for _, r := range []native.Reg{native.Memory, native.Views, native.R0} {
			x = append(x, b.Load(native.Address{Base: r, Index: native.NoReg}))
		}
		b.Store(native.Address{Base: native.R1, Index: native.NoReg}, b.Apply(text, x), false)
		g.Frame(lanes).Emit(b, active)
		g.Leave()
		g.End()
		return l
	}
	n := len(args[0])
	entries := []native.Label{function(lanes)}
	if rest := n % lanes; rest > 0 {
		entries = append(entries, function(rest))
	}
	g.Routines()
	code, fs, err := g.Make(entries)
	if err != nil {
		t.Fatal(err)
	}
	scratch := make([]float64, g.Numbers+1)
	got := make([]float64, n+1)
	got[n] = 12345
	for k, a := range args {
		if a == nil {
			args[k] = make([]float64, n)
		}
	}
	for i := 0; i < n; i += lanes {
		f := fs[0]
		if i+lanes > n {
			f = fs[1]
		}
		pointer := func(x []float64) int { return int(uintptr(unsafe.Pointer(&x[i]))) }
		f.Run(unsafe.Pointer(&args[0][i]), unsafe.Pointer(&args[1][i]), unsafe.Pointer(&scratch[0]), pointer(args[2]), pointer(got), 0)
	}
	runtime.KeepAlive(code)
	runtime.KeepAlive(args)
	if got[n] != 12345 {
		t.Error("the code writes beyond the end")
	}
	return got[:n]
}

// TestRoutines compares the machine's exponentials and logarithms with the portable loops. The bits
// must be the same for routines that use the same tables as these loops. Others are compared with
// package math.
func TestRoutines(t *testing.T) {
	functions := []struct {
		name     string
		op       ad.OpCode
		exact    func(float64) float64
		ordinary func(x float64) bool
	}{
		{"exp", ad.OpExp, math.Exp, func(x float64) bool { return x > -680 && x < 709 }},
		{"log", ad.OpLog, routines.Log, func(x float64) bool { return x >= 0x1p-1022 && x <= math.MaxFloat64 }},
		{"log1p", ad.OpLog1p, math.Log1p, func(x float64) bool { return x > -1 && x <= math.MaxFloat64 }},
	}
	xs := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, math.Inf(1), math.Inf(-1), math.NaN(), 708, 709, 709.78, 709.79, 710, 1e10, -708, -708.5,
		-745, -745.2, -746, -1e10, 1e300, 5e-324, 1e-310, 0x1p-1022, math.MaxFloat64, 1e-20, -1e-20, 0.99999999, 2}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		xs = append(xs, rng.NormFloat64()*math.Pow(10, 4*rng.Float64()-2), math.Exp(rng.NormFloat64()*100))
	}
	for _, f := range functions {
		want := make([]float64, len(xs))
		for i, x := range xs {
			want[i] = ops.Of(f.op).F1(x)
		}
		widths(t, func(t *testing.T, target *native.Target, lanes int) {
			got := runFormula(t, target, lanes, ops.Of(f.op).Formula, [3][]float64{xs})
			bad := 0
			for i, x := range xs {
				same := math.Float64bits(got[i]) == math.Float64bits(want[i]) || math.IsNaN(got[i]) && math.IsNaN(want[i])
				e := f.exact(x)
				if f.ordinary(x) && same || !f.ordinary(x) && (got[i] == e || math.IsNaN(got[i]) && math.IsNaN(e) || math.Abs(got[i]-e) <= 4e-16*math.Abs(e)+1e-323) {
					continue
				}
				if bad++; bad < 10 {
					t.Errorf("%s(%v) = %v, want %v (math: %v)", f.name, x, got[i], want[i], e)
				}
			}
		})
	}
}

// TestFormulas compares the machine code of every op with its Go function, bit by bit, at ordinary
// and extreme numbers and at every vector width. Code that calls routines is compared only if these
// promise the same bits.
func TestFormulas(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2.5, -2.5, 1e300, -1e300, 5e-324, 1e-310, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	var args [3][]float64
	for _, x := range odd {
		for _, y := range odd {
			for _, z := range []float64{odd[len(args[0])%len(odd)], 1, math.NaN(), -3} {
				args[0], args[1], args[2] = append(args[0], x), append(args[1], y), append(args[2], z)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2001 {
		for k := range args {
			x := rng.NormFloat64() * math.Exp(2*rng.NormFloat64())
			if i%4 == 0 { // every fourth number may be of any size
				x = math.Copysign(math.Pow(10, 600*rng.Float64()-300), x)
			}
			args[k] = append(args[k], x)
		}
	}
	for range 64 { // routines take shortcuts if the numbers in all lanes are large
		for k := range args {
			args[k] = append(args[k], 6+math.Abs(rng.NormFloat64())*math.Exp(2*rng.NormFloat64()))
		}
	}
	n, tested := len(args[0]), 0
	for row := range ops.All() {
		if row.Formula == nil {
			continue
		}
		tested++
		want := make([]float64, n)
		row.Loop(want, args[0], args[1], args[2])
		widths(t, func(t *testing.T, target *native.Target, lanes int) {
			got := runFormula(t, target, lanes, row.Formula, args)
			bad := 0
			for i, w := range want {
				if math.Float64bits(got[i]) == math.Float64bits(w) || math.IsNaN(got[i]) && math.IsNaN(w) {
					continue
				}
				if row.Formula.Rounds() && samePower(got[i], w) {
					continue
				}
				if bad++; bad < 5 {
					t.Errorf("%s(%v, %v, %v) = %v, want %v", row.Name, args[0][i], args[1][i], args[2][i], got[i], w)
				}
			}
		})
	}
	if tested < 30 {
		t.Errorf("only %d ops have machine code", tested)
	}
}

// TestTogether checks functions that are called with the same operand and therefore computed
// together. They must have the same bits as when called alone, in any order and with other calls
// between them.
func TestTogether(t *testing.T) {
	xs := []float64{0, math.Copysign(0, -1), 1e-300, -1e-300, 5e-324, 38.9, 39, 39.1, -38.9, -39, -39.1, 1e100, -1e100, 1e299, -1e299, 1e301, -1e301,
		math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3001 {
		xs = append(xs, rng.NormFloat64()*math.Exp(float64(i%5)*rng.NormFloat64()))
	}
	all := map[native.Routine]func(float64) float64{native.LogPhi: routines.LogPhi, native.PhiRatio: routines.PhiRatio, native.PhiExcess: routines.PhiExcess}
	which := make([]float64, len(xs))
	for i := range which {
		which[i] = float64(i % 3)
	}
	for _, rs := range [][3]native.Routine{{native.LogPhi, native.PhiRatio, native.LogPhi}, {native.PhiRatio, native.LogPhi, native.PhiExcess},
		{native.PhiExcess, native.PhiRatio, native.LogPhi}, {native.PhiRatio, native.PhiExcess, native.PhiRatio}, {native.LogPhi, native.PhiExcess, native.PhiRatio}} {
		for order := range 3 {
			text := native.NewFormula(2, func(b *native.Builder, x []native.Value) native.Value {
				var y [3]native.Value
				for k := range y {
					k = (k + order) % 3
					y[k] = b.Call(rs[k], x[0])
					b.Call(native.Exp, x[0]) // nothing uses this result
				}
				e := b.Call(native.Exp, b.Number(0)) // 1; the other results must survive this call
				z := b.Select(b.Compare(native.EQ, x[1], e), y[1], y[2])
				return b.Select(b.Compare(native.EQ, x[1], b.Number(0)), y[0], z)
			})
			widths(t, func(t *testing.T, target *native.Target, lanes int) {
				got := runFormula(t, target, lanes, text, [3][]float64{xs, which})
				for i, x := range xs {
					want := all[rs[i%3]](x)
					if math.Float64bits(got[i]) != math.Float64bits(want) && !(math.IsNaN(want) && math.IsNaN(got[i])) {
						t.Fatalf("function %d of %v at %v: %v, want %v", i%3, rs, x, got[i], want)
					}
				}
			})
		}
	}
}

// TestTailTogether is TestTogether for two functions of two numbers: the tail of the exponentially
// modified normal distribution and its slope.
func TestTailTogether(t *testing.T) {
	zs := []float64{0, 1, -1, 40, -40, 1e-300, 1e150, -1e150, math.Inf(1), math.Inf(-1), math.NaN(), 2}
	vs := []float64{1, 1, 1e-8, 1e-3, 30, 1e-300, 1, 1, 1, 1, 1, math.Inf(1)}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 2001 {
		zs = append(zs, 3*rng.NormFloat64()*math.Exp(float64(i%3)*rng.NormFloat64()))
		vs = append(vs, math.Exp(2*rng.NormFloat64()))
	}
	which := make([]float64, len(zs))
	for i := range which {
		which[i] = float64(i % 2)
	}
	for _, rs := range [][2]native.Routine{{native.LogExpModTail, native.ExpModSlope}, {native.ExpModSlope, native.LogExpModTail}} {
		text := native.NewFormula(3, func(b *native.Builder, x []native.Value) native.Value {
			first := b.Call(rs[0], x[0], x[1])
			second := b.Call(rs[1], x[0], x[1])
			return b.Select(b.Compare(native.EQ, x[2], b.Number(0)), first, second)
		})
		widths(t, func(t *testing.T, target *native.Target, lanes int) {
			got := runFormula(t, target, lanes, text, [3][]float64{zs, vs, which})
			for i, z := range zs {
				want := routines.LogExpModTail(z, vs[i])
				if (i%2 == 0) == (rs[0] == native.ExpModSlope) {
					want = routines.ExpModSlope(z, vs[i])
				}
				if math.Float64bits(got[i]) != math.Float64bits(want) && !(math.IsNaN(want) && math.IsNaN(got[i])) {
					t.Fatalf("%v at (%v, %v), value %d: %v, want %v", rs, z, vs[i], i%2, got[i], want)
				}
			}
		})
	}
}

// TestLocalResults checks results of scalar code that are stored only if their register is needed
// for another value: with fewer values in use than there are registers, and with more.
func TestLocalResults(t *testing.T) {
	for _, n := range []int{2, 12, 40, 90} {
		g := ad.NewGraph()
		x := g.Input(ad.Scalar)
		var xs []ad.Ref
		for i := range n {
			x = g.Add(g.Mul(x, g.Const(1.25)), g.Const(1/float64(i+1)))
			xs = append(xs, x)
		}
		sum := g.Const(0)
		for i := range xs { // each is read twice, far from where it was computed
			sum = g.Add(g.Mul(sum, xs[i]), g.Mul(xs[n-1-i], g.Const(0.5)))
		}
		g.Output(sum)
		g.Output(xs[n/2])
		var outs [2][]float64
		local := 0
		for k, o := range []passes.Options{{}, {Without: []string{passes.NativePass}}} {
			p, err := Compile(g, o)
			if err != nil {
				t.Fatal(err)
			}
			m := p.New()
			m.Input(0)[0] = 0.75
			if err := m.Run(nil); err != nil {
				t.Fatal(err)
			}
			outs[k] = []float64{m.Output(0)[0], m.Output(1)[0]}
			for i := range p.blocks {
				for _, is := range p.blocks[i].local {
					if is {
						local++
					}
				}
			}
		}
		if !slices.Equal(outs[0], outs[1]) {
			t.Errorf("%d values: %v, want %v", n, outs[0], outs[1])
		}
		if native.Find("") != nil && local < n {
			t.Errorf("%d values: %d are local", n, local)
		}
	}
}
