package main

import (
	"context"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model"
)

func checkCommand() *cobra.Command {
	var in input
	var asJSON, pedantic, stanOnly bool
	cmd := &cobra.Command{
		Use: "check MODEL…",
		Long: `Checks models without data and prints errors and warnings on stderr; - is standard
input. Errors make the exit code 1. Warnings are about code that is allowed but
likely to be a mistake. If there are none, a terminal shows a line that says so,
and a file or pipe gets nothing.

--pedantic adds warnings about code that is often intended: parameters without a
prior, very wide uniform priors, conditions on parameters, and more. Their codes
begin with W06 in ` + "`ppl explain-error`" + `.

--stan-only refuses the extensions of ppl, for models that others run with Stan.

With --data, one model is also bound to its data. This checks the data, and the sizes and
indices that depend on them. With --pedantic too, it warns about long loops that do not run
as vectors, and says what to write instead.

With --json, the messages go to stdout as an array of objects with the keys
severity, code, summary, detail, help, file, line, column, endLine, endColumn
and notes. Lines and columns count from 1, in characters; the end is the place after the last
character. Keys without a value are left out.`,
		Example: "  ppl check eight_schools.model\n  ppl check *.stan --json\n  ppl check --pedantic mine.stan\n  ppl check eight_schools.model --data eight_schools.data.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("MODEL is missing: a file in Stan's language")
			}
			if in.data != "" && len(args) > 1 {
				return usagef("--data is for one model")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			debug.SetGCPercent(400) // the command ends before collecting garbage pays off
			var all diag.List
			for _, name := range args {
				if err := in.read(cmd.Context(), name); err != nil {
					return err
				}
				if strings.TrimSpace(in.source.Text) == "" {
					emptyModel(cmd.ErrOrStderr(), in.source.Name)
				}
				list := checkFile(in.source, name, in.compile, pedantic, stanOnly)
				if in.data != "" && !list.HasErrors() {
					wrong, err := in.bound(cmd.Context(), name, pedantic)
					if err != nil {
						return err
					}
					list = append(list, wrong...)
				}
				all = append(all, list...)
				in.source = nil
			}
			if err := showAll(cmd.OutOrStdout(), cmd.ErrOrStderr(), all, asJSON); err != nil {
				return err
			}
			switch what := args[0]; {
			case all.HasErrors():
				return exitCode(exitError)
			case len(all) > 0 || asJSON:
			case len(args) > 1:
				confirm(cmd.ErrOrStderr(), "%d models: no problems", len(args))
			case in.data != "":
				confirm(cmd.ErrOrStderr(), "%s and its data: no problems", what)
			default:
				confirm(cmd.ErrOrStderr(), "%s: no problems", what)
			}
			return nil
		},
	}
	in.flags(cmd)
	declare(cmd).Bool(&asJSON, "json", false)
	declare(cmd).Bool(&pedantic, "pedantic", false)
	declare(cmd).Bool(&stanOnly, "stan-only", false)
	return cmd
}

// checkFile checks a model whose text has been read.
func checkFile(f *source.File, name string, o model.CompileOptions, pedantic, stanOnly bool) diag.List {
	folders := append([]string{modelFolder(name)}, o.IncludePaths...)
	return compile.Check(f, compile.Options{Legacy: o.Legacy, Pedantic: pedantic, StanOnly: stanOnly, MaxSource: o.MaxSource, Include: lang.IncludeFrom(o.MaxSource, folders...)})
}

// bound checks a model without errors against its data. It returns the errors in the data and, with
// pedantic, warnings of slow loops.
func (in *input) bound(ctx context.Context, name string, pedantic bool) (diag.List, error) {
	in.quiet = true // its warnings have already been reported
	l, err := in.load(ctx, name, io.Discard)
	if list := model.Diagnostics(err); list != nil {
		return list, nil
	}
	if err == nil && pedantic {
		return l.posterior.Compiled().SlowLoops(), nil
	}
	return nil, err
}

// slowLoops warns of slow loops of the model.
func (l *loaded) slowLoops(stderr io.Writer) error {
	list := l.posterior.Compiled().SlowLoops()
	if len(list) == 0 {
		return nil
	}
	return diag.Render(stderr, wordedList(list), diagOptions(stderr))
}

func showAll(stdout, stderr io.Writer, list diag.List, asJSON bool) error {
	if !asJSON {
		return diag.Render(stderr, wordedList(list), diagOptions(stderr))
	}
	return writeJSON(stdout, checkJSON{messages(wordedList(list))})
}

// messages converts diagnostics to their JSON form.
func messages(list diag.List) []jsonMessage {
	out := []jsonMessage{}
	for _, d := range list {
		m := jsonMessage{
			Severity: d.Severity.String(), Code: string(d.Code), Summary: d.Summary, Detail: d.Detail, Help: d.Fix, Settings: d.Settings,
			jsonPlace: placeOf(d.Span), jsonEnd: endOf(d.Span),
		}
		for _, n := range d.Related {
			m.Notes = append(m.Notes, jsonNote{n.Message, placeOf(n.Span)})
		}
		out = append(out, m)
	}
	return out
}

// checkJSON is what check prints with --json; a stable format.
type checkJSON struct {
	Messages []jsonMessage `json:"messages"` // errors and warnings, by file and place
}

// jsonMessage is an error or a warning.
type jsonMessage struct {
	Severity string `json:"severity"`         // error or warning
	Code     string `json:"code,omitempty"`   // code of the message; ppl explain-error shows more
	Summary  string `json:"summary"`          // the message in one line
	Detail   string `json:"detail,omitempty"` // more about the cause
	Help     string `json:"help,omitempty"`   // what to do about it
	// in answers of serve: names of the settings that help is about
	Settings []string `json:"settings,omitempty"`
	jsonPlace
	jsonEnd
	Notes []jsonNote `json:"notes,omitempty"` // other places that matter
}

type jsonPlace struct {
	File   string `json:"file,omitempty"`   // name of the file
	Line   int    `json:"line,omitempty"`   // line, from 1
	Column int    `json:"column,omitempty"` // column in characters, from 1
}

type jsonEnd struct {
	Line   int `json:"endLine,omitempty"`   // line of the end, from 1
	Column int `json:"endColumn,omitempty"` // column after the last character
}

type jsonNote struct {
	Message string `json:"message"` // why the place matters
	jsonPlace
}

func placeOf(s source.Span) jsonPlace {
	p := s.Begin()
	return jsonPlace{p.File, p.Line, p.Column}
}

func endOf(s source.Span) jsonEnd {
	s = s.Origin()
	if !s.IsValid() {
		return jsonEnd{}
	}
	p := s.File.Position(s.End)
	return jsonEnd{p.Line, p.Column}
}
