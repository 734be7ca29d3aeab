package vm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// TestMeasureRoutines prints the time per number of each function, as a Go loop and as machine code
// of every target. The logarithms of the arguments are normally distributed. If negative arguments
// are allowed, both signs occur.
func TestMeasureRoutines(t *testing.T) {
	if os.Getenv("VM_MEASURE") == "" {
		t.Skip("set VM_MEASURE=1 to measure functions")
	}
	const n = 512
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]float64, n)
	best := func(f func()) float64 {
		least := math.Inf(1)
		for range 200 {
			start := time.Now()
			for range 10 {
				f()
			}
			least = min(least, float64(time.Since(start).Nanoseconds())/(10*n))
		}
		return least
	}
	for _, c := range []struct {
		op       ad.OpCode
		negative bool
	}{
		{ad.OpExp, true}, {ad.OpLog, false}, {ad.OpPow, false}, {ad.OpExpm1, true}, {ad.OpTanh, true}, {ad.OpTanhSlope, true}, {ad.OpSin, true}, {ad.OpCos, true}, {ad.OpLog1mExp, true},
		{ad.OpErf, true}, {ad.OpErfc, true}, {ad.OpPhi, true}, {ad.OpLogPhi, true}, {ad.OpPhiRatio, true}, {ad.OpInvPhi, false}, {ad.OpPhiExcess, true},
		{ad.OpLogExpModTail, true}, {ad.OpLgamma, false}, {ad.OpDigamma, false}, {ad.OpDigammaRise, false}, {ad.OpLmultichoose, false}, {ad.OpLbeta, false}, {ad.OpLchoose, false},
		{ad.OpExp2, true}, {ad.OpLog2, false}, {ad.OpLog10, false}, {ad.OpTan, true}, {ad.OpAsin, false}, {ad.OpAcos, false}, {ad.OpAtan, true}, {ad.OpAtan2, true},
		{ad.OpSinh, true}, {ad.OpCosh, true}, {ad.OpAsinh, true}, {ad.OpAcosh, false}, {ad.OpAtanh, false}, {ad.OpPhiApprox, true},
		{ad.OpCbrt, true}, {ad.OpHypot, true}, {ad.OpTrigamma, false},
	} {
		row := ops.Of(c.op)
		var args [2][]float64
		for k := range args {
			for range n {
				x := math.Exp(rng.NormFloat64())
				switch {
				case c.op == ad.OpLog1mExp:
					x = -x
				case c.op == ad.OpInvPhi, c.op == ad.OpAsin, c.op == ad.OpAcos, c.op == ad.OpAtanh:
					x /= 1 + x
				case c.op == ad.OpAcosh, c.op == ad.OpLchoose && k == 0:
					x += 1
				case c.op == ad.OpLchoose:
					x = args[0][len(args[1])] / (1 + x)
				case c.negative && k == 0:
					x = 2 * rng.NormFloat64()
				}
				args[k] = append(args[k], x)
			}
		}
		said := fmt.Sprintf("%-18s Go %5.1f", row.Name, best(func() { row.Loop(out, args[0], args[1], nil) }))
		for _, target := range native.Targets {
			if native.Find(target.Name) == nil {
				continue
			}
			g := target.NewAsm()
			entry := g.NewLabel()
			g.Place(entry)
			g.Enter()
			f := g.Frame(8)
			g.MovImm(native.R2, 0)
			loop := g.NewLabel()
			g.Place(loop)
			b := &native.Builder{}
			var x []native.Value
			for _, r := range []native.Reg{native.Memory, native.Views} {
				x = append(x, b.Load(native.Address{Base: r, Index: native.R2}))
			}
			b.Store(native.Address{Base: native.R1, Index: native.R2}, b.Apply(row.Formula, x[:row.Arity]), false)
			f.Emit(b, f.Lanes())
			g.AddImm(native.R2, int32(f.Lanes()))
			g.CmpImm(native.R2, n)
			g.If(native.NotEqual, loop)
			g.Leave()
			g.End()
			g.Routines()
			code, fs, err := g.Make([]native.Label{entry})
			if err != nil {
				t.Fatal(err)
			}
			scratch := make([]float64, g.Numbers+1)
			ns := best(func() {
				fs[0].Run(unsafe.Pointer(&args[0][0]), unsafe.Pointer(&args[1][0]), unsafe.Pointer(&scratch[0]), 0, int(uintptr(unsafe.Pointer(&out[0]))), 0)
			})
			runtime.KeepAlive(code)
			said += fmt.Sprintf("  %s %5.2f", target.Name, ns)
		}
		t.Log(said)
	}
}
