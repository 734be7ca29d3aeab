package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/infer"
)

var update = flag.Bool("update", false, "write the schemas in doc/reference/json")

// TestSchemas checks that the schemas in doc/reference/json match the types, and that
// doc/reference/json.md lists them.
func TestSchemas(t *testing.T) {
	dir := filepath.Join("..", "..", "doc", "reference", "json")
	page, err := os.ReadFile(dir + ".md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, d := range documents {
		s := schemas{defs: object{}, comments: map[string]map[string]string{}}
		text := s.document(d)
		for _, e := range s.errors {
			t.Errorf("%s: %s", d.name, e)
		}
		name := d.name + ".schema.json"
		want[name] = true
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, text) {
			t.Errorf("%s is not the schema of %v (%v): run go generate ./cmd/ppl", path, d.typ, err)
		}
		row := fmt.Sprintf("| [%s](json/%s) | %d | %s | %s |", d.name, name, d.version, sources(d), d.title)
		if !strings.Contains(string(page), row) {
			t.Errorf("doc/reference/json.md has no row\n%s", row)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] && !strings.HasSuffix(f.Name(), ".go") {
			t.Errorf("%s is the schema of no document", f.Name())
		}
	}
}

// sources returns the text of the page about the places that a document comes from.
func sources(d document) string {
	var names []string
	for _, from := range d.from {
		if !strings.ContainsAny(from, ".-/") {
			from = "ppl " + from + " --json"
		}
		names = append(names, "`"+from+"`")
	}
	return strings.Join(names, ", ")
}

type object = map[string]any

// schemas makes the schema of a document in JSON Schema 2020-12. The schema allows no members that
// are not declared, and describes each that is.
type schemas struct {
	defs     object
	comments map[string]map[string]string // by package and Type.Field
	errors   []string
}

func (s *schemas) document(d document) []byte {
	root := s.structure(d.typ, d.typ.Name())
	members := root["properties"].(object)
	members[versionKey] = object{"const": d.version, "description": "version of the format"}
	required := root["required"].([]string)
	if !slices.Contains(required, versionKey) {
		root["required"] = append([]string{versionKey}, required...)
	}
	for _, from := range d.from {
		if strings.HasSuffix(from, ".json") { // see files.Seal
			members["sha256"] = object{"type": "string", "description": "SHA-256 of the text before this member"}
			root["required"] = append(root["required"].([]string), "sha256")
		}
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = d.title
	if len(s.defs) > 0 {
		root["$defs"] = s.defs
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		s.errors = append(s.errors, err.Error())
	}
	return b.Bytes()
}

// notANumber is the schema of the values that stand for numbers that JSON does not have.
var notANumber = object{"enum": []string{"NaN", "Infinity", "-Infinity"}}

// special has the schemas of types that appear in JSON in another form than their Go type suggests,
// and of the content of fields of type any.
var special = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[number]():          {"anyOf": []object{{"type": "number"}, notANumber}},
	reflect.TypeFor[exact]():           {"anyOf": []object{{"type": "number"}, notANumber}},
	reflect.TypeFor[report.Number]():   {"anyOf": []object{{"type": "number"}, notANumber}},
	reflect.TypeFor[report.Values]():   {"type": "array", "items": object{"type": []string{"number", "null"}}},
	reflect.TypeFor[report.Packed]():   {"type": "string", "contentEncoding": "base64"},
	reflect.TypeFor[any]():             {"type": []string{"string", "number"}}, // cells of tables
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[infer.Adapted](): {
		"type": "object", "additionalProperties": false, "properties": object{
			"stepsize":         object{"type": "number", "description": "step size"},
			"metric_type":      object{"enum": []string{"unit_e", "diag_e", "dense_e", "low_rank_e"}, "description": "kind of the metric"},
			"inv_metric":       object{"type": "array", "items": object{"type": []string{"number", "array"}, "items": object{"type": "number"}}, "description": "inverse metric: a diagonal, or rows of a matrix"},
			"low_rank_values":  object{"type": "array", "items": object{"type": "number"}, "description": "eigenvalues of a low-rank metric"},
			"low_rank_vectors": object{"type": "array", "items": object{"type": "array", "items": object{"type": "number"}}, "description": "their eigenvectors"},
			"mean":             object{"type": "array", "items": object{"type": "number"}, "description": "mean of the unconstrained draws in warm-up"},
			"recentring":       object{"type": "array", "items": object{"type": "number"}, "description": "four numbers per effect that is recentred"},
			"position":         object{"type": "array", "items": object{"type": "number"}, "description": "unconstrained position at the end"},
		},
	},
}

// of returns the schema of a type.
func (s *schemas) of(t reflect.Type, field string) object {
	if field == "approximationJSON.Details" {
		return object{"anyOf": []object{s.of(reflect.TypeFor[laplaceJSON](), ""), s.of(reflect.TypeFor[[]pathJSON](), ""), s.of(reflect.TypeFor[variationalJSON](), "")}}
	}
	if field == "Error.Messages" {
		return s.of(reflect.TypeFor[[]jsonMessage](), "")
	}
	if x, ok := special[t]; ok {
		return copied(x)
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Pointer:
		return object{"anyOf": []object{s.of(t.Elem(), field), {"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem(), field)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem(), field)}
	case reflect.Struct:
		if t.Name() == "" {
			return s.structure(t, field)
		}
		name := filepath.Base(t.PkgPath()) + "." + t.Name()
		if _, ok := s.defs[name]; !ok {
			s.defs[name] = nil // a type may contain itself
			s.defs[name] = s.structure(t, t.Name())
		}
		return object{"$ref": "#/$defs/" + name}
	}
	s.errors = append(s.errors, fmt.Sprintf("%s: no schema for %v", field, t))
	return object{}
}

func copied(x object) object {
	out := object{}
	for k, v := range x {
		out[k] = v
	}
	return out
}

// structure returns the schema of a struct, including the members of embedded structs.
func (s *schemas) structure(t reflect.Type, owner string) object {
	if m := reflect.TypeFor[json.Marshaler](); t.Implements(m) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		s.errors = append(s.errors, fmt.Sprintf("%v writes itself", t))
	}
	members, required := object{}, []string{}
	s.members(t, owner, members, &required)
	return object{"type": "object", "additionalProperties": false, "properties": members, "required": required}
}

func (s *schemas) members(t reflect.Type, owner string, members object, required *[]string) {
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && !tagged:
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			s.members(inner, inner.Name(), members, required)
			continue
		}
		key := owner + "." + f.Name
		x := s.of(f.Type, key)
		text := s.comment(t, key, f.Name)
		if text == "" {
			s.errors = append(s.errors, fmt.Sprintf("the field %s has no comment that describes it", key))
		}
		if x["$ref"] != nil { // beside $ref, the description is that of the member
			x = object{"$ref": x["$ref"]}
		}
		x["description"] = text
		members[name] = x
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// comment returns the comment of a field in the source, without the name of the field at its
// beginning.
func (s *schemas) comment(t reflect.Type, key, name string) string {
	path := t.PkgPath()
	if path == "" || path == "main" || strings.HasSuffix(path, "/cmd/ppl") {
		path = module + "/cmd/ppl"
	}
	if s.comments[path] == nil {
		s.comments[path] = comments(filepath.Join("..", "..", filepath.FromSlash(strings.TrimPrefix(path, module+"/"))))
	}
	text := s.comments[path][key]
	for _, verb := range []string{" is ", " are ", " "} {
		if rest, ok := strings.CutPrefix(text, name+verb); ok {
			text = rest
			break
		}
	}
	return strings.TrimSuffix(text, ".")
}

// comments returns the comments of all fields of the structs in a folder. The keys are Type.Field
// or, for a struct in another struct, Type.Field.Field.
func comments(dir string) map[string]string {
	out := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if ok {
				note(out, spec.Name.Name, spec.Type)
			}
			return !ok
		})
	}
	return out
}

// note adds the comments of the fields of a struct to out.
func note(out map[string]string, owner string, x ast.Expr) {
	t, ok := x.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range t.Fields.List {
		text := field.Doc.Text()
		if text == "" {
			text = field.Comment.Text()
		}
		for _, name := range field.Names {
			key := owner + "." + name.Name
			out[key] = strings.Join(strings.Fields(text), " ")
			note(out, key, field.Type)
		}
	}
}
