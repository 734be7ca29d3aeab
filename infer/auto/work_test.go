package auto

import (
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// costed is a target with a known work.
type costed struct {
	infertest.EightSchools
	work float64
}

func (c costed) Work() float64 { return c.work }

// TestPerVector checks that an eigenvector costs little next to an expensive gradient, and nothing
// if the cost of a gradient is not known.
func TestPerVector(t *testing.T) {
	for _, c := range []struct {
		target infer.LogDensity
		want   float64
	}{
		{infertest.EightSchools{}, 0},
		{costed{work: 0}, 0},
		{costed{work: 40}, 40.0 / 200},
		{costed{work: 1e9}, 40 / (1e9 + 160)},
		{infer.NewMeter(costed{work: 240}), 40.0 / 400},
	} {
		if got := workOf(c.target, nil).perVector(); got != c.want {
			t.Errorf("%+v: %v instead of %v", c.target, got, c.want)
		}
	}
}

// TestMoreWork checks which change of coordinates makes steps more expensive.
func TestMoreWork(t *testing.T) {
	written, other, third := []float64{1, 0, 0, 0}, []float64{1, 1, 0, 0}, []float64{1, 2, 0, 0}
	for _, c := range []struct {
		own, inOthers float64
		from, to      []float64
		want          bool
	}{
		{100, 200, written, other, true},
		{100, 200, other, written, false},
		{100, 200, other, third, false},
		{200, 100, written, other, false},
		{200, 100, other, written, true},
		{0, 200, written, other, false}, // not known
		{100, 0, other, written, false},
	} {
		w := work{written: written, own: c.own, inOthers: c.inOthers}
		if got := w.more(c.to, c.from); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestPaysDense checks that a dense metric pays if the gradient is expensive, if it saves many
// steps, and always in few dimensions or if the work is not known.
func TestPaysDense(t *testing.T) {
	written, other := []float64{1}, []float64{2}
	for _, c := range []struct {
		dim           int
		own, inOthers float64
		evidence      []float64
		steps         float64
		want          bool
	}{
		{maxDense, 1, 1, nil, 1, true},
		{256, 0, 0, nil, 1, true},
		{256, 65536, 65536, nil, 19, false}, // 2.4·256^¼·(1 + 256²/65536) = 19.2
		{256, 65536, 65536, nil, 20, true},
		{1000, 1e9, 0, nil, 14, true},
		{1000, 2e4, 1e9, written, 500, false},
		{1000, 2e4, 1e9, other, 500, true},
		{1000, 2e4, 1e9, nil, 1000, true},
	} {
		w := work{dim: c.dim, written: written, own: c.own, inOthers: c.inOthers}
		if got := w.paysDense(c.evidence, c.steps); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestWithoutVectors checks that a metric of low rank without eigenvectors becomes the same
// diagonal one, and that others stay.
func TestWithoutVectors(t *testing.T) {
	m := withoutVectors(infer.Metric{Kind: infer.LowRank, Dim: 2, Inverse: []float64{2, 3}})
	if m.Kind != infer.Diagonal || m.Inverse[0] != 4 || m.Inverse[1] != 9 {
		t.Errorf("%+v", m)
	}
	for _, m := range []infer.Metric{
		{Kind: infer.LowRank, Dim: 2, Inverse: []float64{2, 3, 5, 1, 0}},
		{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{2, 3}},
	} {
		if got := withoutVectors(m); got.Kind != m.Kind || &got.Inverse[0] != &m.Inverse[0] {
			t.Errorf("%+v becomes %+v", m, got)
		}
	}
}
