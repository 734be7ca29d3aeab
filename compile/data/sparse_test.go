package data

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestTripletsAreWritten checks that a sparse matrix that has been read as values and places is the
// same after it is written, as in the folder of a run, and read.
func TestTripletsAreWritten(t *testing.T) {
	for _, text := range []string{
		`{"W": {"row": [2, 1], "column": [1, 3], "value": [5, 7]}}`,
		`{"W": {"row": [2, 1], "column": [1, 3], "value": [5, 7], "size": [2, 3]}}`,
		`{"W": {"w": [7, 5], "v": [3, 1], "u": [1, 2, 3]}}`,
		`{"W": [[0, 0, 7], [5, 0, 0]]}`,
		`{"W.row": [2, 1], "W.column": [1, 3], "W.value": [5, 7]}`,
		`{"W": {"row": [], "column": [], "value": []}}`,
	} {
		first, err := ParseJSON("data.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		triplets := first.Triplets("W", "count", "row", "column")
		for form, s := range map[string]*Set{"as it was": first, "as triplets": triplets, "as a subset": triplets.Only(func(n string) bool { return strings.HasPrefix(n, "W") })} {
			var out bytes.Buffer
			if err := s.WriteJSON(&out); err != nil {
				t.Fatal(err)
			}
			second, err := ParseJSON("data.json", out.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			again := second.Triplets("W", "count", "row", "column")
			for _, name := range []string{"W", "row", "column"} {
				a, _ := triplets.Get(name)
				b, ok := again.Get(name)
				if !ok || !slices.Equal(a.Reals, b.Reals) {
					t.Errorf("%s, written %s: %s is %v, not %v: %v", text, form, name, b.Reals, a.Reals, again.Fault("W"))
				}
			}
		}
	}
}

// TestTripletFaults checks where messages about sparse matrices point, and what they name.
func TestTripletFaults(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{`{"W": {"row": [2, 2], "column": [1, 1], "value": [5, 7]}}`, "data.json:1:54: `W` has two values for row 2 and column 1"},
		{`{"W": {"row": [2, 1.5], "column": [1, 1], "value": [5, 7]}}`, "data.json:1:19: `W.row[2]` is no integer"},
		{`{"W": {"row": [2], "column": [1, 1], "value": [5, 7]}}`, "data.json:1:15: `W.row` has 1 elements, but `W.value` has 2"},
		{`{"W": {"row": [2], "value": [5]}}`, "data.json:1:29: `W` has `value`, but no `column`"},
		{`{"W": {"w": [2, 3], "v": [1, 1], "u": [0, 1, 2]}}`, "data.json:1:39: `W.u` must have the position in `w` of the first value of each row, and then 3"},
		{`{"W": [1, 2]}`, "data.json:1:7: `W` is no matrix"},
		{`{"W": {"row": [1], "column": [1], "value": [5], "size": 3}}`, "data.json:1:57: `W.size` must be the number of rows and the number of columns"},
	} {
		s, err := ParseJSON("data.json", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if e := s.Triplets("W", "count", "row", "column").Fault("W"); e == nil || e.Error() != c.message {
			t.Errorf("%s: %v, not %s", c.text, e, c.message)
		}
	}
	s, err := ParseJSON("data.json", []byte(`{"W": {"row": [4, 1], "column": [1, 1], "value": [5, 7]}}`))
	if err != nil {
		t.Fatal(err)
	}
	s = s.Triplets("W", "count", "row", "column")
	if path := s.Path("row", 1); path != "W.row[1]" {
		t.Errorf("the second row is %s, not as it was written", path)
	}
	if at := s.Span("row", 1).Begin(); at.Column != 16 {
		t.Errorf("the second row is in column %d", at.Column)
	}
}
