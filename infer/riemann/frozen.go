package riemann

import (
	"context"
	"fmt"

	"github.com/ppl-lang/ppl/infer"
)

// Frozen is a stage that takes the value of a metric where the chain is, and
// makes it the constant metric of a Hamiltonian that is an [infer.Euclidean].
// A step size found before it is of no use after it.
type Frozen struct {
	Metric func(target *infer.Meter) (Metric, error)
}

// Run implements [infer.Stage].
func (f Frozen) Run(_ context.Context, s *infer.State) error {
	geometry, ok := s.Hamiltonian.(infer.Euclidean)
	if !ok {
		return fmt.Errorf("riemann: a metric cannot be frozen for a Hamiltonian %T, which is not Euclidean", s.Hamiltonian)
	}
	m, err := f.Metric(s.Target)
	if err != nil {
		return err
	}
	frozen, err := Freeze(m, s.Point.Position)
	if err != nil {
		return err
	}
	return geometry.SetMetric(frozen)
}
