package data

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestFlattened checks what ragged values become, from JSON and from Go.
func TestFlattened(t *testing.T) {
	for _, c := range []struct {
		text            string
		value           any
		rank, outer, at int
		reals, sizes    string
		shape           string
	}{
		{"[[]]", [][]float64{{}}, 2, 1, 1, "[]", "[0]", "[0]"},
		{"[[1]]", [][]float64{{1}}, 2, 1, 1, "[1]", "[1]", "[1]"},
		{"[[1, 2], [3, 4]]", [][]float64{{1, 2}, {3, 4}}, 2, 1, 1, "[1 2 3 4]", "[2 2]", "[4]"},
		{"[[], [1.5, 2], [3]]", [][]float64{{}, {1.5, 2}, {3}}, 2, 1, 1, "[1.5 2 3]", "[0 2 1]", "[3]"},
		{"[[1, 2], []]", [][]int{{1, 2}, {}}, 2, 1, 1, "[1 2]", "[2 0]", "[2]"},
		{"[[], [[1, 2]], []]", [][][]float64{{}, {{1, 2}}, {}}, 3, 1, 1, "[1 2]", "[0 1 0]", "[1 2]"},
		{"[[[1, 2], [3, 4]], [[5, 6]]]", [][][]float64{{{1, 2}, {3, 4}}, {{5, 6}}}, 3, 1, 1, "[1 2 3 4 5 6]", "[2 1]", "[3 2]"},
		{"[[[1, 2], [3, 4]], [[5], [6]]]", [][][]int{{{1, 2}, {3, 4}}, {{5}, {6}}}, 3, 1, 2, "[1 2 5 3 4 6]", "[2 1]", "[2 3]"},
		{"[[[1], []], [[], [2, 3]]]", [][][]float64{{{1}, {}}, {{}, {2, 3}}}, 3, 2, 2, "[1 2 3]", "[1 0 0 2]", "[3]"},
		{"[1, 2]", []float64{1, 2}, 2, 1, 1, "[1 2]", "flat", "[2]"},
	} {
		set, err := ParseJSON("d.json", []byte(`{"y": `+c.text+`, "z": 3}`))
		if err != nil {
			t.Fatal(err)
		}
		values, err := FromGo(map[string]any{"y": c.value, "z": 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Set{set, values} {
			var text strings.Builder
			if err := s.WriteJSON(&text); err != nil {
				t.Fatal(err)
			}
			s = s.Flattened("y", c.rank, c.outer, c.at)
			v, ok := s.Get("y")
			sizes := "flat"
			if v.Ragged != nil {
				sizes = fmt.Sprint(v.Ragged.Sizes)
			}
			if shape := fmt.Sprint(v.Shape); !ok || s.Fault("y") != nil || fmt.Sprint(v.Reals) != c.reals || sizes != c.sizes || len(v.Reals) > 0 && shape != c.shape {
				t.Errorf("%s: %v %v %v, rows %s, fault %v", c.text, ok, v.Reals, v.Shape, sizes, s.Fault("y"))
			}
			if z, _ := s.Get("z"); z.Reals[0] != 3 {
				t.Error("another value changed")
			}
			var again strings.Builder
			if err := s.WriteJSON(&again); err != nil {
				t.Fatal(err)
			}
			if again.String() != text.String() {
				t.Errorf("%s is written as\n%s, and flattened as\n%s", c.text, text.String(), again.String())
			}
			read, err := ParseJSON("again.json", []byte(again.String()))
			if err != nil {
				t.Fatal(err)
			}
			if w, _ := read.Flattened("y", c.rank, c.outer, c.at).Get("y"); !slices.Equal(w.Reals, v.Reals) || len(v.Reals) > 0 && v.IsInt != w.IsInt {
				t.Errorf("%s is read again as %v", again.String(), w)
			}
		}
	}
}

// TestUneven checks that lists of unequal length are a fault unless they are flattened, and that
// they may have missing elements.
func TestUneven(t *testing.T) {
	s, err := ParseJSON("d.json", []byte(`{"y": [[1, 2], [null, "NaN", 3]], "t": {"1": [[1], [2]]}, "x": [[[1], [2]], [[3, 4]]]}`))
	if err != nil {
		t.Fatal(err)
	}
	if e := s.Fault("y"); e == nil || !strings.Contains(e.Message, "y[2] has 3 elements, but y[1] has 2") {
		t.Errorf("fault %v", e)
	}
	flat := s.Flattened("y", 2, 1, 1)
	if e := flat.Fault("y"); e == nil || !strings.Contains(e.Message, "y[2,1] is null") {
		t.Errorf("fault %v", e)
	}
	filled := flat.Filled(func(string) bool { return true })
	if v, _ := filled.Get("y"); fmt.Sprint(v.Reals) != "[1 2 NaN NaN 3]" || filled.Path("y", 4) != "y[2,3]" {
		t.Errorf("%v, path %s", v.Reals, filled.Path("y", 4))
	}
	if s.Fault("y") == nil || s.Flattened("y", 3, 1, 1).Fault("y") == nil || s.Flattened("y", 3, 1, 2).Fault("y") == nil {
		t.Error("the set has changed, or a list is taken for a number")
	}
	if s.Flattened("x", 3, 1, 1).Fault("x") == nil {
		t.Error("an array that is ragged in two dimensions was flattened")
	}
	if _, err := FromGo(map[string]any{"t": struct{ A [][]float64 }{[][]float64{{1}, {2, 3}}}}); err == nil {
		t.Error("an uneven member of a tuple was taken")
	}
}
