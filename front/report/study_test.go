package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

// TestStudyPage checks that the page of a study has plots of all fits, escapes names, is small, and
// names quantities without R-hat or ranks.
func TestStudyPage(t *testing.T) {
	nan := math.NaN()
	s := &Study{Title: "</script><b>", Verdict: "3 fits", Program: "ppl", Made: time.Unix(0, 0), Times: Counts{From: 0, Step: 0.5, N: []int{2, 1}, Above: 1},
		Tables: []Table{{Kind: "findings", Title: "Findings", Columns: []Column{{Name: "finding"}, {Name: "fits"}}, Rows: [][]any{{"rhat", Number(2)}}}},
		Quantities: []StudyQuantity{
			{Name: "mu", Fits: 40, Rhat: 1, Rhat95: 1.01, RhatMax: 1.2, HighRhat: 2, Bulk: 400, Bulk5: 300, Tail: 200, Tail5: 100, RhatCounts: Counts{From: 1, Step: 0.01, N: []int{38, 1}, Above: 1},
				BulkESS: Counts{Step: 100, N: []int{0, 40}}, TailESS: Counts{Step: 100, N: []int{40, 0}}, Ranked: 40, Coverage50: 0.5, Coverage90: 0.95, Uniform: nan, Ranks: []int{20, 20}, RanksLow: 12, RanksHigh: 28},
			{Name: "constant", Fits: 40, Rhat: nan, Rhat95: nan, RhatMax: nan, Bulk: nan, Bulk5: nan, Tail: nan, Tail5: nan, Coverage50: nan, Coverage90: nan, Uniform: nan},
		}}
	var b bytes.Buffer
	if err := s.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if !IsPage(b.Bytes()) || len(page) > 82_000 || strings.Count(page, "</script>") != 2 || strings.Contains(page, "<b>") {
		t.Errorf("a page of %d bytes with %d scripts", len(page), strings.Count(page, "</script>"))
	}
	_, text, _ := strings.Cut(page, `id="data">`)
	text, _, _ = strings.Cut(text, "</script>")
	var got struct {
		Title    string
		Summary  map[string]json.RawMessage
		Figures  [][]Figure
		Coverage []Figure
		Times    []Figure
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Title != s.Title || string(got.Summary["rhatMax"]) != `[1.2,"NaN"]` || string(got.Summary["name"]) != `["mu","constant"]` {
		t.Errorf("%s: %s", got.Title, got.Summary)
	}
	if len(got.Figures) != 2 || len(got.Figures[0]) != 3 || len(got.Figures[1]) != 2 || len(got.Coverage) != 1 || len(got.Times) != 1 {
		t.Fatalf("%d figures", len(got.Figures))
	}
	kinds := map[string]bool{}
	for _, k := range StudyKinds() {
		kinds[k.Name] = true
	}
	for _, f := range append(append(got.Figures[0], got.Coverage...), got.Times...) {
		if !kinds[f.Kind] || f.Empty() || f.Alt == "" {
			t.Errorf("%+v", f)
		}
	}
	if f := got.Figures[0][0]; f.Note != "1 more above 1.02." || f.Layers[0].Y[0] != 38 {
		t.Errorf("%+v", f)
	}
	for _, f := range got.Figures[1] {
		if !f.Empty() || f.Note == "" || f.Layers == nil { // the script iterates over the layers
			t.Errorf("%+v", f)
		}
	}
	s.Quantities = s.Quantities[1:]
	if columns := s.summary(); len(columns) != 2 || columns["fits"] == nil {
		t.Errorf("columns without figures: %v", columns)
	}
}

// TestWilson compares the interval for a proportion (Wilson 1927) with R's prop.test without
// correction: for 8 of 10 it is 0.4902 to 0.9433.
func TestWilson(t *testing.T) {
	if low, high := wilson(0.8, 10); math.Abs(low-0.4901625) > 1e-6 || math.Abs(high-0.9433178) > 1e-6 {
		t.Errorf("%v to %v", low, high)
	}
}
