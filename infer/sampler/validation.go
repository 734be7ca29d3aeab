package sampler

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
)

// CrossValidated is a sampler that is tuned for predictions and that still needs the folds of the
// data. Only code that knows the model can make these; pass them to With. Without folds it cannot
// run.
type CrossValidated struct {
	Rows  []string // names of data with a row for each observation
	Folds int
	With  func(folds []ahmc.Fold) infer.Sampler
}

// Plan implements [infer.Sampler]; it always returns an error.
func (CrossValidated) Plan(*infer.Meter, int) (infer.Plan, error) {
	return infer.Plan{}, errors.New("sampler: cross-validation without folds")
}

// validation holds the options of the reward by cross-validation.
type validation struct {
	asked     bool
	rows      string
	folds     int
	leapfrogs int
}

func (v *validation) flags(fs *flag.FlagSet) {
	fs.StringVar(&v.rows, "rows", "", "-reward predictive: `names` of the data with a row for each observation, such as x,y")
	fs.IntVar(&v.folds, "folds", 0, "-reward predictive: number of parts in which observations are held out")
	fs.IntVar(&v.leapfrogs, "fold-leapfrogs", 1000, "-reward predictive: integration steps per part and batch")
}

// names returns the names of data in the option rows.
func (v *validation) names() []string {
	return strings.FieldsFunc(v.rows, func(r rune) bool { return r == ',' || r == ' ' })
}

// check returns err or, if it is nil, an error of these options.
func (v *validation) check(err error) error {
	names := v.names()
	switch {
	case err != nil:
		return err
	case !v.asked && (v.rows != "" || v.folds != 0):
		return errors.New("ahmc: rows and folds are for the reward predictive")
	case !v.asked:
		return infer.CheckOptions(map[string]int{"fold-leapfrogs": v.leapfrogs})
	case len(names) == 0:
		return errors.New("ahmc: the reward predictive needs the names of the data that have a row for each observation, such as rows x,y")
	case len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names):
		return fmt.Errorf("ahmc: a name is there twice in the rows %s", v.rows)
	}
	if err := infer.CheckOption("folds", v.folds); err != nil {
		return fmt.Errorf("ahmc: the reward predictive needs the number of folds, such as 8: %w", err)
	}
	return infer.CheckOption("fold-leapfrogs", v.leapfrogs)
}

// of returns the sampler that build makes. If rewards by cross-validation were requested, the
// sampler still lacks its folds.
func (v *validation) of(s ahmc.Sampler, build func(ahmc.Sampler) infer.Sampler) infer.Sampler {
	if !v.asked {
		return build(s)
	}
	leapfrogs := v.leapfrogs
	return CrossValidated{Rows: v.names(), Folds: v.folds, With: func(folds []ahmc.Fold) infer.Sampler {
		s.Reward = ahmc.Predictive{Folds: folds, Leapfrogs: leapfrogs}
		return build(s)
	}}
}
