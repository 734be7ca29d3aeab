package proggen

import (
	"fmt"
	"slices"
	"strings"
)

// shape returns the type of p as it is written for an argument of a function.
func shape(p container) string {
	text := ""
	if p.arrays > 0 {
		text = "array[" + strings.Repeat(",", p.arrays-1) + "] "
	}
	return text + drawnKinds[p.kind]
}

// style is what a function is for, which determines its arguments.
type style uint8

const (
	ofNumbers style = iota // takes a few numbers; called anywhere
	ofRow                  // takes a row, parameters and data; called in loops over rows
	ofSlice                // the partial sum that reduce_sum calls
	ofJob                  // the job that map_rect calls
)

// function writes a function, which later statements may call.
func (d *drawing) function() {
	r := routine{name: d.name("F"), style: among(d, ofNumbers, ofNumbers, ofNumbers, ofRow, ofRow, ofRow, ofRow, ofSlice, ofJob), cost: 4}
	outer := *d
	d.vars, d.rows, d.sink, d.loops, d.cost = nil, nil, "", 0, 65
	r.result = among(d, container{kind: reals}, container{kind: reals}, container{kind: reals}, container{}, container{kind: vectors, size: []string{among(d, "1", "2", "3", "3")}})
	switch r.style {
	case ofNumbers:
		r.args = []container{{name: "v", kind: reals}, {name: "q"}}
		for _, p := range []container{{name: "u", kind: vectors, size: []string{"3"}}, {name: "h", kind: reals, arrays: 1, size: []string{"3"}}, {name: "m", arrays: 1, size: []string{"4"}}} {
			if d.chance(0.3) {
				r.args = append(r.args, p)
			}
		}
		d.cost = maxTrips / 60 // it is called in loops over rows, so its own loops must be short
	case ofRow:
		r.args = []container{{name: "n"}, {name: "N"}, {name: "K"}}
		d.rows, r.cost = []string{"n"}, 8
	case ofSlice:
		r.args = []container{{name: "part", arrays: 1}, {name: "first"}, {name: "last"}, {name: "N"}, {name: "K"}}
		r.result = container{kind: reals}
	case ofJob:
		r.args = []container{{name: "phi", kind: vectors, size: []string{"2"}}, {name: "theta", kind: vectors, size: []string{"3"}},
			{name: "xr", kind: reals, arrays: 1, size: []string{"3"}, known: true}, {name: "xi", arrays: 1, size: []string{"3"}, known: true}}
		r.result = container{kind: vectors, size: []string{among(d, "1", "2", "3")}}
	}
	if r.style == ofRow || r.style == ofSlice {
		for i, p := range slices.Concat(drawnParameters, given[2:]) {
			if d.chance(0.6) {
				p.known = i >= len(drawnParameters) && d.chance(0.3)
				r.args = append(r.args, p)
			}
		}
	}
	d.writeFunction(r)
	d.vars, d.rows, d.sink, d.loops, d.cost, d.result = outer.vars, outer.rows, outer.sink, outer.loops, outer.cost, outer.result
	d.routines = append(d.routines, r)
}

func (d *drawing) writeFunction(r routine) {
	var args []string
	for _, a := range r.args {
		text := shape(a) + " " + a.name
		if a.known {
			text = "data " + text
		}
		args = append(args, text)
		if a.fixed = true; a.name != "part" {
			d.vars = append(d.vars, a)
		}
	}
	d.result = &r.result
	d.open("%s %s(%s) {", shape(r.result), r.name, strings.Join(args, ", "))
	if r.result.kind == reals && (r.style == ofSlice || d.chance(0.5)) {
		d.sink = d.name("sum")
		d.line("real %s = 0;", d.sink)
		d.vars = append(d.vars, container{name: d.sink, kind: reals, fixed: true})
	}
	if r.style == ofSlice {
		n, l := d.name("n"), d.name("l")
		d.open("for (%s in first:last) {", n)
		d.inScope(func() {
			d.line("int %s = part[%s - first + 1];", l, n)
			d.vars = append(d.vars, container{name: n, fixed: true, known: true}, container{name: l, fixed: true, known: true})
			d.rows = []string{n, n, l}
			// No early return: slices are summed in any grouping, so only the sum over all rows is
			// defined.
			d.result = nil
			d.inLoop(1, d.rowBody)
		})
		d.line("return %s;", d.sink)
		d.close()
		return
	}
	for range d.between(1, 3) {
		d.declare(d.newPlace())
	}
	d.statements(d.between(1, d.length+1))
	out := d.value(r.result, 2)
	if d.sink != "" {
		out = d.sink + " + " + out
	}
	d.line("return %s;", out)
	d.close()
}

// callable draws a function that satisfies ok and can be called here; nil if there
// is none.
func (d *drawing) callable(ok func(r *routine) bool) *routine {
	var list []*routine
	for i := range d.routines {
		r := &d.routines[i]
		fits := r.style <= ofRow && ok(r) && d.cost*r.cost <= maxTrips
		for _, a := range r.args {
			long := slices.Contains(a.size, "N") || slices.Contains(a.size, "K") || a.name == "N" || a.name == "K"
			fits = fits && (!long && !a.known || d.has(a.name) && (!a.known || d.isKnown(a.name)))
		}
		if fits {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return one(d, list)
}

func (d *drawing) isKnown(name string) bool {
	return slices.ContainsFunc(d.vars, func(p container) bool { return p.name == name && p.known })
}

// calling returns a call of r.
func (d *drawing) calling(r *routine, depth int) string {
	var args []string
	for _, a := range r.args {
		switch {
		case a.name == "n":
			args = append(args, d.index("N", depth))
		case a.name == "part" || a.name == "first" || a.name == "last": // passed by reduce_sum
		case a.known || a.name == "N" || a.name == "K":
			args = append(args, a.name)
		case a.kind == reals && a.arrays == 0:
			args = append(args, d.real(depth))
		case a.kind == ints && a.arrays == 0:
			args = append(args, d.int(depth))
		case a.kind == vectors && a.arrays == 0:
			args = append(args, d.vector(a.size[0], depth))
		case d.has(a.name):
			args = append(args, a.name)
		default:
			a.name = ""
			args = append(args, d.value(a, depth))
		}
	}
	return fmt.Sprintf("%s(%s)", r.name, strings.Join(args, ", "))
}

// summed writes a term that calls reduce_sum or map_rect.
func (d *drawing) summed() {
	for i := range d.routines {
		switch r := &d.routines[i]; r.style {
		case ofSlice:
			call := d.calling(r, 1)
			d.add(fmt.Sprintf("reduce_sum(%s, %s, %d, %s", r.name, among(d, "L", "L[1:min(N, 3)]"), d.between(1, 9), strings.TrimPrefix(call, r.name+"(")))
		case ofJob:
			d.add(fmt.Sprintf("%s(map_rect(%s, [%s, %s]', w, xr, xi))", among(d, "sum", "log_sum_exp"), r.name, d.real(1), d.real(1)))
		}
	}
}

// call writes a term that calls a function for the current row.
func (d *drawing) call() {
	r := d.callable(func(r *routine) bool { return r.result.kind != ints })
	if r == nil {
		return
	}
	c := d.calling(r, 1)
	if r.result.kind == vectors {
		c = fmt.Sprintf(among(d, "sum(%s)", "dot_self(%s)", "max(%s)"), c)
	}
	d.add(among(d, c, "sin(2 * "+c+")"))
}
