package proggen

import (
	"encoding/json"
	"slices"
)

// This file: the same program at other sizes, for tests of how its cost grows.

// GrowModel returns data for a program of NewModel with size n instead of its greatest size. It
// returns "" if the program has no size.
func GrowModel(p Program, n int) string {
	w := newWriter(p.Seed)
	grown := greatest(p, sizeNames)
	if grown == "" {
		return ""
	}
	for _, s := range sizeNames {
		w.sizes[s] = min(sizesOf(p)[s], 8) // the cost of others is that of their kind
	}
	w.sizes[grown] = n
	return w.values(p, p.Seed)
}

// GrowRows returns data for a program of NewIdioms or NewRows with n rows.
func GrowRows(p Program, n int) string {
	d := &rowing{size: sizesOf(p), used: map[string]bool{}, cost: 1}
	if _, ok := d.size["N"]; !ok {
		return ""
	}
	d.size["N"] = n
	values := map[string]any{}
	had := data(p)
	for _, f := range rowFamilies {
		if _, ok := had[f.name]; ok {
			d.page = newPage(p.Seed, uint64(len(values))) // data of all sizes are of the same kind
			values[f.name] = f.value(d)
		}
	}
	divided(values)
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // numbers only
	}
	return string(b)
}

// greatest returns the name of the greatest size that the data of a program have.
func greatest(p Program, names []string) (name string) {
	sizes := sizesOf(p)
	for _, s := range names {
		if n, ok := sizes[s]; ok && (name == "" || n > sizes[name]) {
			name = s
		}
	}
	return name
}

func data(p Program) map[string]any {
	var out map[string]any
	if err := json.Unmarshal([]byte(p.Data), &out); err != nil {
		panic(err) // it was made by this package
	}
	return out
}

// sizesOf returns the sizes in the data of a program.
func sizesOf(p Program) map[string]int {
	sizes := map[string]int{}
	for name, v := range data(p) {
		if n, ok := v.(float64); ok && slices.Contains([]string{"N", "T", "J", "K", "P"}, name) {
			sizes[name] = int(n)
		}
	}
	return sizes
}
