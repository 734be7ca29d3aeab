package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// Program is a model's source.
type Program struct {
	Name         string // of its file
	Text         string
	IncludePaths []string
}

// modelName returns the name that Stan's compiler gives to a model in the file.
func (p Program) modelName() string {
	name := strings.TrimSuffix(filepath.Base(p.Name), filepath.Ext(p.Name))
	return strings.TrimSuffix(name, "_model") + "_model"
}

// ReadProgram reads a model from a file.
func ReadProgram(path string) (Program, error) {
	text, err := source.ReadFile(path, 0)
	if err != nil {
		return Program{}, fmt.Errorf("cannot read the model: %w", err)
	}
	return Program{Name: path, Text: text, IncludePaths: []string{filepath.Dir(path)}}, nil
}

// NextTo returns the path of the model of a library, given the path from which the library was
// loaded: for folder/name_model.so it is folder/name_model.stan or folder/name.stan.
func NextTo(library string) (Program, error) {
	base := strings.TrimSuffix(library, filepath.Ext(library))
	for _, path := range []string{base + ".stan", strings.TrimSuffix(base, "_model") + ".stan"} {
		if exists(path) {
			return ReadProgram(path)
		}
	}
	return Program{}, fmt.Errorf("which model is meant? There is no %s.stan beside the library, and the data do not begin with %q", strings.TrimSuffix(filepath.Base(base), "_model"), `{"__ppl": "model.stan"`)
}

// key matches the beginning of data that contain their model.
var key = regexp.MustCompile(`^\s*\{\s*"__ppl"\s*:`)

// given is the value of __ppl in the data: the text of a model or the name of its file, or an
// object that also has the name for messages and the folders of included files.
type given struct {
	Text    string   `json:"text"`
	Name    string   `json:"name"`
	Include []string `json:"include"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (g *given) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &g.Text)
	}
	type object given // without this method
	return json.Unmarshal(text, (*object)(g))
}

// FromData takes the model from the data, whose first key may be __ppl: the text of a model, the
// name of a file that ends in .stan, or an object with text, name and include, the folders of
// included files. It returns the data without that key; ok is false if the data do not have it.
func FromData(text string) (p Program, rest string, ok bool, err error) {
	at := key.FindStringIndex(text)
	if at == nil {
		return p, text, false, nil
	}
	d := json.NewDecoder(strings.NewReader(text[at[1]:]))
	model := given{Name: "ppl.stan"}
	if err := d.Decode(&model); err != nil {
		return p, "", true, fmt.Errorf("__ppl in the data must be a text, which is a model or the name of its file, or an object: %w", err)
	}
	rest = strings.TrimSpace(text[at[1]+int(d.InputOffset()):])
	switch {
	case strings.HasPrefix(rest, ","):
		rest = "{" + rest[1:]
	case rest == "}":
		rest = ""
	default:
		return p, "", true, errors.New("the data are no JSON after __ppl")
	}
	if strings.HasSuffix(model.Text, ".stan") && !strings.Contains(model.Text, "\n") {
		p, err = ReadProgram(model.Text)
		return p, rest, true, err
	}
	return Program{Name: model.Name, Text: model.Text, IncludePaths: model.Include}, rest, true, nil
}
