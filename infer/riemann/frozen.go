package riemann

import (
	"context"
	"fmt"
	"time"

	"github.com/ppl-lang/ppl/infer"
)

// Frozen is a stage of warm-up that sets the constant metric of a Hamiltonian that is an
// [infer.Euclidean] to the value of a metric at one point. A step size found before this stage no
// longer fits.
type Frozen struct {
	Metric func(target *infer.Meter) (Metric, error)

	// At returns the point; nil: the position of the chain. found is false if At looked for a mode
	// and did not find one.
	At func(ctx context.Context, target *infer.Meter, m Metric, x []float64) (point []float64, found bool, err error)
}

func (Frozen) note(s *infer.State, sentence string) {
	if s.Note != nil {
		s.Note(sentence)
	}
}

// Run implements [infer.Stage].
func (f Frozen) Run(ctx context.Context, s *infer.State) error {
	geometry, ok := s.Hamiltonian.(infer.Euclidean)
	if !ok {
		return fmt.Errorf("riemann: a metric cannot be frozen for a Hamiltonian %T, which is not Euclidean", s.Hamiltonian)
	}
	m, err := f.Metric(s.Target)
	if err != nil {
		return err
	}
	x := s.Point.Position
	if f.At != nil {
		found := false
		if x, found, err = f.At(ctx, s.Target, m, x); err != nil {
			return err
		}
		if !found {
			f.note(s, "The log density seems to have no mode; the metric is that of a point on the way up.")
		}
	}
	start := time.Now()
	var frozen infer.Metric
	var raised int
	freeze := func([]float64) bool {
		frozen, raised, err = Freeze(m, x)
		return true
	}
	if !await(s.Target, m.Dim(), func() {}).do(freeze, nil) {
		return infer.ErrInterrupted
	}
	s.Target.Charge(infer.MetricValue, start)
	if err != nil {
		return err
	}
	if raised > 0 {
		f.note(s, fmt.Sprintf("The metric at that point does not tell the width of %d of %d directions; they were given one.", raised, m.Dim()))
	}
	return geometry.SetMetric(frozen)
}
