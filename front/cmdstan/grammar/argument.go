package grammar

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the kind of an argument.
type Kind int

// The kinds.
const (
	Group  Kind = iota // holds arguments
	Choice             // one of several groups, by name
	Leaf               // a value of a choice, without arguments
	Bool
	Int
	Uint
	Real
	Text
	Seed // an integer; -1: taken from the clock
)

// typeNames are the names of the types in help texts.
var typeNames = map[Kind]string{
	Choice: "list element", Bool: "boolean", Int: "int", Uint: "unsigned int", Real: "double", Text: "string", Seed: "int",
}

// Argument is a node of the table.
type Argument struct {
	Name    string
	Kind    Kind
	Help    string
	Default string // as printed; for a choice, the name of a value
	Valid   string // the allowed values, in words
	Args    []*Argument

	allowed func(float64) bool // reports whether a number is allowed; nil: all are
}

// child finds an argument of a group, or a value of a choice, by its name.
func (a *Argument) child(name string) *Argument {
	for _, c := range a.Args {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// read checks a value and returns it as it is printed.
func (a *Argument) read(text string) (string, bool) {
	number := func(x float64, err error) bool { return err == nil && x == x && (a.allowed == nil || a.allowed(x)) }
	switch a.Kind {
	case Bool:
		switch text {
		case "true", "1":
			return "true", true
		case "false", "0":
			return "false", true
		}
		return "", false
	case Int, Seed:
		bits := 32
		if a.Kind == Seed {
			bits = 64
		}
		n, err := strconv.ParseInt(text, 10, bits)
		return strconv.FormatInt(n, 10), number(float64(n), err)
	case Uint:
		n, err := strconv.ParseUint(text, 10, 32)
		return strconv.FormatUint(n, 10), number(float64(n), err)
	case Real:
		x, err := strconv.ParseFloat(text, 64)
		return text, number(x, err)
	}
	return text, true
}

// shown returns a value as file headers and the console show it: numbers as C++ streams print them.
func (a *Argument) shown(value string) string {
	if a.Kind != Real {
		return value
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	return Number(x, 6)
}

// Number formats a number as C++ streams do, with the given number of significant digits.
func Number(x float64, digits int) string {
	s := fmt.Sprintf("%.*g", digits, x)
	switch s {
	case "NaN":
		return "nan"
	case "+Inf", "-Inf":
		return strings.ToLower(strings.TrimPrefix(s, "+"))
	}
	return s
}

// The constructors of the table's rows.

func group(name, help string, args ...*Argument) *Argument {
	return &Argument{Name: name, Kind: Group, Help: help, Args: args}
}

func leaf(name, help string) *Argument { return &Argument{Name: name, Kind: Leaf, Help: help} }

func choice(name, help, standard string, values ...*Argument) *Argument {
	return &Argument{Name: name, Kind: Choice, Help: help, Default: standard, Args: values}
}

func boolean(name, help string, standard bool) *Argument {
	return &Argument{Name: name, Kind: Bool, Help: help, Default: strconv.FormatBool(standard), Valid: "[0, 1, false, true]"}
}

func text(name, help, standard, valid string) *Argument {
	return &Argument{Name: name, Kind: Text, Help: help, Default: standard, Valid: valid}
}

// number makes an argument with a range. valid describes the range.
func number(kind Kind, name, help, standard, valid string, allowed func(float64) bool) *Argument {
	return &Argument{Name: name, Kind: kind, Help: help, Default: standard, Valid: valid, allowed: allowed}
}

func positive(x float64) bool    { return x > 0 }
func notNegative(x float64) bool { return x >= 0 }

func positiveInt(name, help, standard string) *Argument {
	return number(Int, name, help, standard, "0 < "+name, positive)
}

func notNegativeInt(name, help, standard string) *Argument {
	return number(Int, name, help, standard, "0 <= "+name, notNegative)
}

func positiveReal(name, help, standard string) *Argument {
	return number(Real, name, help, standard, "0 < "+name, positive)
}
