package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// keeping stores the rows of each posterior in a separate file, so that a check that takes hours
// can be run in parts. A folder belongs to one check, one set of options and one version, which its
// file "of" records.
type keeping struct {
	folder string // "": nothing is kept
	of     string
}

func (k keeping) open() error {
	if k.folder == "" {
		return nil
	}
	if err := os.MkdirAll(k.folder, 0o755); err != nil {
		return err
	}
	file := filepath.Join(k.folder, "of")
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.WriteFile(file, []byte(k.of+"\n"), 0o644)
	case err != nil:
		return err
	case string(text) != k.of+"\n":
		return fmt.Errorf("--keep: %s has figures of %sand not of %s: name another folder", k.folder, text, k.of)
	}
	return nil
}

func (k keeping) file(name string) string { return filepath.Join(k.folder, name+".json") }

// rows returns the stored rows of a posterior, or nil.
func (k keeping) rows(name string) (json.RawMessage, error) {
	if k.folder == "" {
		return nil, nil
	}
	text, err := os.ReadFile(k.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// keep writes to a temporary file and renames it, since an incomplete file would be read as
// results. It does not store a row that could not be computed and only contains a reason.
func (k keeping) keep(name string, rows json.RawMessage) error {
	var made []struct {
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(rows, &made); err != nil || k.folder == "" {
		return err
	}
	for _, row := range made {
		if row.Reason != "" {
			return nil
		}
	}
	file := k.file(name)
	if err := os.WriteFile(file+".tmp", rows, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".tmp", file)
}
