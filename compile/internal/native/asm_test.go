package native

import (
	"encoding/hex"
	"math"
	"testing"
	"unsafe"
)

// TestEncoding compares instructions with the bytes that another assembler makes of
// them: checked by disassembling (objdump).
func TestEncoding(t *testing.T) {
	four, two, one := func(a *Asm) Lanes { return Lanes{a, 4} }, func(a *Asm) Lanes { return Lanes{a, 2} }, func(a *Asm) Lanes { return Lanes{a, 1} }
	for _, c := range []struct {
		text string
		emit func(a *Asm)
		want string
	}{
		{"mov $0x12345678,%r9d", func(a *Asm) { a.MovImm(R9, 0x12345678) }, "41b978563412"},
		{"movabs $0x123456789abcdef0,%r13", func(a *Asm) { a.MovImm(R13, 0x123456789abcdef0) }, "49bdf0debc9a78563412"},
		{"mov %r12,%rax", func(a *Asm) { a.Mov(AX, R12) }, "498bc4"},
		{"mov 0x18(%rsi),%r11", func(a *Asm) { a.MovLoad(R11, At(SI, 24)) }, "4c8b5e18"},
		{"mov %rbx,0x1000(%r13)", func(a *Asm) { a.MovStore(At(R13, 4096), BX) }, "49899d00100000"},
		{"movslq -0x4(%rbx,%rcx,4),%rax", func(a *Asm) { a.MovLoad32(AX, Indexed(BX, CX, 4, -4)) }, "4863448bfc"},
		{"lea 0x8(%r12,%r9,8),%r11", func(a *Asm) { a.Lea(R11, Indexed(R12, R9, 8, 8)) }, "4f8d5ccc08"},
		{"add $0xffffffffffffff80,%r15", func(a *Asm) { a.AddImm(R15, -128) }, "4981c780ffffff"},
		{"imul $0x18,%rcx,%rbx", func(a *Asm) { a.MulImm(BX, CX, 24) }, "4869d918000000"},
		{"cmp %r8,%rdx", func(a *Asm) { a.Cmp(DX, R8) }, "493bd0"},
		{"test $0xf,%rax", func(a *Asm) { a.TestImm(AX, 15) }, "48f7c00f000000"},
		{"vaddpd %ymm3,%ymm2,%ymm1", func(a *Asm) { four(a).Do(Add, 1, 2, 3) }, "c4e16d58cb"},
		{"vsubpd %xmm11,%xmm10,%xmm9", func(a *Asm) { two(a).Do(Sub, 9, 10, 11) }, "c441295ccb"},
		{"vmulsd %xmm15,%xmm0,%xmm8", func(a *Asm) { one(a).Do(Mul, 8, 0, 15) }, "c4417b59c7"},
		{"vdivsd 0x40(%rdi),%xmm4,%xmm3", func(a *Asm) { one(a).DoMem(Div, 3, 4, At(DI, 64)) }, "c4e15b5e5f40"},
		{"vsqrtsd %xmm5,%xmm5,%xmm6", func(a *Asm) { one(a).Sqrt(6, 5) }, "c4e15351f5"},
		{"vandnpd %ymm7,%ymm6,%ymm5", func(a *Asm) { four(a).Do(AndNot, 5, 6, 7) }, "c4e14d55ef"},
		{"vcmplt_oqpd %ymm9,%ymm8,%ymm1", func(a *Asm) { four(a).Compare(LT, 1, 8, 9) }, "c4c13dc2c911"},
		{"vblendvpd %ymm1,%ymm12,%ymm3,%ymm2", func(a *Asm) { four(a).Blend(2, 3, 12, 1) }, "c4c3654bd410"},
		{"vbroadcastsd 0x8(%r9),%ymm13", func(a *Asm) { four(a).Broadcast(13, At(R9, 8)) }, "c4427d196908"},
		{"vmovupd %ymm14,0x0(%rdi,%rcx,8)", func(a *Asm) { four(a).Store(Indexed(DI, CX, 8, 0), 14) }, "c4617d1174cf00"},
		{"vinsertf128 $0x1,%xmm9,%ymm8,%ymm7", func(a *Asm) { four(a).Join(7, 8, 9) }, "c4c33d18f901"},
		{"vextractf128 $0x1,%ymm12,%xmm4", func(a *Asm) { four(a).Upper(4, 12) }, "c4637d19e401"},
		{"vmovmskpd %ymm10,%eax", func(a *Asm) { four(a).Signs(AX, 10) }, "c4c17d50c2"},
		{"vfmadd231pd %ymm3,%ymm2,%ymm1", func(a *Asm) { four(a).MulAdd(1, 2, 3) }, "c4e2edb8cb"},
		{"vroundpd $0x9,%ymm9,%ymm8", func(a *Asm) { four(a).Round(Floor, 8, 9) }, "c4437d09c109"},
		{"vcvttsd2si 0x10(%rdi),%rax", func(a *Asm) { one(a).ToInt(AX, At(DI, 16)) }, "c4e1fb2c4710"},
		{"vpsllq $0x2d,%ymm2,%ymm1", func(a *Asm) { four(a).shiftLeft(1, 2, 45) }, "c4e17573f22d"},
		{"vpsrad $0x8,%xmm12,%xmm3", func(a *Asm) { two(a).shiftInts(3, 12, 8) }, "c4c16172e408"},
		{"vmovq %xmm9,%rax", func(a *Asm) { one(a).low(AX, 9) }, "c461f97ec8"},
		{"vzeroupper", func(a *Asm) { a.ZeroUpper() }, "c5f877"},
	} {
		a := &Asm{}
		c.emit(a)
		if got := hex.EncodeToString(a.buf); got != c.want {
			t.Errorf("%s is %s, want %s", c.text, got, c.want)
		}
	}
}

// TestRun runs a function with a loop, a call and constants: DI[i] = SI[i]² + 0.5 for i
// below R8, and the sum of the signs in AX.
func TestRun(t *testing.T) {
	if !Available() {
		t.Skip("no machine code here")
	}
	for _, width := range []int{1, 2, 4} {
		a := &Asm{}
		l := Lanes{a, width}
		square, loop, entry := a.NewLabel(), a.NewLabel(), a.NewLabel()
		a.Place(entry)
		a.MovImm(R9, 0)
		a.Place(loop)
		l.Load(0, Indexed(SI, CX, 8, 0))
		l.Signs(AX, 0)
		a.Add(R9, AX)
		a.Call(square)
		l.Store(Indexed(DI, CX, 8, 0), 0)
		a.AddImm(CX, int32(width))
		a.Cmp(CX, R8)
		a.If(Less, loop)
		a.Mov(AX, R9)
		a.ZeroUpper()
		a.Ret()
		a.Place(square)
		l.Do(Mul, 0, 0, 0)
		l.DoMem(Add, 0, 0, a.Number(0.5))
		a.Ret()
		code, fs, err := a.Make([]Label{entry})
		if err != nil {
			t.Fatal(err)
		}
		x := []float64{1, -2, 3, math.Inf(-1), 0, 5, -6, math.Copysign(0, -1)}
		y, signs := make([]float64, len(x)), 0
		for i, v := range x {
			if math.Signbit(v) {
				signs += 1 << (i % width)
			}
		}
		got := fs[0].Run(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), nil, 0, 0, len(x))
		// At width 1 the mask also shows the upper lane, which is 0 after a load.
		if got != signs {
			t.Errorf("width %d: signs %d, want %d", width, got, signs)
		}
		for i, v := range x {
			if y[i] != v*v+0.5 {
				t.Errorf("width %d: element %d is %v, want %v", width, i, y[i], v*v+0.5)
			}
		}
		_ = code
	}
}

// TestLanes runs what combines lanes: pairs, halves, sums, conditions.
func TestLanes(t *testing.T) {
	if !Available() {
		t.Skip("no machine code here")
	}
	a := &Asm{}
	l := Lanes{a, 4}
	entry := a.NewLabel()
	a.Place(entry)
	l.Load(2, At(SI, 0))
	l.Load(3, At(SI, 32))
	l.Compare(LT, 1, 2, 3)
	l.Blend(4, 3, 2, 1) // the least of both
	l.Store(At(DI, 0), 4)
	l.Round(Floor, 5, 2)
	l.Store(At(DI, 32), 5)
	l.Copy(6, 2)
	l.SumLanes(0, 6)
	Lanes{a, 1}.Store(At(DI, 64), 0)
	l.Join(7, 2, 3)
	l.Store(At(DI, 72), 7)
	l.Zero(8)
	l.MulAdd(8, 2, 3)
	l.Store(At(DI, 104), 8)
	Lanes{a, 1}.ToInt(AX, At(SI, 24))
	l.ZeroUpper()
	a.Ret()
	code, fs, err := a.Make([]Label{entry})
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{1.5, -2.25, 3, -4.75, 2, -3, 0.5, math.NaN()}
	want := []float64{1.5, -3, 0.5, math.NaN(), 1, -3, 3, -5, -2.5, 1.5, -2.25, 2, -3, 3, 6.75, 1.5, math.NaN()}
	got := make([]float64, len(want))
	if n := fs[0].Run(unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), nil, 0, 0, 0); n != -4 {
		t.Errorf("-4.75 without its fraction is %d", n)
	}
	for i := range want {
		if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	_ = code
}
