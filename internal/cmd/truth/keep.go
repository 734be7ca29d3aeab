package main

import (
	"fmt"

	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/internal/figures"
)

// key says what a run was.
type key struct {
	Target  string `json:"target"`
	Sampler string `json:"sampler"`
	Seed    uint64 `json:"seed"`
	Version string `json:"version"`
	What    string `json:"what"` // "verdict" or "ess"
}

func (k key) String() string {
	return fmt.Sprintf("%s, %s, seed %d, version %s, %s", k.Target, k.Sampler, k.Seed, k.Version, k.What)
}

// row is a stored run, one per line.
type row struct {
	key
	Class     string        `json:"class"`
	Drawn     bool          `json:"drawn,omitempty"`
	Verdict   string        `json:"verdict,omitempty"`
	Worst     string        `json:"worst,omitempty"` // quantity with the largest error
	Off       float64       `json:"off,omitempty"`   // its error in units of the allowed error
	Value     float64       `json:"value,omitempty"`
	Truth     float64       `json:"truth,omitempty"`
	Findings  []string      `json:"findings,omitempty"` // codes; notes in brackets
	Error     string        `json:"error,omitempty"`
	Gradients int64         `json:"gradients"`
	ESS       float64       `json:"ess,omitempty"` // smallest claim of the run for a quantity
	Notes     []string      `json:"notes,omitempty"`
	Scores    []truth.Score `json:"scores,omitempty"`
	Tempering *tempering    `json:"tempering,omitempty"` // for runs of parallel tempering
}

// keep is the file of runs.
type keep = figures.Kept[row]

func openKeep(name string) (*keep, error) {
	return figures.OpenKept(name, func(r row) string { return r.key.String() })
}

// writeSection replaces a section of the page.
func writeSection(file, name, text string) error {
	return figures.Section{Name: name, Command: "internal/cmd/truth"}.Write(file, text)
}
