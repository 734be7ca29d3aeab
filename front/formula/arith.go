package formula

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// arith is an arithmetic expression of columns and numbers.
type arith struct {
	op     string // "": a number or a column; + - * / ^ neg; otherwise a function
	kids   []*arith
	number float64
	column *column
	at     place
}

// functions lists the functions of arithmetic. They have the same names in Stan's language.
func functions() map[string]func(float64) float64 {
	return map[string]func(float64) float64{"log": math.Log, "exp": math.Exp, "sqrt": math.Sqrt, "abs": math.Abs,
		"log1p": math.Log1p, "expm1": math.Expm1, "log10": math.Log10, "log2": math.Log2, "sin": math.Sin, "cos": math.Cos}
}

// arith converts a sum to an arithmetic expression.
func (b *builder) arith(s *sum) (*arith, *Error) {
	left, err := b.arithProduct(s.First)
	if err != nil {
		return nil, err
	}
	if s.Sign == "-" {
		left = &arith{op: "neg", kids: []*arith{left}, at: left.at}
	}
	for _, r := range s.Rest {
		right, err := b.arithProduct(r.X)
		if err != nil {
			return nil, err
		}
		left = &arith{op: r.Op, kids: []*arith{left, right}, at: place{left.at.start, right.at.end}}
	}
	return left, nil
}

func (b *builder) arithProduct(p *product) (*arith, *Error) {
	left, err := b.arithInter(p.First)
	if err != nil {
		return nil, err
	}
	for _, r := range p.Rest {
		right, err := b.arithInter(r.X)
		if err != nil {
			return nil, err
		}
		left = &arith{op: r.Op, kids: []*arith{left, right}, at: place{left.at.start, right.at.end}}
	}
	return left, nil
}

func (b *builder) arithInter(i *inter) (*arith, *Error) {
	if len(i.Of) > 1 {
		return nil, errorf(i.Of[1].Base.at(), "write : between terms, outside of calls", "an interaction within arithmetic")
	}
	base, err := b.arithAtom(i.Of[0].Base)
	if err != nil || i.Of[0].Exp == nil {
		return base, err
	}
	exp, err := b.arithAtom(i.Of[0].Exp)
	if err != nil {
		return nil, err
	}
	return &arith{op: "^", kids: []*arith{base, exp}, at: place{base.at.start, exp.at.end}}, nil
}

func (b *builder) arithAtom(a *atom) (*arith, *Error) {
	switch {
	case a.Minus != nil:
		x, err := b.arithAtom(a.Minus)
		return &arith{op: "neg", kids: []*arith{x}, at: a.at()}, err
	case a.Number != "":
		x, _ := strconv.ParseFloat(a.Number, 64)
		return &arith{number: x, at: a.at()}, nil
	case a.Name != "":
		c, err := b.table.column(a.Name, a.at())
		if err == nil {
			err = c.numbers(a.at())
		}
		return &arith{column: c, at: a.at()}, err
	case a.Group != nil && a.Group.Group == nil:
		return b.arith(a.Group.Of)
	case a.Call != nil && functions()[a.Call.Name] != nil && len(a.Call.Args) == 1:
		x, err := b.arith(a.Call.Args[0].Value)
		return &arith{op: a.Call.Name, kids: []*arith{x}, at: a.at()}, err
	case a.Call != nil && a.Call.Name == "I" && len(a.Call.Args) == 1:
		return b.arith(a.Call.Args[0].Value)
	case a.Call != nil:
		return nil, errorf(a.at(), "compute the column in the table, or edit the model; known are I, "+strings.Join(slices.Sorted(maps.Keys(functions())), ", "),
			"%s is no function that formulas know here", a.Call.Name)
	}
	return nil, errorf(a.at(), "write numbers, columns and functions of them", "this is no arithmetic")
}

// value computes the expression for a row.
func (a *arith) value(row int) float64 {
	k := func(i int) float64 { return a.kids[i].value(row) }
	switch a.op {
	case "":
		if a.column != nil {
			return a.column.values[row]
		}
		return a.number
	case "+":
		return k(0) + k(1)
	case "-":
		return k(0) - k(1)
	case "*":
		return k(0) * k(1)
	case "/":
		return k(0) / k(1)
	case "^":
		return math.Pow(k(0), k(1))
	case "neg":
		return -k(0)
	}
	return functions()[a.op](k(0))
}

// values computes the expression for all rows. All results must be finite numbers.
func (a *arith) values(rows int) ([]float64, *Error) {
	out := make([]float64, rows)
	for i := range out {
		out[i] = a.value(i)
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, errorf(a.at, "leave out these rows, or use a function that is defined for them", "this is no finite number in row %d", i+1)
		}
	}
	return out, nil
}

// vector reports whether the expression contains columns.
func (a *arith) vector() bool {
	return a.column != nil || slices.ContainsFunc(a.kids, (*arith).vector)
}

// strength is the binding strength of the operator, as in Stan's language.
func (a *arith) strength() int {
	switch a.op {
	case "+", "-":
		return 1
	case "*", "/":
		return 2
	case "neg":
		return 3
	case "^":
		return 4
	}
	return 5
}

// text returns the expression in Stan's language.
func (a *arith) text() string {
	kid := func(i, least int) string {
		t := a.kids[i].text()
		if a.kids[i].strength() < least {
			t = "(" + t + ")"
		}
		return t
	}
	switch a.op {
	case "":
		if a.column != nil {
			return a.column.text()
		}
		return short(a.number)
	case "+", "-":
		return kid(0, 1) + " " + a.op + " " + kid(1, 2)
	case "*", "/":
		op := a.op
		if op == "/" && !a.vector() && a.kids[1].op == "" {
			return kid(0, 2) + " / " + decimal(a.kids[1].text())
		}
		if a.kids[1].vector() && (a.kids[0].vector() || op == "/") {
			op = "." + op
		}
		return kid(0, 2) + " " + op + " " + kid(1, 3)
	case "^":
		if a.vector() {
			return kid(0, 5) + " .^ " + kid(1, 5)
		}
		return kid(0, 5) + " ^ " + kid(1, 5)
	case "neg":
		return "-" + kid(0, 4)
	}
	return a.op + "(" + a.kids[0].text() + ")"
}
