package grammar

import (
	"fmt"
	"strings"
)

// valid returns the allowed values in words.
func (a *Argument) valid() string {
	if a.Kind != Choice {
		return " " + a.Valid
	}
	return " " + a.names()
}

// names lists the names of the arguments or values below.
func (a *Argument) names() string {
	var names []string
	for _, c := range a.Args {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// help prints the help of an argument, and of all arguments below it if recurse is set.
func (p *parser) help(a *Argument, depth int, recurse bool) {
	indent := strings.Repeat("  ", depth)
	line := func(s string) { fmt.Fprintln(p.out, indent+s) }
	if a.Kind == Group || a.Kind == Leaf {
		line(a.Name)
		line("  " + a.Help)
		if len(a.Args) > 0 {
			line("  Valid subarguments: " + a.names())
		}
	} else {
		line(a.Name + "=<" + typeNames[a.Kind] + ">")
		line("  " + a.Help)
		line("  Valid values:" + a.valid())
		line("  Defaults to " + a.shown(a.Default)) // prints nothing after "to" if the default is ""
	}
	fmt.Fprintln(p.out)
	if recurse {
		for _, c := range a.Args {
			p.help(c, depth+1, true)
		}
	}
}

// usage prints how an executable is used.
func (p *parser) usage(exe string) {
	entry := func(name, help string) { fmt.Fprintf(p.out, "%-12s  %s\n", "  "+name, help) }
	fmt.Fprintf(p.out, "Usage: %s <arg1> <subarg1_1> ... <subarg1_m> ... <arg_n> <subarg_n_1> ... <subarg_n_m>\n\n", exe)
	fmt.Fprintln(p.out, "Begin with one of the methods,")
	for _, m := range p.config.table[0].Args {
		entry(m.Name, m.Help)
	}
	fmt.Fprintln(p.out, "\nor ask for help by")
	entry("help", "Prints help")
	entry("help-all", "Prints all arguments")
	entry("info", "Prints the version")
	fmt.Fprintln(p.out, "\nFurther arguments are")
	for _, a := range p.config.table[1:] {
		entry(a.Name, a.Help)
	}
	fmt.Fprintf(p.out, "\nSee %s <arg1> [ help | help-all ] for each of them.\n\n", exe)
}
