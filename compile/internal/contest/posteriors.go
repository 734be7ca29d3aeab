package contest

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Posterior is a posterior of posteriordb: a program in Stan and its data, as JSON.
type Posterior struct{ Name, Model, Text, Data string }

// Posteriors reads the posteriors in the folder posterior_database of a checkout of posteriordb,
// sorted by name. It leaves out those without a Stan program and those whose data are missing.
func Posteriors(folder string) (list []Posterior, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "posteriors", "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no posteriors", folder)
	}
	slices.Sort(files)
	for _, file := range files {
		var p struct {
			Name  string `json:"name"`
			Model string `json:"model_name"`
			Data  string `json:"data_name"`
		}
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, &p)
		}
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(folder, "models", "stan", p.Model+".stan"))
		if err != nil {
			continue
		}
		values, err := zipped(filepath.Join(folder, "data", "data", p.Data+".json.zip"))
		if err != nil {
			continue
		}
		list = append(list, Posterior{p.Name, p.Model, string(text), values})
	}
	return list, nil
}

func zipped(file string) (string, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return "", err
	}
	defer z.Close()
	if len(z.File) == 0 {
		return "", errors.New(file + " is empty")
	}
	r, err := z.File[0].Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}
