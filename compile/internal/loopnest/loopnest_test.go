package loopnest

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// rowsGraph returns a graph with a sum over rows that have a group, and a scan.
func rowsGraph() *ad.Graph {
	const n, groups = 128, 4
	table, data := make([]int32, n), make([]float64, n)
	for i := range n {
		table[i], data[i] = int32(i*3)%groups, float64(i%5)
	}
	g := ad.NewGraph()
	a, s := g.Input(ad.Type{Shape: []int{groups}}), g.Input(ad.Scalar)
	g.SetSite(3)
	r := g.Sub(g.ConstArray(ad.Type{Shape: []int{n}}, data), g.Gather(a, ad.Index{Dims: []ad.Dim{{N: n, Table: table}}}))
	lp := g.Mul(g.Sum(g.Square(r)), g.Exp(s))
	g.SetSite(5)
	b := ad.NewGraph()
	c, x, k := b.Input(ad.Scalar), b.Input(ad.Scalar), b.Input(ad.Scalar)
	b.Output(b.Add(b.Mul(c, k), x))
	sc := g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Steps: n}, []ad.Ref{s, r, s})
	lp = g.Add(lp, g.Final(sc, 0))
	g.Output(lp)
	for _, d := range g.Grad(lp, a, s) {
		g.Output(d)
	}
	return g
}

func lowered() *Program {
	p := Lower(rowsGraph())
	FormBlocks(p, true)
	return p
}

// TestVerify checks that Verify detects invalid loop programs.
func TestVerify(t *testing.T) {
	if err := lowered().Verify(); err != nil {
		t.Fatal(err)
	}
	find := func(p *Program, k Kind) *Node {
		var found *Node
		p.Bodies(func(b *Body) {
			for i := range b.Nodes {
				if n := &b.Nodes[i]; n.Kind == k && n.N != 1 && found == nil {
					found = n
				}
			}
		})
		return found
	}
	for _, c := range []struct {
		want    string
		destroy func(p *Program)
	}{
		{"reads elements", func(p *Program) { find(p, Elementwise).Args[0].Off++ }},
		{"has an operand of", func(p *Program) { find(p, Elementwise).Args[0].N-- }},
		{"writes outside", func(p *Program) { find(p, Accumulate).Map.Off = 1000 }},
		{"reads outside", func(p *Program) { find(p, Load).Map.Off = 1000 }},
		{"by a map of", func(p *Program) { find(p, Load).N++ }},
		{"writes later", func(p *Program) {
			n := p.Main.Nodes
			n[0], n[len(n)-1] = n[len(n)-1], n[0]
			p.Main.Blocks = nil
			from := make([]int32, len(n))
			for i := range from {
				from[i] = int32(i)
			}
			p.Main.setNodes(n, from)
		}},
		{"stands in no block", func(p *Program) { p.Main.Blocks = p.Main.Blocks[1:] }},
		{"does not run before", func(p *Program) {
			b := p.Main.Blocks
			b[0], b[len(b)-1] = b[len(b)-1], b[0]
		}},
		{"does not belong into block", func(p *Program) {
			for i := range p.Main.Blocks {
				if b := &p.Main.Blocks[i]; b.Kind == MapBlock {
					b.N++
				}
			}
		}},
		{"which nobody writes", func(p *Program) {
			p.Buffers[find(p, Elementwise).Dst].Makers = nil
		}},
		{"no separate memory", func(p *Program) { p.Outputs[0] = p.Whole(p.Inputs[1]) }},
		{"carries", func(p *Program) { find(p, Regions).Reg.Carries[0].Next.N = 2 }},
		{"do not fit into a value", func(p *Program) { find(p, Regions).Reg.Bindings[0].Step = 3 }},
		{"must run after", func(p *Program) { p.Main.Nodes[0].After = 5 }},
		{"of another body", func(p *Program) {
			inner := find(p, Regions).Reg.Bodies[0]
			find(p, Elementwise).Args[0] = p.Whole(inner.Nodes[0].Dst)
		}},
	} {
		p := lowered()
		c.destroy(p)
		if err := p.Verify(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}

// TestVerifyGraph checks that VerifyGraph detects invalid graphs.
func TestVerifyGraph(t *testing.T) {
	if err := VerifyGraph(rowsGraph()); err != nil {
		t.Fatal(err)
	}
	for _, destroy := range []func(n *ad.Node){
		func(n *ad.Node) { n.Args[0] = 100000 },
		func(n *ad.Node) { n.Type = ad.Type{Shape: []int{7}} },
		func(n *ad.Node) { n.Args = n.Args[1:] },
	} {
		g := rowsGraph()
		for i := range g.Nodes {
			if n := &g.Nodes[i]; n.Op == ad.OpSquare {
				destroy(n)
			}
		}
		if VerifyGraph(g) == nil {
			t.Error("a broken graph is accepted")
		}
	}
}

// TestPasses checks that the program is valid after each pass, and that each pass changes it.
func TestPasses(t *testing.T) {
	p := Lower(rowsGraph())
	for _, pass := range []struct {
		name string
		run  func(*Program)
	}{
		{"cse", EliminateCommon}, {"exponentials", EliminateExponentials}, {"products", JoinProducts}, {"rows", SortRows},
		{"place", PlaceParts}, {"fuse", func(p *Program) { FormBlocks(p, true) }}, {"schedule", ScheduleScalars},
	} {
		pass.run(p)
		if err := p.Verify(); err != nil {
			t.Fatalf("after %s: %v", pass.name, err)
		}
	}
	var w strings.Builder
	if err := p.Print(&w, Names{Site: func(s ad.Site) string { return "line " + string(rune('0'+s)) }}); err != nil {
		t.Fatal(err)
	}
	text := w.String()
	for _, want := range []string{"map 128\n", "gather x1[table i]", "dot v", "line 3\n", "scan 128 steps", "line 5\n", "keep c", "output 1 = "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestSortRows checks that rows are sorted by group if they are only summed.
func TestSortRows(t *testing.T) {
	g := ad.NewGraph()
	table, other := make([]int32, 100), make([]int32, 100)
	for i := range table {
		table[i], other[i] = int32(i)%7, int32(i)%5 // different tables, since equal ones would be one gather
	}
	a := g.Input(ad.Type{Shape: []int{7}})
	x := g.Gather(a, ad.Index{Dims: []ad.Dim{{N: 100, Table: table}}})
	g.Output(g.Sum(g.Exp(x)))
	seen := g.Gather(a, ad.Index{Dims: []ad.Dim{{N: 100, Table: other}}})
	g.Output(g.Square(seen)) // the order of these rows matters
	p := Lower(g)
	SortRows(p)
	sorted, as := 0, 0
	for i := range p.Main.Nodes {
		if n := &p.Main.Nodes[i]; n.Kind == Load {
			if n.Map.Dims[0].Table[1] == 0 {
				sorted++
			} else {
				as++
			}
		}
	}
	if sorted != 1 || as != 1 {
		t.Errorf("%d sorted, %d as they were; want one each", sorted, as)
	}
}

// TestFewTargets checks that sums by an unsorted table of few targets become a sum for each target,
// on both sides of its limits.
func TestFewTargets(t *testing.T) {
	for _, c := range []struct {
		about      string
		n, targets int
		run        int // equal entries in a row
		want       int // sums without a table
	}{
		{"two targets", 100, 2, 1, 2},
		{"the most targets", minRows, maxTargets, 1, maxTargets},
		{"too many targets", 100, maxTargets + 1, 1, 0},
		{"too few terms", minRows - 1, 2, 1, 0},
		{"long runs", 100, 2, MinRun, 0},
		{"short runs", 100, 2, MinRun - 1, 2},
	} {
		g := ad.NewGraph()
		table := make([]int32, c.n)
		for i := range table {
			table[i] = int32(i / c.run % c.targets)
		}
		x := g.Input(ad.Type{Shape: []int{c.n}})
		to := g.Scatter(g.Exp(x), ad.Index{Offset: 3, Dims: []ad.Dim{{N: c.n, Table: table}}}, []int{10})
		g.Output(to)
		p := Lower(g)
		sumFewTargets(p)
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		sums := 0
		for i := range p.Main.Nodes {
			if n := &p.Main.Nodes[i]; n.Kind == Accumulate && n.Map.Uniform() {
				sums++
				if n.Map.Off < 3 || n.Map.Off >= 3+c.targets {
					t.Errorf("%s: a sum to element %d", c.about, n.Map.Off)
				}
			}
		}
		if sums != c.want {
			t.Errorf("%s: %d sums without a table, want %d", c.about, sums, c.want)
		}
	}
}

func TestSortedBy(t *testing.T) {
	for _, table := range [][]int32{{3, 1, 3, -2, 1, 1}, {5}, {1 << 20, 0, 1 << 20, 7}} {
		perm := sortedBy(table)
		seen := make([]bool, len(table))
		for k, i := range perm {
			seen[i] = true
			if k > 0 && (table[perm[k-1]] > table[i] || table[perm[k-1]] == table[i] && perm[k-1] > i) {
				t.Errorf("%v is ordered as %v", table, perm)
			}
		}
		for _, ok := range seen {
			if !ok {
				t.Errorf("%v is no permutation", perm)
			}
		}
	}
}

// TestShifts checks sums into two slices of one array. If the slices are long and overlap or are
// close, each sum must have a separate loop. If they are short or far apart, one loop must do both.
func TestShifts(t *testing.T) {
	for _, c := range []struct{ n, shift, loops int }{{200, 1, 2}, {200, farShift - 1, 2}, {200, farShift, 1}, {shortShift, 1, 2}, {shortShift - 1, 1, 1}} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{c.n + c.shift}})
		a, b := g.Slice(x, 0, []int{c.n}), g.Slice(x, c.shift, []int{c.n})
		lp := g.Sum(g.Mul(g.Exp(a), g.Const(2)))
		lp = g.Add(lp, g.Sum(g.Mul(g.Exp(b), g.Do(ad.OpSin, nil, a))))
		g.Output(lp)
		g.Output(g.Grad(lp, x)[0])
		p := Lower(g)
		FormBlocks(p, true)
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		loops := 0 // number of loops with sums into slices of the gradient
		p.Bodies(func(b *Body) {
			for _, k := range b.Blocks {
				for _, i := range k.Nodes {
					if n := &b.Nodes[i]; n.Kind == Accumulate && n.N == c.n && !n.Map.Uniform() {
						loops++
						break
					}
				}
			}
		})
		if loops != c.loops {
			t.Errorf("slices of %d numbers, %d apart: sums are in %d loops, want %d", c.n, c.shift, loops, c.loops)
		}
	}
}
