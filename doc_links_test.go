package ppl_test

import (
	"go/ast"
	"go/doc"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocLinks checks that links in the documentation of promised packages have a target.
func TestDocLinks(t *testing.T) {
	packages := map[string]*doc.Package{} // by folder
	load := func(dir string) *doc.Package {
		p, ok := packages[dir]
		if !ok {
			p = documented(t, dir)
			packages[dir] = p
		}
		return p
	}
	link := regexp.MustCompile(`\[\*?([a-z]\w*\.)?([A-Z]\w*)(\.[A-Z]\w*)?\]`)
	checked := 0
	for _, dir := range promised(t) {
		p := load(dir)
		texts := map[string]string{"the package": p.Doc}
		for _, f := range p.Funcs {
			texts[f.Name] = f.Doc
		}
		for _, typ := range p.Types {
			texts[typ.Name] = typ.Doc
			for _, f := range append(typ.Funcs, typ.Methods...) {
				texts[typ.Name+"."+f.Name] = f.Doc
			}
		}
		for of, text := range texts {
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "\t") || strings.Contains(line, "summary [CODE]") {
					continue // preformatted text, or text about brackets
				}
				for _, m := range link.FindAllStringSubmatch(line, -1) {
					checked++
					in := p
					if name := strings.TrimSuffix(m[1], "."); name != "" {
						at := slices.IndexFunc(p.Imports, func(i string) bool { return path.Base(i) == name })
						if at < 0 {
							t.Errorf("%s, %s: %s is of a package that this one does not import: write its name without brackets", dir, of, m[0])
							continue
						}
						below, own := strings.CutPrefix(p.Imports[at], module+"/")
						if in = load(below); !own || in == nil {
							continue // for instance of the standard library
						}
					}
					if !declares(in, m[2], strings.TrimPrefix(m[3], ".")) {
						t.Errorf("%s, %s: %s leads nowhere", dir, of, m[0])
					}
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d links were found", checked)
	}
}

// declares reports whether a package has a name or, with member, whether the type has this method
// or field. Members of aliases are not checked.
func declares(p *doc.Package, name, member string) bool {
	for _, f := range p.Funcs {
		if f.Name == name && member == "" {
			return true
		}
	}
	for _, v := range append(append([]*doc.Value{}, p.Consts...), p.Vars...) {
		if slices.Contains(v.Names, name) && member == "" {
			return true
		}
	}
	for _, t := range p.Types {
		for _, f := range t.Funcs {
			if f.Name == name && member == "" {
				return true
			}
		}
		for _, v := range append(append([]*doc.Value{}, t.Consts...), t.Vars...) {
			if slices.Contains(v.Names, name) && member == "" {
				return true
			}
		}
		if t.Name != name {
			continue
		}
		if member == "" {
			return true
		}
		for _, m := range t.Methods {
			if m.Name == member {
				return true
			}
		}
		spec := t.Decl.Specs[0].(*ast.TypeSpec)
		for _, s := range t.Decl.Specs {
			if s.(*ast.TypeSpec).Name.Name == name {
				spec = s.(*ast.TypeSpec)
			}
		}
		var fields *ast.FieldList
		switch x := spec.Type.(type) {
		case *ast.StructType:
			fields = x.Fields
		case *ast.InterfaceType:
			fields = x.Methods
		default:
			return true // an alias, or a named type of another kind
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				if n.Name == member {
					return true
				}
			}
			if len(f.Names) == 0 {
				return true // an embedded type may have it
			}
		}
	}
	return false
}
