package data_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
)

// TestNewLevels checks that a table read like another one may contain further levels if NewLevels
// is set. They follow the known levels, even if they come before them in the alphabet, and are
// included in the numbers of levels.
func TestNewLevels(t *testing.T) {
	counts := []data.Count{{Name: "J", Of: "g"}, {Name: "K", Of: "k"}}
	old, err := data.Parse("old.csv", "g,k\nb,1\nc,2\n", data.Options{Counts: counts})
	if err != nil {
		t.Fatal(err)
	}
	const text = "g,k\nc,4\na,1\nd,1\n"
	set, err := data.Parse("new.csv", text, data.Options{As: old, NewLevels: true})
	if err != nil {
		t.Fatal(err)
	}
	g, _ := set.Get("g")
	j, _ := set.Get("J")
	k, _ := set.Get("K")
	if !slices.Equal(g.Ints, []int64{2, 3, 4}) || !slices.Equal(set.Levels("g"), []string{"b", "c", "a", "d"}) || j.Ints[0] != 4 || k.Ints[0] != 4 {
		t.Errorf("g is %v of %v, J %v, K %v", g.Ints, set.Levels("g"), j.Ints, k.Ints)
	}
	set, err = data.Parse("new.csv", text, data.Options{As: old})
	if err != nil {
		t.Fatal(err)
	}
	if fault := set.Fault("g"); fault == nil || !strings.Contains(fault.Message, "none of the 2 levels") || !slices.Contains(fault.Settings, "new-levels=sample") {
		t.Errorf("%v", fault)
	}
}
