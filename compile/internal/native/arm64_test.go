package native

import (
	"encoding/hex"
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// TestEncodingARM64 compares encoded instructions with the output of the GNU assembler.
func TestEncodingARM64(t *testing.T) {
	for _, c := range encodingsARM64 {
		a := &arm64{}
		c.emit(a, &neon{a, 1}, &neon{a, 2})
		code, _ := a.finish()
		want, err := hex.DecodeString(c.want)
		if err != nil {
			t.Fatal(err)
		}
		for len(want)%64 != 0 && len(want) < len(code) { // padding before constants, of which there may be none
			want = append(want, 0)
		}
		if got := hex.EncodeToString(code); got != hex.EncodeToString(want) {
			t.Errorf("%s is\n%s, want\n%s", c.text, got, c.want)
		}
	}
}

var encodingsARM64 = []struct {
	text string
	emit func(g *arm64, one, two *neon)
	want string
}{
	{"mov x9, #22136; movk x9, #4660, lsl #16", func(g *arm64, one, two *neon) { g.MovImm(R3, 0x12345678) }, "09cf8ad28946a2f2"},
	{"trn1 v1.2d, v12.2d, v3.2d", func(g *arm64, one, two *neon) { two.op(primZip, 0, 1, 12, 3, 0) }, "8129c34e"},
	{"trn2 v1.2d, v12.2d, v3.2d", func(g *arm64, one, two *neon) { two.op(primZip, 1, 1, 12, 3, 0) }, "8169c34e"},
	{"mov x13, #-5", func(g *arm64, one, two *neon) { g.MovImm(T4, ^uint64(4)) }, "8d008092"},
	{"mov x11, #0", func(g *arm64, one, two *neon) { g.MovImm(T2, 0) }, "0b0080d2"},
	{"mov x0, x12", func(g *arm64, one, two *neon) { g.Mov(T0, T3) }, "e0030caa"},
	{"ldr x11, [x6, #24]", func(g *arm64, one, two *neon) { g.MovLoad(T2, At(Views, 24)) }, "cb0c40f9"},
	{"str x3, [x13, #4096]", func(g *arm64, one, two *neon) { g.MovStore(At(T4, 4096), T1) }, "a30108f9"},
	{"ldur x3, [x7, #-8]", func(g *arm64, one, two *neon) { g.MovLoad(T1, At(Memory, -8)) }, "e3805ff8"},
	{"stur x3, [x7, #13]", func(g *arm64, one, two *neon) { g.MovStore(At(Memory, 13), T1) }, "e3d000f8"},
	{"ldr x0, [x11, x0, lsl #3]", func(g *arm64, one, two *neon) { g.MovLoad(T0, Indexed(T2, T0, 8, 0)) }, "607960f8"},
	{"ldrsw x0, [x12, x1, lsl #2]", func(g *arm64, one, two *neon) { g.MovLoad32(T0, Indexed(T3, R0, 4, 0)) }, "8079a1b8"},
	{"ldrsw x0, [x12, #12]", func(g *arm64, one, two *neon) { g.MovLoad32(T0, At(T3, 12)) }, "800d80b9"},
	{"add x4, x3, x1, lsl #2; ldursw x0, [x4, #-4]; ldrsw x2, [x4, #4]", func(g *arm64, one, two *neon) {
		g.MovLoad32(T0, Indexed(T1, R0, 4, -4))
		g.MovLoad32(R1, Indexed(T1, R0, 4, 4))
	}, "6408018b80c09fb8820480b9"},
	{"add x11, x12, x9, lsl #3; add x11, x11, #8", func(g *arm64, one, two *neon) { g.Lea(T2, Indexed(T3, R3, 8, 8)) }, "8b0d098b6b210091"},
	{"add x7, x7, #5, lsl #12; add x7, x7, #8", func(g *arm64, one, two *neon) { g.AddImm(Memory, 5*4096+8) }, "e7144091e7200091"},
	{"sub x15, x15, #128", func(g *arm64, one, two *neon) { g.AddImm(T5, -128) }, "ef0102d1"},
	{"mov x16, #33554432; add x15, x15, x16", func(g *arm64, one, two *neon) { g.AddImm(T5, 1<<25) }, "1040a0d2ef01108b"},
	{"lsl x3, x1, #3", func(g *arm64, one, two *neon) { g.MulImm(T1, R0, 8) }, "23f07dd3"},
	{"mov x16, #24; mul x3, x1, x16", func(g *arm64, one, two *neon) { g.MulImm(T1, R0, 24) }, "100380d2237c109b"},
	{"add x3, x3, x8", func(g *arm64, one, two *neon) { g.Add(T1, R2) }, "6300088b"},
	{"sub x3, x3, x8", func(g *arm64, one, two *neon) { g.Sub(T1, R2) }, "630008cb"},
	{"cmp x2, x8", func(g *arm64, one, two *neon) { g.Cmp(R1, R2) }, "5f0008eb"},
	{"cmp x2, #77", func(g *arm64, one, two *neon) { g.CmpImm(R1, 77) }, "5f3401f1"},
	{"cmn x2, #77", func(g *arm64, one, two *neon) { g.CmpImm(R1, -77) }, "5f3401b1"},
	{"mov x16, #5000; cmp x2, x16", func(g *arm64, one, two *neon) { g.CmpImm(R1, 5000) }, "107182d25f0010eb"},
	{"ldr d31, [x7, #16]; fcvtzs x0, d31; fcmp d31, d31; csinv x0, x0, xzr, vc", func(g *arm64, one, two *neon) { g.ToInt(T0, At(Memory, 16)) }, "ff0840fde003789ee0237f1e00709fda"},
	{"mov x17, x30", func(g *arm64, one, two *neon) { g.Enter() }, "f1031eaa"},
	{"ret x17", func(g *arm64, one, two *neon) { g.Leave() }, "20025fd6"},
	{"ret", func(g *arm64, one, two *neon) { g.Return() }, "c0035fd6"},
	{"add x4, x7, #32768; ldr d3, [x4, #8]; ldr d4, [x4]; str d3, [x4, #24]", func(g *arm64, one, two *neon) {
		one.load(3, At(Memory, 32776), 1)
		one.load(4, At(Memory, 32768), 1)
		one.store(At(Memory, 32792), 3, 1)
	}, "e4204091830440fd840040fd830c00fd"},
	{"add x4, x7, x1, lsl #3; ldr q3, [x4, #16]; ldur q4, [x4, #24]; str q3, [x4, #4096]", func(g *arm64, one, two *neon) {
		two.load(3, Indexed(Memory, R0, 8, 16), 2)
		two.load(4, Indexed(Memory, R0, 8, 24), 2)
		two.store(Indexed(Memory, R0, 8, 4096), 3, 2)
	}, "e40c018b8304c03d8480c13c8300843d"},
	{"add x4, x7, #264; ldr q3, [x4]; ldr q5, [x4, #16]", func(g *arm64, one, two *neon) { two.load(3, At(Memory, 264), 2); two.load(5, At(Memory, 280), 2) }, "e42004918300c03d8504c03d"},
	{"ldr d8, [x7, x1, lsl #3]; dup v8.2d, v8.d[0]", func(g *arm64, one, two *neon) { two.load(8, Indexed(Memory, R0, 8, 0), 1) }, "e87861fc0805084e"},
	{"ld1r {v13.2d}, [x9]", func(g *arm64, one, two *neon) { two.broadcast(13, At(R3, 0)) }, "2dcd404d"},
	{"ldr d13, [x9, #8]; dup v13.2d, v13.d[0]", func(g *arm64, one, two *neon) { two.broadcast(13, At(R3, 8)) }, "2d0540fdad05084e"},
	{"str d14, [x7, x1, lsl #3]", func(g *arm64, one, two *neon) { two.store(Indexed(Memory, R0, 8, 0), 14, 1) }, "ee7821fc"},
	{"stur q14, [x7, #8]", func(g *arm64, one, two *neon) { two.store(At(Memory, 8), 14, 2) }, "ee80803c"},
	{"fadd v1.2d, v2.2d, v29.2d", func(g *arm64, one, two *neon) { two.op(primAdd, 0, 1, 2, 29, 0) }, "41d47d4e"},
	{"fadd d1, d2, d29", func(g *arm64, one, two *neon) { one.op(primAdd, 0, 1, 2, 29, 0) }, "41287d1e"},
	{"fsub v1.2d, v2.2d, v29.2d", func(g *arm64, one, two *neon) { two.op(primSub, 0, 1, 2, 29, 0) }, "41d4fd4e"},
	{"fsub d1, d2, d29", func(g *arm64, one, two *neon) { one.op(primSub, 0, 1, 2, 29, 0) }, "41387d1e"},
	{"fmul v1.2d, v2.2d, v29.2d", func(g *arm64, one, two *neon) { two.op(primMul, 0, 1, 2, 29, 0) }, "41dc7d6e"},
	{"fmul d1, d2, d29", func(g *arm64, one, two *neon) { one.op(primMul, 0, 1, 2, 29, 0) }, "41087d1e"},
	{"fdiv v1.2d, v2.2d, v29.2d", func(g *arm64, one, two *neon) { two.op(primDiv, 0, 1, 2, 29, 0) }, "41fc7d6e"},
	{"fdiv d1, d2, d29", func(g *arm64, one, two *neon) { one.op(primDiv, 0, 1, 2, 29, 0) }, "41187d1e"},
	{"fsqrt v6.2d, v25.2d", func(g *arm64, one, two *neon) { two.op(primSqrt, 0, 6, 25, 0, 0) }, "26fbe16e"},
	{"fsqrt d6, d25", func(g *arm64, one, two *neon) { one.op(primSqrt, 0, 6, 25, 0, 0) }, "26c3611e"},
	{"fmadd d1, d2, d3, d4", func(g *arm64, one, two *neon) { one.op(primMulAdd, 0, 1, 2, 3, 4) }, "4110431f"},
	{"fmla v1.2d, v2.2d, v3.2d", func(g *arm64, one, two *neon) { two.op(primMulAdd, 0, 1, 2, 3, 1) }, "41cc634e"},
	{"mov v1.16b, v4.16b; fmla v1.2d, v2.2d, v3.2d", func(g *arm64, one, two *neon) { two.op(primMulAdd, 0, 1, 2, 3, 4) }, "811ca44e41cc634e"},
	{"mov v31.16b, v4.16b; fmla v31.2d, v1.2d, v3.2d; mov v1.16b, v31.16b", func(g *arm64, one, two *neon) { two.op(primMulAdd, 0, 1, 1, 3, 4) }, "9f1ca44e3fcc634ee11fbf4e"},
	{"frintm v8.2d, v9.2d", func(g *arm64, one, two *neon) { two.op(primRound, uint64(Floor), 8, 9, 0, 0) }, "2899614e"},
	{"frintp v8.2d, v9.2d", func(g *arm64, one, two *neon) { two.op(primRound, uint64(Ceil), 8, 9, 0, 0) }, "2889e14e"},
	{"frintz v8.2d, v9.2d", func(g *arm64, one, two *neon) { two.op(primRound, uint64(Trunc), 8, 9, 0, 0) }, "2899e14e"},
	{"and v1.16b, v2.16b, v3.16b", func(g *arm64, one, two *neon) { two.op(primAnd, 0, 1, 2, 3, 0) }, "411c234e"},
	{"orr v1.16b, v2.16b, v3.16b", func(g *arm64, one, two *neon) { two.op(primEither, 0, 1, 2, 3, 0) }, "411ca34e"},
	{"eor v1.16b, v2.16b, v3.16b", func(g *arm64, one, two *neon) { two.op(primXor, 0, 1, 2, 3, 0) }, "411c236e"},
	{"add v1.2d, v2.2d, v3.2d", func(g *arm64, one, two *neon) { two.op(primAddWord, 0, 1, 2, 3, 0) }, "4184e34e"},
	{"sub v1.2d, v2.2d, v3.2d", func(g *arm64, one, two *neon) { two.op(primSubWord, 0, 1, 2, 3, 0) }, "4184e36e"},
	{"shl v1.2d, v2.2d, #45", func(g *arm64, one, two *neon) { two.op(primShl, 45, 1, 2, 0, 0) }, "41546d4f"},
	{"ushr v17.2d, v22.2d, #52", func(g *arm64, one, two *neon) { two.op(primShr, 52, 17, 22, 0, 0) }, "d1064c6f"},
	{"fcmgt v1.2d, v2.2d, v3.2d; bsl v1.16b, v2.16b, v3.16b", func(g *arm64, one, two *neon) { two.op(primMax, 0, 1, 2, 3, 0) }, "41e4e36e411c636e"},
	{"fcmgt v31.2d, v3.2d, v1.2d; bif v1.16b, v3.16b, v31.16b", func(g *arm64, one, two *neon) { two.op(primMin, 0, 1, 1, 3, 0) }, "7fe4e16e611cff6e"},
	{"bsl v1.16b, v2.16b, v3.16b", func(g *arm64, one, two *neon) { two.op(primSelect, 0, 1, 1, 2, 3) }, "411c636e"},
	{"bit v3.16b, v2.16b, v1.16b", func(g *arm64, one, two *neon) { two.op(primSelect, 0, 3, 1, 2, 3) }, "431ca16e"},
	{"bif v2.16b, v3.16b, v1.16b", func(g *arm64, one, two *neon) { two.op(primSelect, 0, 2, 1, 2, 3) }, "621ce16e"},
	{"fcmeq v1.2d, v2.2d, v3.2d", func(g *arm64, one, two *neon) { two.op(primCompare, uint64(EQ), 1, 2, 3, 0) }, "41e4634e"},
	{"fcmgt v1.2d, v3.2d, v2.2d", func(g *arm64, one, two *neon) { two.op(primCompare, uint64(LT), 1, 2, 3, 0) }, "61e4e26e"},
	{"fcmge v1.2d, v3.2d, v2.2d; mvn v1.16b, v1.16b", func(g *arm64, one, two *neon) { two.op(primCompare, uint64(NLE), 1, 2, 3, 0) }, "61e4626e2158206e"},
	{"fcmeq v31.2d, v3.2d, v3.2d; fcmeq v1.2d, v2.2d, v2.2d; and v31.16b, v31.16b, v1.16b; mvn v1.16b, v31.16b", func(g *arm64, one, two *neon) { two.op(primCompare, uint64(UNORD), 1, 2, 3, 0) }, "7fe4634e41e4624eff1f214ee15b206e"},
	{"fcmlt v1.2d, v2.2d, #0.0", func(g *arm64, one, two *neon) { two.opWord(primCompare, uint64(LT), 1, 2, 0) }, "41e8e04e"},
	{"fcmle v1.2d, v2.2d, #0.0; mvn v1.16b, v1.16b", func(g *arm64, one, two *neon) { two.opWord(primCompare, uint64(NLE), 1, 2, 0) }, "41d8e06e2158206e"},
	{"fcmgt v1.2d, v2.2d, #0.0", func(g *arm64, one, two *neon) { two.opWord(primCompare, uint64(GT), 1, 2, 0) }, "41c8e04e"},
	{"fcmge v1.2d, v2.2d, #0.0", func(g *arm64, one, two *neon) { two.opWord(primCompare, uint64(GE), 1, 2, 0) }, "41c8e06e"},
	{"fcmeq v1.2d, v2.2d, #0.0", func(g *arm64, one, two *neon) { two.opWord(primCompare, uint64(EQ), 1, 2, 0) }, "41d8e04e"},
	{"fneg v1.2d, v2.2d", func(g *arm64, one, two *neon) { two.opWord(primXor, 0, 1, 2, signBit) }, "41f8e06e"},
	{"fabs v1.2d, v2.2d", func(g *arm64, one, two *neon) { two.opWord(primAnd, 0, 1, 2, ^uint64(signBit)) }, "41f8e04e"},
	{"movi v9.2d, #0", func(g *arm64, one, two *neon) { two.word(9, 0) }, "09e4006f"},
	{"movi v9.2d, #0xff00ffff0000ff00", func(g *arm64, one, two *neon) { two.word(9, 0xff00ffff0000ff00) }, "49e6056f"},
	{"fmov v9.2d, #1.0", func(g *arm64, one, two *neon) { two.word(9, math.Float64bits(1)) }, "09f6036f"},
	{"fmov v9.2d, #0.25", func(g *arm64, one, two *neon) { two.word(9, math.Float64bits(0.25)) }, "09f6026f"},
	{"fmov v9.2d, #-31.0", func(g *arm64, one, two *neon) { two.word(9, math.Float64bits(-31)) }, "e9f7056f"},
	{"fmov v9.2d, #0.125", func(g *arm64, one, two *neon) { two.word(9, math.Float64bits(0.125)) }, "09f4026f"},
	{"fmov v9.2d, #2.125", func(g *arm64, one, two *neon) { two.word(9, math.Float64bits(2.125)) }, "29f4006f"},
	{"mov x0, #0; ldrsw x0, [x12]; ldr d1, [x11, x0, lsl #3]; ldrsw x0, [x12, #4]; ldr d31, [x11, x0, lsl #3]; mov v1.d[1], v31.d[0]", func(g *arm64, one, two *neon) { g.MovImm(T0, 0); two.gather(1, 0, 0, T2, At(T3, 0), 2) }, "000080d2800180b9617960fc800580b97f7960fce107186e"},
	{"fmov x0, d18; mov x3, v18.d[1]; add x3, x11, x3, lsl #3; add x0, x11, x0, lsl #3; ldr d25, [x0, #8]; ldr d31, [x3, #8]; mov v25.d[1], v31.d[0]", func(g *arm64, one, two *neon) { two.fetch([]Vec{25}, 0, 0, T2, []int32{8}, 18) }, "4002669e433e184e630d038b600d008b190440fd7f0440fdf907186e"},
	{"fmov d20, d4", func(g *arm64, one, two *neon) { two.keepLanes(20, 4, 1) }, "9440601e"},
	{"fadd v1.2d, v1.2d, v3.2d; fadd v2.2d, v2.2d, v4.2d; fadd v1.2d, v1.2d, v2.2d; faddp d0, v1.2d", func(g *arm64, one, two *neon) { two.sum(0, []Vec{1, 2, 3, 4}) }, "21d4634e42d4644e21d4624e20d8707e"},
	{"l: addp d31, v5.2d; fmov x16, d31; cbnz x16, l", func(g *arm64, one, two *neon) { l := g.NewLabel(); g.Place(l); two.ifAny(5, l) }, "bfb8f15ef003669ed0ffffb5"},
	{"l: addp d31, v5.2d; fmov x16, d31; cmn x16, #2; b.ne l", func(g *arm64, one, two *neon) { l := g.NewLabel(); g.Place(l); two.unlessAll(5, l) }, "bfb8f15ef003669e1f0a00b1a1ffff54"},
	{"l: fmov x16, d5; cbz x16, l", func(g *arm64, one, two *neon) { l := g.NewLabel(); g.Place(l); one.unlessAll(5, l) }, "b000669ef0ffffb4"},
	{"l: b l; bl l; b.lt l; b.ge l; b.hs l; b.eq l", func(g *arm64, one, two *neon) {
		l := g.NewLabel()
		g.Place(l)
		g.Jump(l)
		g.Call(l)
		g.If(Less, l)
		g.If(GreaterE, l)
		g.If(AboveE, l)
		g.If(Equal, l)
	}, "00000014ffffff97cbffff54aaffff5482ffff5460ffff54"},
	{"b l; nop; b.eq l; l: ret", func(g *arm64, one, two *neon) {
		l := g.NewLabel()
		g.Jump(l)
		g.emit(0xd503201f)
		g.If(Equal, l)
		g.Place(l)
		g.Return()
	}, "030000141f2003d520000054c0035fd6"},
	{"ldr x9, c; ret; c: .quad 0x123456789abcdef0", func(g *arm64, one, two *neon) { g.MovImm(R3, 0x123456789abcdef0); g.Return() }, "09020058c0035fd60000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f0debc9a78563412"},
	{"ldr q9, c; ret; c: .quad 0x123456789abcdef0, 0x123456789abcdef0", func(g *arm64, one, two *neon) { two.word(9, 0x123456789abcdef0); g.Return() }, "0902009cc0035fd60000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000f0debc9a78563412f0debc9a78563412"},
}

// TestFarJumps checks conditional jumps and constants whose targets are too far for one
// instruction.
func TestFarJumps(t *testing.T) {
	if !hasNEON() {
		t.Skip("this processor does not run the code")
	}
	const n = 1 << 18 // number of instructions within reach of a conditional jump
	a := neonTarget.NewAsm()
	entry, back, forward, far := a.NewLabel(), a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.Place(entry)
	a.Enter()
	a.MovImm(T0, 0)
	a.Place(back)
	a.CmpImm(T0, 600)
	a.If(AboveE, forward) // in the fourth pass
	for k := range n {
		if k%1000 == 0 {
			a.MovImm(T1, 0x123456789abcdef0+uint64(k))
			a.AddImm(T0, 1)
		}
		a.Mov(T2, T3)
	}
	a.CmpImm(T0, 526)
	a.If(NotEqual, far)
	a.If(Equal, back)
	a.Place(far)
	a.CmpImm(T0, 10000)
	a.If(Less, back)
	a.Place(forward)
	a.Add(T0, T1)
	a.Leave()
	a.End()
	code, fs, err := a.Make([]Label{entry})
	if err != nil {
		t.Fatal(err)
	}
	var nothing [1]float64
	at := unsafe.Pointer(&nothing[0])
	want := 3*263 + 0x123456789abcdef0 + 262000
	if got := fs[0].Run(at, at, at, 0, 0, 0); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	runtime.KeepAlive(code)
}

// TestFewDigits checks all floating-point numbers that fit the eight bits of an immediate operand,
// and some that do not.
func TestFewDigits(t *testing.T) {
	for b := range uint32(256) {
		// The exponent has 11 bits: bit 6 inverted, eight copies of bit 6, bits 5 and 4.
		e := (b>>6&1 ^ 1) << 10
		if b>>6&1 == 1 {
			e |= 0xff << 2
		}
		w := uint64(b>>7)<<63 | uint64(e|b>>4&3)<<52 | uint64(b&15)<<48
		if got, ok := fewDigits(w); !ok || got != b {
			t.Errorf("%v is %#x, %v, want %#x", math.Float64frombits(w), got, ok, b)
		}
		if _, ok := fewDigits(w + 1); ok {
			t.Errorf("%v has too many digits", math.Float64frombits(w+1))
		}
	}
	for _, x := range []float64{0, 32, 0.1171875, 1e300, math.Inf(1), math.NaN()} {
		if b, ok := fewDigits(math.Float64bits(x)); ok {
			t.Errorf("%v is %#x", x, b)
		}
	}
}
