package ad

import (
	"math/rand/v2"
	"testing"
)

// TestNodeTable checks that a table of nodes behaves like a map, for any keys and through growth
// and copies.
func TestNodeTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var table nodeTable
	want := map[nodeKey]Ref{}
	if _, ok := table.find(nodeKey{}); ok {
		t.Fatal("an empty table has a node")
	}
	for i := range 5000 {
		k := nodeKey{op: OpCode(rng.IntN(4)), n: uint16(rng.IntN(3)), a: Ref(rng.IntN(40)) - 1, b: Ref(rng.IntN(20)) - 1, c: Ref(rng.IntN(2)) - 1, attr: int32(rng.IntN(2))}
		got, ok := table.find(k)
		if old, known := want[k]; ok != known || ok && got != old {
			t.Fatalf("%v: %d, %v instead of %d, %v", k, got, ok, old, known)
		}
		if i%700 == 0 {
			copied := table.clone()
			table.set(k, -7) // change the original: the copy must not change
			table = copied
		}
		table.set(k, Ref(i))
		want[k] = Ref(i)
	}
	if table.n != len(want) {
		t.Fatalf("%d nodes instead of %d", table.n, len(want))
	}
	for k, r := range want {
		if got, ok := table.find(k); !ok || got != r {
			t.Fatalf("%v: %d, %v instead of %d", k, got, ok, r)
		}
	}
}
