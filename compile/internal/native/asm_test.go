package native

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

// TestEncoding compares encoded instructions with those of another assembler, by disassembling them
// with objdump.
func TestEncoding(t *testing.T) {
	for _, c := range encodings {
		a := &amd64{}
		c.emit(a, &avx2{a, 1}, &avx2{a, 4}, &avx512{a})
		if got := hex.EncodeToString(a.buf); got != c.want {
			t.Errorf("%s is %s, want %s", c.text, got, c.want)
		}
	}
}

var encodings = []struct {
	text string
	emit func(a *amd64, one, four *avx2, eight *avx512)
	want string
}{
	{"mov $0x12345678,%r9d", func(a *amd64, _, _ *avx2, _ *avx512) { a.MovImm(R3, 0x12345678) }, "41b978563412"},
	{"movabs $0x123456789abcdef0,%r13", func(a *amd64, _, _ *avx2, _ *avx512) { a.MovImm(T4, 0x123456789abcdef0) }, "49bdf0debc9a78563412"},
	{"mov %r12,%rax", func(a *amd64, _, _ *avx2, _ *avx512) { a.Mov(T0, T3) }, "498bc4"},
	{"mov 0x18(%rsi),%r11", func(a *amd64, _, _ *avx2, _ *avx512) { a.MovLoad(T2, At(Views, 24)) }, "4c8b5e18"},
	{"mov %rbx,0x1000(%r13)", func(a *amd64, _, _ *avx2, _ *avx512) { a.MovStore(At(T4, 4096), T1) }, "49899d00100000"},
	{"movslq -0x4(%rbx,%rcx,4),%rax", func(a *amd64, _, _ *avx2, _ *avx512) { a.MovLoad32(T0, Indexed(T1, R0, 4, -4)) }, "4863448bfc"},
	{"lea 0x8(%r12,%r9,8),%r11", func(a *amd64, _, _ *avx2, _ *avx512) { a.Lea(T2, Indexed(T3, R3, 8, 8)) }, "4f8d5ccc08"},
	{"add $0xffffffffffffff80,%r15", func(a *amd64, _, _ *avx2, _ *avx512) { a.AddImm(T5, -128) }, "4981c780ffffff"},
	{"imul $0x18,%rcx,%rbx", func(a *amd64, _, _ *avx2, _ *avx512) { a.MulImm(T1, R0, 24) }, "4869d918000000"},
	{"cmp %r8,%rdx", func(a *amd64, _, _ *avx2, _ *avx512) { a.Cmp(R1, R2) }, "493bd0"},
	{"vcvttsd2si 0x10(%rdi),%rax", func(a *amd64, _, _ *avx2, _ *avx512) { a.ToInt(T0, At(Memory, 16)) }, "c4e1fb2c4710"},
	{"vaddpd %ymm3,%ymm2,%ymm1", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primAdd, 0, 1, 2, 3, 0) }, "c4e16d58cb"},
	{"vmulsd %xmm15,%xmm0,%xmm8", func(_ *amd64, one, _ *avx2, _ *avx512) { one.op(primMul, 0, 8, 0, 15, 0) }, "c4417b59c7"},
	{"vdivsd 0x40(%rdi),%xmm4,%xmm3", func(_ *amd64, one, _ *avx2, _ *avx512) { one.opMem(primDiv, 0, 3, 4, At(Memory, 64)) }, "c4e15b5e5f40"},
	{"vsqrtsd %xmm5,%xmm5,%xmm6", func(_ *amd64, one, _ *avx2, _ *avx512) { one.op(primSqrt, 0, 6, 5, 0, 0) }, "c4e15351f5"},
	{"vcmplt_oqpd %ymm9,%ymm8,%ymm1", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primCompare, uint64(LT), 1, 8, 9, 0) }, "c4c13dc2c911"},
	{"vblendvpd %ymm1,%ymm12,%ymm3,%ymm2", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primSelect, 0, 2, 1, 12, 3) }, "c4c3654bd410"},
	{"vbroadcastsd 0x8(%r9),%ymm13", func(_ *amd64, _, four *avx2, _ *avx512) { four.broadcast(13, At(R3, 8)) }, "c4427d196908"},
	{"vmovupd %ymm14,0x0(%rdi,%rcx,8)", func(_ *amd64, _, four *avx2, _ *avx512) { four.store(Indexed(Memory, R0, 8, 0), 14, 4) }, "c4617d1174cf00"},
	{"vfmadd231pd %ymm3,%ymm2,%ymm1", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primMulAdd, 0, 1, 2, 3, 1) }, "c4e2edb8cb"},
	{"vroundpd $0x9,%ymm9,%ymm8", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primRound, uint64(Floor), 8, 9, 0, 0) }, "c4437d09c109"},
	{"vpsllq $0x2d,%ymm2,%ymm1", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primShl, 45, 1, 2, 0, 0) }, "c4e17573f22d"},
	{"vaddpd %zmm19,%zmm10,%zmm1", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primAdd, 0, 1, 10, 19, 0) }, "62b1ad4858cb"},
	{"vmulpd %zmm3,%zmm30,%zmm25", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primMul, 0, 25, 30, 3, 0) }, "62618d4059cb"},
	{"vsubpd 0x40(%rdi,%rcx,8),%zmm20,%zmm9", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.opMem(primSub, 0, 9, 20, Indexed(Memory, R0, 8, 64)) }, "6271dd405c8ccf40000000"},
	{"vcmplt_oqpd %zmm9,%zmm18,%k5", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primCompare, uint64(LT), 5, 18, 9, 0) }, "62d1ed40c2e911"},
	{"vblendmpd %zmm12,%zmm23,%zmm2{%k1}", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primSelect, 0, 2, 1, 12, 23) }, "62d2c54165d4"},
	{"vmovapd %zmm29,%zmm3{%k2}{z}", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primKeep, 0, 3, 2, 29, 0) }, "6291fdca28dd"},
	{"kandb %k3,%k2,%k1", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primBoth, 0, 1, 2, 3, 0) }, "c4e16d41cb"},
	{"korb %k3,%k2,%k1", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primEither, 0, 1, 2, 3, 0) }, "c4e16d45cb"},
	{"kortestb %k4,%k4", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.test(4) }, "c4e17998e4"},
	{"vrndscalepd $0xb,%zmm21,%zmm8", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primRound, uint64(Trunc), 8, 21, 0, 0) }, "6233fd4809c50b"},
	{"vpsrlq $0x34,%zmm22,%zmm17", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primShr, 52, 17, 22, 0, 0) }, "62b1f54073d634"},
	{"vbroadcastsd 0x8(%r9),%zmm31", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.broadcast(31, At(R3, 8)) }, "6242fd4819b908000000"},
	{"vmovupd %zmm17,0x200(%r12)", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.store(At(T3, 512), 17, 8) }, "62c1fd48118c2400020000"},
	{"vfmadd231pd %zmm3,%zmm22,%zmm16", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primMulAdd, 0, 16, 22, 3, 16) }, "62e2cd40b8c3"},
	{"vunpcklpd %ymm3,%ymm12,%ymm1", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primZip, 0, 1, 12, 3, 0) }, "c4e11d14cb"},
	{"vperm2f128 $0x31,%ymm13,%ymm2,%ymm9", func(_ *amd64, _, four *avx2, _ *avx512) { four.op(primPairs, 1, 9, 2, 13, 0) }, "c4436d06cd31"},
	{"vunpckhpd %zmm3,%zmm30,%zmm25", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primZip, 1, 25, 30, 3, 0) }, "62618d4015cb"},
	{"vshuff64x2 $0x88,%zmm19,%zmm10,%zmm1", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primPairs, 0, 1, 10, 19, 0) }, "62b3ad4823cb88"},
	{"vshuff64x2 $0xdd,%zmm3,%zmm30,%zmm25", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.op(primPairs, 1, 25, 30, 3, 0) }, "62638d4023cbdd"},
	{"kxnorw %k7,%k7,%k7; vgatherqpd 0x8(%r11,%zmm18,8),%zmm25{%k7}", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.fetch([]Vec{25}, 0, 0, T2, []int32{8}, 18) }, "c4e14446ff6242fd47938cd308000000"},
	{"mov $0x7,%eax; kmovb %eax,%k7; vmovapd %zmm4,%zmm20{%k7}{z}", func(_ *amd64, _, _ *avx2, eight *avx512) { eight.keepLanes(20, 4, 3) }, "40b807000000c4e17992f862e1fdcf28e4"},
}

// TestTranspose checks that the elements of each lane become a vector, and back.
func TestTranspose(t *testing.T) {
	for _, target := range Targets {
		if Find(target.Name) == nil {
			continue
		}
		for _, n := range []int{1, 2, 8} {
			a := target.NewAsm()
			entry := a.NewLabel()
			a.Place(entry)
			a.Enter()
			f := a.Frame(n)
			lanes := f.Lanes()
			place := func(k int) Address { return Address{Base: Memory, Index: NoReg, Disp: int32(8 * lanes * k)} }
			b := &Builder{}
			var x []Value
			for k := range lanes {
				x = append(x, b.Load(place(k)))
			}
			once := b.Transpose(x)
			for k, v := range append(once, b.Transpose(once)...) {
				b.Store(place(lanes+k), v, false)
			}
			f.Emit(b, lanes)
			a.MovImm(T0, 0)
			a.Leave()
			a.End()
			code, fs, err := a.Make([]Label{entry})
			if err != nil {
				t.Fatal(err)
			}
			mem, scratch := make([]float64, 3*lanes*lanes), make([]float64, a.Numbers+1)
			for i := range lanes * lanes {
				mem[i] = float64(i)
			}
			fs[0].Run(unsafe.Pointer(&mem[0]), nil, unsafe.Pointer(&scratch[0]), 0, 0, 0)
			runtime.KeepAlive(code)
			for k := range lanes {
				for l := range lanes {
					if once, twice := mem[(lanes+k)*lanes+l], mem[(2*lanes+k)*lanes+l]; once != float64(l*lanes+k) || twice != float64(k*lanes+l) {
						t.Errorf("%s, %d lanes: element (%d, %d) is %v, and %v", target.Name, lanes, k, l, once, twice)
					}
				}
			}
		}
	}
}

// TestRegisters runs long code with more live values than registers, with calls of routines
// between. It compares the results with Go, for every number of lanes.
func TestRegisters(t *testing.T) {
	for _, target := range Targets {
		if Find(target.Name) == nil {
			continue
		}
		for _, n := range []int{1, 2, 8} {
			t.Run(fmt.Sprintf("%s %d", target.Name, n), func(t *testing.T) {
				for seed := range uint64(40) {
					randomFormula(t, target, n, seed)
				}
			})
		}
	}
}

func randomFormula(t *testing.T, target *Target, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	const inputs, steps, outputs = 12, 150, 9
	a := target.NewAsm()
	if g, ok := a.general.(*arm64); ok && seed%2 == 1 {
		g.reach = 256 << (seed % 8) // a short reach, so that islands of constants are needed
	}
	entry := a.NewLabel()
	a.Place(entry)
	a.Enter()
	f := a.Frame(n)
	lanes := f.Lanes()
	active := 1 + rng.IntN(lanes)
	in := make([]float64, inputs*lanes)
	for i := range in {
		in[i] = rng.NormFloat64()
	}
	acc := f.Accumulator()
	b := &Builder{}
	var vs []Value
	var want [][]float64 // expected numbers of each value, one for each lane
	for i := range inputs {
		vs = append(vs, b.Load(Address{Base: Memory, Index: NoReg, Disp: int32(8 * i * lanes)}))
		want = append(want, in[i*lanes:][:lanes])
	}
	total := make([]float64, lanes)
	for range steps {
		x, y, z := rng.IntN(len(vs)), rng.IntN(len(vs)), rng.IntN(len(vs))
		var v Value
		var g func(x, y, z float64) float64
		switch rng.IntN(9) {
		case 0:
			v, g = b.Add(vs[x], vs[y]), func(x, y, _ float64) float64 { return x + y }
		case 1:
			v, g = b.Sub(vs[x], b.Number(0.5)), func(x, _, _ float64) float64 { return x - 0.5 }
		case 2:
			v, g = b.Mul(b.Number(0.25), vs[x]), func(x, _, _ float64) float64 { return x * 0.25 }
		case 3:
			v, g = b.MulAdd(b.Number(0.1), vs[y], vs[z]), func(_, y, z float64) float64 { return math.FMA(0.1, y, z) }
		case 4:
			v = b.Select(b.Either(b.Compare(LT, vs[x], vs[y]), b.Compare(GT, vs[z], b.Number(1))), vs[y], vs[z])
			g = func(x, y, z float64) float64 {
				if x < y || z > 1 {
					return y
				}
				return z
			}
		case 5:
			v = b.Call(Pow, b.Abs(vs[x]), b.Number(2))
			g = func(x, _, _ float64) float64 { return x * x } // exact, as is Pow for exponent 2
		case 6:
			v, g = b.Max(vs[x], vs[y]), func(x, y, _ float64) float64 {
				if x > y {
					return x
				}
				return y
			}
		case 7:
			v, g = b.Round(Floor, vs[x]), func(x, _, _ float64) float64 { return math.Floor(x) }
		default:
			s := vs[x]
			if active < lanes {
				s = b.Active(s)
			}
			b.Sum(acc, s)
			for l := range active {
				total[l] += want[x][l]
			}
			continue
		}
		r := make([]float64, lanes)
		for l := range r {
			r[l] = g(want[x][l], want[y][l], want[z][l])
			if math.Abs(r[l]) > 1e100 {
				r[l] = math.NaN()
			}
		}
		if math.IsNaN(r[0]) || lanes > 1 && math.IsNaN(r[1]) {
			continue // later formulas must not read v
		}
		vs, want = append(vs, v), append(want, r)
	}
	var places []int
	for i := range outputs {
		k := rng.IntN(len(vs))
		places = append(places, k)
		b.Store(Address{Base: Views, Index: NoReg, Disp: int32(8 * i * lanes)}, vs[k], false)
	}
	f.Emit(b, active)
	f.StoreAccumulator(acc, Address{Base: Views, Index: NoReg, Disp: int32(8 * outputs * lanes)}, lanes)
	a.MovImm(T0, 7)
	a.Leave()
	a.End()
	a.Routines()
	code, fs, err := a.Make([]Label{entry})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, (outputs+1)*lanes)
	scratch := make([]float64, a.Numbers+1)
	if got := fs[0].Run(unsafe.Pointer(&in[0]), unsafe.Pointer(&out[0]), unsafe.Pointer(&scratch[0]), 0, 0, 0); got != 7 {
		t.Errorf("seed %d: the result is %d", seed, got)
	}
	runtime.KeepAlive(code)
	for i, k := range places {
		for l := range active {
			if w := want[k][l]; out[i*lanes+l] != w && !math.IsNaN(w) {
				t.Fatalf("seed %d: value %d, lane %d of %d is %v, want %v", seed, k, l, active, out[i*lanes+l], w)
			}
		}
		for l := active; l < lanes; l++ {
			if out[i*lanes+l] != 0 {
				t.Fatalf("seed %d: lane %d is written, of %d", seed, l, active)
			}
		}
	}
	for l, w := range total {
		if out[outputs*lanes+l] != w {
			t.Fatalf("seed %d: sum %d is %v, want %v", seed, l, out[outputs*lanes+l], w)
		}
	}
}
