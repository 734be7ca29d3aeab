package main

import (
	"encoding/json"
	"math"
	"runtime"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/internal/cputime"
	"github.com/ppl-lang/ppl/internal/figures"
)

const (
	// A batch is as long as the shorter ones of Stan's runner, so that the minimum over batches has
	// the same meaning for both.
	batchTime = 10 * time.Millisecond
	// The number of batches of each way in a round; on a busy machine only undisturbed batches
	// matter. The reference has a third of them. They take about as long as Stan's runner.
	perRound = 24
	binds    = 5 // number of bindings in a round
)

// subject is a workload being measured.
type subject struct {
	benchsuite.Workload
	row    row
	bound  *benchsuite.Bound
	points [][]float64
	text   []byte // the data as JSON
	ways   []*way
	stan   stanTimes
}

// way is one way to compute the gradient.
type way struct {
	f     func(x, grad []float64)
	ns    *float64 // smallest time so far
	calls int      // number of calls in a batch
}

func newSubject(w benchsuite.Workload) (*subject, error) {
	b, err := w.Bind()
	if err != nil {
		return nil, err
	}
	inf := math.Inf(1)
	s := &subject{Workload: w, bound: b, row: row{Name: w.Name, About: w.About, Dim: b.Model.Dim(), Ops: b.Ops(),
		FastNS: inf, ReferenceNS: inf, ByHandNS: inf, BindMS: inf, ReadyMS: inf}}
	if s.text, err = json.Marshal(b.Data); err != nil {
		return nil, err
	}
	if s.points, err = b.Points(); err != nil {
		return nil, err
	}
	add := func(f benchsuite.Gradient, ns *float64) {
		if f == nil {
			*ns = 0
			return
		}
		s.ways = append(s.ways, &way{f: func(x, grad []float64) { f(x, grad) }, ns: ns})
	}
	s.ways = []*way{{f: s.fast, ns: &s.row.FastNS}}
	add(b.ByHand, &s.row.ByHandNS)
	add(b.Reference(), &s.row.ReferenceNS)
	grad := make([]float64, s.row.Dim)
	s.row.Allocs = figures.Allocations(func() { s.fast(s.points[0], grad) })
	return s, nil
}

// fast computes the gradient as in users' runs.
func (s *subject) fast(x, grad []float64) { _, _ = s.bound.Model.LogDensityGrad(x, grad) }

// round runs a few batches of every way alternately, and binds a few times.
func (s *subject) round() error {
	grad := make([]float64, s.row.Dim)
	for i := range perRound {
		for _, w := range s.ways {
			if i%3 == 0 || w.ns != &s.row.ReferenceNS {
				w.batch(s.points, grad)
			}
		}
	}
	runtime.GC()
	for range binds {
		t := time.Now()
		if err := s.bound.Rebind(); err != nil {
			return err
		}
		s.row.BindMS = min(s.row.BindMS, milliseconds(t))
		t = time.Now()
		if err := s.ready(grad); err != nil {
			return err
		}
		s.row.ReadyMS = min(s.row.ReadyMS, milliseconds(t))
	}
	return nil
}

// ready measures the time from the texts of model and data to the first gradient.
func (s *subject) ready(grad []float64) error {
	p, err := s.Compile()
	if err != nil {
		return err
	}
	set, err := data.ParseJSON(s.Name, s.text)
	if err != nil {
		return err
	}
	m, err := p.Bind(set, compile.BindOptions{})
	if err != nil {
		return err
	}
	_, err = m.LogDensityGrad(s.points[0], grad)
	return err
}

func milliseconds(since time.Time) float64 { return float64(time.Since(since)) / 1e6 }

// batch measures the time of complete cycles of calls over all points.
func (w *way) batch(points [][]float64, grad []float64) {
	cycles := max(w.calls/len(points), 1)
	for {
		t := cputime.Thread()
		for range cycles {
			for _, x := range points {
				w.f(x, grad)
			}
		}
		d := cputime.Thread() - t
		if d >= batchTime/2 {
			w.calls = cycles * len(points)
			*w.ns = min(*w.ns, float64(d)/float64(w.calls))
			return
		}
		grow := 1.1 * float64(batchTime) / float64(max(d, time.Microsecond))
		cycles = int(math.Ceil(float64(cycles) * min(max(grow, 1.1), 100)))
	}
}

// compareWithStan records the distance of the gradients from Stan's at its points.
func (s *subject) compareWithStan(points []stanPoint) {
	if s.OwnTransform {
		return
	}
	worst := 0.0
	grad := make([]float64, s.row.Dim)
	for _, p := range points {
		s.fast(p.X, grad)
		scale, d := 1.0, 0.0
		for i, v := range p.Grad {
			scale = max(scale, math.Abs(v))
			d = max(d, math.Abs(v-grad[i]))
		}
		worst = max(worst, d/scale)
	}
	s.row.StanDifference = &worst
}
