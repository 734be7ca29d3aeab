package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
)

// entry is a number in a sparse row.
type entry struct {
	column int
	value  float64
}

// texts has documents, as square roots of counts of words, with their classes. In cross-validation
// of the training set, linear classifiers predict better from the square roots than from the
// counts, from their logarithms, or from whether a word occurs.
type texts struct {
	rows [][]entry
	y    []int
}

// dexter has the texts that the paper classifies: the training set and the validation set. The
// latter replaces a test set whose classes were never published.
type dexter struct{ train, valid texts }

// loadDexter reads the files of the feature selection challenge, or simulates documents.
func loadDexter(dir string, rows int) (*dexter, error) {
	if dir == "" {
		rng := infer.Stream(masterSeed, 0, "data dexter", 0)
		const words, telling = 400, 40
		t := func() (t texts) {
			for i := range rows {
				class := i % 2
				var row []entry
				for k := range words {
					rate := 0.05
					if k < telling && k%2 == class {
						rate = 0.2
					}
					if rng.Float64() < rate {
						row = append(row, entry{k, math.Sqrt(1 + math.Floor(100*rng.Float64()))})
					}
				}
				t.rows, t.y = append(t.rows, row), append(t.y, class)
			}
			return t
		}
		return &dexter{t(), t()}, nil
	}
	d := &dexter{}
	for name, t := range map[string]*texts{"train": &d.train, "valid": &d.valid} {
		if err := t.read(filepath.Join(dir, "dexter", "dexter_"+name)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// read reads NAME.data.gz, lines of column:value, and NAME.labels.gz, lines of -1 or 1.
func (t *texts) read(name string) error {
	lines := func(suffix string, each func(fields []string) error) error {
		file, err := os.Open(name + suffix)
		if err != nil {
			return err
		}
		defer file.Close()
		plain, err := gzip.NewReader(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
		in := bufio.NewReader(plain)
		for {
			line, err := in.ReadString('\n')
			if fields := strings.Fields(line); len(fields) > 0 {
				if err := each(fields); err != nil {
					return fmt.Errorf("%s: %w", file.Name(), err)
				}
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", file.Name(), err)
			}
		}
	}
	if err := lines(".data.gz", func(fields []string) error {
		row := make([]entry, len(fields))
		for i, f := range fields {
			column, value, _ := strings.Cut(f, ":")
			k, err := strconv.Atoi(column)
			v, err2 := strconv.ParseFloat(value, 64)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			row[i] = entry{k, math.Sqrt(v)}
		}
		t.rows = append(t.rows, row)
		return nil
	}); err != nil {
		return err
	}
	if err := lines(".labels.gz", func(fields []string) error {
		t.y = append(t.y, map[string]int{"1": 1}[fields[0]])
		return nil
	}); err != nil {
		return err
	}
	if len(t.rows) != len(t.y) {
		return fmt.Errorf("%s: %d rows and %d classes", name, len(t.rows), len(t.y))
	}
	return nil
}

// choose returns some of the rows.
func (t texts) choose(rows []int) (c texts) {
	for _, i := range rows {
		c.rows, c.y = append(c.rows, t.rows[i]), append(c.y, t.y[i])
	}
	return c
}

// columns has the inputs of a network: the columns of the documents that are most correlated with
// the class, in units of their standard deviations.
type columns struct {
	place map[int]int // input of a column of the documents
	unit  []float64
}

// selectColumns selects k columns; it uses only the given documents.
func selectColumns(t texts, k int) columns {
	type sums struct {
		column         int
		x, xx, xy, rho float64
	}
	by := map[int]*sums{}
	y := 0.0
	for i, row := range t.rows {
		class := float64(t.y[i])
		y += class
		for _, e := range row {
			s := by[e.column]
			if s == nil {
				s = &sums{column: e.column}
				by[e.column] = s
			}
			s.x, s.xx, s.xy = s.x+e.value, s.xx+e.value*e.value, s.xy+e.value*class
		}
	}
	n := float64(len(t.rows))
	var all []*sums
	for _, s := range by {
		s.rho = math.Abs(s.xy-s.x*y/n) / math.Sqrt(s.xx-s.x*s.x/n)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *sums) int {
		return cmp.Or(cmp.Compare(b.rho, a.rho), cmp.Compare(a.column, b.column))
	})
	c := columns{place: map[int]int{}}
	for i, s := range all[:min(k, len(all))] {
		c.place[s.column] = i
		c.unit = append(c.unit, math.Sqrt((s.xx-s.x*s.x/n)/(n-1)))
	}
	return c
}

// of returns the inputs for documents.
func (c columns) of(t texts) [][]entry {
	rows := make([][]entry, len(t.rows))
	for i, row := range t.rows {
		for _, e := range row {
			if k, ok := c.place[e.column]; ok {
				rows[i] = append(rows[i], entry{k, e.value / c.unit[k]})
			}
		}
	}
	return rows
}

// dense has all numbers.
func (c columns) dense(rows [][]entry) [][]float64 {
	x := make([][]float64, len(rows))
	for i, row := range rows {
		x[i] = make([]float64, len(c.unit))
		for _, e := range row {
			x[i][e.column] = e.value
		}
	}
	return x
}

// network is the shape of models/bnn.model, which determines the order of its unconstrained
// parameters.
type network struct{ inputs, first, second int }

func (n network) dim() int {
	return n.inputs*n.first + n.first + n.first*n.second + n.second + n.second + 1 + networkScales
}

const networkScales = 3

// posterior returns the posterior of the network for given documents.
func (n network) posterior(m *ppl.Model, x [][]float64, y []int) (*ppl.Posterior, error) {
	return m.Bind(map[string]any{"N": len(y), "K": n.inputs, "H": n.first, "J": n.second, "X": x, "y": y})
}

// logits computes the outputs of the network at a position of the posterior. It takes sparse
// inputs, since each position is used for few documents.
func (n network) logits(position []float64, rows [][]entry, dst []float64) {
	take := func(size int) []float64 {
		v := position[:size]
		position = position[size:]
		return v
	}
	a, a0 := take(n.inputs*n.first), take(n.first)
	b, b0 := take(n.first*n.second), take(n.second)
	c, c0, s := take(n.second), take(1), take(networkScales)
	sa, sb, sc := math.Exp(0.5*s[0]-3), math.Exp(0.5*s[1]-1.5), math.Exp(0.5*s[2])
	h := make([]float64, n.first)
	for i, row := range rows {
		for u := range h {
			sum, w := 0.0, a[u*n.inputs:]
			for _, e := range row {
				sum += e.value * w[e.column]
			}
			h[u] = math.Tanh(sa*sum + a0[u])
		}
		eta := 0.0
		for v := range n.second {
			sum := 0.0
			for u, x := range h {
				sum += x * b[v*n.first+u]
			}
			eta += c[v] * math.Tanh(sb*sum+b0[v])
		}
		dst[i] = sc*eta + c0[0]
	}
}

// held computes the likelihood of documents that a network was not trained on.
type held struct {
	network
	rows [][]entry
	y    []int
}

// Len and LogLikelihood implement ahmc.HeldOut.
func (h held) Len() int { return len(h.y) }

func (h held) LogLikelihood(x, dst []float64) error {
	h.logits(x, h.rows, dst)
	for i, eta := range dst {
		if h.y[i] == 0 {
			eta = -eta
		}
		dst[i] = -math.Log1p(math.Exp(-eta))
	}
	return nil
}

// member is one of the networks of a cross-validation. Its posterior and the choice of its columns
// use all documents but one fold.
type member struct {
	columns
	target *ppl.Posterior
	held   held
	valid  [][]entry // the documents to predict
	kept   texts
}

// members makes a network for each fold. seed determines the folds.
func (d *dexter) members(m *ppl.Model, n network, folds, seed int) ([]member, error) {
	order := infer.Stream(masterSeed, seed, "folds dexter", 0).Perm(len(d.train.y))
	list := make([]member, folds)
	for f := range list {
		var kept, out []int
		for i, row := range order {
			if i%folds == f {
				out = append(out, row)
			} else {
				kept = append(kept, row)
			}
		}
		slices.Sort(kept)
		k, h := d.train.choose(kept), d.train.choose(out)
		c := selectColumns(k, n.inputs)
		if len(c.unit) != n.inputs {
			return nil, fmt.Errorf("the documents have %d words instead of %d", len(c.unit), n.inputs)
		}
		target, err := n.posterior(m, c.dense(c.of(k)), k.y)
		if err != nil {
			return nil, err
		}
		list[f] = member{columns: c, target: target, held: held{n, c.of(h), h.y}, valid: c.of(d.valid), kept: k}
	}
	return list, nil
}

// fold returns the member in the form for the predictive reward.
func (m member) fold() ahmc.Fold { return ahmc.Fold{Target: m.target, Held: m.held} }

// ridge returns the predictions of a linear classifier on the same columns, by least squares of the
// classes with a penalty.
func (m member) ridge(penalty float64) []float64 {
	k := len(m.unit)
	x := m.dense(m.of(m.kept))
	g, b := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	for i, row := range x {
		g.SymRankOne(g, 1, mat.NewVecDense(k, row))
		b.AddScaledVec(b, 2*float64(m.kept.y[i])-1, mat.NewVecDense(k, row))
	}
	for j := range k {
		g.SetSym(j, j, g.At(j, j)+penalty)
	}
	var factor mat.Cholesky
	w := mat.NewVecDense(k, nil)
	if !factor.Factorize(g) || factor.SolveVecTo(w, b) != nil {
		return nil
	}
	out := make([]float64, len(m.valid))
	for i, row := range m.valid {
		for _, e := range row {
			out[i] += e.value * w.AtVec(e.column)
		}
	}
	return out
}
