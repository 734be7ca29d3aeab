package vm

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// runRoutine applies a routine as machine code to all xs, and ys if it has two
// arguments; their number is a multiple of width.
func runRoutine(t *testing.T, routine native.Routine, width int, xs, ys []float64) []float64 {
	t.Helper()
	a := &native.Asm{}
	l := native.Lanes{Asm: a, Width: width}
	entry := a.NewLabel()
	a.Place(entry)
	l.Load(0, native.At(native.DI, 0))
	if ys != nil {
		l.Load(1, native.At(native.SI, 0))
	}
	l.Apply(routine)
	l.Store(native.At(native.DI, 0), 0)
	l.ZeroUpper()
	l.Ret()
	a.Routines(tables())
	code, fs, err := a.Make([]native.Label{entry})
	if err != nil {
		t.Fatal(err)
	}
	scratch := make([]float64, native.ScratchOfRoutines)
	got := append([]float64(nil), xs...)
	for i := 0; i < len(got); i += width {
		var second unsafe.Pointer
		if ys != nil {
			second = unsafe.Pointer(&ys[i])
		}
		fs[0].Run(unsafe.Pointer(&got[i]), second, unsafe.Pointer(&scratch[0]), 0, 0, 0)
	}
	runtime.KeepAlive(code)
	return got
}

// TestRoutines compares the machine's exponentials and logarithms with the
// portable loops, bit by bit where these use their tables, and else with package
// math.
func TestRoutines(t *testing.T) {
	if !native.Available() {
		t.Skip("no machine code here")
	}
	functions := []struct {
		name     string
		routine  native.Routine
		loop     func(d, a []float64)
		exact    func(float64) float64
		ordinary func(x float64) bool
	}{
		{"exp", native.Exp, expLoop, math.Exp, func(x float64) bool { return x > -680 && x < 709 }},
		{"log", native.Log, logLoop, kernel.Log, func(x float64) bool { return x >= 0x1p-1022 && x <= math.MaxFloat64 }},
		{"log1p", native.Log1p, log1pLoop, math.Log1p, func(x float64) bool { return x > -1 && x <= math.MaxFloat64 }},
	}
	xs := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, math.Inf(1), math.Inf(-1), math.NaN(), 708, 709, 709.78, 709.79, 710, 1e10, -708, -708.5,
		-745, -745.2, -746, -1e10, 1e300, 5e-324, 1e-310, 0x1p-1022, math.MaxFloat64, 1e-20, -1e-20, 0.99999999, 2}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		xs = append(xs, rng.NormFloat64()*math.Pow(10, 4*rng.Float64()-2), math.Exp(rng.NormFloat64()*100))
	}
	for len(xs)%4 != 0 {
		xs = append(xs, 1)
	}
	for _, f := range functions {
		want := make([]float64, len(xs))
		f.loop(want, xs)
		for _, width := range []int{1, 2, 4} {
			got := runRoutine(t, f.routine, width, xs, nil)
			bad := 0
			for i, x := range xs {
				same := math.Float64bits(got[i]) == math.Float64bits(want[i]) || math.IsNaN(got[i]) && math.IsNaN(want[i])
				e := f.exact(x)
				if f.ordinary(x) && same || !f.ordinary(x) && (got[i] == e || math.IsNaN(got[i]) && math.IsNaN(e) || math.Abs(got[i]-e) <= 4e-16*math.Abs(e)+1e-323) {
					continue
				}
				if bad++; bad < 10 {
					t.Errorf("%s(%v), width %v: %v, want %v (math: %v)", f.name, x, width, got[i], want[i], e)
				}
			}
		}
	}
}
