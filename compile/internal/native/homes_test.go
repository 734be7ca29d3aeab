package native

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"
)

// TestHomes runs code whose values have homes in memory that they share: a place is used again
// after the last use of the value before. Some calls of routines are computed together, so a result
// exists before its home is free. The results must equal those of code without homes.
func TestHomes(t *testing.T) {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	for _, target := range Targets {
		if Find(target.Name) == nil {
			continue
		}
		for seed := range uint64(200) {
			if got, want := homesOf(t, target, seed, true), homesOf(t, target, seed, false); !slices.EqualFunc(got, want, same) {
				t.Errorf("%s, seed %d: %v, want %v", target.Name, seed, got, want)
			}
		}
	}
}

// homesOf returns the results of drawn code, with or without homes.
func homesOf(t *testing.T, target *Target, seed uint64, homes bool) []float64 {
	rng := rand.New(rand.NewPCG(seed, 8))
	const inputs, steps = 8, 200
	width := 4 + rng.IntN(50) // the number of places, each for one value that is in use
	a := target.NewAsm()
	entry := a.NewLabel()
	a.Place(entry)
	a.Enter()
	f := a.Frame(1)
	b := &Builder{}
	at := func(k int) Address { return Address{Base: Memory, Index: NoReg, Disp: int32(8 * k)} }
	live := make([]Value, width)
	for k := range live {
		live[k] = b.Add(b.Load(Address{Base: Views, Index: NoReg, Disp: int32(8 * rng.IntN(inputs))}), b.Number(float64(k)/float64(width)))
		if homes {
			b.Home(at(k), live[k])
		}
	}
	tails := map[Value]bool{} // operands of LogPhi; the other routine may be called with them later
	for range steps {
		x, y, to := rng.IntN(width), rng.IntN(width), rng.IntN(width)
		var v Value
		switch rng.IntN(4) {
		case 0:
			v = b.Mul(b.Add(live[x], live[y]), b.Number(0.5))
		case 1:
			v = b.Max(b.Sub(live[x], live[y]), b.Number(-2))
		case 2:
			v = b.Call(LogPhi, live[x])
			tails[live[x]] = true
		default:
			if !tails[live[x]] {
				continue
			}
			v = b.Call(PhiRatio, live[x])
		}
		live[to] = v
		if stored := rng.IntN(4) == 0; homes && stored {
			b.Store(at(to), v, true)
		} else if homes {
			b.Home(at(to), v)
		}
	}
	for k, v := range live {
		b.Store(at(width+k), v, false)
	}
	f.Emit(b, 1)
	a.MovImm(T0, 0)
	a.Leave()
	a.End()
	a.Routines()
	code, fs, err := a.Make([]Label{entry})
	if err != nil {
		t.Fatal(err)
	}
	in, memory, scratch := make([]float64, inputs), make([]float64, 2*width), make([]float64, a.Numbers+1)
	for i := range in {
		in[i] = math.Sin(float64(i + int(seed)))
	}
	fs[0].Run(unsafe.Pointer(&memory[0]), unsafe.Pointer(&in[0]), unsafe.Pointer(&scratch[0]), 0, 0, 0)
	runtime.KeepAlive(code)
	return memory[width:]
}
