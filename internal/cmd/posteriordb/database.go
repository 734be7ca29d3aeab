package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// stanVersion is the version of Stan that computed the reference figures. Its transforms are used
// to compare points of the unconstrained space.
const stanVersion = "2.32"

// database consists of a folder posterior_database and a folder of Stan's figures.
type database struct {
	pdb, ref string
	outside  bool // posteriors outside posteriordb, which need no folders
}

// names returns the posteriors that match the expression, in order.
func (db database) names(only *regexp.Regexp) ([]string, error) {
	if db.outside {
		return outsideNames(only), nil
	}
	files, err := filepath.Glob(filepath.Join(db.pdb, "posteriors", "*.json"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); only.MatchString(name) {
			names = append(names, name)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no folder posteriors with JSON files: is it the posterior_database of a checkout?", db.pdb)
	}
	slices.Sort(names)
	return names, nil
}

// subject is a posterior with Stan's figures.
type subject struct {
	name, model string // the model's name is the name of its file
	text        string
	data        []byte
	stan        *figuresOfStan // nil: there are none
}

// load reads a posterior.
func (db database) load(name string) (*subject, error) {
	if db.outside {
		return loadOutside(name)
	}
	var posterior struct {
		Model string `json:"model_name"`
		Data  string `json:"data_name"`
	}
	if err := readJSON(filepath.Join(db.pdb, "posteriors", name+".json"), &posterior); err != nil {
		return nil, err
	}
	var model struct {
		Implementations map[string]struct {
			Code string `json:"model_code"`
		} `json:"model_implementations"`
	}
	if err := readJSON(filepath.Join(db.pdb, "models", "info", posterior.Model+".info.json"), &model); err != nil {
		return nil, err
	}
	var info struct {
		File string `json:"data_file"`
	}
	if err := readJSON(filepath.Join(db.pdb, "data", "info", posterior.Data+".info.json"), &info); err != nil {
		return nil, err
	}
	s := &subject{name: name, model: filepath.Base(model.Implementations["stan"].Code)}
	text, err := os.ReadFile(filepath.Join(db.pdb, filepath.FromSlash(model.Implementations["stan"].Code)))
	if err != nil {
		return nil, err
	}
	s.text = string(text)
	if s.data, err = unzip(filepath.Join(db.pdb, filepath.FromSlash(info.File)+".zip")); err != nil {
		if path := new(fs.PathError); errors.As(err, &path) {
			err = path.Err // the page must not contain folders of this machine
		}
		return nil, fmt.Errorf("%s.zip: %w", info.File, err)
	}
	stan := &figuresOfStan{}
	switch err := readJSON(filepath.Join(db.ref, name+".json"), stan); {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	}
	if stan.ModelSum != checksum(text) || stan.DataSum != checksum(s.data) {
		return nil, errors.New("model or data are not those that Stan's figures are of")
	}
	s.stan = stan
	return s, nil
}

func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func readJSON(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// unzip reads the only file of an archive.
func unzip(file string) ([]byte, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer z.Close()
	if len(z.File) != 1 {
		return nil, fmt.Errorf("%s holds %d files, expected one", file, len(z.File))
	}
	f, err := z.File[0].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// figuresOfStan is the contents of a file of Stan's figures.
type figuresOfStan struct {
	ModelSum string   `json:"sha256_stan"`
	DataSum  string   `json:"sha256_data"`
	Dim      int      `json:"num_unconstrained"`
	Params   []string `json:"names_params"`
	TParams  []string `json:"names_tparams"`
	Points   []struct {
		X         []number `json:"x"`
		Propto    number   `json:"lp_propto_jac"`
		Grad      []number `json:"grad_propto_jac"`
		Full      number   `json:"lp_full_jac"`
		FullNoJac number   `json:"lp_full_nojac"`
		Values    []number `json:"constrained"`
	} `json:"points"`
	GradNS struct {
		CPUMin float64 `json:"cpu_min"`
	} `json:"grad_ns"`
	NUTS struct {
		Complete          int     `json:"chains_complete"`
		WarmupLeapfrogs   float64 `json:"warmup_leapfrogs"`
		SamplingLeapfrogs float64 `json:"sampling_leapfrogs"`
		WarmupCPU         float64 `json:"warmup_cpu_s"`
		SamplingCPU       float64 `json:"sampling_cpu_s"`
		LP                struct {
			Rhat number `json:"rhat"`
			Bulk number `json:"ess_bulk"`
			Tail number `json:"ess_tail"`
		} `json:"lp"`
		Summary struct {
			Mean []number `json:"mean"`
			SD   []number `json:"sd"`
			Q5   []number `json:"q5"`
			Q50  []number `json:"q50"`
			Q95  []number `json:"q95"`
			Rhat []number `json:"rhat"`
			Bulk []number `json:"ess_bulk"`
			Tail []number `json:"ess_tail"`
			MCSE []number `json:"mcse_mean"`
		} `json:"summary"`
		MaxRhat float64 `json:"max_rhat"`
		Chains  []struct {
			Complete    bool `json:"complete"`
			Divergences int  `json:"divergences"`
		} `json:"chains"`
	} `json:"nuts"`
}

// number is a number in JSON; one of the strings NaN, Infinity, -Infinity; or
// null, which is NaN.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err != nil {
		return fmt.Errorf("%s is no number", text)
	}
	*n = number(v)
	return nil
}

// MarshalJSON writes numbers that are not finite as null.
func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func floats(v []number) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// compile compiles the model, in the older syntax if it is not valid in the current one.
func (s *subject) compile() (m *model.Model, legacy bool, err error) {
	m, err = model.Compile(s.model, s.text)
	if err == nil {
		return m, false, nil
	}
	old, errLegacy := model.CompileContext(context.Background(), s.model, s.text, model.CompileOptions{Legacy: true})
	if errLegacy != nil {
		return nil, true, errLegacy
	}
	return old, true, nil
}

// says formats an error as one line, with its place in the model.
func says(err error) string {
	if list := model.Diagnostics(err).Errors(); len(list) > 0 {
		return oneLine(list[0])
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

func oneLine(d diag.Diagnostic) string {
	text := d.String()
	if d.Detail != "" {
		text += ": " + d.Detail
	}
	return strings.Join(strings.Fields(text), " ")
}
