package ast

import (
	"reflect"

	"github.com/ppl-lang/ppl/lang/source"
)

// Equal reports whether two trees mean the same. They may differ only in spans, comments and source
// files. Equal is slow; it is for tests and tools.
func Equal(a, b Node) bool { return equal(reflect.ValueOf(a), reflect.ValueOf(b)) }

func equal(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Type() {
	case reflect.TypeFor[Base](), reflect.TypeFor[source.Span](), reflect.TypeFor[*source.File](), reflect.TypeFor[[]Comment](), reflect.TypeFor[[]source.Span]():
		return true
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		return equal(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Float64: // compare exactly: a literal is never NaN
		return a.Float() == b.Float()
	}
	return a.Interface() == b.Interface()
}
