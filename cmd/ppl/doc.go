package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/service"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

func docCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doc [NAME]",
		Long: `Prints what a function of the language computes, its forms, what its arguments must be, and an
example with its value. NAME is a function such as softmax, an operator such as '.*', or a
distribution such as normal: then all its functions are shown. It may also be a type such as
simplex, an entry of a declaration such as missing, or a subject such as ragged. For a part of a name, ppl lists the
names that contain it. Without NAME, it lists all names of the library by families.
For a code such as E0301 it is ppl explain-error.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return arguments("NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return writeFamilies(cmd.OutOrStdout())
			}
			return writeDoc(cmd.OutOrStdout(), args[0])
		},
	}
}

// writeFamilies lists the functions of the library by family. It shows a distribution by its name
// and an operator by its sign.
func writeFamilies(w io.Writer) error {
	var b strings.Builder
	for _, f := range stdlib.Families() {
		fmt.Fprintf(&b, "%s\n", f.Title)
		var names []string
		for _, n := range f.Names {
			n = strings.TrimPrefix(n, "operator")
			for _, suffix := range stdlib.DistributionSuffixes {
				if base, ok := strings.CutSuffix(n, suffix); ok && len(stdlib.Language().Documented(base)) > 0 {
					n = base
					break
				}
			}
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		line := " "
		for _, n := range names {
			if len(line)+1+len(n) > 80 {
				b.WriteString(line + "\n")
				line = " "
			}
			line += " " + n
		}
		b.WriteString(line + "\n\n")
	}
	b.WriteString("ppl doc NAME tells about one of them.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeDoc writes the documentation of a name.
func writeDoc(w io.Writer, name string) error {
	doc, ok := stdlib.Language().Describe(name)
	word, isWord := service.WordOf(name)
	if !ok && !isWord {
		word, isWord = service.Topic(name)
	}
	if !ok && !isWord {
		if e, is := diag.Explain(diag.Code(name)); is {
			explainCode(w, e)
			return nil
		}
		return noSuchName(name)
	}
	h := newHelping(w)
	if isWord {
		h.b.WriteString("\n" + word.Form + "\n\n")
		for _, line := range wrap(word.Text+".", h.width-2) {
			h.b.WriteString("  " + line + "\n")
		}
	}
	if d := doc.Distribution; d != nil && d.Name == name {
		writeDistribution(h, d)
	}
	for _, f := range doc.Functions {
		writeFunction(h, f)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(h.b.String(), "\n"))
	return err
}

// noSuchName is the error for an unknown name. It lists the names that contain it, or the nearest.
func noSuchName(name string) error {
	const maxNames = 24
	var like, all []string
	for n := range stdlib.Language().Names() {
		for _, suffix := range stdlib.DistributionSuffixes {
			if base, ok := strings.CutSuffix(n, suffix); ok && len(stdlib.Language().Documented(base)) > 0 {
				n = base
				break
			}
		}
		n = strings.TrimPrefix(n, "operator")
		all = append(all, n)
		if len(name) > 1 && strings.Contains(n, strings.ToLower(name)) && !slices.Contains(like, n) {
			like = append(like, n)
		}
	}
	near := diag.Nearest(name, slices.Values(all))
	switch {
	case len(like) > 0:
		sorting.Stable(like, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		more := ""
		if len(like) > maxNames {
			more = fmt.Sprintf(", and %d more", len(like)-maxNames)
		}
		return fmt.Errorf("there is no function %q; these names contain it: %s%s", name, strings.Join(like[:min(maxNames, len(like))], ", "), more)
	case near != "":
		return fmt.Errorf("there is no function %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no function %q", name)
}

func writeDistribution(h *helping, d *types.DistributionDoc) {
	b := &h.b
	b.WriteString("\n")
	h.prose(d.Name + ": " + d.Text)
	b.WriteString("\n")
	kind := "density"
	if d.Discrete {
		kind = "mass"
	}
	if d.Formula != "" {
		h.row(kind, d.Formula, 12)
	}
	for _, m := range []struct{ name, formula string }{{"mean", d.Mean}, {"variance", d.Variance}} {
		if m.formula != "" {
			h.row(m.name, m.formula, 12)
		}
	}
	h.row("source", d.Source, 12)
	for _, a := range d.Arguments {
		is := a.Is
		if a.Must.Text != "" {
			is += ", must be " + a.Must.Text
		}
		h.row(a.Name, is, 12)
	}
}

// writeFunction writes the texts and the forms of a function.
func writeFunction(h *helping, f types.FunctionDoc) {
	b := &h.b
	fmt.Fprintf(b, "\n%s\n", f.Name)
	for _, t := range f.Texts {
		b.WriteString("\n")
		for _, line := range wrap(t.Text, h.width-2) {
			b.WriteString("  " + line + "\n")
		}
		for _, form := range t.Forms {
			fmt.Fprintf(b, "    %s\n", form)
		}
		for i, e := range t.Examples {
			if i == 0 {
				b.WriteString("  Example\n")
			}
			fmt.Fprintf(b, "    %s\n", e)
		}
	}
}
