package arrays

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/infer/zarr"
)

// This file writes draws to a group of a Zarr store.

const (
	// The limits of the number of draws per chunk. A chunk has about a twentieth of a run's draws,
	// because readers see new draws only when a chunk is complete. If draws are large, chunkMemory
	// may reduce it further.
	minChunkDraws, maxChunkDraws = 100, 500

	// wholeGroup is the maximum size in bytes at which one chunk holds all draws of a variable. For
	// small runs, many small files would take far longer than the draws themselves. Such a chunk is
	// rewritten whenever draws are added.
	wholeGroup = 8 << 20

	// rewrites is the maximum number of times that such a chunk is written before it is complete.
	rewrites = 20

	// chunkMemory limits the memory of incomplete chunks, in bytes.
	chunkMemory = 64 << 20
)

// StatisticNames maps the names of samplers' statistics to their names in a store. Other statistics
// keep their names without the underscores.
var StatisticNames = map[string]string{
	"lp__":          "lp",
	"accept_stat__": "acceptance_rate",
	"stepsize__":    "step_size",
	"treedepth__":   "tree_depth",
	"n_leapfrog__":  "n_steps",
	"divergent__":   "diverging",
	"energy__":      "energy",
}

// TypeOf returns the type of a variable's elements in a store.
func TypeOf(l Layout, integers map[string]bool) zarr.Type {
	switch {
	case l.Complex:
		return zarr.Complex128
	case integers[l.Name]:
		return zarr.Int64
	}
	return zarr.Float64
}

// storedArray is an array of draws in a store.
type storedArray struct {
	Layout
	array *zarr.Array
}

// Group writes draws to a group of a store, whose arrays have the dimensions chain, draw and those
// of the variable. Draws may come in any order, from several goroutines.
type Group struct {
	group     *zarr.Group
	store     *zarr.Store
	variables []storedArray
	chunk     int   // draws in a chunk
	together  int   // chains in a chunk: 1, or all
	planned   []int // planned number of draws, by chain

	mu      sync.Mutex
	open    map[[2]int]*openChunk // incomplete chunks, by their indices along chains and draws
	free    []*openChunk
	decided bool // compression has been decided for all arrays

	taken, shown []int // by chain: draws added, and draws visible to readers
}

// openChunk has the draws of an incomplete chunk, by variable.
type openChunk struct {
	values [][]float64
	n      int
}

// Spec describes the variables of a group of draws.
type Spec struct {
	Layouts []Layout
	Types   []zarr.Type
	Names   []string // names of the arrays; nil: those of the variables

	// Factors maps a variable to the factors whose levels its indices represent.
	Factors map[string][]Factor
}

// AddGroup makes a group for draws, with the planned number of draws of each chain.
func AddGroup(store *zarr.Store, name string, attributes map[string]any, c Spec, planned []int) (*Group, error) {
	group, err := store.AddGroup(name, attributes)
	if err != nil {
		return nil, err
	}
	w := &Group{group: group, store: store, planned: slices.Clone(planned), open: map[[2]int]*openChunk{},
		together: 1, taken: make([]int, len(planned)), shown: make([]int, len(planned))}
	length, width := max(1, slices.Max(planned)), 0
	for _, l := range c.Layouts {
		width += len(l.Columns)
	}
	if length <= wholeGroup/max(1, 8*width*len(planned)) {
		w.chunk, w.together = length, max(1, len(planned))
	} else {
		w.chunk = min(max(minChunkDraws, length/20), maxChunkDraws, length)
		w.chunk = max(1, min(w.chunk, chunkMemory/max(1, 8*width*len(planned))))
	}
	named, levels := c.Named()
	for i, l := range c.Layouts {
		v := storedArray{Layout: l}
		array, extents := c.array(i)
		spec := zarr.Spec{
			Type: c.Types[i], Shape: append([]int{len(planned), slices.Max(planned)}, extents...), Chunks: append([]int{w.together, w.chunk}, extents...),
			Dimensions: append([]string{"chain", "draw"}, named[i]...), Attributes: map[string]any{ColumnsKey: l.Pattern},
		}
		if v.array, err = group.AddArray(array, spec); err != nil {
			return nil, err
		}
		w.variables = append(w.variables, v)
	}
	if err := w.coordinate("chain", len(planned)); err != nil {
		return nil, err
	}
	if err := w.coordinate("draw", length); err != nil {
		return nil, err
	}
	if err := AddCoordinates(group, levels); err != nil {
		return nil, err
	}
	return w, nil
}

// AddCoordinates writes the texts of dimensions, see [Spec.Named].
func AddCoordinates(group *zarr.Group, levels map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		a, err := group.AddArray(name, zarr.Spec{Type: zarr.String, Shape: []int{len(levels[name])}, Dimensions: []string{name}})
		if err != nil {
			return err
		}
		if err := a.WriteTexts(levels[name]); err != nil {
			return err
		}
	}
	return nil
}

// array returns the name of an array, and its extents after those for chains and draws.
func (c *Spec) array(i int) (name string, extents []int) {
	l := c.Layouts[i]
	name, extents = l.Name, l.Shape
	if c.Names != nil {
		name = c.Names[i]
	}
	if l.Complex {
		extents = extents[:len(extents)-1]
	}
	return name, extents
}

// Named returns the names of all arrays' dimensions, and the coordinates of those whose
// indices represent the levels of a factor. Such a dimension has the name of its factor, unless
// that is already the name of an array or of another dimension of the same array.
func (c *Spec) Named() (names [][]string, levels map[string][]string) {
	taken := map[string]bool{"chain": true, "draw": true}
	for i := range c.Layouts {
		name, _ := c.array(i)
		taken[name] = true
	}
	levels = map[string][]string{}
	for i, l := range c.Layouts {
		array, extents := c.array(i)
		own := Dimensions(array, len(extents))
		by := c.Factors[l.Name]
		if l.Labels != nil && !taken[own[0]] {
			levels[own[0]], by = l.Labels, nil
		}
		for k := range min(len(own), len(by)) {
			f := by[k]
			if f.Name == "" || len(f.Levels) != extents[k] {
				continue
			}
			if !taken[f.Name] && !slices.Contains(own, f.Name) {
				own[k] = f.Name
			}
			if !taken[own[k]] {
				levels[own[k]] = f.Levels
			}
		}
		names = append(names, own)
	}
	return names, levels
}

// Dimensions returns the names that ArviZ gives to the n dimensions of a variable.
func Dimensions(variable string, n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s_dim_%d", variable, i))
	}
	return names
}

// coordinate writes the numbers of chains or draws.
func (w *Group) coordinate(name string, n int) error {
	if w.group.Array(name) != nil {
		return fmt.Errorf("a variable that is called %s cannot be in a Zarr store of draws: it is the name of a dimension", name)
	}
	a, err := w.group.AddArray(name, zarr.Spec{Type: zarr.Int64, Shape: []int{n}, Dimensions: []string{name}, Gzip: true})
	if err != nil {
		return err
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i)
	}
	return a.WriteAll(values)
}

// Put adds a draw. Its values are in the order of the columns that the layouts refer to.
func (w *Group) Put(chain, draw int, values []float64) error {
	key := [2]int{chain / w.together, draw / w.chunk}
	w.mu.Lock()
	c := w.open[key]
	if c == nil {
		c = w.newChunk()
		w.open[key] = c
	}
	at := chain%w.together*w.chunk + draw%w.chunk
	for i, v := range w.variables {
		row := c.values[i][at*len(v.Columns):]
		for k, column := range v.Columns {
			row[k] = values[column]
		}
	}
	c.n++
	w.taken[chain]++
	if c.n < w.full(key) {
		w.mu.Unlock()
		return nil
	}
	delete(w.open, key)
	err := w.decide(c)
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return w.write(key, c)
}

// full returns the number of draws in a complete chunk.
func (w *Group) full(key [2]int) int {
	n := 0
	for chain := key[0] * w.together; chain < min((key[0]+1)*w.together, len(w.planned)); chain++ {
		n += max(0, min(w.chunk, w.planned[chain]-key[1]*w.chunk))
	}
	return n
}

// Flush makes the draws so far visible to readers. It writes only if all chains share one chunk
// that has many more draws than at the last time, and it needs the draws of each chain in order. A
// chunk of a single chain is written as soon as it is complete.
func (w *Group) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := [2]int{}
	c := w.open[key]
	if w.together == 1 || c == nil {
		return nil
	}
	more := c.n
	for _, n := range w.shown {
		more -= n
	}
	if more < max(1, w.full(key)/rewrites) {
		return nil
	}
	if err := w.decide(c); err != nil {
		return err
	}
	if err := w.writeVariables(key, c); err != nil {
		return err
	}
	copy(w.shown, w.taken)
	w.group.Attributes[LengthsKey] = slices.Clone(w.shown) // after the chunks that have these draws
	return w.store.Save()
}

func (w *Group) newChunk() *openChunk {
	if n := len(w.free); n > 0 {
		c := w.free[n-1]
		w.free = w.free[:n-1]
		c.n = 0
		for _, v := range c.values {
			for i := range v {
				v[i] = math.NaN()
			}
		}
		return c
	}
	c := &openChunk{}
	for _, v := range w.variables {
		c.values = append(c.values, slices.Repeat([]float64{math.NaN()}, w.together*w.chunk*len(v.Columns)))
	}
	return c
}

// decide decides, at the first chunk of a group, which arrays to compress: those that become
// smaller. If one chunk holds all chains, the type of the values decides instead, because the
// result must not depend on how many draws there are at the time.
func (w *Group) decide(c *openChunk) error {
	if w.decided {
		return nil
	}
	w.decided = true
	for i, v := range w.variables {
		if w.together > 1 {
			v.array.Gzip = v.array.Type == zarr.Int64 || v.array.Type == zarr.Bool
		} else {
			v.array.Gzip = v.array.Compressible(c.values[i])
		}
	}
	return w.store.Save()
}

// write writes a chunk of every variable.
func (w *Group) write(key [2]int, c *openChunk) error {
	if err := w.writeVariables(key, c); err != nil {
		return err
	}
	w.mu.Lock()
	w.free = append(w.free, c)
	if w.together > 1 {
		copy(w.shown, w.taken)
	}
	w.mu.Unlock()
	return nil
}

func (w *Group) writeVariables(key [2]int, c *openChunk) error {
	for i, v := range w.variables {
		at := make([]int, len(v.array.Shape))
		at[0], at[1] = key[0], key[1]
		if w.together > 1 && v.array.Type == zarr.Bool && !slices.Contains(c.values[i], 1) && !v.array.HasChunk(at) {
			continue // a missing chunk reads as false: no divergence
		}
		if err := v.array.WriteChunk(at, c.values[i]); err != nil {
			return err
		}
	}
	return nil
}

// SetAttributes adds attributes to the group.
func (w *Group) SetAttributes(attributes map[string]any) {
	maps.Copy(w.group.Attributes, attributes)
}

// Planned returns the planned number of draws of a chain.
func (w *Group) Planned(chain int) int { return w.planned[chain] }

// Finish writes the remaining chunks and shortens the arrays to the actual numbers of draws. Save
// the metadata afterwards.
func (w *Group) Finish(lengths []int) error {
	for _, key := range slices.SortedFunc(maps.Keys(w.open), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		c := w.open[key]
		if err := w.decide(c); err != nil {
			return err
		}
		if err := w.write(key, c); err != nil {
			return err
		}
	}
	w.open = map[[2]int]*openChunk{}
	return w.Cut(lengths)
}

// Cut shortens the arrays to the length of the longest chain, and records the lengths of all
// chains.
func (w *Group) Cut(lengths []int) error {
	n := slices.Max(lengths)
	for _, v := range w.variables {
		v.array.Shape[1] = n
	}
	if a := w.group.Array("draw"); a != nil {
		a.Shape[0] = n
	}
	w.group.Attributes[LengthsKey] = slices.Clone(lengths)
	return nil
}

// Whole returns the number of draws of each chain that have been written.
func (w *Group) Whole() []int {
	if w.together > 1 && w.shown != nil {
		return slices.Clone(w.shown)
	}
	out := make([]int, len(w.planned))
	if w.together > 1 { // the number of draws in a chunk of all chains is recorded elsewhere
		return out
	}
	for chain := range out {
		for out[chain] < w.planned[chain] && w.has(chain, out[chain]/w.chunk) {
			out[chain] = min(out[chain]+w.chunk, w.planned[chain])
		}
	}
	return out
}

// has reports whether a chunk was written for every variable.
func (w *Group) has(chain, chunk int) bool {
	return !slices.ContainsFunc(w.variables, func(v storedArray) bool {
		at := make([]int, len(v.array.Shape))
		at[0], at[1] = chain, chunk
		return !v.array.HasChunk(at)
	})
}
