package study

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model"
)

// Files is a source of data sets in files, in any format of [model.DataFile].
type Files struct {
	Dir    string // base of relative paths; "": the working folder
	Paths  []string
	Counts []string  // counted columns of tables, see [model.DataFile]
	With   *data.Set // values for all data sets, which those of a file override; nil: none

	Columns data.Declarations        // how columns of tables are read
	Uses    func(column string) bool // whether a column is used; nil: all are
}

func (f *Files) Len() int { return len(f.Paths) }

// Sets reads the files. If a file cannot be read, its data set has an error.
func (f *Files) Sets(ctx context.Context) iter.Seq[DataSet] {
	return func(yield func(DataSet) bool) {
		for _, path := range f.Paths {
			set := DataSet{Name: filepath.ToSlash(path)}
			set.Values, set.Err = readAgain(ctx, model.DataFile{Path: f.path(path), Counts: f.Counts, Columns: f.Columns, Uses: f.Uses})
			if set.Err == nil {
				set.add(f.With)
			}
			if ctx.Err() != nil || !yield(set) {
				return
			}
		}
	}
}

// add adds values to those of a data set, which override them; nil: none.
func (d *DataSet) add(with *data.Set) {
	if with == nil {
		return
	}
	for _, name := range d.Values.Names() {
		if e := d.Values.Fault(name); e != nil {
			if d.Faults == nil {
				d.Faults = map[string]error{}
			}
			d.Faults[name] = e
		}
	}
	d.Values = with.Replace(d.Values, nil)
}

func (f *Files) path(name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.Dir, name)
}

// Values is a source of a single data set.
type Values struct {
	Name string
	Set  *data.Set
}

func (v *Values) Len() int { return 1 }

// Sets yields the data set.
func (v *Values) Sets(context.Context) iter.Seq[DataSet] {
	return func(yield func(DataSet) bool) { yield(DataSet{Name: v.Name, Values: v.Set}) }
}

// Simulated is a source of data sets simulated from a model, as by ppl simulate, with the true
// parameters. They show whether the fits are calibrated.
type Simulated struct {
	Simulator *assess.Simulator
	Count     int
	Seed      uint64
}

func (s *Simulated) Len() int { return s.Count }

// Sets makes the data sets. If one cannot be made, it is a set with an error.
func (s *Simulated) Sets(ctx context.Context) iter.Seq[DataSet] {
	return func(yield func(DataSet) bool) {
		for n := range s.Count {
			set := DataSet{Name: fmt.Sprintf("simulated %d", n+1), BindSeed: &s.Seed}
			set.Values, set.Truth, set.Err = s.Simulator.Set(n)
			if ctx.Err() != nil || !yield(set) {
				return
			}
		}
	}
}

// Fold has the held-out observations (Test), and those to fit (Train); a nil Train means all
// others. Rows count from 0.
type Fold struct {
	Name        string
	Test, Train []int
}

// Folds is a source of data sets without some observations, whose predictive density is computed.
type Folds struct {
	Holdout *assess.Holdout
	Folds   []Fold
	Seed    uint64 // of random numbers in transformed data
}

// FoldOptions say how to divide observations into folds.
type FoldOptions struct {
	K     int     // folds; 0: 10, or one for each group
	By    string  // data variable with a group for each observation; whole groups are held out
	Time  string  // data variable with a time for each observation; later observations are held out
	First float64 // with Time: share of observations that are never held out; 0: 0.5
	Seed  uint64
}

// NewFolds divides observations into folds.
func NewFolds(h *assess.Holdout, o FoldOptions) (*Folds, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0x666f6c6473))
	k := o.K
	if k == 0 {
		k = 10
	}
	var folds []criticise.Fold
	var err error
	switch {
	case o.By != "" && o.Time != "":
		return nil, errors.New("folds by groups and by time exclude each other")
	case o.By != "":
		var groups [][]int
		if groups, _, err = h.Groups(o.By); err == nil {
			folds, err = criticise.GroupedFolds(groups, o.K, rng)
		}
	case o.Time != "":
		if o.First == 0 {
			o.First = 0.5
		}
		if !(o.First > 0 && o.First < 1) {
			return nil, fmt.Errorf("the share of the first observations must be between 0 and 1, but is %v", o.First)
		}
		var times []float64
		if times, err = h.Values(o.Time); err == nil {
			folds, err = criticise.FutureFolds(times, k, o.First)
		}
	default:
		folds, err = criticise.RandomFolds(h.N, min(k, h.N), rng)
	}
	if err != nil {
		return nil, err
	}
	out := &Folds{Holdout: h, Seed: o.Seed}
	for _, f := range folds {
		out.Folds = append(out.Folds, Fold{Test: f.Test, Train: f.Train})
	}
	return out, nil
}

func (f *Folds) Len() int { return len(f.Folds) }

// Sets yields the data without each fold.
func (f *Folds) Sets(ctx context.Context) iter.Seq[DataSet] {
	return func(yield func(DataSet) bool) {
		for i, fold := range f.Folds {
			set := DataSet{Name: fold.Name, TestRows: len(fold.Test), Dim: f.Holdout.Dim(), BindSeed: &f.Seed}
			if set.Name == "" {
				set.Name = fmt.Sprintf("fold %d", i+1)
			}
			set.Values, set.Test, set.Err = f.Holdout.Split(fold.Test, fold.Train)
			if ctx.Err() != nil || !yield(set) {
				return
			}
		}
	}
}
