package stdlib

import (
	"iter"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/lang/types"
)

// Library is a set of declarations by name. It is immutable.
type Library struct {
	byName map[string][]types.Overload
	names  []string // sorted
}

// Universe is the whole library of the language; every Overload that it gives
// is a *Func.
func Universe() *Library { return universe() }

var universe = sync.OnceValue(func() *Library { return newLibrary(families()) })

// families lists the declarations, one entry per file of the package.
func families() [][]Func {
	fs := [][]Func{
		constants(),
		operators(),
		comparisons(),
		elementary(),
		special(),
		integers(),
		factorials(),
		reductions(),
		products(),
		matrices(),
		decompositions(),
		divisions(),
		sizes(),
		builders(),
		joins(),
		parts(),
		conversions(),
		mixtures(),
		sorting(),
		sparse(),
		constraints(),
	}
	for i := range distributions {
		fs = append(fs, distributions[i].funcs())
	}
	return append(fs,
		passages(),
		categoricals(),
		hypergeometrics(),
		simplexes(),
		ordereds(),
		correlations(),
		glms(),
		markovs(),
		multivariates(),
		wisharts(),
		gaussianProcesses(),
	)
}

func newLibrary(fs [][]Func) *Library {
	l := &Library{byName: map[string][]types.Overload{}}
	for _, family := range fs {
		for i := range family {
			f := &family[i]
			if _, ok := l.byName[f.Name]; !ok {
				l.names = append(l.names, f.Name)
			}
			l.byName[f.Name] = append(l.byName[f.Name], f)
		}
	}
	slices.Sort(l.names)
	return l
}

// Lookup returns the overloads of a name, none if the library has no such name.
// The slice is not to be modified.
func (l *Library) Lookup(name string) []types.Overload { return l.byName[name] }

// Names yields every name in alphabetical order.
func (l *Library) Names() iter.Seq[string] { return slices.Values(l.names) }
