package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// describe formats a value so that tests can compare it: shape, kind, elements.
func describe(v Value) string {
	if v.IsInt {
		return fmt.Sprintf("%v int %v", v.Shape, v.Ints)
	}
	return fmt.Sprintf("%v real %v", v.Shape, v.Reals)
}

func TestParseJSON(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`0`, "[] int [0]"},
		{`-12`, "[] int [-12]"},
		{`-0`, "[] int [0]"},
		{`1.0`, "[] real [1]"},
		{`1e3`, "[] real [1000]"},
		{`-1.5E-3`, "[] real [-0.0015]"},
		{`9223372036854775807`, "[] int [9223372036854775807]"},
		{`-9223372036854775808`, "[] int [-9223372036854775808]"},
		{`9223372036854775808`, "[] real [9.223372036854776e+18]"},
		{`0.1`, "[] real [0.1]"},
		{`NaN`, "[] real [NaN]"},
		{`Infinity`, "[] real [+Inf]"},
		{`-Infinity`, "[] real [-Inf]"},
		{`-Inf`, "[] real [-Inf]"},
		{`"NaN"`, "[] real [NaN]"},
		{`"nan"`, "[] real [NaN]"},
		{`"Inf"`, "[] real [+Inf]"},
		{`"+inf"`, "[] real [+Inf]"},
		{`"-inf"`, "[] real [-Inf]"},
		{`"Infinity"`, "[] real [+Inf]"},
		{`"-Infinity"`, "[] real [-Inf]"},
		{`[]`, "[0] int []"},
		{`[ ]`, "[0] int []"},
		{`[[],[]]`, "[2 0] int []"},
		{`[[[]]]`, "[1 1 0] int []"},
		{`[1,2,3]`, "[3] int [1 2 3]"},
		{`[1,2.5,3]`, "[3] real [1 2.5 3]"},
		{"[\n1 ,\t2\r\n]", "[2] int [1 2]"},
		{`[[1,2,3],[4,5,6]]`, "[2 3] int [1 2 3 4 5 6]"},
		{`[[[1],[2]],[[3],["NaN"]]]`, "[2 2 1] real [1 2 3 NaN]"},
	} {
		set, err := ParseJSON("d.json", []byte(`{"before": 1, "x": `+test.text+` , "after":[2]}`))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		v, ok := set.Get("x")
		if got := describe(v); !ok || got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
		if v.IsInt && len(v.Ints) != len(v.Reals) {
			t.Errorf("%s: %d integers, %d reals", test.text, len(v.Ints), len(v.Reals))
		}
		if names := fmt.Sprint(set.Names()); names != "[before x after]" {
			t.Errorf("names %s", names)
		}
	}
	for _, text := range []string{`{}`, " {\n} \n", "\ufeff{}"} {
		if set, err := ParseJSON("d.json", []byte(text)); err != nil || len(set.Names()) != 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	set, err := ParseJSON("d.json", []byte(`{"a\u0062": 1}`))
	if err != nil || set.Names()[0] != "ab" {
		t.Errorf("escaped name: %v", err)
	}
}

func TestParseJSONErrors(t *testing.T) {
	for _, test := range []struct{ text, path, place, message string }{
		{``, "", "0:0", "is empty"},
		{"\xff\xfe{", "", "0:0", "UTF-16"},
		{`[1]`, "", "1:1", "must be one JSON object"},
		{"\x1f\x8b\x08", "", "0:0", "is compressed by gzip"},
		{"N <- 3\n", "", "1:1", "R's dump format"},
		{`{"y": [1, 2}`, "y[2]", "1:12", "expected a comma or the closing ] after y[2], but found }"},
		{`{"y": [[1, 2],` + "\n" + `[3]]}`, "y[2]", "2:1", "y[2] has 1 element, but y[1] has 2"},
		{`{"y": [[[1], [2]], [[3], [4, 5]]]}`, "y[2,2]", "1:26", "y[2,2] has 2 elements, but y[1,1] has 1"},
		{`{"y": [[1], 2]}`, "y[2]", "1:13", "y[2] is a number, but earlier elements in this position are arrays"},
		{`{"y": [1, [2]]}`, "y[2]", "1:11", "y[2] is an array, but earlier elements in this position are numbers"},
		{`{"y": [[[1]], 2]}`, "y[2]", "1:15", "is a number"},
		{`{"y": [[], [1]]}`, "y[2]", "1:12", "y[2] has 1 element, but y[1] has 0"},
		{`{"y": [[1, 2], [3, null]]}`, "y[2,2]", "1:20", "y[2,2] is null"},
		{`{"y": [1, NA]}`, "y[2]", "1:11", "y[2] is NA"},
		{`{"y": true}`, "y", "1:7", "y is true"},
		{`{"y": [false]}`, "y[1]", "1:8", "y[1] is false"},
		{`{"y": "abc"}`, "y", "1:7", `y is the string "abc"`},
		{`{"y": [1, {"1": 2}]}`, "y[2]", "1:11", "its neighbours are numbers"},
		{`{"y": {"a": 2}}`, "y", "1:8", "members are numbered"},
		{`{"y": {"1": 2, "1": 2}}`, "y.1", "1:16", "two values for y.1"},
		{`{"y": {"1": 2, "2": [1, x]}}`, "y.2[2]", "1:25", "x, which is not a number"},
		{`{"y": [{"1": 2}, {"1": [2]}]}`, "y", "1:7", "y[2] has other members or sizes than y[1]"},
		{`{"y": [{"1": 2}, 3]}`, "y[2]", "1:18", "is not a tuple"},
		{`{"y": {"1": {}, "1": 2}}`, "y.1", "1:17", "two values for y.1"},
		{`{"y": 1, "y": 2}`, "y", "1:10", "two values for y"},
		{`{"y": {"1": 2}, "y.1": 2}`, "y.1", "1:17", "two values for y.1"},
		{`{"y.1": 2, "y": {"1": 2}}`, "y", "1:12", "two values for y"},
		{`{"y": .5}`, "y", "1:7", ".5, which is not a number"},
		{`{"y": 5.}`, "y", "1:7", "5., which is not a number"},
		{`{"y": 01}`, "y", "1:7", "01, which is not a number"},
		{`{"y": +1}`, "y", "1:7", "+1, which is not a number"},
		{`{"y": 0x10}`, "y", "1:7", "0x10, which is not a number"},
		{`{"y": 1_000}`, "y", "1:7", "1_000, which is not a number"},
		{`{"y": 1e}`, "y", "1:7", "1e, which is not a number"},
		{`{"y": -}`, "y", "1:7", "-, which is not a number"},
		{`{"y": 1e999}`, "y", "1:7", "too large"},
		{`{"y": inf}`, "y", "1:7", "y is inf"},
		{`{"y": [1, 2,]}`, "y[2]", "1:12", "a comma before the closing ]"},
		{`{"y": 1,}`, "y", "1:8", "a comma before the closing }"},
		{`{y: 1}`, "", "1:2", "double quotes"},
		{`{'y': 1}`, "", "1:2", "double quotes"},
		{`{"y" 1}`, "", "1:6", "expected a colon"},
		{`{"y": 1 "z": 2}`, "y", "1:9", "expected a comma or the closing }"},
		{`{"y": 1} {`, "", "1:10", "text after the closing }"},
		{`{"y": [1, 2`, "y[2]", "1:11", "the file ends within y"},
		{`{"y": `, "y", "1:5", "the file ends after y"},
		{`{"y": 1`, "y", "1:7", "the file ends after y"},
		{`{"y": [1 // one` + "\n]}", "y[1]", "1:10", "JSON has no comments"},
		{`{"y`, "", "1:2", "does not end"},
		{"{\"y\n\": 1}", "", "1:2", "does not end on its line"},
		{`{"y": ` + strings.Repeat("[", 100), strings.Repeat("", 1), "1:71", "more than 64 nested arrays"},
		{`{"y": ['a']}`, "y[1]", "1:8", "single quote"},
		{`{"ü": 1, "y": x}`, "y", "1:15", "x, which is not a number"},
	} {
		set, err := ParseJSON("d.json", []byte(test.text))
		var e *Error
		// After a fault, the JSON can still be read to its end.
		if name, _, _ := strings.Cut(test.path, "["); err == nil && set.Fault(name) != nil {
			err = set.Fault(name)
		}
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v is no *Error", test.text, err)
			continue
		}
		if !strings.Contains(e.Message, test.message) {
			t.Errorf("%s: message %q, want %q", test.text, e.Message, test.message)
		}
		if place := fmt.Sprintf("%d:%d", e.Line, e.Column); place != test.place {
			t.Errorf("%s: place %s, want %s (%s)", test.text, place, test.place, e.Message)
		}
		if e.Path != test.path && test.path != "" {
			t.Errorf("%s: path %q, want %q", test.text, e.Path, test.path)
		}
	}
}

// TestFault checks that values that are not numbers are errors only if a program uses them, because
// data of other programs may also contain labels and missing values.
func TestFault(t *testing.T) {
	set, err := ParseJSON("d.json", []byte(`{"who": ["a", "b]"], "N": 2, "gaps": [1, null], "odd": {"k": [true]}, "y": [1, 2]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(set.Names()); got != "[who N gaps odd y]" {
		t.Errorf("names %s", got)
	}
	for name, want := range map[string]string{
		"who": `d.json:1:10: who[1] is the string "a"`, "gaps": "d.json:1:42: gaps[2] is null", "odd.1": "d.json:1:57: odd has a member \"k\"", "N": "", "y": "", "z": "",
	} {
		got := ""
		if e := set.Fault(name); e != nil {
			got = e.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if v, ok := set.Get(name); ok != (want == "" && name != "z") {
			t.Errorf("%s: %v, %t", name, v, ok)
		}
	}
}

func TestSpan(t *testing.T) {
	set, err := ParseJSON("d.json", []byte("{\n  \"y\": [[1, 2.5],\n    [\"NaN\", -4]], \"N\": 3}"))
	if err != nil {
		t.Fatal(err)
	}
	for element, want := range []string{"1", "2.5", `"NaN"`, "-4"} {
		if got := set.Span("y", element).Text(); got != want {
			t.Errorf("element %d is %q, want %q", element, got, want)
		}
	}
	if got := set.Span("N", -1).Text(); got != "3" {
		t.Errorf("N is %q", got)
	}
	v, _ := set.Get("y")
	e := set.Errorf("y", v.FirstReal(), "%s is no integer", set.Path("y", v.FirstReal()))
	if got, want := e.Error(), "d.json:2:13: y[1,2] is no integer"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if d := e.Diagnostic(); !d.Span.IsValid() || d.Span.Text() != "2.5" {
		t.Errorf("diagnostic at %q", d.Span.Text())
	}
	if set.Span("z", 0).IsValid() {
		t.Error("an unknown name has a place")
	}
}

func TestReadJSON(t *testing.T) {
	_, err := ReadJSON(filepath.Join(t.TempDir(), "absent.json"), Options{})
	if err == nil || !strings.Contains(err.Error(), "absent.json: cannot read the data: no such file") {
		t.Errorf("error %v", err)
	}
	name := filepath.Join(t.TempDir(), "d.json")
	if err := os.WriteFile(name, []byte(`{"N": 1}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if set, err := ReadJSON(name, Options{}); err != nil || set.File() != name {
		t.Errorf("%v", err)
	}
}

type (
	mat2x3 struct{}
	vec2   struct{ mat2x3 }
	inner  struct{ K int }
	fields struct {
		inner
		N      int
		Y      []float64 `ppl:"y"`
		Z      [2][2]int `json:"z,omitempty"`
		Hidden []string  `ppl:"-"`
		lower  int
	}
	level uint8
)

func (mat2x3) Dims() (int, int)    { return 2, 3 }
func (mat2x3) At(i, j int) float64 { return float64(10*i + j) }
func (vec2) Len() int              { return 2 }
func (vec2) AtVec(i int) float64   { return float64(i) }

func TestFromGo(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{3, "[] int [3]"},
		{level(7), "[] int [7]"},
		{2.0, "[] int [2]"}, // in an interface, as encoding/json decodes 2
		{float32(0.5), "[] real [0.5]"},
		{json.Number("4"), "[] int [4]"},
		{json.Number("4.0"), "[] real [4]"},
		{[]int{1, 2}, "[2] int [1 2]"},
		{[]float64{1, 2}, "[2] real [1 2]"},
		{[]float64{}, "[0] int []"},
		{[]float64(nil), "[0] int []"},
		{[][]float64{}, "[0 0] int []"},
		{[][]float64{{1, 2}, {3, 4}}, "[2 2] real [1 2 3 4]"},
		{[2][1]int8{{1}, {2}}, "[2 1] int [1 2]"},
		{[]any{1, 2.5}, "[2] real [1 2.5]"},
		{[]any{[]any{1}, []any{2}}, "[2 1] int [1 2]"},
		{[]any{[]float64{1}, []int{2}}, "[2 1] real [1 2]"},
		{new(5), "[] int [5]"},
		{mat2x3{}, "[2 3] real [0 1 2 10 11 12]"},
		{&mat2x3{}, "[2 3] real [0 1 2 10 11 12]"},
		{vec2{}, "[2] real [0 1]"},
		{[]mat2x3{{}}, "[1 2 3] real [0 1 2 10 11 12]"},
	} {
		set, err := FromGo(map[string]any{"x": test.value})
		if err != nil {
			t.Errorf("%v: %v", test.value, err)
			continue
		}
		v, _ := set.Get("x")
		if got := describe(v); got != test.want {
			t.Errorf("%#v: got %s, want %s", test.value, got, test.want)
		}
	}
	set, err := FromGo(&fields{inner: inner{K: 4}, N: 2, Y: []float64{1}, Z: [2][2]int{{1, 2}, {3, 4}}, lower: 1})
	if err != nil || fmt.Sprint(set.Names()) != "[K N y z]" {
		t.Errorf("struct: %v, %v", set.Names(), err)
	}
	if set, err := FromGo(map[string][]int{"b": {1}, "a": {2}}); err != nil || fmt.Sprint(set.Names()) != "[a b]" {
		t.Errorf("map of slices: %v", err)
	}
	if again, err := FromGo(set); err != nil || again != set {
		t.Errorf("a set: %v", err)
	}
	if set, err := FromGo(nil); err != nil || len(set.Names()) != 0 {
		t.Errorf("nil: %v", err)
	}
}

func TestFromGoErrors(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{true, "x is a bool"},
		{"a", "x is a string"},
		{nil, "x is nil"},
		{[]any{1, nil}, "x[2] is nil"},
		{[]any{1, []int{2}}, "x[2] is an array, but earlier elements in this position are numbers"},
		{[]any{[]int{2}, 1}, "x[2] is a number, but its neighbours are arrays"},
		{[]any{[]float64{2}, 1.5}, "x[2] is a number, but its neighbours are arrays"},
		{[]any{[]float64{2}, [][]float64{{1}}}, "x[2,1] is an array, but earlier elements in this position are numbers"},
		{[][]any{{1.5, "b"}}, "x[1,2] is a string"},
		{uint64(math.MaxUint64), "too large"},
		{make(chan int), "has type chan int"},
		{map[string]int{}, "has type map[string]int"},
	} {
		_, err := FromGo(map[string]any{"x": test.value})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, test.want) {
			t.Errorf("%#v: error %v, want %s", test.value, err, test.want)
		}
	}
	if _, err := FromGo([]int{1}); err == nil {
		t.Error("a slice is no data")
	}
}

// FuzzParseJSON looks for panics and compares with encoding/json. A text that ParseJSON accepts
// must be accepted by encoding/json, with the same values, unless it contains a byte order mark or
// names of non-finite numbers.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		`{"N": 3, "y": [1, 2.5, "NaN"], "z": [[], []]}`,
		`{"y": [[1, 2], [3]]}`, `{"a": -Infinity, "b": [NaN]}`, `{"y": [1, 2,]}`, `{"y": 1e999}`, "{\"\\u00e9\": 1}", `{`,
		`{"y": {}}`, `{"y": {"1": [1, 2], "2": {"2": 3.5, "1": [[], []]}}, "z": [{"1": 2}, {"1": 3}]}`, `{"y": {"1": 2}, "y.2": 3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := ParseJSON("f.json", text)
		var generic map[string]json.RawMessage
		stdErr := json.Unmarshal(text, &generic)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error of type %T", err)
			}
			_ = e.Diagnostic()
			return
		}
		if stdErr != nil {
			s := string(text)
			if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.HasPrefix(s, "\ufeff") {
				return
			}
			t.Fatalf("accepted, but encoding/json says %v", stdErr)
		}
		if len(generic) != len(set.Names()) {
			t.Fatalf("%d names, want %d", len(set.Names()), len(generic))
		}
		want := 0
		for _, name := range set.Names() {
			if e := set.Fault(name); e != nil {
				_ = e.Diagnostic()
				continue
			}
			var flat []float64
			var value any
			if err := json.Unmarshal(generic[name], &value); err != nil {
				t.Fatalf("%s: accepted, but encoding/json says %v", name, err)
			}
			flatten(value, &flat)
			want += len(flat)
			v, simple := set.Get(name)
			if !simple {
				continue // a tuple
			}
			if len(flat) != v.Size() {
				t.Fatalf("%s has %d elements, want %d", name, v.Size(), len(flat))
			}
			for i, want := range flat {
				if got := v.Reals[i]; got != want && !math.IsNaN(want) {
					t.Fatalf("%s: element %d is %v, want %v", name, i, got, want)
				}
				if set.Span(name, i).Text() == "" {
					t.Fatalf("%s: element %d has no place", name, i)
				}
			}
		}
		count := 0
		for name, v := range set.values { // of tuples, the members
			size := 1
			for _, n := range v.Shape {
				size *= n
			}
			if size != v.Size() {
				t.Fatalf("%s has shape %v but %d elements", name, v.Shape, v.Size())
			}
			count += size
		}
		if count != want {
			t.Fatalf("%d elements, want %d", count, want)
		}
	})
}

func flatten(v any, out *[]float64) {
	switch v := v.(type) {
	case float64:
		*out = append(*out, v)
	case string:
		*out = append(*out, math.NaN())
	case []any:
		for _, e := range v {
			flatten(e, out)
		}
	case map[string]any:
		for _, e := range v {
			flatten(e, out)
		}
	}
}

func TestFromGoAgreesWithJSON(t *testing.T) {
	text := `{"N": 2, "x": [[1.5, 2], [3, 4]], "y": [1, 0]}`
	fromText, err := ParseJSON("", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	fromGo, err := FromGo(map[string]any{"N": 2, "x": [][]float64{{1.5, 2}, {3, 4}}, "y": []int{1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range fromText.Names() {
		a, _ := fromText.Get(name)
		b, _ := fromGo.Get(name)
		if !reflect.DeepEqual(a.Shape, b.Shape) || !reflect.DeepEqual(a.Reals, b.Reals) || a.IsInt != b.IsInt || !reflect.DeepEqual(a.Ints, b.Ints) {
			t.Errorf("%s: %s and %s", name, describe(a), describe(b))
		}
	}
}

func BenchmarkParseJSON(b *testing.B) {
	reals, ints := []byte(`{"x": [`), []byte(`{"x": [`)
	for i := range 200_000 {
		if i > 0 {
			reals, ints = append(reals, ", "...), append(ints, ", "...)
		}
		reals = fmt.Appendf(reals, "[%.15g, %.4g]", math.Sin(float64(i)), math.Cos(float64(i)))
		ints = fmt.Appendf(ints, "%d", i*i%10007)
	}
	for _, bench := range []struct {
		name string
		text []byte
	}{{"reals", append(reals, "]}"...)}, {"ints", append(ints, "]}"...)}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				if _, err := ParseJSON("x.json", bench.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestTuples reads tuples. Each member of a tuple is a separate value.
func TestTuples(t *testing.T) {
	type inner struct {
		A float64
		B []int
	}
	type outer struct {
		N     int
		Inner inner
	}
	text := `{"t": {"2": {"1": 1.5, "2": [4, 5]}, "1": 3}, "a": [{"1": 1, "2": [1, 2]}, {"1": 2.5, "2": [3, 4]}], "z": [[1, -1], [0, 2]]}`
	json, err := ParseJSON("d.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	fromGo, err := FromGo(map[string]any{
		"t": outer{3, inner{1.5, []int{4, 5}}},
		"a": []map[string]any{{"1": 1, "2": []int{1, 2}}, {"1": 2.5, "2": []int{3, 4}}},
		"z": []complex128{1 - 1i, 2i},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []*Set{json, fromGo} {
		for name, want := range map[string]string{
			"t.1": "[] true [3]", "t.2.1": "[] false [1.5]", "t.2.2": "[2] true [4 5]",
			"a.1": "[2] false [1 2.5]", "a.2": "[2 2] true [1 2 3 4]", "z": "[2 2] false [1 -1 0 2]",
		} {
			v, ok := set.Get(name)
			if got := fmt.Sprint(v.Shape, v.IsInt, v.Reals); !ok || got != want && name != "z" {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		z, _ := set.Get("z")
		if got := fmt.Sprint(z.Half(0).Reals, z.Half(1).Reals, z.Half(1).Shape); got != "[1 0] [-1 2] [2]" {
			t.Error(got)
		}
	}
	if names := json.Names(); len(names) != 3 {
		t.Error(names)
	}
}

// TestTextIsNotKept checks that a set keeps no part of the text after Forget. A single substring,
// such as a name, would keep all of the text in memory.
func TestTextIsNotKept(t *testing.T) {
	pad := strings.Repeat(" ", 1<<20)
	for name, text := range map[string]string{
		"a.json":   `{"count": 3, "level": [1.5, 2.5], "pair": {"1": 2, "2": [1, 2]}` + pad + `}`,
		"a.csv":    "count,level\n1,low\n2,high\n" + strings.Repeat("\n", 1<<20),
		"a.data.R": "count <- 3\nlevel <- c(1.5, 2.5)\n" + pad,
	} {
		text = strings.Clone(text)
		collected := make(chan bool)
		runtime.AddCleanup(unsafe.StringData(text), func(c chan bool) { close(c) }, collected)
		set, err := Parse(name, text, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text = ""
		set.Forget()
		kept := true
		for range 20 {
			runtime.GC()
			select {
			case <-collected:
				kept = false
			case <-time.After(10 * time.Millisecond):
			}
			if !kept {
				break
			}
		}
		if kept {
			t.Errorf("%s: the text is kept", name)
		}
		runtime.KeepAlive(set)
	}
}

// TestValueSize checks that maps keep values without an allocation each.
func TestValueSize(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n > 128 {
		t.Errorf("%d bytes", n)
	}
}
