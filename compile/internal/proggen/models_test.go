package proggen

import (
	"testing"
)

// TestModelsWellTyped checks that programs from templates are well typed, and that equal seeds give
// equal programs.
func TestModelsWellTyped(t *testing.T) {
	used := map[string]int{}
	for seed := range uint64(600) {
		p := NewModel(seed)
		if err := valid(p.Text); err != nil {
			t.Fatalf("seed %d\n%s\n%v", seed, p.Text, err)
		}
		if q := NewModel(seed); q.Text != p.Text || q.Data != p.Data {
			t.Fatalf("seed %d gives two programs", seed)
		}
		for _, name := range p.Patterns {
			used[name]++
		}
	}
	for _, x := range templates {
		if used[x.name] == 0 {
			t.Errorf("the template %q is not used", x.name)
		}
	}
}

// TestFunctionsWellTyped checks that programs of NewFunctions are well typed.
func TestFunctionsWellTyped(t *testing.T) {
	for seed := range uint64(20) {
		p := NewFunctions(seed, 20)
		if q := NewFunctions(seed, 20); q.Text != p.Text || q.Data != p.Data {
			t.Fatalf("seed %d gives two programs", seed)
		}
		if other := OtherData(p, seed); other == p.Data || other != OtherData(p, seed) {
			t.Errorf("seed %d gives other data twice", seed)
		}
		if err := valid(p.Text); err != nil {
			t.Fatalf("seed %d\n%s\n%v", seed, p.Text, err)
		}
	}
}
