package infer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Adapted is the result of a chain's warm-up, with the chain's last position. Another run of the
// same model can start from it. Its JSON has the keys of the files that CmdStan's save_metric
// writes (stepsize, metric_type, inv_metric), so that these can also be read, and the key position.
type Adapted struct {
	StepSize float64 // 0: unknown
	Metric   Metric  // without a Kind: unknown, or not constant

	// Recentring is the evidence that defines the coordinates of Metric, see [Recentring]: four
	// numbers for each group-level term; nil: the model's own coordinates.
	Recentring []float64
	Position   []float64 // unconstrained; nil: unknown
}

type adaptedJSON struct {
	StepSize   float64         `json:"stepsize,omitempty"`
	Kind       string          `json:"metric_type,omitempty"`
	Inverse    json.RawMessage `json:"inv_metric,omitempty"`
	Values     []float64       `json:"low_rank_values,omitempty"`  // eigenvalues Λ of a low_rank metric S(I + Uᵀ(Λ - I)U)S, whose
	Vectors    [][]float64     `json:"low_rank_vectors,omitempty"` // inv_metric has the scales S; rows of U
	Mean       []float64       `json:"mean,omitempty"`
	Recentring []float64       `json:"recentring,omitempty"`
	Position   []float64       `json:"position,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (a Adapted) MarshalJSON() ([]byte, error) {
	j := adaptedJSON{StepSize: a.StepSize, Kind: string(a.Metric.Kind), Recentring: a.Recentring, Position: a.Position}
	var inverse any
	if a.Metric.Kind != "" {
		if err := a.Metric.CheckSize(); err != nil {
			return nil, err
		}
		j.Mean = a.Metric.Mean
	}
	switch m := a.Metric; m.Kind {
	case Unit:
		inverse = ones(m.Dim)
	case Diagonal:
		inverse = m.Inverse
	case Dense:
		rows := make([][]float64, m.Dim)
		for i := range rows {
			rows[i] = m.Inverse[i*m.Dim : (i+1)*m.Dim]
		}
		inverse = rows
	case LowRank:
		inverse, j.Values, j.Vectors = m.LowRank()
	}
	if inverse != nil {
		var err error
		if j.Inverse, err = json.Marshal(inverse); err != nil {
			return nil, err
		}
	}
	return json.Marshal(j)
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Adapted) UnmarshalJSON(text []byte) error {
	var j adaptedJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*a = Adapted{StepSize: j.StepSize, Recentring: j.Recentring, Position: j.Position}
	if len(j.Recentring)%4 != 0 {
		return fmt.Errorf("recentring must have four numbers for each effect, but has %d", len(j.Recentring))
	}
	if err := checkEvidence(j.Recentring); err != nil {
		return fmt.Errorf("recentring: %w", err)
	}
	if j.StepSize < 0 || math.IsInf(j.StepSize, 0) {
		return fmt.Errorf("the step size must be positive, but is %v", j.StepSize)
	}
	if j.Inverse == nil {
		return nil
	}
	var diagonal []float64
	var rows [][]float64
	switch {
	case j.Kind == string(LowRank):
		if err := json.Unmarshal(j.Inverse, &diagonal); err != nil {
			return errors.New("inv_metric of a metric of the type low_rank must be an array of numbers, the scales")
		}
		a.Metric = Metric{Kind: LowRank, Dim: len(diagonal), Inverse: append(diagonal, j.Values...)}
		if len(j.Vectors) != len(j.Values) {
			return fmt.Errorf("low_rank_vectors has %d rows, but there are %d low_rank_values", len(j.Vectors), len(j.Values))
		}
		for i, row := range j.Vectors {
			if len(row) != len(diagonal) {
				return fmt.Errorf("row %d of low_rank_vectors has %d elements, but there are %d scales", i+1, len(row), len(diagonal))
			}
			a.Metric.Inverse = append(a.Metric.Inverse, row...)
		}
	case json.Unmarshal(j.Inverse, &diagonal) == nil:
		a.Metric = Metric{Kind: Diagonal, Dim: len(diagonal), Inverse: diagonal}
		if j.Kind == string(Unit) {
			a.Metric = Metric{Kind: Unit, Dim: len(diagonal)}
		}
	case json.Unmarshal(j.Inverse, &rows) == nil:
		a.Metric = Metric{Kind: Dense, Dim: len(rows)}
		for i, row := range rows {
			if len(row) != len(rows) {
				return fmt.Errorf("row %d of inv_metric has %d elements, but there are %d rows", i+1, len(row), len(rows))
			}
			a.Metric.Inverse = append(a.Metric.Inverse, row...)
		}
	default:
		return errors.New("inv_metric must be an array of numbers (the diagonal) or of rows")
	}
	if j.Mean != nil && len(j.Mean) != a.Metric.Dim {
		return fmt.Errorf("the mean has %d elements, but the metric is of dimension %d", len(j.Mean), a.Metric.Dim)
	}
	a.Metric.Mean = j.Mean
	if j.Kind != "" && j.Kind != string(a.Metric.Kind) {
		return fmt.Errorf("metric_type is %q, but inv_metric is that of %s", j.Kind, a.Metric.Kind)
	}
	return nil
}

// Adapted returns, for each chain, the state from which another run can start.
func (r Report) Adapted() []Adapted {
	out := make([]Adapted, len(r.Chains))
	for i, c := range r.Chains {
		out[i] = Adapted{StepSize: c.StepSize, Metric: c.Metric, Recentring: c.Recentring, Position: c.Last}
	}
	return out
}

// ParseAdapted reads a JSON file. It has either {"chains": [...]}, with an Adapted per chain, as
// ppl run writes it to its output folder, or a single Adapted, for instance only a metric:
// {"inv_metric": [0.1, 2.5]}. path is the file's name in messages.
func ParseAdapted(path string, text []byte) ([]Adapted, error) {
	var file struct {
		Chains []Adapted `json:"chains"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(file.Chains) > 0 {
		return file.Chains, nil
	}
	var one Adapted
	if err := json.Unmarshal(text, &one); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if one.StepSize == 0 && one.Metric.Kind == "" && one.Position == nil {
		return nil, fmt.Errorf("%s: there is neither a step size (stepsize) nor a metric (inv_metric) nor a position", path)
	}
	return []Adapted{one}, nil
}
