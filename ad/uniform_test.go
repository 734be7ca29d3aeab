package ad

import "testing"

// TestUniform checks that an array that repeats one number over lanes and shapes is used as a
// number, and that the number is stored once.
func TestUniform(t *testing.T) {
	const N = 1000
	g := NewGraph()
	in := g.Input(Type{Lanes: N, Shape: []int{2}})
	half := g.Spread(g.Broadcast(g.Const(0.5), []int{2}), N)
	twice := g.Add(half, half)
	if v, ok := g.number(twice); !ok || v != 1 || g.Type(twice).Total() != 2*N {
		t.Errorf("the sum of constants is %v of type %v", v, g.Type(twice))
	}
	if r := g.Mul(in, twice); r != in {
		t.Errorf("a product with ones is a %v", g.Nodes[r].Op)
	}
	if a, b := g.Nodes[half].Data, g.Nodes[g.fill(Type{Shape: []int{3}}, 0.5)].Data; &a[0] != &b[0] {
		t.Error("repeated numbers are stored twice")
	}
	// If only the constant has lanes, it must keep them.
	x := g.Input(Type{Shape: []int{2}})
	if r := g.Mul(x, twice); g.Type(r).Lanes != N {
		t.Errorf("the product has type %v", g.Type(r))
	}
	if r := g.ConstArray(Type{Shape: []int{2}}, []float64{3, 3}); !g.Nodes[r].uniform {
		t.Error("a repeated number is not seen")
	}
}
