package vm

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

func TestDump(t *testing.T) {
	s := os.Getenv("VM_DUMP")
	if s == "" {
		t.Skip()
	}
	var seed uint64
	fmt.Sscan(s, &seed)
	g, inputs := randomGraph(seed, 10+int(seed%60))
	in := inputs(0)
	// find the first node that differs
	if os.Getenv("VM_OUT") != "" {
		var k int
		fmt.Sscan(os.Getenv("VM_OUT"), &k)
		show(g, g.Outputs[k], 5, in)
		return
	}
	live := g.Live(g.Outputs, true)
	outs := g.Outputs
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if !live[i] || n.Op.Row().Class == ad.Effect || n.Op == ad.OpConst {
			continue
		}
		g.Outputs = append(append([]ad.Ref(nil), outs...), ad.Ref(i))
		p, err := Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		if !compare(t, fmt.Sprint("node ", i), g, p.New(), in, 1e-12) {
			fmt.Println("node", i, n.Op, n.Type, n.Args, fmt.Sprintf("%+v", n.Attr))
			for _, a := range n.Args {
				fmt.Println("  arg", a, g.Nodes[a].Op, g.Nodes[a].Type, g.Nodes[a].Args)
			}
			if len(os.Getenv("VM_ALL")) == 0 {
				break
			}
		}
	}
}

func show(g *ad.Graph, r ad.Ref, depth int, in [][]float64) {
	n := &g.Nodes[r]
	old := g.Outputs
	g.Outputs = []ad.Ref{r}
	eff := g.Effects
	g.Effects = nil
	defer func() { g.Effects = eff }()
	v, err := g.Eval(in, &ad.Env{Rand: rand.New(rand.NewPCG(5, 6))})
	if err != nil {
		fmt.Println(err)
		return
	}
	g.Outputs = old
	x := v[0]
	fmt.Printf("%*s%d %v %v %v %+v = %v\n", 12-depth, "", r, n.Op, n.Type, n.Args, n.Attr, x[:min(4, len(x))])
	if depth > 0 {
		for _, a := range n.Args {
			show(g, a, depth-1, in)
		}
	}
}

func TestDumpScan(t *testing.T) {
	s := os.Getenv("VM_SCAN")
	if s == "" {
		t.Skip()
	}
	var seed uint64
	var node int
	fmt.Sscan(s, &seed, &node)
	g, _ := randomGraph(seed, 10+int(seed%60))
	dumpGraph(g.Nodes[node].Attr.(*ad.Scan).Body)
}

func dumpGraph(b *ad.Graph) {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		fmt.Println(i, n.Op, n.Type, n.Args, fmt.Sprintf("%+v", n.Attr), n.Data)
	}
	fmt.Println(b.Inputs, b.Outputs)
}

func TestDumpDistribute(t *testing.T) {
	s := os.Getenv("VM_DUMP")
	if s == "" {
		t.Skip()
	}
	var seed uint64
	fmt.Sscan(s, &seed)
	g, inputs := randomGraph(seed, 10+int(seed%60))
	in := inputs(0)
	dumpGraph(g)
	fmt.Println("=====")
	dumpGraph(distribute(g))
	a, err := g.Eval(in, &ad.Env{Rand: rand.New(rand.NewPCG(5, 6))})
	b, err2 := distribute(g).Eval(in, &ad.Env{Rand: rand.New(rand.NewPCG(5, 6))})
	fmt.Println(err, err2)
	for k := range a {
		for e := range a[k] {
			if !agree(a[k][e], b[k][e], 1e-12) {
				fmt.Println("distribute differs", k, e, a[k][e], b[k][e])
				break
			}
		}
	}
}

func TestDumpOne(t *testing.T) {
	s := os.Getenv("VM_DUMP")
	if s == "" {
		t.Skip()
	}
	var seed uint64
	fmt.Sscan(s, &seed)
	g, inputs := randomGraph(seed, 10+int(seed%60))
	var k int
	fmt.Sscan(os.Getenv("VM_OUT"), &k)
	g.Outputs = g.Outputs[k : k+1]
	g.Effects = nil
	p, err := Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	live := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if live[i] {
			fmt.Println(i, n.Op, n.Type, n.Args, fmt.Sprintf("%+v", n.Attr))
		}
	}
	fmt.Println(p)
	compare(t, "one", g, p.New(), inputs(0), 1e-12)
}
