package proggen

import (
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// TestIdiomsWellTyped checks that programs of everyday idioms are well typed, that equal seeds give
// equal programs, and that every idiom occurs.
func TestIdiomsWellTyped(t *testing.T) {
	used := map[string]int{}
	for seed := range uint64(short.Of(400, 100)) {
		p := NewIdioms(seed)
		if err := valid(p.Text); err != nil {
			t.Fatalf("seed %d\n%s\n%v", seed, p.Text, err)
		}
		if q := NewIdioms(seed); q.Text != p.Text || q.Data != p.Data {
			t.Fatalf("seed %d gives two programs", seed)
		}
		for _, name := range p.Patterns {
			used[name]++
		}
	}
	for seed := range uint64(20) {
		if p := NewManyIdioms(seed, 8); valid(p.Text) != nil {
			t.Fatalf("seed %d\n%s\n%v", seed, p.Text, valid(p.Text))
		}
	}
	for _, m := range idioms() {
		if used[m.name] == 0 {
			t.Errorf("the piece %q is not used", m.name)
		}
	}
}
