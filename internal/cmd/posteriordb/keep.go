package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// keeping holds the rows of each posterior in a separate file, so that a check
// that takes hours can be made in pieces. One folder is for one check, one set of
// options and one version: the file "of" says which.
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

// rows are those kept of a posterior, or nil.
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

// keep writes to a temporary file and renames it, since a half file would be read as results. A row
// that could not be made, which has a reason, is not kept.
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
