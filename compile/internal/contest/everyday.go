package contest

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// EverydayModel is a model of the kind that people use every day. Passes of the compiler are
// measured on these. It is a file in the folder examples or compile/testdata/everyday.
type EverydayModel struct {
	Name string // name with its folder, such as examples/garch
	Rows string // the data variable with the number of rows; "": none
}

// EverydayModels returns all models of everyday use.
func EverydayModels() []EverydayModel {
	return []EverydayModel{
		{"examples/garch", "T"}, {"examples/hierarchical_regression", "N"}, {"examples/logistic_regression", "N"}, {"examples/normal_mixture", "N"},
		{"examples/stochastic_volatility", "T"}, {"examples/eight_schools", "J"},
		{"everyday/cox_survival", "N"}, {"everyday/robust_switch", "N"}, {"everyday/local_trend", "T"}, {"everyday/survey_responses", "N"},
		{"everyday/scale_regression", "N"}, {"everyday/growth", "N"}, {"everyday/shrunken_effects", "N"}, {"everyday/two_kinds", "N"}, {"everyday/graded_answers", "N"}, {"everyday/volatilities", ""},
		{"everyday/outliers", "N"}, {"everyday/factors", "N"}, {"everyday/epidemic", ""}, {"everyday/renewal", ""}, {"everyday/alignment", ""}, {"everyday/flies", ""}, {"everyday/hidden_states", ""}, {"everyday/predators", ""}, {"everyday/stiff_reaction", ""}, {"everyday/effect_integrated_out", ""}, {"everyday/sparse_design", "N"},
		{"everyday/clinic_visits", "N"}, {"everyday/recaptures", "N"},
	}
}

// EverydayRows is the number of rows for which these models are compared.
const EverydayRows = 1001

// Read reads a model and its data, as JSON. root is the folder of the repository.
func (m EverydayModel) Read(root string) (text, values string, err error) {
	folder, base, _ := strings.Cut(m.Name, "/")
	if folder == "examples" {
		path := filepath.Join(root, folder, base, base)
		model, err := os.ReadFile(path + ".model")
		data, err2 := os.ReadFile(path + ".data.json")
		return string(model), string(data), errors.Join(err, err2)
	}
	model, err := os.ReadFile(filepath.Join(root, "compile", "testdata", folder, base+".model"))
	first, _, _ := strings.Cut(string(model), "\n")
	return string(model), strings.TrimPrefix(first, "// DATA "), err
}

// Sized returns the data with n rows. It repeats the existing rows, and changes numbers that are
// not integers, so that not all rows are alike. If the model has no variable for the number of
// rows, the data stay unchanged.
func (m EverydayModel) Sized(values string, n int) (string, error) {
	if m.Rows == "" {
		return values, nil
	}
	all := map[string]any{}
	if err := json.Unmarshal([]byte(values), &all); err != nil {
		return "", err
	}
	old, _ := all[m.Rows].(float64)
	for name, v := range all {
		list, ok := v.([]any)
		if !ok || len(list) == 0 || len(list) != int(old) {
			continue
		}
		out := make([]any, n)
		for i := range out {
			out[i] = moved(list[i%len(list)], 1e-3*float64(i/len(list)))
		}
		all[name] = out
	}
	all[m.Rows] = n
	b, err := json.Marshal(all)
	return string(b), err
}

// moved adds by to all numbers of v that are not integers.
func moved(v any, by float64) any {
	switch v := v.(type) {
	case float64:
		if v != math.Trunc(v) {
			return v + by
		}
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = moved(x, by)
		}
		return out
	}
	return v
}
