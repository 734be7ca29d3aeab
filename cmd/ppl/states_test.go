package main

import (
	"testing"

	"github.com/ppl-lang/ppl/assess"
)

// TestStatesCSV checks the lines of ppl states --pointwise. Values without labels have an empty
// one.
func TestStatesCSV(t *testing.T) {
	got := string(statesCSV(&assess.States{Elements: []assess.State{
		{Name: "z[1]", Least: 1, Probability: []float64{0.25, 0.75}, Levels: []string{"low", "high, top"}},
		{Name: "w", Least: -1, Probability: []float64{1}},
	}}))
	const want = "element,value,probability,label\nz[1],1,0.25,low\nz[1],2,0.75,\"high, top\"\nw,-1,1,\n"
	if got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}
