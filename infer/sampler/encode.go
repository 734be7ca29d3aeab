package sampler

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/ppl-lang/ppl/infer"
)

// Encoded is a sampler with its options, as saved with a run.
type Encoded struct {
	Type    string          `json:"type"`              // the Go type, such as nuts.Sampler
	Options json.RawMessage `json:"options,omitempty"` // options that differ from their defaults
	Inner   *Encoded        `json:"inner,omitempty"`   // the sampler within a Riemannian one

	// Partial reports that the sampler has parts that are code, such as a reward, and cannot be
	// restored.
	Partial bool `json:"partial,omitempty"`
}

// Encode encodes a sampler. If it is not in [Table], only its type is kept.
func Encode(s infer.Sampler) Encoded {
	if g, ok := s.(Geometric); ok {
		options, partial := encode(reflect.ValueOf(g.Riemannian))
		inner := Encode(g.Sampler)
		inner.Partial = false // its Hamiltonian is made from the geometry
		return Encoded{Type: fmt.Sprintf("%T", s), Options: options, Inner: &inner, Partial: partial}
	}
	e := Encoded{Type: fmt.Sprintf("%T", s)}
	if _, known := typeOf(e.Type); !known {
		e.Partial = s != nil
		return e
	}
	e.Options, e.Partial = encode(reflect.ValueOf(s))
	return e
}

// Sampler restores the sampler. It is nil if it is partial or its type does not exist in this
// version.
func (e Encoded) Sampler() (infer.Sampler, error) {
	if e.Partial {
		return nil, nil
	}
	if e.Inner != nil && e.Type == fmt.Sprintf("%T", Geometric{}) {
		return e.geometric()
	}
	t, known := typeOf(e.Type)
	if !known {
		return nil, nil
	}
	v := reflect.New(t).Elem()
	if err := e.decode(v); err != nil {
		return nil, err
	}
	return v.Interface().(infer.Sampler), nil
}

func (e Encoded) geometric() (infer.Sampler, error) {
	var r Riemannian
	if err := e.decode(reflect.ValueOf(&r).Elem()); err != nil {
		return nil, err
	}
	t, known := typeOf(e.Inner.Type)
	if !known {
		return nil, nil
	}
	v := reflect.New(t).Elem()
	if err := e.Inner.decode(v); err != nil {
		return nil, err
	}
	if h := v.FieldByName("Hamiltonian"); h.IsValid() {
		h.Set(reflect.ValueOf(r.hamiltonian()))
	}
	return Geometric{v.Interface().(infer.Sampler), r}, nil
}

func (e Encoded) decode(to reflect.Value) error {
	if len(e.Options) == 0 {
		return nil
	}
	var from any
	if err := json.Unmarshal(e.Options, &from); err != nil {
		return fmt.Errorf("the options of the sampler %s: %w", e.Type, err)
	}
	if err := set(to, from); err != nil {
		return fmt.Errorf("the options of the sampler %s: %w", e.Type, err)
	}
	return nil
}

// typeOf returns the type, by name, of a sampler of the table or of one within it.
func typeOf(name string) (reflect.Type, bool) {
	for _, row := range Table() {
		s, err := row.Default()
		if err != nil {
			continue
		}
		if g, ok := s.(Geometric); ok {
			s = g.Sampler
		}
		if t := reflect.TypeOf(s); t.String() == name {
			return t, true
		}
	}
	return nil, false
}

// encode writes the exported fields of a struct that are not zero; partial reports that some cannot
// be written.
func encode(v reflect.Value) (text json.RawMessage, partial bool) {
	x := plain(v, &partial)
	if x == nil {
		return nil, partial
	}
	text, err := json.Marshal(x)
	return text, partial || err != nil
}

// plain converts a value for encoding/json, with numbers that are not finite as strings; nil if the
// value is zero.
func plain(v reflect.Value, partial *bool) any {
	if v.IsZero() {
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				if x := plain(v.Field(i), partial); x != nil {
					fields[f.Name] = x
				}
			}
		}
		if len(fields) == 0 {
			return nil
		}
		return fields
	case reflect.Slice, reflect.Array:
		list := []any{}
		for i := range v.Len() {
			x := plain(v.Index(i), partial)
			if x == nil {
				x = v.Index(i).Interface()
			}
			list = append(list, x)
		}
		return list
	case reflect.Float64:
		if x := v.Float(); math.IsInf(x, 0) || math.IsNaN(x) {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return v.Float()
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int64, reflect.Uint64:
		return v.Interface()
	}
	*partial = true
	return nil
}

// set is the inverse of plain. A field that the type does not have is an error: another version
// wrote it, and without it the sampler would be a different one.
func set(to reflect.Value, from any) error {
	wrong := fmt.Errorf("%T for a %s", from, to.Type())
	switch x := from.(type) {
	case map[string]any:
		if to.Kind() != reflect.Struct {
			return wrong
		}
		for name, part := range x {
			f := to.FieldByName(name)
			if !f.IsValid() || !f.CanSet() {
				return fmt.Errorf("there is no option %s", name)
			}
			if err := set(f, part); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	case []any:
		if to.Kind() == reflect.Array && len(x) != to.Len() || to.Kind() != reflect.Slice && to.Kind() != reflect.Array {
			return wrong
		}
		if to.Kind() == reflect.Slice {
			to.Set(reflect.MakeSlice(to.Type(), len(x), len(x)))
		}
		for i, part := range x {
			if err := set(to.Index(i), part); err != nil {
				return err
			}
		}
	case float64:
		switch {
		case to.CanFloat():
			to.SetFloat(x)
		case to.CanInt() && x == math.Trunc(x):
			to.SetInt(int64(x))
		case to.CanUint() && x == math.Trunc(x) && x >= 0:
			to.SetUint(uint64(x))
		default:
			return wrong
		}
	case string:
		switch number, err := strconv.ParseFloat(x, 64); {
		case to.Kind() == reflect.String:
			to.SetString(x)
		case to.CanFloat() && err == nil:
			to.SetFloat(number)
		default:
			return wrong
		}
	case bool:
		if to.Kind() != reflect.Bool {
			return wrong
		}
		to.SetBool(x)
	default:
		return wrong
	}
	return nil
}
