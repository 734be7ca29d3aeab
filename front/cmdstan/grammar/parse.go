package grammar

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Outcome is what the caller must do after parsing.
type Outcome int

// The outcomes.
const (
	Run    Outcome = iota // run the method
	Helped                // help was printed; there is nothing else to do
	Asked                 // print the versions, and exit
	Refuse                // the command line is wrong, and an error was printed
)

// Parse parses the arguments of the program exe. It prints help to stdout and errors to stderr, in
// CmdStan's words.
func Parse(exe string, args []string, table []*Argument, stdout, stderr io.Writer) (*Config, Outcome) {
	p := &parser{args: args, config: newConfig(table), out: stdout, err: stderr}
	if len(args) == 0 {
		p.usage(exe)
		return nil, Refuse
	}
	unset := append([]*Argument(nil), table...)
	method := table[0]
	haveMethod, valid := false, true
	for good := true; good && len(p.args) > 0; {
		word := p.args[0]
		if !haveMethod && method.child(word) != nil {
			word = method.Name + "=" + word
			p.args[0] = word
		}
		name, _, _ := strings.Cut(word, "=")
		haveMethod = haveMethod || name == method.Name
		good = false
		for i, a := range unset {
			if a.Name != word && a.Name != name {
				continue
			}
			valid = p.argument(a, a.Name, word) && valid
			unset = append(unset[:i], unset[i+1:]...)
			good = true
			break
		}
		switch word {
		case "help":
			p.helped = true
		case "help-all":
			for _, a := range table {
				p.help(a, 1, true)
			}
			p.helped = true
		case "info":
			return nil, Asked
		}
		if p.helped {
			p.usage(exe)
			return nil, Helped
		}
		if !good {
			p.misplaced(word, name)
		}
		if !good || !valid {
			break
		}
	}
	if !haveMethod {
		fmt.Fprintln(stderr, "A method must be specified!")
	}
	if !valid || !haveMethod || p.lost {
		return nil, Refuse
	}
	if seed := p.config.values["random.seed"]; seed == "-1" {
		p.config.drawn = uint64(time.Now().UnixMilli()) & (1<<32 - 1)
	}
	return p.config, Run
}

type parser struct {
	args   []string
	config *Config
	out    io.Writer
	err    io.Writer
	helped bool
	lost   bool // a word is not allowed anywhere
}

// argument parses the argument that begins with the next word. After printing an error about a
// value it returns false.
func (p *parser) argument(a *Argument, path, word string) bool {
	switch a.Kind {
	case Group, Leaf:
		p.args = p.args[1:]
		return p.group(a, path)
	case Choice:
		return p.choice(a, path, word)
	}
	name, value, given := strings.Cut(word, "=")
	if !given || name != a.Name {
		p.args = p.args[1:]
		if len(p.args) > 0 && (p.args[0] == "help" || p.args[0] == "help-all") {
			p.asked(a, false)
			return true
		}
		return p.invalid(a, value)
	}
	p.args = p.args[1:]
	value, ok := a.read(value)
	if !ok {
		_, value, _ := strings.Cut(word, "=")
		return p.invalid(a, value)
	}
	p.config.Set(path, value)
	return true
}

// group parses the arguments of a group.
func (p *parser) group(a *Argument, path string) bool {
	for len(p.args) > 0 {
		word := p.args[0]
		if word == "help" || word == "help-all" {
			p.asked(a, word == "help-all")
			return true
		}
		name, _, _ := strings.Cut(word, "=")
		if name == a.Name {
			p.misplaced(word, name)
			p.lost = true
			return false
		}
		c := a.child(word)
		if c == nil {
			c = a.child(name)
		}
		if c == nil {
			return true
		}
		if !p.argument(c, path+"."+c.Name, word) {
			return false
		}
	}
	return true
}

// choice parses the value of a choice, and the arguments of that value.
func (p *parser) choice(a *Argument, path, word string) bool {
	_, value, given := strings.Cut(word, "=")
	p.args = p.args[1:]
	if !given && len(p.args) > 0 && (p.args[0] == "help" || p.args[0] == "help-all") {
		p.asked(a, p.args[0] == "help-all")
		return true
	}
	c := a.child(value)
	if c == nil {
		return p.invalid(a, value)
	}
	p.config.Set(path, value)
	return p.group(c, path+"."+value)
}

// asked prints the help of an argument, and drops the remaining words.
func (p *parser) asked(a *Argument, recurse bool) {
	p.help(a, 0, recurse)
	p.helped, p.args = true, nil
}

func (p *parser) invalid(a *Argument, value string) bool {
	fmt.Fprintf(p.err, "%s is not a valid value for \"%s\"\n  Valid values:%s\n", value, a.Name, a.valid())
	p.args = nil
	return false
}

// misplaced prints where in a command line a word is allowed.
func (p *parser) misplaced(word, name string) {
	p.lost = true
	fmt.Fprintf(p.err, "%s is either mistyped or misplaced.\n", word)
	if word == "opencl" {
		fmt.Fprintln(p.err, "Re-compile the model with STAN_OPENCL to use OpenCL CmdStan arguments.")
	}
	var paths []string
	for _, a := range p.config.table {
		a.find(name, "", &paths)
	}
	if len(paths) > 0 {
		fmt.Fprintln(p.err, "Perhaps you meant one of the following valid configurations?")
		for _, s := range paths {
			fmt.Fprintln(p.err, "  "+s)
		}
	}
}

// find appends the paths to all arguments with a name.
func (a *Argument) find(name, prefix string, paths *[]string) {
	here := prefix + a.Name
	switch a.Kind {
	case Group, Leaf:
		if name == a.Name {
			*paths = append(*paths, here)
		}
		for _, c := range a.Args {
			c.find(name, here+" ", paths)
		}
	case Choice:
		if name == a.Name {
			*paths = append(*paths, here+"=<list_element>")
		}
		for _, c := range a.Args {
			c.find(name, here+"=", paths)
		}
	default:
		if name == a.Name {
			*paths = append(*paths, here+"=<"+typeNames[a.Kind]+">")
		}
	}
}
