package criticise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKaplanMeier compares with survfit of R's package survival 3.5-3, on times with ties.
func TestKaplanMeier(t *testing.T) {
	times := []float64{20, 5, 2, 18, 2, 8, 12, 16, 14, 3, 8, 13, 8, 17, 12, 9, 15, 46, 18, 7, 5, 8, 9, 4, 17, 2, 7, 12, 1, 7}
	events := []int{1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1}
	event := make([]bool, len(events))
	for i, e := range events {
		event[i] = e == 1
	}
	c := KaplanMeier(times, event)
	if want := []float64{1, 2, 4, 5, 7, 8, 9, 15, 17, 18, 20, 46}; !slices.Equal(c.Times, want) {
		t.Fatalf("times %v, want %v", c.Times, want)
	}
	if want := []int{30, 29, 25, 24, 22, 19, 15, 8, 6, 4, 2, 1}; !slices.Equal(c.AtRisk, want) {
		t.Errorf("at risk %v, want %v", c.AtRisk, want)
	}
	for i, want := range []float64{0.966666666666667, 0.933333333333333, 0.896, 0.821333333333333, 0.709333333333333, 0.672, 0.5824, 0.5096,
		0.339733333333333, 0.2548, 0.1274, 0} {
		if math.Abs(c.Survival[i]-want) > 1e-14 {
			t.Errorf("survival after %v is %v, want %v", c.Times[i], c.Survival[i], want)
		}
	}
	for _, at := range []struct{ t, want float64 }{{0.5, 1}, {1, c.Survival[0]}, {1.5, c.Survival[0]}, {46, 0}, {99, 0}} {
		if got := c.At(at.t); got != at.want {
			t.Errorf("survival at %v is %v, want %v", at.t, got, at.want)
		}
	}
	if c := KaplanMeier(nil, nil); c.Times != nil || c.At(3) != 1 {
		t.Errorf("the curve of no times is %+v", c)
	}
	if c := KaplanMeier([]float64{2, 3}, []bool{false, false}); c.Times != nil || c.At(5) != 1 {
		t.Errorf("the curve without events is %+v", c)
	}
}

// TestCensoring replicates data from the distribution that they are from. The shares that are
// censored, and the survival estimated from them, must be those of the data.
func TestCensoring(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 20000
	draw := func() []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = rng.ExpFloat64()
		}
		return out
	}
	truth, times, event := draw(), make([]float64, n), make([]bool, n)
	shorter := 0
	for i, x := range truth {
		limit := 0.2 + 2*rng.Float64()
		times[i], event[i] = min(x, limit), x < limit
		if event[i] {
			shorter++
		}
	}
	got, events := NewCensoring(times, event).Draw(draw(), rng)
	again := 0
	for _, e := range events {
		if e {
			again++
		}
	}
	// The standard error of the difference of two shares is below sqrt(1/2n).
	if limit := 5 * math.Sqrt(0.5/n); math.Abs(float64(again-shorter)/n) > limit {
		t.Errorf("%d events, want about %d", again, shorter)
	}
	a, b := KaplanMeier(times, event), KaplanMeier(got, events)
	for _, at := range []float64{0.1, 0.5, 1, 1.5, 2} {
		if want := math.Exp(-at); math.Abs(b.At(at)-want) > 0.03 || math.Abs(a.At(at)-want) > 0.03 {
			t.Errorf("survival at %v is %v, of the data %v, want %v", at, b.At(at), a.At(at), want)
		}
	}
	// Values that were censored are censored at the same time; without censoring nothing changes.
	got, events = NewCensoring([]float64{1, 2}, []bool{false, true}).Draw([]float64{3, 4}, rng)
	if !slices.Equal(got, []float64{1, 4}) || !slices.Equal(events, []bool{false, true}) {
		t.Errorf("%v %v", got, events)
	}
}
