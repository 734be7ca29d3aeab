package criticise

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// line is the model of testdata/moments.R: intercept, slope and log scale.
type line struct{ x, y []float64 }

func (l *line) logLik(u []float64, i int) float64 {
	z := (l.y[i] - u[0] - u[1]*l.x[i]) / math.Exp(u[2])
	return -0.5*z*z - u[2] - 0.5*math.Log(2*math.Pi)
}

func (l *line) logDensity(u []float64) float64 {
	s := math.Exp(u[2])
	v := -0.5*u[0]*u[0]/100 - 0.5*u[1]*u[1]/100 - 0.5*s*s/25 + u[2]
	for i := range l.y {
		v += l.logLik(u, i)
	}
	return v
}

func (l *line) at(_ context.Context, i int, points [][]float64, logDensity, logLik []float64) error {
	for n, u := range points {
		logDensity[n] = l.logDensity(u)
		if logLik != nil {
			logLik[n] = l.logLik(u, i)
		}
	}
	return nil
}

// newLine returns data, and draws around the least-squares coefficients.
func newLine(draws int, coef []float64) (*line, *Moments) {
	l := &line{}
	for i := 1; i <= 12; i++ {
		x := (float64(i) - 6.5) / 3
		y := 1 + 2*x + math.Sin(7*float64(i))
		switch i {
		case 3:
			y += 4.5
		case 12:
			y -= 5
		}
		l.x, l.y = append(l.x, x), append(l.y, y)
	}
	m := &Moments{At: l.at}
	for s := 1; s <= draws; s++ {
		z := func(a float64) float64 {
			return math.Sqrt(2./3) * (math.Sin(a*float64(s)) + math.Sin(2.3*a*float64(s)+1) + math.Sin(0.7*a*float64(s)+2))
		}
		u := []float64{coef[0] + 0.35*z(1.7), coef[1] + 0.3*z(2.9) - 0.1*z(1.7), math.Log(1.6) + 0.2*z(4.1)}
		m.Draws, m.LogDensity = append(m.Draws, u), append(m.LogDensity, l.logDensity(u))
	}
	return l, m
}

// Moment matching agrees with R's package loo, for three limits that need all kinds of
// transformations.
func TestMomentsAsR(t *testing.T) {
	text, err := os.ReadFile("testdata/moments.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct {
		Reff, Coef []float64
		Before     struct{ ELPD, K []float64 }
		Runs       []struct {
			Limit   float64
			ELPD, K []float64
		}
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	l, m := newLine(1000, ref.Coef)
	matrix := NewMatrix([]int{1000}, len(l.y))
	for n, u := range m.Draws {
		for i := range l.y {
			matrix.Columns[i][n] = l.logLik(u, i)
		}
	}
	r, err := CrossValidate(matrix, ref.Reff)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "elpd before", r.ELPD, ref.Before.ELPD)
	near(t, "k before", r.K, ref.Before.K)
	kinds := 0
	for _, run := range ref.Runs {
		r, _ := CrossValidate(matrix, ref.Reff)
		m.Limit = run.Limit
		if run.Limit == 0 {
			m.Limit = 1e-300 // 0 stands for the usual one
		}
		for i, k := range r.K {
			if k <= run.Limit {
				continue
			}
			moved, err := m.Match(context.Background(), i, matrix.Columns[i], k, ref.Reff[i], ref.Reff[i])
			if err != nil {
				t.Fatal(err)
			}
			kinds = max(kinds, moved.Steps)
			if !(moved.MCSE > 0 && moved.ESS > 1) {
				t.Errorf("observation %d: %+v", i+1, moved)
			}
			r.Move(i, moved)
		}
		near(t, "elpd", r.ELPD, run.ELPD)
		near(t, "k", r.K, run.K)
	}
	if kinds < 3 {
		t.Errorf("at most %d transformations: the test says too little", kinds)
	}
}
