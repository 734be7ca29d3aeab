package study

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/source"
)

// The files in the folder of a study, beside journalFolder.
const (
	RecordName  = "study.json"  // what it is
	PlanName    = "plan.yaml"   // the plan as it was written
	ResultsName = "results.csv" // a row for each fit and quantity
	TimesName   = "times.csv"   // a row for each fit: how long it took, and where
	DrawsName   = "draws.zarr"  // draws that were kept
)

// Record is what the folder of a study keeps of it beside its results.
type Record struct {
	Program  string `json:"program"`
	Fits     int    `json:"fits"`
	Complete bool   `json:"complete"`
}

// IsFolder reports whether a folder is that of a study.
func IsFolder(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, RecordName))
	return err == nil
}

// maxRecord bounds the record of a study, in bytes.
const maxRecord = 1 << 28

// ReadRecord reads the record in the folder of a study.
func ReadRecord(dir string) (*Record, error) {
	path := filepath.Join(dir, RecordName)
	text, err := source.ReadFile(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, files.CheckSeal(path, []byte(text))
}

// writeRecord replaces the record, and the plan beside it.
func (r *run) writeRecord(complete bool) error {
	text, err := json.Marshal(Record{Program: "ppl " + ppl.Version(), Fits: r.progress.Total, Complete: complete})
	if err != nil {
		return err
	}
	dir := r.options.Folder
	if err := files.Replace(filepath.Join(dir, RecordName), files.Seal(text)); err != nil {
		return err
	}
	if r.options.Text == "" {
		return nil
	}
	return files.Replace(filepath.Join(dir, PlanName), []byte(r.options.Text))
}
