package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ppl-lang/ppl/infer"
)

// set is the data set of one of the paper's logistic regressions.
type set struct {
	name  string
	rows  int
	given int  // covariates in the file
	cubic bool // use powers 1, 2, 3 of each covariate, as Girolami and Calderhead did for this set
}

var sets = []set{
	{"ripley", 250, 2, true},
	{"pima", 532, 7, false},
	{"heart", 270, 13, false},
	{"australian", 690, 14, false},
	{"german", 1000, 24, false},
}

func standardise(v []float64) {
	mean, sd := moments(v)
	for i := range v {
		v[i] = (v[i] - mean) / sd
	}
}

// read returns the covariates, by column, and the outcome.
func (s set) read(dir string) (covariates [][]float64, y []int, err error) {
	if dir == "" {
		return s.simulate()
	}
	file, err := os.Open(filepath.Join(dir, "blr", s.name+".csv"))
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	covariates = make([][]float64, len(records[0])-1)
	for _, record := range records[1:] {
		for j, field := range record {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", file.Name(), err)
			}
			if j < len(covariates) {
				covariates[j] = append(covariates[j], v)
			} else {
				y = append(y, int(v))
			}
		}
	}
	return covariates, y, nil
}

// simulate makes data of the same shape, with correlated covariates and an outcome that depends on
// a few of them.
func (s set) simulate() (covariates [][]float64, y []int, err error) {
	rng := infer.Stream(masterSeed, 0, "data "+s.name, 0)
	covariates = make([][]float64, s.given)
	b := make([]float64, s.given)
	for j := range b {
		b[j] = rng.NormFloat64() / math.Sqrt(float64(j+1))
	}
	for range s.rows {
		common, eta := rng.NormFloat64(), 0.0
		for j := range covariates {
			v := 0.6*common + 0.8*rng.NormFloat64()
			covariates[j] = append(covariates[j], v)
			eta += b[j] * v
		}
		outcome := 0
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			outcome = 1
		}
		y = append(y, outcome)
	}
	return covariates, y, nil
}
