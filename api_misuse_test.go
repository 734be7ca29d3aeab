package ppl_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/ppl-lang/ppl"
)

// TestNothing calls functions and the methods of models and posteriors with nothing:
// no receiver, an empty one, no context, and arguments that are nil, zero or empty.
func TestNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	functions := map[string]any{
		"Compile": ppl.Compile, "CompileContext": ppl.CompileContext, "CompileFile": ppl.CompileFile,
		"CompileFileContext": ppl.CompileFileContext, "Diagnostics": ppl.Diagnostics, "Gather": ppl.Gather,
		"ReadCSV": ppl.ReadCSV, "ReadData": ppl.ReadData, "ReadFit": ppl.ReadFit, "ReadZarr": ppl.ReadZarr,
		"Sample": ppl.Sample, "Version": ppl.Version, "ZarrGroups": ppl.ZarrGroups,
	}
	for _, r := range []any{&ppl.Model{}, (*ppl.Model)(nil), &ppl.Posterior{}, (*ppl.Posterior)(nil)} {
		v := reflect.ValueOf(r)
		for i := range v.NumMethod() {
			name := v.Type().String() + "." + v.Type().Method(i).Name
			if v.IsNil() {
				name += " of nil"
			}
			functions[name] = v.Method(i).Interface()
		}
	}
	for name, f := range functions {
		for _, empty := range []bool{false, true} {
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s: %v", name, p)
					}
				}()
				v := reflect.ValueOf(f)
				var args []reflect.Value
				for i := range v.Type().NumIn() {
					in := v.Type().In(i)
					switch {
					case empty && in.Kind() == reflect.Pointer:
						args = append(args, reflect.New(in.Elem()))
					case empty && in == reflect.TypeFor[context.Context]():
						args = append(args, reflect.ValueOf(t.Context()))
					default:
						args = append(args, reflect.Zero(in))
					}
				}
				if v.Type().IsVariadic() {
					v.CallSlice(args)
					return
				}
				v.Call(args)
			}()
		}
	}
}
