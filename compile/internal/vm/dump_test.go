package vm

import (
	"fmt"
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
