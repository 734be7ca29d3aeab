package study

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
)

// The files in the folder of a study, in addition to journalFolder.
const (
	RecordName  = "study.json"  // the record of the study
	PlanName    = "plan.yaml"   // the text of the plan
	ResultsName = "results.csv" // a row for each fit and quantity
	TimesName   = "times.csv"   // a row for each fit: its time, and the processor
	DrawsName   = "draws.zarr"  // kept draws
)

// RecordVersion is the version of the format of records. It increases when a field changes its
// meaning or is removed.
const RecordVersion = 1

// Record describes a study in its folder, in addition to the results.
type Record struct {
	SchemaVersion int `json:"schema_version"` // version of the record's format; 0: before there was one

	Program  string `json:"program"`  // program that made the study, with its version
	Fits     int    `json:"fits"`     // number of fits
	Complete bool   `json:"complete"` // whether all fits are done
}

// IsFolder reports whether a folder belongs to a study.
func IsFolder(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, RecordName))
	return err == nil
}

// maxRecord is the maximum size of a study's record, in bytes.
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
	if r.SchemaVersion > RecordVersion {
		return nil, fmt.Errorf("%s was written by a newer program (%s), whose records have version %d; this one reads up to %d. Update ppl", path, r.Program, r.SchemaVersion, RecordVersion)
	}
	return r, files.CheckSeal(path, []byte(text))
}

// writeRecord replaces the record and the plan in the folder.
func (r *run) writeRecord(complete bool) error {
	text, err := json.Marshal(Record{SchemaVersion: RecordVersion, Program: "ppl " + model.Version(), Fits: r.progress.Total, Complete: complete})
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
