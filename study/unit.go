package study

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
)

// version is part of every key. It changes when the same specification gives other results.
const version = 2

// Spec is all that the result of a fit depends on. Models and data are named by the
// SHA-256 of their texts.
type Spec struct {
	Version    int     `json:"version"`
	Model      string  `json:"model"`
	Quantities string  `json:"quantities,omitempty"` // a model whose generated quantities are computed at the draws
	Data       string  `json:"data"`
	Truth      string  `json:"truth,omitempty"`     // parameters that the data were made from
	Test       string  `json:"test,omitempty"`      // data that are held out
	TestRows   int     `json:"test_rows,omitempty"` // observations in them
	Dim        int     `json:"dim,omitempty"`       // required number of unconstrained parameters; 0: any
	Options    Options `json:"options"`
	Seed       uint64  `json:"seed"`
	BindSeed   uint64  `json:"bind_seed"` // seed of random numbers in transformed data
	Keep       Keep    `json:"keep"`
}

// Keep says what is kept of a fit in addition to its findings. Quantities are names of variables or
// of elements, such as theta or theta[1]. Only kept results are computed. Findings use the kept
// quantities, the parameters, and the kept statistics.
type Keep struct {
	Summary    []string `json:"summary"`              // quantities whose summary is kept; nil: all
	NoSummary  bool     `json:"none,omitempty"`       // none of them
	Statistics []string `json:"statistics,omitempty"` // of the summary, as [diagnose.MeasureNames]; nil: all
	Draws      []string `json:"draws,omitempty"`      // quantities whose draws are kept

	// Ranks says that draws are kept to rank parameters among them. There are then few draws, from
	// one chain, so findings about that are left out.
	Ranks bool `json:"ranks,omitempty"`
}

// measures returns the measures needed for the kept statistics.
func (k *Keep) measures() diagnose.Measures {
	if k.Statistics == nil {
		return diagnose.AllMeasures
	}
	return diagnose.MeasuresOf(k.Statistics)
}

// summarised reports whether the summary of a quantity is kept. name is the readable name.
func (k *Keep) summarised(quantity string) bool {
	return !k.NoSummary && selected(k.Summary, quantity)
}

// key returns the digest of a specification, which is the name of its result.
func (s *Spec) key() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen: it has only strings, numbers, and maps of strings
	}
	return digest(text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Unit is a fit of a study.
type Unit struct {
	Number int // number in the study, from 0
	Key    string
	Spec   Spec

	// Model, Data and Labels identify the fit in the results. Labels has the values of the grid's
	// axes, then the repetition.
	Model, Data string
	Labels      []string

	// TimeLimit is the plan's time limit.
	TimeLimit time.Duration

	// Err says why the fit is impossible, for instance because the data could not be read.
	Err error

	// Blobs has the texts that Spec names by digest, except models.
	Blobs map[string][]byte
}

// modelText is the encoded form of a model.
type modelText struct {
	Name     string            `json:"name"`
	Text     string            `json:"text"`
	Included map[string]string `json:"included,omitempty"`
	Legacy   bool              `json:"legacy,omitempty"`
}

// Model is a model of a study.
type Model struct {
	Name string // in the results

	compiled *model.Model
	blob     []byte
	digest   string
	needs    []string // variables of the data
}

// NewModel makes a model of a study. legacy has the meaning of the field in [model.CompileOptions].
func NewModel(name string, m *model.Model, legacy bool) (*Model, error) {
	included := m.Included()
	if len(included) == 0 {
		included = nil
	}
	blob, err := json.Marshal(modelText{Name: name, Text: m.Text(), Included: included, Legacy: legacy})
	if err != nil {
		return nil, err
	}
	out := &Model{Name: name, compiled: m, blob: blob, digest: digest(blob)}
	for _, v := range m.Program().IR().Data {
		out.needs = append(out.needs, v.Name)
	}
	return out, nil
}

// compileBlob compiles an encoded model.
func compileBlob(blob []byte) (*model.Model, error) {
	var t modelText
	if err := json.Unmarshal(blob, &t); err != nil {
		return nil, fmt.Errorf("a model of the study is damaged: %w", err)
	}
	return model.CompileContext(context.Background(), t.Name, t.Text, model.CompileOptions{Included: t.Included, Legacy: t.Legacy})
}

// textOf encodes a data set, such that equal sets have equal bytes.
func textOf(set *data.Set) ([]byte, error) {
	var b bytes.Buffer
	err := set.WriteJSON(&b)
	return b.Bytes(), err
}

// needed returns an error if values that a model needs are missing or faulty.
func (m *Model) needed(set *data.Set, faults map[string]error) error {
	for _, name := range m.needs {
		if err := faults[name]; err != nil {
			return err
		}
		if e := set.Fault(name); e != nil {
			return e
		}
	}
	return nil
}

// selected reports whether a quantity, given by its readable name, is among names; nil means all.
func selected(names []string, quantity string) bool {
	if names == nil {
		return true
	}
	return slices.ContainsFunc(names, func(n string) bool {
		if n == quantity {
			return true
		}
		rest, ok := strings.CutPrefix(quantity, n)
		return ok && (rest[0] == '[' || rest[0] == '.')
	})
}
