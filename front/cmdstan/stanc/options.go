package stanc

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Options is a parsed command line of stanc.
type Options struct {
	model string
	words []string // the options as given, without the model and --o

	output        string
	name          string
	fileName      string
	include       []string
	canonicalize  []string
	width         int
	info          bool
	format        bool
	pedantic      bool
	standalone    bool
	undefined     bool
	help, version bool
}

// option is an option that stanc accepts.
type option struct {
	name  string
	value string // name of the option's value in the help; "": it takes none
	help  string
	set   func(o *Options, value string) error
}

func flagOf(name, help string, set func(*Options)) option {
	return option{name, "", help, func(o *Options, _ string) error { set(o); return nil }}
}

// ignored is an option about generated C++, which has no effect here.
func ignored(name string) option {
	return flagOf(name, "Of no effect", func(*Options) {})
}

// table lists the options.
var table = []option{
	flagOf("help", "Print this", func(o *Options) { o.help = true }),
	flagOf("version", "Print the version", func(o *Options) { o.version = true }),
	flagOf("info", "Tell what the model declares and calls, as JSON", func(o *Options) { o.info = true }),
	flagOf("auto-format", "Lay the model out", func(o *Options) { o.format = true }),
	flagOf("print-canonical", "Lay the model out and rewrite what is out of date or superfluous", func(o *Options) {
		o.format, o.canonicalize = true, slices.Clone(canonicalizations)
	}),
	{"canonicalize", "LIST", "What to rewrite when laying out: " + strings.Join(canonicalizations, ", ") + ", separated by commas", func(o *Options, v string) error {
		for name := range strings.SplitSeq(v, ",") {
			if !slices.Contains(canonicalizations, name) && name != "" {
				return fmt.Errorf("unrecognized canonicalizer option '%s'. \nThis should be one of %s", name, strings.Join(canonicalizations, ", "))
			}
			o.canonicalize = append(o.canonicalize, name)
		}
		o.format = true
		return nil
	}},
	{"max-line-length", "N", "Columns that lines keep to when laying out", func(o *Options, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return fmt.Errorf("invalid value '%s', expected an integer", v)
		}
		o.width = n
		return nil
	}},
	{"include-paths", "DIRS", "Folders for the files of #include lines, separated by commas", func(o *Options, v string) error {
		for dir := range strings.SplitSeq(v, ",") {
			if dir = strings.Trim(dir, `"'`); dir != "" {
				o.include = append(o.include, dir)
			}
		}
		return nil
	}},
	flagOf("warn-pedantic", "Warn about more than is certain to be wrong", func(o *Options) { o.pedantic = true }),
	flagOf("warn-uninitialized", "Warn about variables that are read before they are set", func(o *Options) { o.pedantic = true }),
	{"filename-in-msg", "NAME", "How messages name the model", func(o *Options, v string) error { o.fileName = v; return nil }},
	{"name", "NAME", "Name of the model", func(o *Options, v string) error { o.name = v; return nil }},
	{"o", "FILE", "File for the result", func(o *Options, v string) error { o.output = v; return nil }},
	flagOf("standalone-functions", "The model may be functions alone", func(o *Options) { o.standalone = true }),
	flagOf("allow-undefined", "Functions may be declared without a body", func(o *Options) { o.undefined = true }),
	ignored("O"), ignored("O0"), ignored("O1"), ignored("Oexperimental"), ignored("use-opencl"), ignored("print-cpp"),
}

// canonicalizations are the values of --canonicalize.
var canonicalizations = []string{"deprecations", "parentheses", "braces", "includes"}

// parse parses a command line. Underscores in names count as dashes, for older front ends.
func parse(args []string) (*Options, error) {
	o := &Options{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if o.model != "" {
				return nil, fmt.Errorf("too many arguments, don't know what to do with '%s'", arg)
			}
			o.model = arg
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		at := slices.IndexFunc(table, func(c option) bool { return c.name == strings.ReplaceAll(name, "_", "-") })
		if at < 0 {
			return nil, fmt.Errorf("unknown option '--%s'", name)
		}
		c := table[at]
		switch {
		case c.value == "" && given:
			return nil, fmt.Errorf("option '--%s': flag can't have a value", name)
		case c.value != "" && !given:
			if i++; i == len(args) {
				return nil, fmt.Errorf("option '--%s' needs an argument", name)
			}
			value = args[i]
		}
		if err := c.set(o, value); err != nil {
			return nil, fmt.Errorf("option '--%s': %w", name, err)
		}
		if c.name != "o" {
			word := "--" + c.name
			if c.value != "" {
				word += "=" + value
			}
			o.words = append(o.words, word)
		}
	}
	return o, nil
}

// FileName returns the name of the model's file in messages.
func (o *Options) FileName() string {
	if o.fileName != "" {
		return o.fileName
	}
	return o.model
}

// ModelName returns the name of the model: letters, digits and underscores.
func (o *Options) ModelName() string {
	if o.name != "" {
		return o.name
	}
	base := filepath.Base(o.model)
	return mangled(strings.TrimSuffix(base, filepath.Ext(base))) + "_model"
}

// mangled replaces the characters that a name cannot have.
func mangled(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// Words returns the options as given, without the model and the output file.
func (o *Options) Words() []string { return o.words }
