package data

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// FromGo makes a set from Go values: a map from names to values, or a struct or pointer to one. The
// name of a field is that of a tag `ppl:"name"`, else that of a tag `json:"name"`, else the field's
// own. The tag "-" leaves a field out. Fields of embedded structs are included.
//
// A value is an integer or floating-point number, a slice or array of values, a json.Number, or
// something with the methods of a gonum matrix (Dims, At) or vector (Len, AtVec). Numbers of an
// integer type are integers; those of a floating-point type are reals. A complex number is an array
// of its two parts. Slices of slices must be rectangular, unless the program declares a ragged
// variable. No value may contain itself. FromGo does not catch a panic in a value's own methods. A
// whole number in an interface, as encoding/json decodes into a map[string]any, is an integer,
// which also serves as a real. A tuple is a struct whose exported fields are the members in order,
// or a map with the keys "1", "2" and so on. A *Set is returned unchanged; nil is the empty set.
// FromGo refuses time.Time and time.Duration, because only the program knows their unit as numbers.
//
// The error, if any, is an [*Error] whose Path names the place.
func FromGo(v any) (*Set, error) { return FromGoWith(v, Options{}) }

// FromGoWith is [FromGo] within the memory limit of the options. A value that another one contains
// several times counts each time.
func FromGoWith(v any, o Options) (*Set, error) {
	memory, err := o.allow("", 0)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return Empty(), nil
	case *Set:
		if v == nil {
			return Empty(), nil
		}
		return v, nil
	}
	rv := reflect.ValueOf(v)
	for depth := 0; (rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Interface) && !rv.IsNil(); depth++ {
		if depth == maxDims {
			return nil, tooDeep("")
		}
		rv = rv.Elem()
	}
	set, r := Empty(), &goReader{memory}
	switch {
	case rv.Kind() == reflect.Map && rv.Type().Key().Kind() == reflect.String:
		names := make([]string, 0, rv.Len())
		for _, k := range rv.MapKeys() {
			names = append(names, k.String())
		}
		slices.Sort(names)
		for _, name := range names {
			key := reflect.ValueOf(name).Convert(rv.Type().Key())
			if err := r.add(set, name, rv.MapIndex(key)); err != nil {
				return nil, err
			}
		}
	case rv.Kind() == reflect.Struct:
		set.structure = true
		if err := r.addFields(set, rv, 0); err != nil {
			return nil, err
		}
	default:
		return nil, goError("", "data of type %T: want a map from names to values, or a struct", v)
	}
	return set, nil
}

func goError(path, format string, args ...any) error {
	return &Error{Path: path, Message: fmt.Sprintf(format, args...)}
}

// tooDeep returns the error of a value nested too deeply, which probably contains itself.
func tooDeep(path string) error {
	name := path
	if path == "" {
		name = "the value"
	}
	return goError(path, "%s has more than %d nested pointers, structs or maps; does it contain itself?", name, maxDims)
}

// goReader reads Go values within a limit of memory.
type goReader struct{ memory *allowance }

// take takes the memory of n elements of a size in bytes from the limit, before they are read.
func (r *goReader) take(n int, bytes int64) error {
	if int64(n) > math.MaxInt64/bytes {
		return memoryError("", "more than any computer's memory", r.memory.limit-r.memory.used, r.memory.limit)
	}
	return r.memory.take(bytes * int64(max(n, 0)))
}

// addFields adds the fields of a struct. depth is the number of embedded structs around it.
func (r *goReader) addFields(s *Set, v reflect.Value, depth int) error {
	if depth == maxDims {
		return tooDeep("")
	}
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := fieldName(f)
		if f.Anonymous && !tagged {
			e := v.Field(i)
			if e.Kind() == reflect.Pointer {
				if e.IsNil() {
					continue
				}
				e = e.Elem()
			}
			if e.Kind() == reflect.Struct {
				if err := r.addFields(s, e, depth+1); err != nil {
					return err
				}
				continue
			}
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		// Structs have more fields than models have data. A field that is not data is a fault only
		// if the model uses it.
		if err := r.add(s, name, v.Field(i)); err != nil {
			e, ok := err.(*Error)
			if !ok || s.has(name) {
				return err
			}
			s.addFault(name, e)
		}
	}
	return nil
}

func fieldName(f reflect.StructField) (name string, tagged bool) {
	for _, key := range []string{"ppl", "json"} {
		if tag, ok := f.Tag.Lookup(key); ok {
			if name, _, _ := strings.Cut(tag, ","); name != "" {
				return name, true
			}
		}
	}
	return f.Name, false
}

// add adds one variable.
func (r *goReader) add(s *Set, name string, v reflect.Value) error {
	ms, err := r.members(name, v, 0)
	if err != nil {
		if u, ok := err.(*unevenError); ok && !s.has(name) {
			s.addUneven(name, u.uneven, u.err)
			return nil
		}
		return err
	}
	if !s.addMembers(name, ms) {
		return goError(name, "there are two values for %s", name)
	}
	return nil
}

// members reads a value, possibly a tuple or an array of tuples, within depth pointers, tuples or
// arrays.
func (r *goReader) members(path string, v reflect.Value, depth int) (members, error) {
	if err := r.take(1, memberSize); err != nil {
		return nil, err
	}
	w := v
	for ; (w.Kind() == reflect.Interface || w.Kind() == reflect.Pointer) && !w.IsNil() && !isGonum(w) && depth < maxDims; depth++ {
		w = w.Elem()
	}
	if depth >= maxDims {
		return nil, tooDeep(path)
	}
	if err := timeless(path, w); err != nil {
		return nil, err
	}
	switch {
	case isGonum(w):
	case w.Kind() == reflect.Struct:
		var out members
		for i := range w.NumField() {
			if !w.Type().Field(i).IsExported() {
				continue
			}
			key := fmt.Sprintf(".%d", len(out)+1)
			ms, err := r.members(path+key, w.Field(i), depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, ms.within(key)...)
		}
		return out, nil
	case w.Kind() == reflect.Map && w.Type().Key().Kind() == reflect.String:
		if w.Len() == 0 {
			return nil, goError(path, "%s has type %s, but is empty: tuples have the keys \"1\", \"2\" and so on", path, w.Type())
		}
		var out members
		for i := range w.Len() {
			key := fmt.Sprint(i + 1)
			m := w.MapIndex(reflect.ValueOf(key).Convert(w.Type().Key()))
			if !m.IsValid() {
				return nil, goError(path, "%s has no member %s: tuples have the keys \"1\", \"2\" and so on", path, key)
			}
			ms, err := r.members(path+"."+key, m, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, ms.within("."+key)...)
		}
		return out, nil
	case (w.Kind() == reflect.Slice || w.Kind() == reflect.Array) && goTuples(w):
		var elems []members
		for i := range w.Len() {
			ms, err := r.members(fmt.Sprintf("%s[%d]", path, i+1), w.Index(i), depth+1)
			if err != nil {
				return nil, err
			}
			elems = append(elems, ms)
		}
		out, differs := stack(elems)
		if differs >= 0 {
			return nil, goError(path, "%s[%d] has other members or sizes than %s[1]", path, differs+1, path)
		}
		return out, nil
	}
	c := &collector{goReader: r, name: path, leaf: -1, isInt: true, goType: realType(w)}
	if err := c.collect(v, 0); err != nil {
		return nil, err
	}
	if c.uneven != nil && strings.Contains(path, ".") {
		return nil, c.uneven // the member of a tuple
	}
	if c.uneven != nil {
		return nil, &unevenError{uneven{value: c.value(), lengths: append([][]int{{c.shape[0]}}, c.lengths...)}, c.uneven}
	}
	return members{{"", c.value()}}, nil
}

// timeless returns an error for times and durations, whose unit would be a guess if they were read
// as numbers.
func timeless(path string, v reflect.Value) error {
	if !v.IsValid() {
		return nil
	}
	switch v.Type() {
	case reflect.TypeFor[time.Duration]():
		return goError(path, "%s has type time.Duration, which as a number has no unit: give d.Seconds(), say", path)
	case reflect.TypeFor[time.Time]():
		return goError(path, "%s has type time.Time, which as a number has neither unit nor origin: give t.Sub(start).Hours(), say", path)
	}
	return nil
}

// goTuples reports whether a slice begins with a tuple. It looks no deeper than data may be nested;
// deeper nesting is reported later.
func goTuples(v reflect.Value) bool {
	for depth := 0; depth < 3*maxDims && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array || v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer); depth++ {
		if isGonum(v) {
			return false
		}
		if v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
			continue
		}
		if v.Len() == 0 {
			return false
		}
		v = v.Index(0)
	}
	return v.Kind() == reflect.Struct && !isGonum(v) || v.Kind() == reflect.Map
}

// isGonum reports whether v is a gonum matrix or vector.
func isGonum(v reflect.Value) bool {
	if !v.IsValid() || !v.CanInterface() {
		return false
	}
	switch v.Interface().(type) {
	case vector, matrix:
		return true
	}
	return false
}

// realType returns the type of a value whose numbers all have a floating-point type, and "" for
// others.
func realType(v reflect.Value) string {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return ""
	}
	t := v.Type()
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64 || isGonum(v) {
		return v.Type().String()
	}
	return ""
}

// collector flattens one Go value.
type collector struct {
	*goReader
	name  string
	index []int
	shape []int // -1 for sizes that are not known yet
	leaf  int   // depth of the numbers, -1 while unknown
	isInt bool
	first int
	ints  []int64
	reals []float64

	goType string // set if the numbers have a floating-point type

	lengths [][]int // by depth, the lengths of the slices in others
	uneven  *Error  // the error of the first slice of another length
}

func (c *collector) value() Value {
	v := Value{Shape: c.shape, IsInt: c.isInt, Ints: c.ints, Reals: c.reals, firstReal: int32(c.first), goType: c.goType}
	for i, n := range v.Shape { // sizes below an empty array are unknown
		v.Shape[i] = max(n, 0)
	}
	if v.Reals == nil {
		v.Reals = []float64{}
	}
	if !c.isInt {
		v.Ints = nil
	}
	return v
}

func (c *collector) path() string {
	return c.name + indices(c.index)
}

func (c *collector) errorf(format string, args ...any) error {
	return goError(c.path(), "%s "+format, append([]any{c.path()}, args...)...)
}

// matrix and vector are the required methods of gonum's interfaces.
type (
	matrix interface {
		Dims() (r, c int)
		At(i, j int) float64
	}
	vector interface {
		Len() int
		AtVec(i int) float64
	}
)

func (c *collector) collect(v reflect.Value, depth int) error {
	// encoding/json, which makes every number a float64, decodes into interfaces.
	decoded := v.Kind() == reflect.Interface
	for pointers := 0; v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer; pointers++ {
		if pointers == maxDims {
			return tooDeep(c.path())
		}
		if v.IsNil() {
			return c.errorf("is nil, but data have no missing values")
		}
		if v.Kind() == reflect.Pointer { // an interface may contain a nil pointer
			if done, err := c.gonum(v, depth); done {
				return err
			}
		}
		v = v.Elem()
	}
	if !v.IsValid() {
		return c.errorf("is nil, but data have no missing values")
	}
	if done, err := c.gonum(v, depth); done {
		return err
	}
	if err := timeless(c.path(), v); err != nil {
		return err
	}
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		return c.errorf("is JSON that is not decoded: use json.Unmarshal, or give the text of all data as ppl.JSON")
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return c.slice(v, depth)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return c.integer(v.Int(), depth)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return c.errorf("is %d, which is too large for an integer", v.Uint())
		}
		return c.integer(int64(v.Uint()), depth)
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); decoded && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return c.integer(int64(x), depth)
		}
		return c.real(v.Float(), depth)
	case reflect.Complex64, reflect.Complex128:
		z := v.Complex()
		return c.array(2, depth, 1, func(i int) error { return c.real([]float64{real(z), imag(z)}[i], depth+1) })
	case reflect.String:
		if n, ok := reflect.TypeAssert[json.Number](v); ok {
			return c.jsonNumber(n, depth)
		}
		return c.errorf("is a string, but data are numbers: convert it, with package strconv, say")
	case reflect.Bool:
		return c.errorf("is a bool, but data are numbers: give 1 for true and 0 for false")
	}
	return c.errorf("has type %s, but data are numbers, slices of numbers and matrices", v.Type())
}

func (c *collector) jsonNumber(n json.Number, depth int) error {
	if i, err := n.Int64(); err == nil {
		return c.integer(i, depth)
	}
	f, err := n.Float64()
	if err != nil {
		return c.errorf("is %q, which is not a number", string(n))
	}
	return c.real(f, depth)
}

// gonum reads a gonum matrix or vector; done is false if v is neither.
func (c *collector) gonum(v reflect.Value, depth int) (done bool, err error) {
	if !v.CanInterface() {
		return false, nil
	}
	switch m := v.Interface().(type) {
	case vector:
		n := m.Len()
		return true, c.array(n, depth, 1, func(i int) error { return c.real(m.AtVec(i), depth+1) })
	case matrix:
		rows, cols := m.Dims()
		return true, c.array(rows, depth, 2, func(i int) error {
			return c.array(cols, depth+1, 1, func(j int) error { return c.real(m.At(i, j), depth+2) })
		})
	}
	return false, nil
}

// slice reads a slice or array of any depth.
func (c *collector) slice(v reflect.Value, depth int) error {
	dims, elem := 1, v.Type().Elem()
	for elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array {
		dims, elem = dims+1, elem.Elem()
	}
	if dims == 1 && elem.Kind() == reflect.Float64 && v.Kind() == reflect.Slice && v.Type().ConvertibleTo(reflect.TypeFor[[]float64]()) {
		if err := c.open(v.Len(), depth, 1); err != nil {
			return err
		}
		if v.Len() > 0 {
			if err := c.number(depth + 1); err != nil {
				return err
			}
			c.makeReal()
			c.reals = append(c.reals, v.Convert(reflect.TypeFor[[]float64]()).Interface().([]float64)...)
		}
		return nil
	}
	return c.array(v.Len(), depth, dims, func(i int) error { return c.collect(v.Index(i), depth+1) })
}

// array reads n elements with f. dims is the number of dimensions known from the type, for the
// shape of empty arrays.
func (c *collector) array(n, depth, dims int, f func(i int) error) error {
	if err := c.open(n, depth, dims); err != nil {
		return err
	}
	c.index = append(c.index, 0)
	for i := range n {
		c.index[depth] = i + 1
		if err := f(i); err != nil {
			return err
		}
	}
	c.index = c.index[:depth]
	return nil
}

// open checks an array of n elements at a depth against the shape found so far. If the array is
// empty, the sizes of its dims-1 inner dimensions remain unknown.
func (c *collector) open(n, depth, dims int) error {
	if depth == maxDims {
		return c.errorf("has more than %d nested arrays", maxDims)
	}
	if err := c.take(n, 8); err != nil {
		return err
	}
	if c.leaf >= 0 && depth >= c.leaf {
		return c.errorf("is an array, but earlier elements in this position are numbers: an array has either numbers or arrays")
	}
	for len(c.shape) <= depth {
		c.shape = append(c.shape, -1)
	}
	if depth > 0 {
		for len(c.lengths) < depth {
			c.lengths = append(c.lengths, nil)
		}
		c.lengths[depth-1] = append(c.lengths[depth-1], n)
	}
	switch c.shape[depth] {
	case n:
	case -1:
		c.shape[depth] = n
	default:
		if c.uneven == nil {
			first := c.name + indices(slices.Repeat([]int{1}, depth))
			c.uneven, _ = c.errorf("has %s, but %s has %d: arrays must be rectangular, unless the program declares a ragged one", elements(n), first, c.shape[depth]).(*Error)
			c.uneven.Nested = true
		}
	}
	if n == 0 && c.leaf < 0 {
		c.leaf = depth + dims
		for len(c.shape) < c.leaf {
			c.shape = append(c.shape, -1)
		}
	}
	return nil
}

// number checks the depth of a number.
func (c *collector) number(depth int) error {
	if c.leaf < 0 && len(c.shape) <= depth {
		c.leaf = depth
	}
	if c.leaf != depth {
		return c.errorf("is a number, but its neighbours are arrays: an array has either numbers or arrays")
	}
	return nil
}

func (c *collector) integer(v int64, depth int) error {
	if c.isInt {
		c.ints = append(c.ints, v)
	}
	c.reals = append(c.reals, float64(v))
	return c.number(depth)
}

func (c *collector) real(v float64, depth int) error {
	c.makeReal()
	c.reals = append(c.reals, v)
	return c.number(depth)
}

// makeReal records that the next element is not an integer.
func (c *collector) makeReal() {
	if c.isInt {
		c.isInt, c.first, c.ints = false, len(c.reals), nil
	}
}

// unevenError is the error of slices that differ in length, with their value.
type unevenError struct {
	uneven
	err *Error
}

func (e *unevenError) Error() string { return e.err.Error() }
