package arrays

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/zarr"
)

// The attributes of groups and arrays that are specific to ppl.
const (
	LengthsKey = "ppl_draws"   // of a group: the number of draws of each chain; until the group is complete, of those visible to readers
	OrderKey   = "ppl_order"   // of a group: its variables, in order
	ColumnsKey = "ppl_columns" // of an array: the pattern of its columns' names; of a group: the names of all columns, if their order is not that of the arrays
)

// Decode decodes an attribute that [Encode] made, or its JSON value.
func Decode(attribute, dst any) error {
	if text, ok := attribute.(string); ok {
		return json.Unmarshal([]byte(text), dst)
	}
	text, err := json.Marshal(attribute)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, dst)
}

// Encode encodes an attribute as JSON in a string, because attributes in netCDF can only be texts
// and numbers.
func Encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and lists of them can always be encoded
	}
	return string(text)
}

// Read reads the draws of warm-up or sampling, by chain. The statistics of the sampler are the
// first columns.
func Read(store *zarr.Store, prefix string, room *draws.Room) (columns draws.Columns, chains [][]float64, err error) {
	var stored [2][]storedArray
	lengths := []int(nil)
	for i, name := range []string{prefix + "sample_stats", prefix + "posterior"} {
		g := store.Group(name)
		if g == nil {
			return columns, nil, fmt.Errorf("there is no group %s", name)
		}
		if stored[i], err = storedArrays(g); err != nil {
			return columns, nil, fmt.Errorf("group %s: %w", name, err)
		}
		n, err := storedLengths(g, stored[i])
		if err != nil {
			return columns, nil, fmt.Errorf("group %s: %w", name, err)
		}
		if lengths == nil || len(stored[0]) == 0 {
			lengths = n
		}
		if len(lengths) != len(n) && len(stored[i]) > 0 {
			return columns, nil, fmt.Errorf("group %s: %d chains, but %d in sample_stats", name, len(n), len(lengths))
		}
		for chain, n := range n {
			lengths[chain] = min(lengths[chain], n)
		}
	}
	for _, v := range stored[0] {
		columns.Statistics = append(columns.Statistics, sampler.Column{Name: v.Pattern})
	}
	var plain []Layout
	for _, v := range stored[1] {
		plain = append(plain, v.Layout)
	}
	for _, l := range plain {
		if err := room.Take(l.Elements(), columnMemory); err != nil {
			return columns, nil, err
		}
	}
	columns.Names = ColumnNames(plain)
	if names, ok := store.Group(prefix + "posterior").Attributes[ColumnsKey]; ok {
		if err := Decode(names, &columns.Names); err != nil {
			return columns, nil, err
		}
	}
	placed, err := Layouts(columns.Names)
	if err != nil {
		return columns, nil, err
	}
	for _, l := range placed {
		i := slices.IndexFunc(stored[1], func(v storedArray) bool { return v.Name == l.Name && slices.Equal(v.Shape, l.Shape) })
		if i < 0 {
			return columns, nil, fmt.Errorf("there is no array of the columns of %s", l.Name)
		}
		stored[1][i].Columns = l.Columns
	}
	width := len(columns.Statistics) + len(columns.Names)
	for chain, n := range lengths {
		if err := room.Take(n, 8*width); err != nil {
			return columns, nil, err
		}
		rows := make([]float64, n*width)
		for i, v := range stored[0] {
			if err := v.read(rows, chain, n, width, []int{i}, 0, room); err != nil {
				return columns, nil, err
			}
		}
		for _, v := range stored[1] {
			if err := v.read(rows, chain, n, width, v.Columns, len(columns.Statistics), room); err != nil {
				return columns, nil, err
			}
		}
		chains = append(chains, rows)
	}
	return columns, chains, nil
}

const (
	// columnMemory is the memory of a column in addition to its draws, in bytes: its name and
	// index.
	columnMemory = 128

	// chunkBytes is the memory for each number of a chunk that is being read: in the file,
	// uncompressed, and as a float64.
	chunkBytes = 24
)

// storedArrays returns the arrays of draws of a group in order.
func storedArrays(g *zarr.Group) ([]storedArray, error) {
	var order []string
	if o, ok := g.Attributes[OrderKey]; ok && o != nil {
		if err := Decode(o, &order); err != nil {
			return nil, err
		}
	} else {
		for _, name := range g.Arrays() {
			if name != "chain" && name != "draw" && g.Array(name).Type != zarr.String {
				order = append(order, name)
			}
		}
	}
	var out []storedArray
	for _, name := range order {
		a := g.Array(name)
		if a == nil {
			return nil, fmt.Errorf("there is no array %s", name)
		}
		pattern, _ := a.Attributes[ColumnsKey].(string)
		if pattern == "" || len(a.Shape) < 2 || a.Chunks[0] != 1 && a.Chunks[0] != a.Shape[0] || !slices.Equal(a.Shape[2:], a.Chunks[2:]) {
			return nil, fmt.Errorf("the array %s is none of draws", name)
		}
		v := storedArray{Layout: Layout{Name: name, Shape: slices.Clone(a.Shape[2:]), Pattern: pattern, Complex: a.Type == zarr.Complex128}, array: a}
		if v.Complex {
			v.Shape = append(v.Shape, 2)
		}
		if strings.Count(pattern, "*")+strings.Count(pattern, "~") != len(v.Shape) || strings.Contains(pattern, "~") != v.Complex {
			return nil, fmt.Errorf("the array %s has %d dimensions, but its columns are %s", name, len(a.Shape), pattern)
		}
		out = append(out, v)
	}
	return out, nil
}

// storedLengths returns the number of draws of each chain: as recorded if the group is complete,
// otherwise the draws in complete chunks of all arrays.
func storedLengths(g *zarr.Group, all []storedArray) ([]int, error) {
	if len(all) == 0 {
		return nil, nil
	}
	shape, together, chunk := all[0].array.Shape, all[0].array.Chunks[0], all[0].array.Chunks[1]
	var stated []int
	if n, ok := g.Attributes[LengthsKey]; ok {
		if err := Decode(n, &stated); err != nil {
			return nil, err
		}
		if len(stated) != shape[0] || slices.Max(append(stated, 0)) > shape[1] || slices.Min(append(stated, 0)) < 0 {
			return nil, fmt.Errorf("draws of chains %v in arrays of %v", stated, shape[:2])
		}
	}
	w := &Group{chunk: chunk, together: together, planned: slices.Repeat([]int{shape[1]}, shape[0])}
	for _, v := range all {
		if v.array.Shape[0] != shape[0] || v.array.Shape[1] != shape[1] || v.array.Chunks[0] != together || v.array.Chunks[1] != chunk {
			return nil, fmt.Errorf("the array %s has other chains or draws than %s", v.Name, all[0].Name)
		}
		w.variables = append(w.variables, v)
	}
	if stated != nil {
		return stated, nil
	}
	return w.Whole(), nil
}

// read copies the first n draws of a chain into rows.
func (v *storedArray) read(rows []float64, chain, n, width int, columns []int, offset int, room *draws.Room) error {
	together, chunk := v.array.Chunks[0], v.array.Chunks[1]
	if err := room.Take(v.Elements(), chunkBytes*together*chunk); err != nil {
		return err
	}
	defer room.Give(v.Elements() * chunkBytes * together * chunk)
	at := make([]int, len(v.array.Shape))
	at[0] = chain / together
	for from := 0; from < n; from += chunk {
		at[1] = from / chunk
		values, err := v.array.ReadChunk(at)
		if err != nil {
			return err
		}
		if len(values) != together*chunk*len(columns) {
			return fmt.Errorf("the array %s has chunks of %d numbers, not %d", v.Name, len(values), together*chunk*len(columns))
		}
		values = values[chain%together*chunk*len(columns):]
		for i := range min(chunk, n-from) {
			row := rows[(from+i)*width+offset:]
			for k, c := range columns {
				row[c] = values[i*len(columns)+k]
			}
		}
	}
	return nil
}
