package assess

import (
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

// fitted returns the model and the data of a fit. The error is that of the fit, if it has one.
func fitted(f *fit.Fit) (*model.Model, *data.Set, error) {
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	m, err := f.Model()
	if err != nil {
		return nil, nil, err
	}
	values, err := f.Data()
	return m, values, err
}
