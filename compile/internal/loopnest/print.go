package loopnest

import (
	"fmt"
	"github.com/ppl-lang/ppl/compile/internal/ops"
	"io"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/ad"
)

// Names translates parts of a printed program to the source. Each function may be nil.
type Names struct {
	Site  func(ad.Site) string // returns where an op comes from, such as "line 12"; "": unknown
	Input func(i int) string   // returns the name of input i
}

// Print writes the program in readable form, a line per op with its source on the right:
//
//	map 12500                 a loop over 12500 lanes
//	  t1 = gather alpha[…]    t: lives within its loop
//	  t2 = mul x beta t1      operands of one element are the same for all lanes
//	  v3 += dot t2 t2         v: memory; a reduction
//
// d is data, c a carried value, s a slice of a stream or of a lane; v7[3:8] are elements 3 to 7 of
// v7, and v7[3] is one. Before blocks are formed, nodes are in the order in which they were
// lowered.
func (p *Program) Print(w io.Writer, names Names) error {
	pr := &printer{Program: p, names: names, slices: map[*Region][]BufferID{}}
	for i := range p.Buffers {
		if b := p.Buffers[i].Binding; b != nil {
			pr.slices[b.Region] = append(pr.slices[b.Region], BufferID(i))
		}
	}
	for _, in := range p.Inputs {
		pr.line("", "input "+pr.buffer(in)+sizeText(p.Buffers[in].N), 0)
	}
	pr.body(p.Main, "")
	for k, o := range p.Outputs {
		pr.line("", fmt.Sprintf("output %d = %s", k+1, pr.Value(o)), 0)
	}
	_, err := io.WriteString(w, pr.w.String())
	return err
}

// Describe returns one op in readable form.
func (b *Body) Describe(n *Node, names Names) string {
	return (&printer{Program: b.Program, names: names}).node(n)
}

type printer struct {
	*Program
	names  Names
	slices map[*Region][]BufferID // of streams and lanes, by the region that they belong to
	w      strings.Builder
	last   string // the site that was printed last
}

func sizeText(n int) string {
	if n == 1 {
		return ""
	}
	return "[" + strconv.Itoa(n) + "]"
}

const siteColumn = 60

func (p *printer) line(indent, text string, site ad.Site) {
	s := ""
	if p.names.Site != nil && site != 0 {
		s = p.names.Site(site)
	}
	p.w.WriteString(indent)
	p.w.WriteString(text)
	if s != "" && s != p.last {
		p.w.WriteString(strings.Repeat(" ", max(2, siteColumn-len(indent)-len([]rune(text)))))
		p.w.WriteString(s)
		p.last = s
	}
	p.w.WriteByte('\n')
}

// buffer returns the name of a buffer.
func (p *printer) buffer(id BufferID) string {
	b := &p.Buffers[id]
	letter := "v"
	switch {
	case b.Input > 0 && p.names.Input != nil:
		return p.names.Input(b.Input - 1)
	case b.Input > 0:
		return "x" + strconv.Itoa(b.Input)
	case b.Data != nil:
		letter = "d"
	case b.Binding != nil:
		letter = "s"
	case b.Kept:
		letter = "c"
	case b.Local:
		letter = "t"
	}
	return letter + strconv.Itoa(int(id))
}

// Value returns an operand in readable form.
func (p *printer) Value(v Value) string {
	b := &p.Buffers[v.Buf]
	if x, ok := p.number(v); ok {
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	name := p.buffer(v.Buf)
	switch {
	case v.Off == 0 && v.N == b.N && !v.Rep:
		return name
	case v.N == 1 || v.Rep:
		return fmt.Sprintf("%s[%d]", name, v.Off)
	}
	return fmt.Sprintf("%s[%d:%d]", name, v.Off, v.Off+v.N)
}

// mapText returns a map written as an index.
func mapText(m *Map) string {
	if _, s0, n1, s1, ok := m.Affine(); ok {
		text := ""
		add := func(s string) {
			if text != "" {
				text += " + "
			}
			text += s
		}
		if m.Off != 0 {
			add(strconv.Itoa(m.Off))
		}
		stride := func(s int, i string) {
			switch s {
			case 0:
			case 1:
				add(i)
			default:
				add(strconv.Itoa(s) + i)
			}
		}
		if n1 == m.N {
			stride(s1, "i")
		} else {
			stride(s0, "(i/"+strconv.Itoa(n1)+")")
			stride(s1, "(i%"+strconv.Itoa(n1)+")")
		}
		if text == "" {
			text = "0"
		}
		return "[" + text + "]"
	}
	return "[table i]"
}

func (p *printer) node(n *Node) string {
	args := make([]string, len(n.Args))
	for k, a := range n.Args {
		args[k] = p.Value(a)
	}
	dst := ""
	if n.Dst != None {
		dst = p.buffer(n.Dst)
	}
	switch n.Kind {
	case Load:
		if n.Map.Uniform() {
			return fmt.Sprintf("%s = fill %s", dst, args[0])
		}
		what := "load"
		if _, _, _, _, affine := n.Map.Affine(); !affine {
			what = "gather"
		}
		return fmt.Sprintf("%s = %s %s%s", dst, what, args[0], mapText(&n.Map))
	case Accumulate:
		op := "+="
		if n.Store {
			op = "="
		}
		to := dst
		switch size := p.Buffers[n.Dst].N; {
		case n.Map.Contiguous() && size != n.Map.N:
			to = p.Value(Value{Buf: n.Dst, Off: n.Map.Off, N: n.Map.N})
		case n.Map.Uniform():
			to = p.Value(Value{Buf: n.Dst, Off: n.Map.Off, N: 1})
		case !n.Map.Contiguous():
			to += mapText(&n.Map)
		}
		what := ""
		switch {
		case ops.Of(n.Op).Reduce != nil:
			what = ops.Of(n.Op).Reduce.Title + " "
		case n.N > 1 && n.Map.Uniform():
			what = "sum "
		}
		return fmt.Sprintf("%s %s %s%s", to, op, what, strings.Join(args, " "))
	case Regions:
		return ops.Of(n.Op).Name
	}
	text := ops.Of(n.Op).Name
	switch a := n.Src; {
	case a == nil:
	case n.Op == ad.OpCheck:
		if c, ok := a.Attr.(*ad.Check); ok {
			text = "check " + c.Function + " " + strings.ReplaceAll(strings.ToLower(c.Name), " ", "_")
		}
	case n.Op == ad.OpRandom:
		if d, ok := a.Attr.(*ad.RandomDraw); ok {
			text = "draw " + d.Name
		}
	case n.Kind == MatMul:
		text = "matmul " + matrixText(n)
	}
	if dst != "" {
		text = dst + " = " + text
	}
	return strings.TrimSpace(text + " " + strings.Join(args, " "))
}

func matrixText(n *Node) string {
	t := ""
	for _, x := range n.Types {
		if t != "" {
			t += "·"
		}
		t += strings.ReplaceAll(x.String(), " ", "×")
	}
	return t
}

func (p *printer) body(b *Body, indent string) {
	if b.Blocks == nil {
		for i := range b.Nodes {
			p.one(&b.Nodes[i], indent)
		}
		return
	}
	for _, blk := range b.Blocks {
		if blk.Kind == SingleBlock {
			p.one(&b.Nodes[blk.Nodes[0]], indent)
			continue
		}
		p.last = ""
		p.line(indent, blk.Title(), 0)
		for _, i := range blk.Nodes {
			n := &b.Nodes[i]
			p.line(indent+"  ", p.node(n), n.Site)
		}
	}
}

// Title returns "scalar", "map 12500" or the like.
func (b *Block) Title() string {
	if b.Kind == ScalarBlock {
		return "scalar"
	}
	return "map " + strconv.Itoa(b.N)
}

// one prints a node that runs alone.
func (p *printer) one(n *Node, indent string) {
	if n.Reg == nil {
		p.line(indent, p.node(n), n.Site)
		return
	}
	r := n.Reg
	p.last = ""
	p.line(indent, r.Title(), n.Site)
	in := indent + "  "
	for _, i := range p.slices[r] {
		b, by := &p.Buffers[i], "lane"
		if b.Binding.ByStep {
			by = "step"
		}
		p.line(in, fmt.Sprintf("%s = %s of %s at each %s", p.buffer(i), plural(b.N, "element"), p.Value(b.Binding.Src), by), 0)
	}
	for _, c := range r.Carries {
		p.line(in, fmt.Sprintf("%s%s from %s, next %s", p.buffer(c.Buf), sizeText(p.Buffers[c.Buf].N), p.Value(c.Init.Value), p.Value(c.Next)), 0)
	}
	for side, b := range r.Bodies {
		switch {
		case r.Layout.Control == ad.Tested:
			p.line(indent, [...]string{"condition " + p.Value(r.Cond.Value), "body"}[side], 0)
		case len(r.Bodies) > 1:
			p.line(indent, [...]string{"then", "else"}[side], 0)
		}
		p.body(b, in)
		for _, k := range r.Outs[side] {
			p.line(in, fmt.Sprintf("%s = %s", p.buffer(k.Dst), p.Value(k.Value)), 0)
		}
	}
	for _, k := range r.Keeps {
		when := "after"
		if k.First {
			when = "before"
		}
		step := "step"
		if r.Layout.Control == ad.Tested {
			step = "snapshot"
		}
		p.line(in, fmt.Sprintf("keep %s %s each %s in %s", p.Value(k.Value), when, step, p.buffer(k.Dst)), 0)
	}
	for _, f := range r.Finals {
		p.line(in, fmt.Sprintf("keep %s after each lane in %s", p.buffer(f.Buf), p.buffer(f.Part)), 0)
	}
	p.line(indent, "end", 0)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Title returns "scan 200 steps", "if" and the like.
func (r *Region) Title() string {
	t := ops.Of(r.Node.Op).Name
	if r.Layout.Control == ad.Counted {
		t += " " + plural(r.Layout.Steps, "step")
		if r.Layout.Reverse {
			t += ", backwards"
		}
	}
	if r.Lanes > 0 {
		t += ", in each of " + plural(r.Lanes, "lane")
	}
	return t
}
