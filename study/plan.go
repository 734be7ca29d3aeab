package study

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
)

// Plan lists the fits of a study: each model of a part on each of its data sets, with the options
// of each point of the grid, Repeat times.
type Plan struct {
	Parts   []Part
	Options Options // options of all fits
	Grid    []Axis
	Repeat  int // number of fits of each, with different seeds; 0: 1
	Seed    uint64
	Keep    Keep

	// TimeLimit is the maximum wall-clock time of a fit; 0: no limit. A fit that takes longer
	// fails. Other results do not depend on it, so existing results stay valid if it changes.
	TimeLimit time.Duration

	// Quantities, if not nil, is a model whose generated quantities are computed at the draws of
	// each fit. It must have the fit's parameters.
	Quantities *Model

	points []point // of the grid; see Check
}

// Part is a set of models, and the data to which each of them is fitted.
type Part struct {
	Models []*Model
	Source Source
}

// Axis is an option with several values.
type Axis struct {
	Name   string
	Values []string
}

// Source makes data sets, always the same in the same order.
type Source interface {
	// Len is the number of data sets.
	Len() int

	// Sets makes the data sets one after another, so that they are not all in memory. It stops
	// early if ctx ends.
	Sets(ctx context.Context) iter.Seq[DataSet]
}

// DataSet is the data of a fit.
type DataSet struct {
	Name   string // name in the results
	Values *data.Set
	Err    error // why there are no values

	// Faults has errors in some of the values, by variable. Each is an error only for models that
	// need the variable.
	Faults map[string]error

	Truth    *data.Set // parameters from which they were simulated; nil: unknown
	Test     *data.Set // held-out observations of the variables in Values; nil: none
	TestRows int
	Dim      int     // see Spec
	BindSeed *uint64 // see Spec; nil: the seed of the fit
}

// point is a point of the grid.
type point struct {
	labels  []string
	options Options
}

const (
	maxPoints = 1_000_000     // maximum number of points of the grid, which are kept in memory
	maxFits   = 1_000_000_000 // maximum number of fits of a study
)

// Check checks the plan before anything runs.
func (p *Plan) Check() error {
	if len(p.Parts) == 0 {
		return errors.New("a study needs models and data")
	}
	if p.Repeat < 0 {
		return fmt.Errorf("each fit can be made once or more often, but not %d times", p.Repeat)
	}
	// Check the size of the grid first, before its points take memory.
	points := 1.0
	for _, axis := range p.Grid {
		points *= float64(len(axis.Values))
	}
	if points > maxPoints {
		return fmt.Errorf("the grid has more than %d points", maxPoints)
	}
	for _, axis := range p.Grid {
		o := maps.Clone(p.Options)
		if o == nil {
			o = Options{}
		}
		for _, v := range axis.Values {
			o[axis.Name] = v
			if _, err := o.Complete(); err != nil && len(p.Grid) == 1 {
				return err
			}
		}
	}
	p.points = []point{{options: maps.Clone(p.Options)}}
	for _, axis := range p.Grid {
		if len(axis.Values) == 0 {
			return fmt.Errorf("the grid has no values for %s", axis.Name)
		}
		var next []point
		for _, at := range p.points {
			for _, v := range axis.Values {
				o := maps.Clone(at.options)
				if o == nil {
					o = Options{}
				}
				o[axis.Name] = v
				next = append(next, point{append(slices.Clone(at.labels), v), o})
			}
		}
		p.points = next
	}
	for i := range p.points {
		var err error
		if p.points[i].options, err = p.points[i].options.Complete(); err != nil {
			return err
		}
	}
	fits := 0.0 // the product may exceed an int
	for _, part := range p.Parts {
		fits += float64(len(part.Models)) * float64(part.Source.Len())
	}
	if fits *= float64(len(p.points)) * float64(max(p.Repeat, 1)); fits > maxFits {
		return fmt.Errorf("a study of %.3g fits: it can have %d", fits, maxFits)
	}
	return nil
}

// Len is the number of fits.
func (p *Plan) Len() int {
	n := 0
	for _, part := range p.Parts {
		n += len(part.Models) * part.Source.Len()
	}
	return n * len(p.points) * max(p.Repeat, 1)
}

// models returns the texts of the study's models, by their digests.
func (p *Plan) models() map[string][]byte {
	out := map[string][]byte{}
	for _, part := range p.Parts {
		for _, m := range part.Models {
			out[m.digest] = m.blob
		}
	}
	if p.Quantities != nil {
		out[p.Quantities.digest] = p.Quantities.blob
	}
	return out
}

// Units yields the fits one after another, in the order of parts, data sets, models, points of the
// grid and repetitions.
func (p *Plan) Units(ctx context.Context) iter.Seq[*Unit] {
	return func(yield func(*Unit) bool) {
		n := 0
		for _, part := range p.Parts {
			for set := range part.Source.Sets(ctx) {
				texts := newTexts(&set)
				for _, m := range part.Models {
					for _, at := range p.points {
						for repeat := range max(p.Repeat, 1) {
							u := p.unit(n, &set, texts, m, at, repeat)
							n++
							if ctx.Err() != nil || !yield(u) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// texts has the encoded data of a data set.
type texts struct {
	blobs             map[string][]byte
	data, truth, test string // digests
	err               error
}

func newTexts(set *DataSet) *texts {
	t := &texts{blobs: map[string][]byte{}, err: set.Err}
	for _, x := range []struct {
		set *data.Set
		to  *string
	}{{set.Values, &t.data}, {set.Truth, &t.truth}, {set.Test, &t.test}} {
		if x.set == nil || t.err != nil {
			continue
		}
		var text []byte
		if text, t.err = textOf(x.set); t.err == nil {
			*x.to = digest(text)
			t.blobs[*x.to] = text
		}
	}
	return t
}

// unit makes the unit with number n.
func (p *Plan) unit(n int, set *DataSet, t *texts, m *Model, at point, repeat int) *Unit {
	u := &Unit{Number: n, Model: m.Name, Data: set.Name, Labels: at.labels, Blobs: t.blobs, Err: t.err, TimeLimit: p.TimeLimit}
	if max(p.Repeat, 1) > 1 {
		u.Labels = append(slices.Clone(at.labels), fmt.Sprint(repeat+1))
	}
	if u.Err == nil {
		u.Err = m.needed(set.Values, set.Faults)
	}
	if u.Err != nil {
		return u
	}
	u.Spec = Spec{Version: version, Model: m.digest, Data: t.data, Truth: t.truth, Test: t.test, TestRows: set.TestRows, Dim: set.Dim,
		Options: at.options, Seed: seedOf(p.Seed, t.data, t.test, repeat), Keep: p.Keep}
	u.Spec.BindSeed = u.Spec.Seed
	if set.BindSeed != nil {
		u.Spec.BindSeed = *set.BindSeed
	}
	if p.Quantities != nil {
		u.Spec.Quantities = p.Quantities.digest
	}
	u.Key = u.Spec.key()
	return u
}

// seedOf returns the seed of a fit. It depends on the data, so that fits to different data have
// independent random numbers. It is the same for all models and options, so that these are compared
// with the same random numbers. It is short enough to type.
func seedOf(seed uint64, data, test string, repeat int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %d", seed, data, test, repeat))
	return uint64(binary.LittleEndian.Uint32(sum[:]))
}
