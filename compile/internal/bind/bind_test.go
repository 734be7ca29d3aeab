package bind

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

func compileIR(t testing.TB, name, text string) *ir.Program {
	t.Helper()
	f := source.NewFile(name, text)
	tree, list := lang.Parse(f)
	if !list.HasErrors() {
		var info *check.Info
		var more diag.List
		info, more = check.Check(tree, stdlib.Universe())
		list = append(list, more...)
		if !list.HasErrors() {
			return ir.Lower(tree, info)
		}
	}
	for _, d := range list {
		t.Log(d)
	}
	t.Fatal("does not compile")
	return nil
}

func TestTmp(t *testing.T) {
	name := os.Getenv("M")
	text, _ := os.ReadFile(name + ".model")
	d := data.Empty()
	if js, err := os.ReadFile(name + ".data.json"); err == nil {
		d, err = data.ParseJSON(name, js)
		if err != nil {
			t.Fatal(err)
		}
	}
	p := compileIR(t, name, string(text))
	b, err := Bind(p, d, Options{Propto: true, Jacobian: true})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%+v\n", b.Stats)
	g := b.Density
	live := g.Live(g.Outputs, true)
	n := 0
	for i := range live {
		if live[i] {
			n++
			if os.Getenv("V") != "" {
				nd := g.Nodes[i]
				fmt.Println(i, nd.Op, nd.Type, nd.Args)
			}
		}
	}
	fmt.Println("live nodes", n, "of", len(live))
	var in [][]float64
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range b.Params {
		x := make([]float64, p.Size)
		for i := range x {
			x[i] = rng.Float64() - 0.5
		}
		in = append(in, x)
	}
	for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
		g.Output(r)
	}
	out, err := g.Eval(in, &ad.Env{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("lp", out[0])
	const h = 1e-5
	for k, x := range in {
		for i := range x {
			if i > 5 {
				continue
			}
			x[i] += h
			a, _ := g.Eval(in, &ad.Env{})
			x[i] -= 2 * h
			c, _ := g.Eval(in, &ad.Env{})
			x[i] += h
			fd := (a[0][0] - c[0][0]) / (2 * h)
			if math.Abs(fd-out[k+1][i]) > 1e-4*(1+math.Abs(fd)) {
				t.Errorf("%s[%d]: %v, differences %v", b.Params[k].Name, i, out[k+1][i], fd)
			}
		}
	}
	cons, err := b.Constrained.Eval(in, &ad.Env{})
	fmt.Println(len(cons[0]), err)
	gen, err := b.Generated.Eval(in, &ad.Env{Rand: rng})
	fmt.Println(len(gen[0]), err, len(b.Names))
}
