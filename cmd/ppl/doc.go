package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

func docCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doc [NAME]",
		Short: "Print the documentation of a function or distribution",
		Long: `Prints what a function of the language computes, its forms, what its
arguments must be, and an example with its value, from the declarations that
the compiler reads. NAME is a function such as softmax, an operator such as
'.*', or a distribution such as normal, of which all functions are shown.
Of a part of a name, it lists the names that contain it. Without NAME, lists the names of the library by families.`,
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

// writeFamilies lists the library: of a distribution its name, of an operator the
// sign.
func writeFamilies(w io.Writer) error {
	var b strings.Builder
	for _, f := range stdlib.Families() {
		fmt.Fprintf(&b, "%s\n", f.Title)
		var names []string
		for _, n := range f.Names {
			n = strings.TrimPrefix(n, "operator")
			for _, suffix := range distributionSuffixes {
				if base, ok := strings.CutSuffix(n, suffix); ok && len(documented(base)) > 0 {
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

// distributionSuffixes end the names of the functions of a distribution.
var distributionSuffixes = []string{"_lpdf", "_lpmf", "_lcdf", "_lccdf", "_cdf", "_rng", "_lcdf_unnorm", "_lccdf_unnorm"}

// writeDoc writes the documentation of a name.
func writeDoc(w io.Writer, name string) error {
	names := documented(name)
	if len(names) == 0 {
		return noSuchName(name)
	}
	var b strings.Builder
	if d := distribution(name); d != nil {
		writeDistribution(&b, d)
	}
	for _, n := range names {
		writeFunction(&b, n)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}

// noSuchName tells of the names that are like one that there is not: those that
// contain it, or the nearest.
func noSuchName(name string) error {
	const most = 24
	var like, all []string
	for n := range stdlib.Language().Names() {
		for _, suffix := range distributionSuffixes {
			if base, ok := strings.CutSuffix(n, suffix); ok && len(documented(base)) > 0 {
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
		slices.SortFunc(like, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		more := ""
		if len(like) > most {
			more = fmt.Sprintf(", and %d more", len(like)-most)
		}
		return fmt.Errorf("there is no function %q; these names contain it: %s%s", name, strings.Join(like[:min(most, len(like))], ", "), more)
	case near != "":
		return fmt.Errorf("there is no function %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no function %q", name)
}

// documented are the functions that a name stands for: itself, its operator, or
// the functions of the distribution.
func documented(name string) []string {
	lang := stdlib.Language()
	for _, n := range []string{name, "operator" + name} {
		if len(lang.Lookup(n)) > 0 {
			return []string{n}
		}
	}
	var names []string
	for _, suffix := range distributionSuffixes {
		if len(lang.Lookup(name+suffix)) > 0 {
			names = append(names, name+suffix)
		}
	}
	return names
}

// distribution is the declared distribution of that name, or nil.
func distribution(name string) *stdlib.Dist {
	for _, suffix := range []string{"_lpdf", "_lpmf"} {
		for _, o := range stdlib.Universe().Lookup(name + suffix) {
			if f := o.(*stdlib.Func); f.Dist != nil && f.Dist.Name == name {
				return f.Dist
			}
		}
	}
	return nil
}

func writeDistribution(b *strings.Builder, d *stdlib.Dist) {
	fmt.Fprintf(b, "\n%s: %s\n\n", d.Name, d.Doc)
	kind := "density"
	if d.Discrete {
		kind = "mass"
	}
	if d.Formula != "" {
		fmt.Fprintf(b, "  %-8s %s\n", kind, d.Formula)
	}
	fmt.Fprintf(b, "  %-8s %s\n", "source", d.Source())
	row := func(name, is string, c types.Constraint) {
		if c.Text != "" && !c.NaN {
			is += ", must be " + c.Text
		}
		fmt.Fprintf(b, "  %-8s %s\n", name, is)
	}
	row("y", "random variable", d.Variate)
	for _, p := range d.Params {
		row(p.Name, strings.ToLower(p.Is), p.In)
	}
}

// writeFunction writes texts and forms of a function; forms with the same text
// share it.
func writeFunction(b *strings.Builder, name string) {
	fmt.Fprintf(b, "\n%s\n", name)
	var texts []string
	forms := map[string][]string{}
	examples := map[string][]string{}
	for _, o := range stdlib.Language().Lookup(name) {
		var text string
		if w, ok := o.(types.Written); ok {
			text = w.Doc
		}
		if f, ok := o.(*stdlib.Func); ok {
			text = f.Doc
			if call, value, ok := f.Demonstration(); ok && len(examples[text]) < 2 {
				note := ""
				if f.Random {
					note = "    (one draw)"
				}
				examples[text] = append(examples[text], call+"  =  "+value+note)
			}
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		forms[text] = append(forms[text], o.String())
	}
	for _, e := range stdlib.Examples(name) { // under the first text
		line := e.Call + "  =  " + e.Value
		if e.Adds != "" {
			line += "    (adds " + e.Adds + " to the log density)"
		}
		examples[texts[0]] = append(append(examples[texts[0]], e.Functions...), line)
	}
	for _, t := range texts {
		fmt.Fprintf(b, "\n  %s\n", t)
		for _, f := range forms[t] {
			fmt.Fprintf(b, "    %s\n", f)
		}
		for i, e := range examples[t] {
			if i == 0 {
				b.WriteString("  Example\n")
			}
			fmt.Fprintf(b, "    %s\n", e)
		}
	}
}
