package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/infer/draws"
)

// Config has the arguments of a run. Each has a path in the table, which includes the values of
// choices: method.sample.algorithm.hmc.engine.nuts.max_depth.
type Config struct {
	table  []*Argument
	values map[string]string
	given  map[string]bool
	drawn  uint64 // the random seed from the clock, if none was given
}

// newConfig returns a Config with the default values.
func newConfig(table []*Argument) *Config {
	c := &Config{table: table, values: map[string]string{}, given: map[string]bool{}}
	var fill func(args []*Argument, prefix string)
	fill = func(args []*Argument, prefix string) {
		for _, a := range args {
			path := prefix + a.Name
			if a.Kind != Group && a.Kind != Leaf {
				c.values[path] = a.Default
			}
			fill(a.Args, path+".")
		}
	}
	fill(table, "")
	return c
}

// Text returns the value of an argument; for a choice, its name. It panics if the table has no such
// argument.
func (c *Config) Text(path string) string {
	v, ok := c.values[path]
	if !ok {
		panic("grammar: no argument " + path)
	}
	return v
}

// Set replaces a value.
func (c *Config) Set(path, value string) {
	c.Text(path)
	c.values[path] = value
	c.given[path] = true
}

// Bool, Int and Real return the values of arguments of these kinds.
func (c *Config) Bool(path string) bool { return c.Text(path) == "true" }

// Int is an integer value.
func (c *Config) Int(path string) int {
	n, _ := strconv.Atoi(c.Text(path))
	return n
}

// Real is a real value.
func (c *Config) Real(path string) float64 {
	x, _ := strconv.ParseFloat(c.Text(path), 64)
	return x
}

// Seed returns the seed, which comes from the clock if none was given.
func (c *Config) Seed() uint64 {
	if c.Text("random.seed") == "-1" {
		return c.drawn
	}
	n, _ := strconv.ParseUint(c.Text("random.seed"), 10, 64)
	return n
}

func (c *Config) find(path string) *Argument {
	a := &Argument{Args: c.table}
	for name := range strings.SplitSeq(path, ".") {
		a = a.child(name)
	}
	return a
}

// Settings returns the configuration for the header of a file. replaced has other values for some
// paths. Lines of these have room for longer values, which [draws.File.Restate] may write later.
func (c *Config) Settings(replaced map[string]string) []draws.Setting {
	var settings func(args []*Argument, prefix string) []draws.Setting
	one := func(a *Argument, path string) draws.Setting {
		if a.Kind == Group || a.Kind == Leaf {
			return draws.Setting{Name: a.Name, Group: true, Children: settings(a.Args, path+".")}
		}
		value := c.values[path]
		if v, ok := replaced[path]; ok {
			value = v
		}
		s := draws.Setting{Name: a.Name, Value: a.shown(value), Default: a.shown(value) == a.shown(a.Default)}
		if _, ok := replaced[path]; ok {
			s.Room = len("low_rank (Default)")
		}
		switch a.Kind {
		case Seed:
			s.Value, s.Default = strconv.FormatUint(c.Seed(), 10), false
		case Choice:
			if v := a.child(c.values[path]); v != nil {
				s.Children = settings([]*Argument{v}, path+".")
			}
		}
		return s
	}
	settings = func(args []*Argument, prefix string) []draws.Setting {
		var all []draws.Setting
		for _, a := range args {
			if a.Kind == Leaf {
				continue // its choice says all that is needed
			}
			all = append(all, one(a, prefix+a.Name))
		}
		return all
	}
	return settings(c.table, "")
}

// Lines returns the configuration as the console shows it.
func (c *Config) Lines() []string {
	var lines []string
	for _, s := range c.Settings(nil) {
		lines = append(lines, SettingLines(s)...)
	}
	return lines
}

// SettingLines returns a setting and the settings below it, a line for each.
func SettingLines(s draws.Setting) []string {
	line := s.Name
	if !s.Group {
		line += " = " + s.Value
	}
	if s.Default {
		line += " (Default)"
	}
	lines := []string{line}
	for _, c := range s.Children {
		for _, below := range SettingLines(c) {
			lines = append(lines, "  "+below)
		}
	}
	return lines
}

// AppendJSON appends the configuration to dst as members of a JSON object, without the braces.
func (c *Config) AppendJSON(dst []byte, indent string) []byte {
	var members func(args []*Argument, prefix, indent string)
	write := func(a *Argument, path, indent string) {
		name, _ := json.Marshal(a.Name)
		dst = append(append(append(dst, indent...), name...), " : "...)
		switch a.Kind {
		case Group:
			dst = append(dst, "{\n"...)
			members(a.Args, path+".", indent+"  ")
			dst = append(append(dst, indent...), '}')
		case Choice:
			value, _ := json.Marshal(c.values[path])
			dst = append(append(dst, "{\n"+indent+`  "value" : `...), value...)
			if v := a.child(c.values[path]); v != nil && v.Kind == Group {
				dst = append(dst, ",\n"...)
				members([]*Argument{v}, path+".", indent+"  ")
			} else {
				dst = append(dst, '\n')
			}
			dst = append(append(dst, indent...), '}')
		case Text:
			value, _ := json.Marshal(c.values[path])
			dst = append(dst, value...)
		case Seed:
			dst = strconv.AppendUint(dst, c.Seed(), 10)
		case Real:
			if x := c.Real(path); math.IsInf(x, 0) {
				dst = append(dst, `"Inf"`...)
			} else {
				dst = strconv.AppendFloat(dst, x, 'g', -1, 64)
			}
		default:
			dst = append(dst, c.values[path]...)
		}
	}
	members = func(args []*Argument, prefix, indent string) {
		for i, a := range args {
			write(a, prefix+a.Name, indent)
			if i < len(args)-1 {
				dst = append(dst, ',')
			}
			dst = append(dst, '\n')
		}
	}
	members(c.table, "", indent)
	return dst
}

// IsGiven reports whether the user gave a value, even if it is the default.
func (c *Config) IsGiven(path string) bool { return c.given[path] }

// GivenPaths returns the paths of the values that the user gave, in alphabetical order.
func (c *Config) GivenPaths() []string { return slices.Sorted(maps.Keys(c.given)) }

// SetWithin parses arguments of the group at a path. The error describes the first wrong word.
func (c *Config) SetWithin(path string, words []string) error {
	var wrong strings.Builder
	p := &parser{args: words, config: c, out: io.Discard, err: &wrong}
	ok := p.group(c.find(path), path)
	switch {
	case !ok || p.lost:
		return errors.New(strings.TrimSpace(wrong.String()))
	case p.helped || len(p.args) > 0:
		return fmt.Errorf("%s is not an argument of %s", strings.Join(p.args, " "), path[strings.LastIndexByte(path, '.')+1:])
	}
	return nil
}
