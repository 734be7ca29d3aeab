package vm

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// nativeCode is the machine code of a program.
type nativeCode struct {
	code    *native.Code
	scratch int // size of the scratch memory that it needs
	own     int // offset of the workers' private memory in it
}

// segment is part of a block's code: a function of machine code, or instructions for the
// interpreter.
type segment struct {
	fn       native.Func
	native   bool
	runs     *mapping // set for a function of sums by runs
	tables   bool     // set for a function of sums by tables
	from, to int
}

// Target returns the target of machine code on this computer: the best that its processor supports,
// or the one that the environment variable PPL_PROCESSOR names; nil if there is none.
func Target() *native.Target { return native.Find(os.Getenv(processor)) }

// Lanes returns the number of lanes of the vectors that machine code uses; 0: there is none.
func Lanes() int {
	if t := Target(); native.Supported && t != nil {
		return t.Lanes
	}
	return 0
}

const processor = "PPL_PROCESSOR"

// CheckProcessor returns an error if PPL_PROCESSOR names a target that this computer does not have.
// Running the portable code silently instead would be slow, and round differently.
func CheckProcessor() error {
	name := os.Getenv(processor)
	if name == "" || name == "none" || Target() != nil {
		return nil
	}
	var has []string
	for _, t := range native.Targets {
		if native.Find(t.Name) != nil {
			has = append(has, t.Name)
		}
	}
	return fmt.Errorf("the environment variable %s is %q, but the choice on this computer is %s", processor, name, strings.Join(append(has, "none"), ", "))
}

// Level describes in words how models are evaluated.
func Level() string {
	if err := CheckProcessor(); err != nil {
		return "none: " + err.Error()
	}
	if t := Target(); t != nil {
		return "machine code with " + t.Name + ", made for each model"
	}
	return "portable code, as Go compiles it for any processor of this kind"
}

// makeNative makes machine code for all blocks for which it can; none if the processor or the
// system does not support it.
func (p *Program) makeNative() {
	t := p.target
	if !native.Supported || t == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil { // a bug of the generator: the interpreter runs everything
			p.native, p.mistake = nil, fmt.Sprint(r)
		}
	}()
	g := &generator{p: p, regions: map[*block]*regionCode{}, Asm: t.NewAsm(), parts: map[*block][]segment{}, runs: map[*block]*fusedRun{}, scans: map[*counted]*native.Func{},
		products: map[*block]*[2]native.Func{}}
	g.own = int(g.Reserve(p.own))
	for i := range p.blocks {
		if b := &p.blocks[i]; b.reg != nil && b.split != nil && g.lanesOf(b.reg) == nil {
			b.split = nil // their lanes would use memory that workers share
		}
	}
	if n := len(p.blocks); n > 0 && g.eligible(p.blocks) == n && !p.apart && g.exchanges() {
		g.fuse(p.blocks, true)
	} else {
		g.blocks(p.blocks)
	}
	if len(g.entries) == 0 {
		return
	}
	g.Routines()
	code, fs, err := g.Make(g.entries)
	if err != nil { // a hardened system may allow no memory that was written to be executed
		p.mistake = fmt.Sprintf("the operating system refuses executable memory (%v)", err)
		return
	}
	p.native = &nativeCode{code, g.Numbers, g.own}
	for i, fn := range g.made {
		*fn = fs[i]
	}
	for b, segments := range g.parts {
		b.native = segments
	}
	for c, fn := range g.scans {
		c.native = fn
	}
	for b, fns := range g.products {
		b.split.product = fns
	}
	for b, code := range g.regions {
		b.split.region = code
	}
	for b, r := range g.runs {
		b.fused = r
	}
	p.moved, p.whole, p.pauses = g.moved, g.whole, true
	for i := 0; i < len(p.blocks); i++ {
		if r := g.runs[&p.blocks[i]]; r != nil {
			i += r.n - 1
		} else {
			p.pauses = p.pauses && !hasLoop(p.blocks[i:i+1])
		}
	}
}

// generator generates machine code.
type generator struct {
	*native.Asm
	p       *Program
	entries []native.Label
	made    []*native.Func // the functions, in the order of their entries
	parts   map[*block][]segment
	runs    map[*block]*fusedRun // for each first block, the function of it and the blocks after it
	scans   map[*counted]*native.Func
	// products has the functions of products in parts: for a part, and for the last one.
	products map[*block]*[2]native.Func
	regions  map[*block]*regionCode // of regions in parts
	moved    []viewLength
	whole    *fusedRun    // the function of all blocks, with copies of point and gradient; nil: none
	own      int          // offset in scratch memory of the worker's private memory
	strip    *stripValues // of the last strip, for reuse
	scalars  *scalars     // of the last scalar code
	uses     *uses        // of the last block with a strip
	shared   struct {     // scratch memory, see temporary
		at int32
		n  int
	}
}

func (g *generator) blocks(bs []block) {
	for i := 0; i < len(bs); i++ {
		if n := g.eligible(bs[i:]); n > 0 {
			g.fuse(bs[i:i+n], false)
			i += n - 1
			continue
		}
		b := &bs[i]
		switch b.kind {
		case scalarBlock:
			if len(b.code) <= maxNative {
				g.block(b, g.scalarNative, func(s *segment) { g.scalarFunction(b, s.from, s.to) })
			}
		case stripBlock:
			if b.split != nil {
				b.split.word = g.Reserve(1)
			}
			if len(b.code) <= maxNative {
				g.block(b, g.stripNative, func(s *segment) {
					switch {
					case s.runs != nil:
						g.runsFunction(b, s.from, s.to)
					case s.tables:
						g.tablesFunction(b, s.from, s.to)
					default:
						g.stripFunction(b, s.from, s.to)
					}
				})
			}
		case matmulBlock:
			if _, ok := productOf(b); ok && b.split != nil && b.dense == nil {
				g.productParts(b)
			}
		case regionBlock:
			if b.split != nil {
				g.regionParts(b)
				continue
			}
			if g.scanFunction(b.reg) {
				continue
			}
			g.blocks(b.reg.bodies[0])
			g.blocks(b.reg.bodies[1])
		}
	}
}

// block divides a block's code into segments. can reports whether an instruction has machine code,
// and function generates the code of a segment.
func (g *generator) block(b *block, can func(b *block, in *instr) bool, function func(s *segment)) {
	var segments []segment
	any := false
	of := func(k int) segment {
		in := &b.code[k]
		if b.kind == stripBlock && g.runsNative(b, in) {
			return segment{native: true, runs: &g.p.maps[in.c]}
		}
		if b.kind == stripBlock && g.tableNative(in) && !g.gridNative(b, in) {
			return segment{native: true, tables: true}
		}
		return segment{native: can(b, in)}
	}
	for k := 0; k < len(b.code); {
		s := of(k)
		n := k + 1
		for n < len(b.code) && of(n) == s {
			n++
		}
		any = any || s.native
		s.from, s.to = k, n
		segments = append(segments, s)
		k = n
	}
	if !any {
		return
	}
	for i := range segments {
		if s := &segments[i]; s.native {
			g.enter(&s.fn)
			function(s)
		}
	}
	g.parts[b] = segments
}

// enter begins a function. leave ends it; T0 is its result.
func (g *generator) enter(fn *native.Func) {
	l := g.NewLabel()
	g.entries, g.made = append(g.entries, l), append(g.made, fn)
	g.Place(l)
	g.Enter()
}

func (g *generator) leave() {
	g.Leave()
	g.End()
}

// calls reports whether the code calls routines.
func calls(code []instr) bool {
	for i := range code {
		if op := code[i].op; op < firstMove && ops.Of(op).Calls() {
			return true
		}
	}
	return false
}

// outside returns the truth that x is outside an interval.
func outside(b *native.Builder, x native.Value, iv *ad.Interval) native.Value {
	lo, hi := native.NGE, native.NLE
	if iv.LoOpen {
		lo = native.NGT
	}
	if iv.HiOpen {
		hi = native.NLT
	}
	return b.Either(b.Compare(lo, x, b.Number(iv.Lo)), b.Compare(hi, x, b.Number(iv.Hi)))
}

// uniform returns the place of the first element of a view.
func (g *generator) uniform(view int32) native.Address {
	s := &g.p.views[view]
	at := native.Address{Base: native.NoReg, Index: native.NoReg}
	switch {
	case s.own:
		at.Base, at.Disp = native.Scratch, int32(8*(g.own+s.off))
	case s.unset || s.caller:
		at.View = view
	case s.data != nil:
		at.Pointer = uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))
	default:
		at.Base, at.Disp = native.Memory, int32(8*s.off)
	}
	return at
}

// element returns the place of element off of a view.
func (g *generator) element(view int32, off int) native.Address {
	at := g.uniform(view)
	at.Disp += int32(8 * off)
	return at
}

// slot returns the place of an operand of scalar code.
func slot(place int32) native.Address {
	return native.Address{Base: native.Memory, Index: native.NoReg, Disp: 8 * place}
}
