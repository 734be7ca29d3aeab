package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/lang/diag"
)

// This file reads configuration files, which set defaults of flags.

// configName is the name of a configuration file.
const configName = "ppl.toml"

// userConfigDoc is the path of the user's file in help texts.
const userConfigDoc = "~/.config/ppl/" + configName

// maxConfig is the largest number of bytes read of a configuration file.
const maxConfig = 1 << 20

// origin is the place where the value of a flag was set.
type origin string

const (
	originUser    origin = "user"    // the user's file, or a place that is trusted more
	originCommand origin = "command" // only the command line
)

// configFile is a configuration file.
type configFile struct {
	path    string
	user    bool // the user's file, not the file of a model
	entries []configEntry
}

// configEntry sets a flag of a command.
type configEntry struct {
	command, flag string
	line, column  int
	values        []string // several values if the entry is a list
	list          bool
}

// place returns the file and line of an entry.
func (c *configFile) place(e configEntry) string { return fmt.Sprintf("%s:%d", c.path, e.line) }

// fromHere returns a path in the form in which people would write it: relative if it is below the
// working folder.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if below, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(below) {
		return below
	}
	return path
}

// errorf returns an error about an entry, with its place in the file.
func (c *configFile) errorf(e configEntry, format string, args ...any) error {
	return usagef("%s:%d:%d: %s", fromHere(c.path), e.line, e.column, fmt.Sprintf(format, args...))
}

// configFiles reads the configuration files that apply to a command. The file of the model comes
// first; files that do not exist are left out.
func configFiles(start string) ([]*configFile, error) {
	var out []*configFile
	for _, at := range []struct {
		path string
		user bool
	}{{modelConfig(start), false}, {userConfig(), true}} {
		if at.path == "" || slices.ContainsFunc(out, func(c *configFile) bool { return c.path == at.path }) {
			continue
		}
		text, err := readConfig(at.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c := &configFile{path: at.path, user: at.user}
		if err := c.parse(text); err != nil {
			return nil, err
		}
		if err := c.check(); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// userConfig returns the path of the user's file; "" if the system has no place for it.
func userConfig() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ppl", configName)
}

// modelConfig returns the path of the configuration file that applies to a folder; "" if there is
// none. In a repository it may also be in a folder above; the nearest file counts. Folders outside
// the repository are ignored, since anybody may be able to write to them.
func modelConfig(dir string) string {
	if dir == "" {
		return ""
	}
	dir = absolute(dir)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return nearestConfig(dir, at)
		}
		if filepath.Dir(at) == at {
			return nearestConfig(dir, dir) // no repository
		}
	}
}

// nearestConfig returns the nearest file, searching from folder dir to folder up.
func nearestConfig(dir, up string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if path := filepath.Join(at, configName); isFile(path) {
			return path
		}
		if at == up {
			return ""
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, plainPathError(err)
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("%s: the configuration file is longer than 1MiB", path)
	}
	return text, nil
}

// parse reads the entries in the order of the file.
func (c *configFile) parse(text []byte) error {
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, column := at.Position()
			return usagef("%s:%d:%d: %s", fromHere(c.path), row, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return usagef("%s: %w", c.path, err)
	}
	var p unstable.Parser
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.KeyValue {
			continue
		}
		var names []string
		var entry configEntry
		for key := e.Key(); key.Next(); {
			names = append(names, string(key.Node().Data))
			if entry.line == 0 {
				at := p.Shape(key.Node().Raw).Start
				entry.line, entry.column = at.Line, at.Column
			}
		}
		if e.Kind == unstable.Table {
			if table = names; len(table) > 1 {
				return c.errorf(entry, "a table is named after a command, such as [run], but this is [%s]", strings.Join(table, "."))
			}
			entry.command = table[0]
			c.entries = append(c.entries, entry) // even if empty, so that its name is checked
			continue
		}
		names = append(slices.Clone(table), names...)
		if len(names) != 2 {
			return c.errorf(entry, "%s is not in the table of a command; put it below a line such as [run]", strings.Join(names, "."))
		}
		entry.command, entry.flag = names[0], names[1]
		table, _ := values[names[0]].(map[string]any)
		value := table[names[1]]
		list, ok := value.([]any)
		if entry.list = ok; !ok {
			list = []any{value}
		}
		for _, v := range list {
			text, ok := configText(v)
			if !ok {
				return c.errorf(entry, "%s must be a text, a number, true or false, or a list of these", names[1])
			}
			entry.values = append(entry.values, text)
		}
		c.entries = append(c.entries, entry)
	}
	return p.Error()
}

// configText returns a value as it is written on the command line.
func configText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// check checks that the commands and flags exist, and that this file may set them.
func (c *configFile) check() error {
	root := rootCommand(&checkedWriter{Writer: io.Discard}) // the file may be about any command
	for _, e := range c.entries {
		cmd := commandNamed(root, e.command)
		if cmd == nil {
			names := func(yield func(string) bool) {
				for _, row := range commandTable() {
					if row.group != groupInside && !yield(row.name) {
						return
					}
				}
			}
			if near := diag.Nearest(e.command, names); near != "" {
				return c.errorf(e, "there is no command %q; did you mean [%s]?", e.command, near)
			}
			return c.errorf(e, "there is no command %q", e.command)
		}
		if e.flag == "" {
			continue
		}
		f := cmd.Flags().Lookup(e.flag)
		switch {
		case f == nil:
			return usage(meant(c.errorf(e, "ppl %s has no flag %q", e.command, e.flag), strings.TrimPrefix(optionHelp(cmd, e.flag, ""), "--")))
		case noted(f, noteBy) == string(originCommand):
			return c.errorf(e, "--%s can be given on the command line only", f.Name)
		case noted(f, noteBy) == string(originUser) && !c.user:
			return c.errorf(e, "--%s can be given on the command line or in your own file %s, not in that of a model", f.Name, userConfig())
		}
		if _, repeated := f.Value.(pflag.SliceValue); e.list && !repeated {
			return c.errorf(e, "%s takes one value, not a list", e.flag)
		}
	}
	return nil
}

// commandNamed returns the command with this name if users can call it with flags, otherwise nil.
func commandNamed(root *cobra.Command, name string) *cobra.Command {
	for _, cmd := range root.Commands() {
		if cmd.Name() == name && !cmd.Hidden && cmd.Runnable() && cmd.Name() != "help" {
			return cmd
		}
	}
	return nil
}

// configured reports whether configuration files apply to a command.
func configured(cmd *cobra.Command) bool {
	return cmd.HasParent() && commandNamed(cmd.Root(), cmd.Name()) == cmd
}

// configStart returns the folder in which the search for the model's configuration file begins. It
// is the folder of the first argument that is a file, or the argument itself if it is a folder.
func configStart(cmd *cobra.Command, args []string) string {
	if f := cmd.Flags().Lookup("resume"); f != nil && f.Changed {
		return f.Value.String()
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			return "."
		case err == nil && info.IsDir():
			return arg
		case err == nil:
			return filepath.Dir(arg)
		}
	}
	if len(args) == 0 {
		return "."
	}
	return ""
}

// configure sets the flags of a command that the command line does not set, by the configuration
// files.
func configure(cmd *cobra.Command, args []string) ([]*configFile, error) {
	flags := cmd.Flags()
	flags.VisitAll(func(f *pflag.Flag) {
		if env := noted(f, noteEnv); env != "" && !f.Changed && os.Getenv(env) != "" {
			f.Annotations[noteOrigin] = []string{env} // the command itself reads the variable
		}
	})
	if off, _ := flags.GetBool("no-config"); off {
		return nil, nil
	}
	files, err := configFiles(configStart(cmd, args))
	if err != nil {
		return nil, err
	}
	resumed := flags.Lookup("resume") != nil && flags.Changed("resume")
	// The options of samplers come last, since the flag --sampler determines which of them apply.
	for _, ofSamplers := range []bool{false, true} {
		for _, c := range files {
			for _, e := range c.entries {
				if e.command != cmd.Name() || e.flag == "" {
					continue
				}
				f := flags.Lookup(e.flag)
				option, isOption := f.Value.(*samplerFlag)
				switch {
				case isOption != ofSamplers,
					f.Changed || noted(f, noteOrigin) != "",
					resumed && !passes(f.Name),
					isOption && !slices.Contains(option.samplers, flags.Lookup("sampler").Value.String()):
					continue
				}
				if err := c.set(flags, f, e); err != nil {
					return nil, err
				}
			}
		}
	}
	return files, nil
}

// set sets a flag to the value of an entry.
func (c *configFile) set(flags *pflag.FlagSet, f *pflag.Flag, e configEntry) error {
	for _, value := range e.values {
		if noted(f, notePath) != "" {
			value = c.relative(f.Name, value)
		}
		if err := flags.Set(f.Name, value); err != nil {
			if inner := errors.Unwrap(err); inner != nil {
				err = inner
			}
			return c.errorf(e, "%s is %q: %v", e.flag, value, err)
		}
	}
	f.Annotations[noteOrigin] = []string{c.place(e)}
	return nil
}

// relative resolves a path relative to the folder of the file. A value that may also be something
// else, such as a number, counts as a path if there is a file of that name.
func (c *configFile) relative(flag, value string) string {
	if value == "" || value == "-" || filepath.IsAbs(value) {
		return value
	}
	path := filepath.Join(filepath.Dir(c.path), value)
	if slices.Contains([]string{"init", "params", "mode", "metric-file"}, flag) {
		if _, err := os.Stat(path); err != nil {
			return value
		}
	}
	return path
}

// showConfig prints the value of each flag of a command and where it comes from.
func showConfig(w io.Writer, cmd *cobra.Command, files []*configFile) error {
	var b strings.Builder
	for _, user := range []bool{false, true} {
		what, path := "The model's file", "none"
		if user {
			what = "Your file"
			if at := userConfig(); at != "" {
				path = "none at " + at
			}
		}
		for _, c := range files {
			if c.user == user {
				path = fromHere(c.path)
			}
		}
		fmt.Fprintf(&b, "# %s: %s\n", what, path)
	}
	fmt.Fprintf(&b, "[%s]\n", cmd.Name())
	var lines [][2]string
	column := 0
	shown, _ := flagsByTopic(cmd, true)
	for _, part := range shown {
		for _, f := range part.flags {
			option, isOption := f.Value.(*samplerFlag)
			if noted(f, noteBy) == string(originCommand) || isOption && !slices.Contains(option.samplers, cmd.Flags().Lookup("sampler").Value.String()) {
				continue
			}
			from := "default"
			switch {
			case noted(f, noteOrigin) != "":
				from = fromHere(noted(f, noteOrigin))
			case f.Changed:
				from = "command line"
			}
			text := configValue(f)
			if text == "" || from == "default" && defaultOf(f) == "" {
				continue // unset flags without a default, or whose default the command finds out
			}
			line := f.Name + " = " + text
			column = max(column, min(len(line), 40))
			lines = append(lines, [2]string{line, from})
		}
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "%-*s  # %s\n", column, l[0], l[1])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// configValue returns the value of a flag in TOML; "" if it has none.
func configValue(f *pflag.Flag) string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		var parts []string
		for _, v := range list.GetSlice() {
			parts = append(parts, tomlText(v))
		}
		if parts == nil {
			return ""
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	text := f.Value.String()
	if option, ok := f.Value.(*samplerFlag); ok {
		if text = option.text; text == "" {
			text = option.flag.DefValue
		}
	}
	if env := noted(f, noteEnv); env != "" && noted(f, noteOrigin) == env {
		text = os.Getenv(env)
	}
	if text == "" || text == "0" && f.Value.Type() == "size" && !f.Changed {
		return ""
	}
	return tomlText(text)
}

// tomlText returns a text as a value in TOML. Numbers, true and false are not quoted.
func tomlText(text string) string {
	if text == "true" || text == "false" {
		return text
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !strings.ContainsAny(text, "xXpP_iInN") {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.Quote(text)
}
