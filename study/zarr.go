package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/zarr"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// This file writes kept draws as a Zarr store. Fits whose quantities have the same sizes share a
// group. The group's arrays have the dimensions fit, chain, draw and those of the variable. The
// coordinate fit is the number of the fit in the table of results.

// chunkBytes is the approximate size of a chunk.
const chunkBytes = 1 << 20

// drawsOutput is a store that is being written under a temporary name.
type drawsOutput struct {
	path   string
	store  *zarr.Store
	groups map[string]*drawsGroup
	named  map[string]int
}

// drawsGroup is the group of fits whose draws have the same columns.
type drawsGroup struct {
	group     *zarr.Group
	variables []drawsVariable
	width     int // number of columns
	draws     int // per fit: chains times draws
	perChunk  int // fits per chunk
	fits      []float64
	buffer    []*Draws // draws for the chunk that is not full
}

// drawsVariable is an array.
type drawsVariable struct {
	array   *zarr.Array
	columns []int // of the draws, in the order of the array's elements
}

// add adds the draws of a fit. Add the fits in order.
func (o *drawsOutput) add(u *Unit, d *Draws) error {
	if o.store == nil {
		partial, err := files.TempFolder(o.path)
		if err != nil {
			return err
		}
		if o.store, err = zarr.Create(partial); err != nil {
			return err
		}
		o.store.Attributes["inference_library"] = "ppl"
		o.store.Attributes["inference_library_version"] = model.Version()
		o.groups, o.named = map[string]*drawsGroup{}, map[string]int{}
	}
	signature := fmt.Sprint(u.Model, "\x00", d.Chains, d.Count, strings.Join(d.Names, " "))
	g := o.groups[signature]
	if g == nil {
		var err error
		if g, err = o.newGroup(u.Model, d); err != nil {
			return err
		}
		o.groups[signature] = g
	}
	g.fits = append(g.fits, float64(u.Number+1))
	if g.buffer = append(g.buffer, d); len(g.buffer) == g.perChunk {
		return g.flush()
	}
	return nil
}

func (o *drawsOutput) newGroup(model string, d *Draws) (*drawsGroup, error) {
	name := strings.NewReplacer("/", "_", "\\", "_", ":", "_").Replace(strings.TrimSuffix(strings.TrimSuffix(model, ".stan"), ".model"))
	if o.named[name]++; o.named[name] > 1 {
		name = fmt.Sprintf("%s_%d", name, o.named[name])
	}
	g := &drawsGroup{width: len(d.Names), draws: d.Chains * d.Count}
	var err error
	if g.group, err = o.store.AddGroup(name, nil); err != nil {
		return nil, err
	}
	g.perChunk = max(1, chunkBytes/(8*max(1, g.draws*g.width)))
	for _, v := range variablesOf(d.Names) {
		spec := zarr.Spec{Type: zarr.Float64, Shape: append([]int{0, d.Chains, d.Count}, v.shape...), Chunks: append([]int{g.perChunk, d.Chains, d.Count}, v.shape...),
			Dimensions: []string{"fit", "chain", "draw"}, Gzip: true}
		for i := range v.shape {
			spec.Dimensions = append(spec.Dimensions, fmt.Sprintf("%s_dim_%d", v.name, i))
		}
		a, err := g.group.AddArray(v.name, spec)
		if err != nil {
			return nil, err
		}
		g.variables = append(g.variables, drawsVariable{a, v.columns})
	}
	return g, nil
}

// keptVariable is an array of the store, with the columns of its elements.
type keptVariable struct {
	name    string
	shape   []int
	columns []int
}

// variablesOf groups columns such as theta.1.2 to arrays. If only some elements of a variable were
// kept, each is a separate array.
func variablesOf(names []string) []keptVariable {
	type element struct {
		column int
		at     []int
	}
	var order []string
	all := map[string][]element{}
	for i, n := range names {
		base, rest, indexed := strings.Cut(n, ".")
		e := element{column: i}
		for indexed && rest != "" {
			var part string
			part, rest, _ = strings.Cut(rest, ".")
			k, err := strconv.Atoi(part)
			if err != nil { // members of tuples, parts of complex numbers
				base, e.at, rest = strings.ReplaceAll(n, ":", "."), nil, ""
				break
			}
			e.at = append(e.at, k-1)
		}
		if all[base] == nil {
			order = append(order, base)
		}
		all[base] = append(all[base], e)
	}
	var out []keptVariable
	for _, base := range order {
		elements := all[base]
		shape := slices.Clone(elements[0].at)
		whole := true
		for _, e := range elements {
			if len(e.at) != len(shape) {
				whole = false
				break
			}
			for d, i := range e.at {
				shape[d] = max(shape[d], i)
			}
		}
		size := 1
		for d := range shape {
			shape[d]++
			size *= shape[d]
		}
		if !whole || size != len(elements) {
			for _, e := range elements {
				out = append(out, keptVariable{diagnose.DisplayName(names[e.column]), nil, []int{e.column}})
			}
			continue
		}
		columns := make([]int, size)
		for _, e := range elements {
			k := 0
			for d, i := range e.at {
				k = k*shape[d] + i
			}
			columns[k] = e.column
		}
		out = append(out, keptVariable{base, shape, columns})
	}
	return out
}

// flush writes the chunk in the buffer; missing fits are NaN.
func (g *drawsGroup) flush() error {
	if len(g.buffer) == 0 {
		return nil
	}
	chunk := (len(g.fits) - 1) / g.perChunk
	for _, v := range g.variables {
		size := g.draws * len(v.columns)
		values := make([]float64, g.perChunk*size)
		for f, d := range g.buffer {
			for i := range g.draws {
				for k, c := range v.columns {
					values[f*size+i*len(v.columns)+k] = d.Values[i*g.width+c]
				}
			}
		}
		at := make([]int, len(v.array.Shape))
		at[0] = chunk
		if err := v.array.WriteChunk(at, values); err != nil {
			return err
		}
	}
	g.buffer = g.buffer[:0]
	return nil
}

// finish writes the rest and moves the store to its final path.
func (o *drawsOutput) finish() error {
	if o.store == nil {
		return files.RemoveAll(o.path) // draws of an earlier study
	}
	for _, g := range o.groups {
		if err := g.flush(); err != nil {
			return err
		}
		for _, v := range g.variables {
			v.array.Shape[0] = len(g.fits)
		}
		a, err := g.group.AddArray("fit", zarr.Spec{Type: zarr.Int64, Shape: []int{len(g.fits)}, Dimensions: []string{"fit"}, Gzip: true})
		if err == nil {
			err = a.WriteAll(g.fits)
		}
		if err != nil {
			return err
		}
	}
	if err := o.store.Save(); err != nil {
		return err
	}
	if err := o.store.Sync(); err != nil {
		return err
	}
	err := o.store.Move(o.path)
	if err == nil {
		o.store = nil
	}
	return err
}

// abandon removes a store that was not finished.
func (o *drawsOutput) abandon() {
	if o.store != nil {
		files.RemoveAll(o.store.Dir())
	}
}
