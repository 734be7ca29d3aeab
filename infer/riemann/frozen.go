package riemann

import (
	"context"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
)

// Frozen is a stage that takes the value of a metric at one point and makes it
// the constant metric of a Hamiltonian that is an [infer.Euclidean]. A step size
// found before it is of no use after it.
type Frozen struct {
	Metric func(target *infer.Meter) (Metric, error)

	// At gives the point; nil: where the chain is.
	At func(ctx context.Context, target *infer.Meter, m Metric, x []float64) ([]float64, error)
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
		if x, err = f.At(ctx, s.Target, m, x); err != nil {
			return err
		}
	}
	frozen, err := Freeze(m, x)
	if err != nil {
		return err
	}
	return geometry.SetMetric(frozen)
}
