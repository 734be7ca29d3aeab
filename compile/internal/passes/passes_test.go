package passes

import (
	"slices"
	"strings"
	"testing"
)

// TestTable checks the table of passes: each pass comes after those that its row requires, names
// are unique, and every row has a description.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	stage := 0
	for _, p := range Table() {
		if p.Name == "" || p.Doc == "" || strings.HasSuffix(p.Doc, ".") {
			t.Errorf("pass %q: name or doc is missing, or is a sentence with a stop", p.Name)
		}
		if seen[p.Name] {
			t.Errorf("two passes named %s", p.Name)
		}
		for _, a := range p.After {
			if a != "" && !seen[a] {
				t.Errorf("pass %s must come after %s", p.Name, a)
			}
		}
		if strings.Contains(p.Exact, "in another order") && p.Moves == "" {
			t.Errorf("pass %s reorders, and does not say why nobody reads another element than before", p.Name)
		}
		seen[p.Name] = true
		// Passes on densities come first, then those on graphs, then those on nests.
		now := 2
		switch {
		case p.Density != nil:
			now = 0
		case p.Graph != nil:
			now = 1
		}
		if now < stage || now < 2 && (p.Nest != nil || p.Off != nil) {
			t.Errorf("pass %s is out of order, or of two kinds", p.Name)
		}
		stage = now
	}
	for _, w := range Rewrites() {
		if seen[w.Name] || w.Identity == "" || w.Exact == "" || w.apply == nil {
			t.Errorf("rewrite %q: the name is taken, or something is missing", w.Name)
		}
		seen[w.Name] = true
	}
	if !slices.Contains(Names(), MemoryPass) {
		t.Error("no memory pass")
	}
	o := Options{Without: []string{"nonsense"}}
	if o.Check() == nil {
		t.Error("an unknown name is accepted")
	}
}
