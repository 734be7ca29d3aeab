package sampler

import (
	"flag"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// Fixed is the sampler that stays where it starts, for models that only
// generate quantities, with or without parameters.
type Fixed struct{}

// Plan implements [infer.Sampler].
func (Fixed) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	h, err := hmc.NewEuclidean(target, infer.Metric{Kind: infer.Unit})
	return infer.Plan{Hamiltonian: h, Kernel: stay{}, StepSize: 1}, err
}

// stay is the identity as a kernel. AcceptStat is 0 as in CmdStan's files.
type stay struct{}

func (stay) Transition(_ *rand.Rand, _ infer.Hamiltonian, _ float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	return z, infer.Info{}, nil
}

func fixedRow() Row {
	return Row{
		Name:    "fixed_param",
		Type:    Fixed{},
		Doc:     "Keeps the parameters at their initial values and only generates quantities.",
		Options: func(*flag.FlagSet) Build { return func() (infer.Sampler, error) { return Fixed{}, nil } },
	}
}
