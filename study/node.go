package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// This file reads YAML, which includes JSON, strictly: unknown parts of a plan are errors with a
// position.

// document is the text being read.
type document struct{ file *source.File }

// errorf makes an error about a node.
func (d *document) errorf(n *yaml.Node, fix, format string, args ...any) error {
	start, line := 0, 1
	for line < n.Line {
		i := strings.IndexByte(d.file.Text[start:], '\n')
		if i < 0 {
			break
		}
		start, line = start+i+1, line+1
	}
	start = min(start+max(n.Column-1, 0), len(d.file.Text))
	end := start + max(1, len(n.Value))
	if i := strings.IndexByte(d.file.Text[start:], '\n'); i >= 0 {
		end = min(end, start+i)
	}
	return &compile.Error{List: diag.List{{Span: source.Span{File: d.file, Start: start, End: min(end, len(d.file.Text))}, Summary: fmt.Sprintf(format, args...), Fix: fix}}}
}

// at adds the position of a node to an error, and keeps its remedy.
func (d *document) at(n *yaml.Node, err error) error {
	if err == nil {
		return nil
	}
	fix := ""
	if e := (*data.Error)(nil); errors.As(err, &e) {
		fix = e.Fix
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return d.errorf(n, fix, "%s", text)
}

func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// fields reads a mapping: each key by its function.
func (d *document) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node) error) error {
	n = resolved(n)
	if n.Kind != yaml.MappingNode {
		return d.errorf(n, "write NAME: VALUE lines, with "+list(known), "%s must have names and values", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolved(n.Content[i])
		read := known[key.Value]
		if read == nil {
			fix := "it can have " + list(known)
			if near := diag.Nearest(key.Value, maps.Keys(known)); near != "" {
				fix = "did you mean " + near + "?"
			}
			return d.errorf(key, fix, "%s has no %q", what, key.Value)
		}
		if seen[key.Value] {
			return d.errorf(key, "", "%s has %s twice", what, key.Value)
		}
		seen[key.Value] = true
		if err := read(resolved(n.Content[i+1])); err != nil {
			return err
		}
	}
	return nil
}

func list(known map[string]func(*yaml.Node) error) string {
	names := slices.Sorted(maps.Keys(known))
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// text reads a scalar as it is written.
func (d *document) text(to *string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			return d.errorf(n, "", "%s must be a single value", what)
		}
		*to = n.Value
		return nil
	}
}

// number reads an integer that is not below least.
func (d *document) number(to *int, least int, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Load(to) != nil || *to < least {
			return d.errorf(n, "", "%s must be a whole number, at least %d", what, least)
		}
		return nil
	}
}

// texts reads a list of scalars, or a single one.
func (d *document) texts(to *[]string, what string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		items := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			items = n.Content
		}
		*to = []string{}
		for _, item := range items {
			var s string
			if err := d.text(&s, what)(resolved(item)); err != nil {
				return err
			}
			*to = append(*to, s)
		}
		return nil
	}
}

// values reads values of variables.
func (d *document) values(n *yaml.Node) (*data.Set, error) {
	var v map[string]any
	if err := n.Load(&v); err != nil {
		return nil, d.errorf(n, "", "values must be names with numbers or lists of numbers")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, d.errorf(n, "", "values must be names with numbers or lists of numbers: %v", err)
	}
	set, err := data.ParseJSON("values", text)
	if err == nil {
		for _, name := range set.Names() {
			if e := set.Fault(name); e != nil {
				err = e
			}
		}
	}
	return set, d.at(n, err)
}

// child returns the value of a key, which the mapping must have.
func child(n *yaml.Node, key string) *yaml.Node {
	n = resolved(n)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return resolved(n.Content[i+1])
		}
	}
	return n
}
