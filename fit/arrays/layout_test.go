package arrays

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// FuzzLayouts checks that the columns of any file are either refused or assigned to arrays, each
// column to one position.
func FuzzLayouts(f *testing.F) {
	for _, columns := range []string{
		"mu,theta.1,theta.2,Omega.1.1,Omega.2.1,Omega.1.2,Omega.2.2",
		"t:1.2,t:1.1,t:2,z.real,z.imag,w.1.real,w.1.imag,w.2.real,w.2.imag",
		"x.1.4611686018427387905,x.2.1,x.3.1,x.4.1", // the product of the extents overflows to 4
		"x.1.99999999999999999999,x.0,y.-1,,..,x.",
		"x.1,x.1", "x,x.1", "x.2", "z.imag",
	} {
		f.Add(columns)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Split(text, ",")
		all, err := Layouts(names)
		if err != nil {
			return
		}
		placed := make([]int, len(names))
		for _, l := range all {
			if len(l.Columns) != l.Elements() {
				t.Fatalf("%q: %d columns of %v", l.Name, len(l.Columns), l.Shape)
			}
			for _, c := range l.Columns {
				placed[c]++
			}
		}
		if slices.ContainsFunc(placed, func(n int) bool { return n != 1 }) {
			t.Fatalf("%q: columns have %v places", text, placed)
		}
	})
}

// TestSomeElements reads the columns of some elements of arrays, such as missing data.
func TestSomeElements(t *testing.T) {
	all, err := Layouts([]string{"y.7", "x.1.2", "y.12", "x.3.1", "a"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(all)
	if want := "[{y [2] false [0 2] y.* [7 12]} {x [2] false [1 3] x.* [1,2 3,1]} {a [] false [4] a []}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := Layouts([]string{"y.7", "y.7"}); err == nil {
		t.Error("no error for two columns of one element")
	}
}
