package assess

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model/predict"
)

// Shrinkage says how much the data say about each level of group-level terms: by how much the
// posterior means of the levels spread less than the levels do. Near 0, the data of each level
// decide its value. Near 1, all levels are at the mean of their distribution, and a plot of the
// means against a covariate shows nothing even if there is a relation.
//
// It is that of pharmacometrics (Savic and Karlsson, AAPS Journal 11, 2009) with the standard
// deviation in the model estimated by that of the levels at each draw, and the square root of the
// pooling factor of Gelman and Pardoe (Technometrics 48, 2006) counted from the other end. So it
// does not depend on how the model is parametrised.
type Shrinkage struct {
	Term   string  // the parameter, with the index of the column, as in eta[,1]
	Levels int     // number of levels
	Means  float64 // standard deviation of the posterior means of the levels
	SD     float64 // posterior mean of the standard deviation of the levels
	Value  float64 // 1 - Means/SD
}

// ShrinkageOf returns the shrinkage of each group-level term of a fit: of each column, for a
// parameter with two indices. Terms with fewer than three levels are left out, since their standard
// deviation says little.
func ShrinkageOf(ctx context.Context, f *fit.Fit) ([]Shrinkage, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	roles := predict.RolesOf(m.Program())
	var out []Shrinkage
	for _, v := range predict.Varying(m.Program()) {
		if roles.Smooth[v] || roles.Missing[v] {
			continue // no population: steps of a random walk, coefficients of a curve, missing values
		}
		for _, c := range columnsOf(f, v) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if len(c.members) >= minShrunk {
				out = append(out, shrinkage(f, c))
			}
		}
	}
	return out, nil
}

// minShrunk is the minimum number of levels.
const minShrunk = 3

// levelsColumn has the elements of a term that belong to different levels.
type levelsColumn struct {
	name    string
	members []int // quantities
}

// LevelIndex returns which of the two indices of a variable counts levels, from 0: the one whose
// size is the number of levels of a factor, which it names; else the one that the program does not
// write as a number; else, and known is false, the longer one. It is -1 if nothing decides.
func LevelIndex(f *fit.Fit, variable string, length [2]int) (index int, factor string, known bool) {
	if m, err := f.Model(); err == nil {
		if by := f.IndexFactors(m.Program().IR())[variable]; len(by) == 2 && (by[0].Name == "") != (by[1].Name == "") {
			if by[0].Name == "" {
				return 1, by[1].Name, true
			}
			return 0, by[0].Name, true
		}
		switch predict.RolesOf(m.Program()).Columns[variable] {
		case predict.FirstColumn:
			return 1, "", true
		case predict.SecondColumn:
			return 0, "", true
		}
	}
	switch {
	case length[0] > length[1]:
		return 0, "", false
	case length[0] < length[1]:
		return 1, "", false
	}
	return -1, "", false
}

// columnsOf divides the elements of a variable by the index that is no level, see [LevelIndex].
// There are no columns if it is not known which.
func columnsOf(f *fit.Fit, variable string) []levelsColumn {
	var out []levelsColumn
	var members []int
	var indices [][]string
	var most [2]int
	for i, n := range f.Names() {
		if diagnose.VariableName(n) != variable {
			continue
		}
		index := strings.Split(strings.TrimPrefix(n, variable+"."), ".")
		if len(index) > 2 {
			return nil
		}
		for d, text := range index {
			k, err := strconv.Atoi(text)
			if err != nil {
				return nil
			}
			most[d] = max(most[d], k)
		}
		members, indices = append(members, i), append(indices, index)
	}
	if len(members) == 0 || len(indices[0]) == 1 {
		return []levelsColumn{{variable, members}}
	}
	level, _, _ := LevelIndex(f, variable, most)
	if level < 0 {
		return nil
	}
	column := 1 - level
	at := map[string]int{}
	for k, i := range members {
		key := indices[k][column]
		if _, ok := at[key]; !ok {
			at[key] = len(out)
			name := variable + "[," + key + "]"
			if column == 0 {
				name = variable + "[" + key + ",]"
			}
			out = append(out, levelsColumn{name: name})
		}
		c := &out[at[key]]
		c.members = append(c.members, i)
	}
	return out
}

// shrinkage computes the shrinkage of a column. It reads one quantity after another, since there
// may be very many.
func shrinkage(f *fit.Fit, c levelsColumn) Shrinkage {
	s := Shrinkage{Term: c.name, Levels: len(c.members)}
	var mean, square []float64 // of the levels, by draw
	var means running
	for k, i := range c.members {
		draws := allDraws(f.Draws, i)
		if mean == nil {
			mean, square = make([]float64, len(draws)), make([]float64, len(draws))
		}
		var level running
		for d, x := range draws {
			level.add(x)
			step := x - mean[d]
			mean[d] += step / float64(k+1)
			square[d] += step * (x - mean[d])
		}
		means.add(level.mean)
	}
	s.Means = means.sd()
	for _, q := range square {
		s.SD += math.Sqrt(q/float64(s.Levels-1)) / float64(len(square))
	}
	s.Value = 1 - s.Means/s.SD
	return s
}

// running computes a mean and a standard deviation of values one after another.
type running struct {
	n            int
	mean, square float64
}

func (r *running) add(x float64) {
	r.n++
	step := x - r.mean
	r.mean += step / float64(r.n)
	r.square += step * (x - r.mean)
}

func (r *running) sd() float64 { return math.Sqrt(r.square / float64(r.n-1)) }
