package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/front/report"
)

// TestWords: the descriptions of plots are right for chains that alternate, values that are NaN or
// constant, and chains of different lengths.
func TestWords(t *testing.T) {
	f := written(t, 2, 40, []string{"lp__", "energy__", "alternating", "constant", "undefined"}, func(chain, draw, i int) float64 {
		switch i {
		case 2:
			return float64(draw%2*2-1) * (1 + 0.01*float64((draw*7+chain)%11))
		case 3:
			return 0.5
		case 4:
			if draw == 3 && chain == 0 {
				return math.NaN()
			}
			return float64(draw*13%17) + 0.25
		}
		return float64(draw*5%7) / 3
	})
	r := made(t, f, report.Options{})
	seen := 0
	for _, q := range r.Quantities {
		for _, g := range q.Figures {
			seen++
			if strings.Contains(g.Alt, "NaN") || strings.Contains(g.Alt, "Inf") || strings.Contains(g.Note, "1 draws") {
				t.Errorf("%s of %s: %s %s", g.Kind, q.Name, g.Alt, g.Note)
			}
			if g.Kind == "autocorrelation" && q.Name == "alternating" && !strings.Contains(g.Alt, "at lag 1 up to -0.9") {
				t.Error(g.Alt)
			}
		}
	}
	if seen == 0 {
		t.Error("no plots")
	}
}
